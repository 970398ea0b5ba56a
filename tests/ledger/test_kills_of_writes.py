"""kill -9 at every point of all other writes, and in the middle of a commit: all is there, or nothing."""

from __future__ import annotations

import multiprocessing
import os
import resource
import signal
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest

import veil
from tests.ledger.places import (
    MOSTLY_IN_A_FILE,
    NEAR,
    NOISE,
    Elsewhere,
    Place,
    kinds,
    new_file,
    new_schema,
    release,
)
from tests.ledger.points import watching
from tests.ledger.workers import PATIENCE, killed_at
from tests.tables.servers import Server
from veil.errors import InvalidArgument, LedgerUnavailable, VeilError
from veil.ledger.amounts import Amount

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
        assert dataset.name in ledger.verify().datasets
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
            assert ledger.datasets() == ledger.verify().datasets == there, reached[-1]
        else:
            with pytest.raises(LedgerUnavailable, match="veil ledger open"):
                ledger.datasets()
        if "open: committed" in reached:
            with pytest.raises(InvalidArgument, match="taken"):
                ledger.open("trips", epsilon=5)
        else:
            ledger.open("trips", epsilon=1)
        assert ledger.dataset("trips").budget.epsilon == 1
        assert ledger.verify().datasets == ["trips"]
        last += 1
    assert "open: committed" in reached


# Entries of the ledger that is torn: so many that its file is far longer than the journal of one charge.
MANY = 60


def _charge_into(place: Place, room: int) -> None:
    """Charge once. The process is killed when it writes to any file beyond the room: first that is the
    journal, which keeps what the pages were, and later, where there is room for it, a page of the ledger."""
    dataset = place.ledger().dataset("trips")
    signal.signal(signal.SIGXFSZ, signal.SIG_DFL)
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    resource.setrlimit(resource.RLIMIT_FSIZE, (room, room))
    dataset.reserve(epsilon=0.1, description=SAID)


def _charged_into(place: Place, room: int) -> int | None:
    process = multiprocessing.get_context("fork").Process(
        target=_charge_into, args=(place, room), daemon=True
    )
    process.start()
    process.join(PATIENCE)
    return process.exitcode


def test_killed_in_the_middle_of_a_commit(folder: Path, elsewhere: Elsewhere) -> None:
    """Torn at any place of the journal or of the file: nothing of the charge is there, and nothing else is
    lost. Of a torn file without its journal, nobody is told anything that does not hold together."""
    first = new_file(folder)
    dataset = first.ledger().open("trips", epsilon=100)
    for _ in range(MANY):
        dataset.reserve(epsilon=0.1, description=SAID)
    dataset._store.close()
    content = Path(first.url.removeprefix("sqlite:///")).read_bytes()
    seen = {"in the journal": 0, "in the file": 0}
    for room in range(100, len(content), 1_900):
        elsewhere()
        place = new_file(folder)
        file = Path(place.url.removeprefix("sqlite:///"))
        file.write_bytes(content)
        assert _charged_into(place, room) == -signal.SIGXFSZ, room
        torn = file.read_bytes() != content
        seen["in the file" if torn else "in the journal"] += 1
        alone = new_file(folder)
        Path(alone.url.removeprefix("sqlite:///")).write_bytes(file.read_bytes())
        with suppress(VeilError):
            alone.ledger().verify()
            # All pages may have been written: the charge is then there, though nobody was told.
            assert len(alone.ledger().dataset("trips").entries()) in (MANY + 1, MANY + 2)
        ledger = place.ledger()
        assert len(ledger.dataset("trips").entries()) == MANY + 1
        assert file.read_bytes() == content
        assert ledger.verify().datasets == ["trips"]
        ledger.dataset("trips").reserve(epsilon=0.1, description=SAID)
        assert ledger.dataset("trips").spent.epsilon == Amount("6.1")
    assert min(seen.values()) >= 3


@pytest.mark.xdist_group("postgres")
def test_killed_before_the_answer_to_a_commit(postgres: Server, folder: Path) -> None:
    """The server has been told to commit: it does, though nobody is there any more to hear of it."""
    place = new_schema(postgres)
    dataset = place.ledger().open("trips", epsilon=1)

    def reach(point: str, driver: Any) -> None:
        if point == "reserve: commit":
            server = driver.pgconn
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
    assert place.ledger().verify().datasets == ["trips"]
