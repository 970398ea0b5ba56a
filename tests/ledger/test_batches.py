"""Releases that are declared together: one charge, each mechanism once."""

from __future__ import annotations

import multiprocessing
import pickle
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np
import pytest

import veil
from tests.ledger.places import COUNTS, NEAR, NOISE, kinds, release
from tests.ledger.workers import PATIENCE
from veil.errors import BudgetExceeded, InvalidArgument, ResultLost, VeilError
from veil.ledger.batch import Batch

OTHER = veil.vectors.GeometricCounts(5.0, 3)


def test_one_charge_for_all(ledger: veil.Ledger) -> None:
    dataset = ledger.open("trips", epsilon="1.8", delta=1e-5, adjacency=NEAR)
    batch = dataset.batch([NOISE] * 20, delta=1e-6)
    # Cheaper than the sum of twenty times 0.1, and never below what composes exactly.
    assert batch.epsilon < 2.0
    assert NOISE.profile(NEAR).repeat(20).delta(batch.epsilon) <= 1e-6
    charged = dataset.spent.epsilon
    assert charged is not None
    assert charged >= batch.epsilon
    assert dataset.spent.delta == 1e-6
    for left in range(20, 0, -1):
        assert batch.left == left
        release(batch)
    assert dataset.spent.epsilon == charged
    for _ in range(2):
        with pytest.raises(InvalidArgument, match="declared"):
            release(batch)
    assert kinds(dataset).count("use") == 20
    assert kinds(dataset).count("reserve") == 1
    assert ledger.verify().datasets == ["trips"]


def test_what_was_not_declared(ledger: veil.Ledger) -> None:
    dataset = ledger.open("trips", epsilon=5)
    batch = dataset.batch([NOISE, OTHER], adjacency=NEAR)
    assert batch.epsilon == pytest.approx(0.3)
    for stranger in (veil.vectors.GeometricCounts(9.999, 3), veil.vectors.GeometricCounts(10.0, 4)):
        with pytest.raises(VeilError):
            veil.release(stranger, [1] * stranger.domain.size, adjacency=NEAR, ledger=batch)
    with pytest.raises(InvalidArgument, match="adjacency"):
        veil.release(NOISE, COUNTS, adjacency=veil.vectors.Records("replace"), ledger=batch)
    with pytest.raises(InvalidArgument, match="declared"):
        batch.reserve(epsilon=0.1, delta=0.0, description={"name": "GeometricCounts"})
    assert kinds(dataset) == ["open", "reserve", "confirm"]
    # In any order; what fails on the way was used.
    veil.release(OTHER, COUNTS, adjacency=NEAR, ledger=batch)
    with pytest.raises(InvalidArgument):
        veil.release(OTHER, COUNTS, adjacency=NEAR, ledger=batch)
    release(batch)
    assert batch.left == 0


def test_a_batch_that_does_not_fit(ledger: veil.Ledger) -> None:
    dataset = ledger.open("trips", epsilon="0.15")
    with pytest.raises(BudgetExceeded):
        dataset.batch([NOISE, NOISE], adjacency=NEAR)
    odd: list[Any] = [[], "GeometricCounts", [NOISE, None], {}]
    for mechanisms in odd:
        with pytest.raises(InvalidArgument, match="mechanisms"):
            dataset.batch(mechanisms, adjacency=NEAR)
    with pytest.raises(InvalidArgument, match="adjacency"):
        dataset.batch([NOISE])
    assert kinds(dataset) == ["open"]


def test_a_draw_that_fails_uses_its_place(ledger: veil.Ledger, monkeypatch: pytest.MonkeyPatch) -> None:
    dataset = ledger.open("trips", epsilon=1)
    batch = dataset.batch([NOISE], adjacency=NEAR)

    def fail(*_: Any, **__: Any) -> Any:
        raise MemoryError

    with monkeypatch.context() as patch:
        patch.setattr(veil.vectors.GeometricCounts, "_noisy", fail)
        with pytest.raises(ResultLost, match="MemoryError"):
            release(batch)
    with pytest.raises(InvalidArgument, match="declared"):
        release(batch)
    assert kinds(dataset)[-1] == "use"


def _use(batch: Batch, times: int, out: Any) -> None:
    made = 0
    for _ in range(times):
        try:
            release(batch)
            made += 1
        except InvalidArgument:
            break
    out.put(made)


@pytest.mark.slow_for("postgresql")
def test_each_once_across_processes(ledger: veil.Ledger) -> None:
    """Copies of a batch in other processes do not make it larger."""
    dataset = ledger.open("trips", epsilon=5)
    batch = dataset.batch([NOISE] * 10, adjacency=NEAR)
    context = multiprocessing.get_context("fork")
    out = context.Queue()
    workers = [context.Process(target=_use, args=(batch, 10, out), daemon=True) for _ in range(3)]
    for worker in workers:
        worker.start()
    counts = [out.get(timeout=PATIENCE) for _ in workers]
    for worker in workers:
        worker.join(PATIENCE)
    assert sum(counts) == 10
    with pytest.raises(InvalidArgument, match="declared"):
        release(batch)
    assert kinds(dataset).count("use") == 10
    assert ledger.verify().datasets == ["trips"]


def test_each_once_across_threads_and_copies(ledger: veil.Ledger) -> None:
    dataset = ledger.open("trips", epsilon=5)
    batch = dataset.batch([NOISE] * 6, adjacency=NEAR)
    copies: list[Batch] = [pickle.loads(pickle.dumps(batch)), batch, batch, batch]

    def use(one: Batch) -> int:
        made = 0
        while True:
            try:
                release(one)
                made += 1
            except InvalidArgument:
                return made

    with ThreadPoolExecutor(4) as pool:
        assert sum(pool.map(use, copies)) == 6
    assert kinds(dataset).count("use") == 6
    assert ledger.verify().datasets == ["trips"]


def test_a_batch_of_a_part(ledger: veil.Ledger) -> None:
    dataset = ledger.open("trips", epsilon="0.2", adjacency=NEAR, parts=["north", "south"])
    for name in ("north", "south"):
        batch = dataset.part(name).batch([NOISE, NOISE])
        release(batch)
        release(batch)
    assert dataset.spent.epsilon == 0.2
    with pytest.raises(BudgetExceeded):
        dataset.part("north").batch([NOISE])


@pytest.mark.parametrize("accounting", ["zcdp", "renyi"])
def test_a_batch_under_a_filter(ledger: veil.Ledger, accounting: str) -> None:
    dataset = ledger.open("trips", epsilon=2, delta=1e-5, accounting=accounting, adjacency=NEAR)
    release(dataset)
    one = dataset.spent.lines
    batch = dataset.batch([NOISE, NOISE], delta=1e-6)
    for line, amount in dataset.spent.lines.items():
        assert float(amount) == pytest.approx(3 * float(one[line]), rel=1e-6)
    release(batch)
    assert ledger.verify().datasets == ["trips"]


def test_the_same_text_only_for_the_same_mechanism(ledger: veil.Ledger) -> None:
    """What is no plain data has no text that stands for it alone."""
    dataset = ledger.open("trips", epsilon=1)
    long = np.zeros(5_000)
    for odd in (long, float("nan"), {1, 2}, NOISE):
        with pytest.raises(InvalidArgument, match="description"):
            dataset.reserve(epsilon=0.1, description={"name": "test", "odd": odd})
    assert kinds(dataset) == ["open"]
