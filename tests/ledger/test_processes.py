"""Many processes and threads share a budget: never a charge too many, never one lost."""

from __future__ import annotations

import multiprocessing
import os
import pickle
import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

import veil
from tests.ledger.places import MOSTLY_IN_A_FILE, Place, kinds, new_file, release
from tests.ledger.points import watching
from tests.ledger.workers import PATIENCE, at_once, charge_many
from veil.errors import BudgetExceeded, VeilError
from veil.ledger.replay import Replay
from veil.ledger.store import Store


def race(place: Place, processes: int, times: int, allowed: int) -> None:
    """So many processes try so often; exactly as many succeed as the budget holds."""
    ledger = place.ledger()
    dataset = ledger.open("trips", epsilon=f"{allowed / 10:g}")
    said = at_once(processes, charge_many, (place.url, "trips", times))
    assert sum(made for made, _ in said) == allowed
    assert sum(refused for _, refused in said) == processes * times - allowed
    assert dataset.spent.epsilon == dataset.budget.epsilon
    assert str(dataset.spent.epsilon) == f"{allowed / 10:g}"
    assert dataset.remaining.epsilon == 0
    assert kinds(dataset).count("reserve") == kinds(dataset).count("confirm") == allowed
    assert ledger.verify().datasets == ["trips"]


@pytest.mark.slow
def test_eight_processes(place: Place) -> None:
    race(place, 8, 4, 20)


@pytest.mark.parametrize(
    ("times", "allowed"),
    [pytest.param(12, 240, marks=pytest.mark.slow), pytest.param(50, 1_000, marks=pytest.mark.evidence)],
)
def test_sixty_four_processes(place: Place, times: int, allowed: int) -> None:
    race(place, 64, times, allowed)


def test_threads(place: Place) -> None:
    ledger = place.ledger()
    dataset = ledger.open("trips", epsilon=2)

    def work(_: int) -> int:
        made = 0
        for _ in range(5):
            try:
                release(dataset)
                made += 1
            except BudgetExceeded:
                pass
        return made

    with ThreadPoolExecutor(8) as pool:
        assert sum(pool.map(work, range(8))) == 20
    assert dataset.spent.epsilon == 2
    assert ledger.verify().datasets == ["trips"]


def _child(dataset: veil.ledger.dataset.Dataset, times: int) -> None:
    for _ in range(times):
        release(dataset)


def _forked(work: Callable[..., None], *arguments: Any) -> Any:
    worker = multiprocessing.get_context("fork").Process(target=work, args=arguments, daemon=True)
    worker.start()
    return worker


@pytest.mark.slow
def test_fork_after_use(place: Place) -> None:
    """The parent has used its connection; parent, child and grandchild go on together."""
    ledger = place.ledger()
    dataset = ledger.open("trips", epsilon=10)
    release(dataset)
    workers = [_forked(_child, dataset, 5) for _ in range(3)]
    for _ in range(5):
        release(dataset)
    for worker in workers:
        worker.join(PATIENCE)
        assert worker.exitcode == 0
    release(dataset)
    assert dataset.spent.epsilon == 2.2
    assert ledger.verify().datasets == ["trips"]


@pytest.mark.slow
def test_a_parent_that_leaves_early(place: Place) -> None:
    """A child goes on after its parent has let go, while strangers come and go: nothing gets lost.

    SQLite's locks belong to a process and are not inherited: a child with its parent's connections would
    believe that it holds them.
    """
    ledger = place.ledger()
    dataset = ledger.open("trips", epsilon=100)
    release(dataset)
    closed = multiprocessing.get_context("fork").Event()

    def later() -> None:
        assert closed.wait(PATIENCE)
        _child(dataset, 10)

    workers = [_forked(later) for _ in range(2)]
    ledger._store.close()
    closed.set()
    for _ in range(10):
        release(place.ledger().dataset("trips"))
    for worker in workers:
        worker.join(PATIENCE)
        assert worker.exitcode == 0
    assert kinds(place.ledger().dataset("trips")).count("reserve") == 1 + 3 * 10
    assert place.ledger().verify().datasets == ["trips"]


@pytest.mark.slow
def test_fork_while_threads_work(place: Place) -> None:
    """No lock of another thread is left closed in the child."""
    ledger = place.ledger()
    dataset = ledger.open("trips", epsilon=100)
    release(dataset)
    rounds = 3
    together = threading.Barrier(2)

    def work() -> None:
        for _ in range(rounds):
            together.wait(PATIENCE)
            _child(dataset, 8)

    with ThreadPoolExecutor(1) as pool:
        working = pool.submit(work)
        for _ in range(rounds):
            together.wait(PATIENCE)
            worker = _forked(_child, dataset, 2)
            worker.join(PATIENCE)
            assert worker.exitcode == 0
        working.result(PATIENCE)
    assert kinds(dataset).count("reserve") == 1 + rounds * 10
    assert ledger.verify().datasets == ["trips"]


