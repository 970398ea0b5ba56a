"""kill -9 at every point of all other writes, and in the middle of a commit: all is there, or nothing."""

from __future__ import annotations

import multiprocessing
import os
import resource
import signal
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import veil
from tests.ledger.places import MOSTLY_IN_A_FILE, NEAR, NOISE, Place, kinds, new_file, new_schema, release
from tests.ledger.points import watching
from tests.ledger.workers import PATIENCE, killed_at
from tests.tables.servers import Server
from veil.errors import InvalidArgument, LedgerUnavailable

pytestmark = pytest.mark.slow

SAID = {"name": "test"}


def _of_a_batch(dataset: veil.ledger.dataset.Dataset) -> Callable[[], object]:
    batch = dataset.batch([NOISE, NOISE], adjacency=NEAR)
    return lambda: release(batch)


# What is done to a dataset; the entries that it makes have the names of the points.
ACTS: dict[str, Callable[[veil.ledger.dataset.Dataset], Callable[[], object]]] = {
    "raise": lambda dataset: lambda: dataset.raise_budget(epsilon=2, why="approved"),
    "close": lambda dataset: lambda: dataset.close(why="ended"),
    "batch": lambda dataset: lambda: dataset.batch([NOISE, NOISE], adjacency=NEAR),
    "a release of a batch": _of_a_batch,
}
MADE = {
    "raise": ["raise"],
    "close": ["close"],
    "batch": ["reserve", "confirm"],
    "a release of a batch": ["use", "confirm"],
}


# The others are written by the same functions as one of these.
SLOW = {"close", "batch"}


@MOSTLY_IN_A_FILE
@pytest.mark.parametrize(
    "act", [pytest.param(act, marks=[pytest.mark.slow] if act in SLOW else []) for act in ACTS]
)
def test_killed_at_every_point(place: Place, folder: Path, act: str) -> None:
    ledger = place.ledger()
    last, ended = 0, False
    while not ended:
        dataset = ledger.open(f"{last}", epsilon=1)
        work = ACTS[act](dataset)
        before = kinds(dataset)
        reached = killed_at(last, work, trace=folder / "trace")
        ended = len(reached) == last
        done = [kind for kind in MADE[act] if f"{kind}: committed" in reached]
        assert kinds(dataset) == [*before, *done], reached[-1]
        assert dataset.name in ledger.verify()
        last += 1
    assert done == MADE[act]


@MOSTLY_IN_A_FILE
def test_killed_while_it_is_made(new_place: Callable[[], Place], folder: Path) -> None:
    """No ledger, an empty one, or one with its dataset; what is not there can be made again."""
    last, ended = 0, False
    while not ended:
        place = new_place()
        ledger = place.ledger()
        reached = killed_at(
            last, lambda place=place: place.ledger().open("trips", epsilon=1), trace=folder / "trace"
        )
        ended = len(reached) == last
        if "make: committed" in reached:
            there = ["trips"] if "open: committed" in reached else []
            assert ledger.datasets() == ledger.verify() == there, reached[-1]
        else:
            with pytest.raises(LedgerUnavailable, match="veil ledger open"):
                ledger.datasets()
        if "open: committed" in reached:
            with pytest.raises(InvalidArgument, match="taken"):
                ledger.open("trips", epsilon=5)
        else:
            ledger.open("trips", epsilon=1)
        assert ledger.dataset("trips").budget.epsilon == 1
        assert ledger.verify() == ["trips"]
        last += 1
    assert "open: committed" in reached


# What SQLite writes of a page into its log: a head, and the page.
HEAD, PAGE = 24, 4096


def _charge_into(place: Place, room: int | None, told: Any) -> None:
    """Charge twice; the second time, the process is killed when its log has grown by more than the room."""
    dataset = place.ledger().dataset("trips")
    dataset.reserve(epsilon=0.1, description=SAID)
    log = Path(place.url.removeprefix("sqlite:///") + "-wal")
    before = log.stat().st_size
    if room is not None:
        signal.signal(signal.SIGXFSZ, signal.SIG_DFL)
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
        resource.setrlimit(resource.RLIMIT_FSIZE, (before + room, before + room))
    dataset.reserve(epsilon=0.1, description=SAID)
    told.put(log.stat().st_size - before)


def _charged_into(place: Place, room: int | None) -> tuple[int | None, Any]:
    context = multiprocessing.get_context("fork")
    told = context.SimpleQueue()
    process = context.Process(target=_charge_into, args=(place, room, told), daemon=True)
    process.start()
    process.join(PATIENCE)
    return process.exitcode, None if told.empty() else told.get()


def test_killed_in_the_middle_of_a_commit(folder: Path) -> None:
    """A log that was cut at any place before its end holds nothing of the charge; one that is whole, all."""
    place = new_file(folder)
    place.ledger().open("trips", epsilon=1)
    code, grows = _charged_into(place, None)
    assert code == 0
    assert grows % (HEAD + PAGE) == 0
    begins = range(0, grows, HEAD + PAGE)
    rooms = [begin + part for begin in begins for part in (0, HEAD // 2, HEAD + PAGE // 2)]
    for room in (*rooms, grows - 1, grows):
        place = new_file(folder)
        ledger = place.ledger()
        dataset = ledger.open("trips", epsilon=1)
        whole = room == grows
        assert _charged_into(place, room) == ((0, grows) if whole else (-signal.SIGXFSZ, None)), room
        assert kinds(dataset) == ["open", "reserve", *["reserve"] * whole], room
        assert ledger.verify() == ["trips"]
        dataset.reserve(epsilon=0.1, description=SAID)
        assert dataset.spent.epsilon == (0.3 if whole else 0.2)


@pytest.mark.xdist_group("postgres")
def test_killed_before_the_answer_to_a_commit(postgres: Server, folder: Path) -> None:
    """The server has been told to commit: it does, though nobody is there any more to hear of it."""
    place = new_schema(postgres)
    dataset = place.ledger().open("trips", epsilon=1)

    def reach(point: str, connection: Any) -> None:
        if point == "reserve: commit":
            server = connection.connection.driver_connection.pgconn
            server.send_query(b"COMMIT")
            assert server.flush() == 0
            os.kill(os.getpid(), signal.SIGKILL)

    def run() -> None:
        with watching(reach):
            release(dataset)

    process = multiprocessing.get_context("fork").Process(target=run, daemon=True)
    process.start()
    process.join(PATIENCE)
    assert process.exitcode == -signal.SIGKILL
    # Until nobody writes any more.
    place.sql("LOCK TABLE veil_ledger_entries IN SHARE MODE")
    assert kinds(dataset) == ["open", "reserve"]
    assert dataset.spent.epsilon == 0.1
    release(dataset)
    assert place.ledger().verify() == ["trips"]
