"""Many processes and threads share a budget: never a charge too many, never one lost."""

from __future__ import annotations

import multiprocessing
import os
import pickle
import threading
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

import veil
from tests.ledger.places import Place, kinds, new_file, release
from tests.ledger.workers import at_once, charge_many
from veil.errors import BudgetExceeded, VeilError


def race(place: Place, processes: int, times: int, allowed: int) -> None:
    """So many processes try so often; exactly as many succeed as the budget holds."""
    ledger = place.ledger()
    dataset = ledger.open("trips", epsilon=f"{allowed / 10:g}")
    said, took = at_once(processes, charge_many, (place.url, "trips", times))
    assert sum(made for made, _ in said) == allowed
    assert sum(refused for _, refused in said) == processes * times - allowed
    assert dataset.spent.epsilon == dataset.budget.epsilon
    assert str(dataset.spent.epsilon) == f"{allowed / 10:g}"
    assert dataset.remaining.epsilon == 0
    assert kinds(dataset).count("reserve") == kinds(dataset).count("confirm") == allowed
    assert ledger.verify() == ["trips"]
    print(f"{place.kind}: {processes} x {times}, {allowed} allowed: {took:.1f} s")


def test_eight_processes(place: Place) -> None:
    race(place, 8, 10, 50)


@pytest.mark.slow
def test_sixty_four_processes(place: Place) -> None:
    race(place, 64, 50, 1_000)


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
    assert ledger.verify() == ["trips"]


def _child(dataset: veil.ledger.dataset.Dataset, times: int) -> None:
    for _ in range(times):
        release(dataset)


def _forked(dataset: veil.ledger.dataset.Dataset, times: int) -> Any:
    worker = multiprocessing.get_context("fork").Process(target=_child, args=(dataset, times))
    worker.start()
    return worker


def test_fork_after_use(place: Place) -> None:
    """The parent has used its connection; parent, child and grandchild go on together."""
    ledger = place.ledger()
    dataset = ledger.open("trips", epsilon=10)
    release(dataset)
    workers = [_forked(dataset, 5) for _ in range(3)]
    for _ in range(5):
        release(dataset)
    for worker in workers:
        worker.join(timeout=60)
        assert worker.exitcode == 0
    release(dataset)
    assert dataset.spent.epsilon == 2.2
    assert ledger.verify() == ["trips"]


def test_a_parent_that_leaves_early(place: Place) -> None:
    """A child goes on after its parent has let go, while strangers come and go: nothing gets lost.

    SQLite's locks belong to a process and are not inherited: a child with its parent's connections would
    believe that it holds them.
    """
    ledger = place.ledger()
    dataset = ledger.open("trips", epsilon=100)
    release(dataset)
    workers = [_forked(dataset, 30) for _ in range(2)]
    ledger._store.close()
    strangers = 0
    while any(worker.is_alive() for worker in workers):
        release(place.ledger().dataset("trips"))
        strangers += 1
    assert [worker.exitcode for worker in workers] == [0, 0]
    assert kinds(place.ledger().dataset("trips")).count("reserve") == 61 + strangers
    assert place.ledger().verify() == ["trips"]


def test_fork_while_threads_work(place: Place) -> None:
    """No lock of another thread is left closed in the child."""
    ledger = place.ledger()
    dataset = ledger.open("trips", epsilon=1_000)
    release(dataset)
    ended = threading.Event()

    def work() -> None:
        while not ended.is_set():
            release(dataset)

    thread = threading.Thread(target=work)
    thread.start()
    try:
        for _ in range(5):
            worker = _forked(dataset, 2)
            worker.join(timeout=60)
            assert worker.exitcode == 0
    finally:
        ended.set()
        thread.join()
    assert ledger.verify() == ["trips"]


def test_datasets_and_ledgers_travel(place: Place) -> None:
    ledger = place.ledger()
    dataset = ledger.open("trips", epsilon=1, parts=["north", "south"])
    for copy in (pickle.loads(pickle.dumps(dataset)), pickle.loads(pickle.dumps(ledger)).dataset("trips")):
        release(copy)
    north = pickle.loads(pickle.dumps(dataset.part("north")))
    release(north)
    assert dataset.spent.epsilon == 0.3
    assert dataset.part("south").spent.epsilon == 0.2
    with multiprocessing.get_context("spawn").Pool(1) as pool:
        pool.apply(release, (dataset,))
    assert dataset.spent.epsilon == 0.4


def _open(url: str, out: Any, begin: Any) -> None:
    begin.wait()
    try:
        veil.Ledger(url).open("trips", epsilon=1, by=str(os.getpid()))
        out.put("made")
    except VeilError as error:
        out.put("taken" if "taken" in str(error) else str(error))


def test_all_open_it_at_once(place: Place) -> None:
    """One makes the ledger and the dataset, the others hear that the name is taken."""
    said, _ = at_once(8, _open, (place.url,))
    assert sorted(said) == ["made"] + ["taken"] * 7
    assert place.ledger().verify() == ["trips"]
    assert len(place.ledger().dataset("trips").entries()) == 1


def test_looking_while_others_charge(place: Place) -> None:
    """Reads see one moment: what is verified or exported holds together, whatever happens beside it."""
    ledger = place.ledger()
    dataset = ledger.open("trips", epsilon=1_000)
    ended = threading.Event()

    def work() -> None:
        while not ended.is_set():
            release(dataset)

    threads = [threading.Thread(target=work) for _ in range(2)]
    for thread in threads:
        thread.start()
    try:
        other = place.ledger()
        for _ in range(30):
            assert other.verify() == ["trips"]
            kept = other.export()["datasets"]["trips"]
            assert len(kept["chain"]) == kept["entries"]
    finally:
        ended.set()
        for thread in threads:
            thread.join()


def test_nothing_waits_for_a_reader(folder: Path) -> None:
    """A reader of the file, even one in the middle of a look, does not hold up a charge."""
    import sqlite3

    place = new_file(folder)
    dataset = place.ledger().open("trips", epsilon=1)
    with sqlite3.connect(place.url.removeprefix("sqlite:///")) as reader:
        reader.execute("BEGIN")
        reader.execute("SELECT count(*) FROM veil_ledger_entries").fetchall()
        release(dataset)
        reader.rollback()
    reader.close()
    assert dataset.spent.epsilon == 0.1