class LockThatTells:
    """A lock that tells, before it is waited for, that this thread asks for it."""

    def __init__(self, lock: Any, tell: Callable[[], object]) -> None:
        self._lock, self._tell = lock, tell

    def acquire(self) -> bool:
        self._tell()
        return bool(self._lock.acquire())

    def release(self) -> None:
        self._lock.release()

    def __enter__(self) -> None:
        self.acquire()

    def __exit__(self, *_: object) -> None:
        self.release()


def test_fork_in_the_middle_of_a_write(folder: Path) -> None:
    """Whoever forks waits until no thread is in the file; else the child would wait for ever."""
    ledger = new_file(folder).ledger()
    dataset = ledger.open("trips", epsilon=1)
    waits_or_forked = threading.Event()
    workers: list[Any] = []

    def fork() -> None:
        workers.append(_forked(_child, dataset, 1))
        waits_or_forked.set()

    def tell() -> None:
        if threading.current_thread() is forking:
            waits_or_forked.set()

    forking = threading.Thread(target=fork)
    ledger._store.in_use = LockThatTells(ledger._store.in_use, tell)  # type: ignore[assignment]

    def reach(point: str, _: Any) -> None:
        if point == "reserve: locked" and forking.ident is None:
            forking.start()
            assert waits_or_forked.wait(PATIENCE)

    with watching(reach):
        release(dataset)
    forking.join(PATIENCE)
    workers[0].join(PATIENCE)
    assert workers[0].exitcode == 0
    assert dataset.spent.epsilon == 0.2
    assert ledger.verify().datasets == ["trips"]


def test_datasets_and_ledgers_travel(place: Place) -> None:
    ledger = place.ledger()
    dataset = ledger.open("trips", epsilon=1, parts=["north", "south"])
    for copy in (pickle.loads(pickle.dumps(dataset)), pickle.loads(pickle.dumps(ledger)).dataset("trips")):
        release(copy)
    north = pickle.loads(pickle.dumps(dataset.part("north")))
    release(north)
    assert dataset.spent.epsilon == 0.3
    assert dataset.part("south").spent.epsilon == 0.2


@pytest.mark.slow
@MOSTLY_IN_A_FILE
def test_into_a_process_that_shares_nothing(place: Place) -> None:
    dataset = place.ledger().open("trips", epsilon=1)
    with multiprocessing.get_context("spawn").Pool(1) as pool:
        pool.apply(release, (dataset,))
    assert dataset.spent.epsilon == 0.1


def _open(url: str, out: Any, begin: Any) -> None:
    begin.wait(PATIENCE)
    try:
        veil.Ledger(url).open("trips", epsilon=1, by=str(os.getpid()))
        out.put("made")
    except VeilError as error:
        out.put("taken" if "taken" in str(error) else str(error))


@pytest.mark.slow
def test_all_open_it_at_once(place: Place) -> None:
    """One makes the ledger and the dataset, the others hear that the name is taken."""
    said = at_once(8, _open, (place.url,))
    assert sorted(said) == ["made"] + ["taken"] * 7
    assert place.ledger().verify().datasets == ["trips"]
    assert len(place.ledger().dataset("trips").entries()) == 1


@pytest.mark.slow
def test_looking_while_others_charge(place: Place, monkeypatch: pytest.MonkeyPatch) -> None:
    """What is verified or exported holds together, though others charge between any two looks at it."""
    monkeypatch.setattr("veil.ledger.slices._SLICE", 3)
    dataset, other = place.ledger().open("trips", epsilon=100), place.ledger()
    assert other.datasets() == ["trips"]
    made: list[veil.Release[Any]] = []
    plain = Store.read

    def then_charged(store: Store, work: Any) -> Any:
        found = plain(store, work)
        if store is other._store and len(made) < 8:
            made.append(release(dataset))
        return found

    monkeypatch.setattr(Store, "read", then_charged)
    for _ in range(3):
        made.clear()
        assert other.verify().datasets == ["trips"]
        assert len(made) >= 3
        made.clear()
        kept = other.export()["datasets"]["trips"]
        assert len(made) >= 3
        assert len(kept["chain"]) == kept["entries"]


def test_nothing_waits_while_a_ledger_is_verified(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A file cannot be written to while it is read: so it is not being read while entries are replayed."""
    dataset = new_file(folder).ledger().open("trips", epsilon=1)
    release(dataset)
    plain = Replay.step
    charges: list[object] = []

    def charging(replay: Replay, row: Any) -> None:
        if not charges:
            charges.append(release(pickle.loads(pickle.dumps(dataset))))
        plain(replay, row)

    monkeypatch.setattr(Replay, "step", charging)
    place = veil.Ledger(dataset._store.address)
    assert place.verify().datasets == ["trips"]
    assert dataset.spent.epsilon == 0.2
