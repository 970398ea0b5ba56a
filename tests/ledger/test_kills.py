"""kill -9 at every point of a release: never a value without its charge, and the ledger holds."""

from __future__ import annotations

import json
import random
from pathlib import Path

import pytest

import veil
from tests.ledger.places import MOSTLY_IN_A_FILE, Place, kinds, release
from tests.ledger.points import POINTS
from tests.ledger.workers import KilledProcess, killed_at, pay_later, release_and_save
from veil.ledger.amounts import Amount

TENTH = Amount("0.1")


def unpaid(dataset: veil.ledger.dataset.Dataset, folder: Path) -> list[str]:
    """Values that were written, in their place or beside it, for which nothing was charged."""
    charged = {entry.number: entry.sha256 for entry in dataset.entries() if entry.kind == "reserve"}
    found = []
    for file in folder.iterdir():
        whole = file.suffix == ".json"
        written = file.read_text(encoding="utf-8")
        # A file that was not finished has another name than a whole one.
        assert written or not whole, file
        if written:
            paid = charged.get(json.loads(written)["entry"]["number"])
            if paid is None or (whole and veil.load(file).entry.sha256 not in ("", paid)):
                found.append(file.name)
    return found


def check_files(reached: list[str], folder: Path, dataset: veil.ledger.dataset.Dataset) -> None:
    """What got out: nothing, an empty file, a whole one under another name, or the release."""
    files = list(folder.iterdir())
    assert len(files) == ("file: begun" in reached), reached[-1]
    for file in files:
        in_place = "file: in place" in reached
        assert (file.name == f"{dataset.name} 2.json") == in_place, reached[-1]
        assert bool(file.read_bytes()) == ("file: written" in reached), reached[-1]
        if in_place:
            assert veil.load(file).entry == dataset.entries()[1].id


@pytest.mark.slow
@MOSTLY_IN_A_FILE
def test_killed_at_every_point(place: Place, folder: Path) -> None:
    """Up to the commit of the reservation nothing was charged or drawn; from there on the charge stands."""
    points, ledger = POINTS[place.kind], place.ledger()
    # Once more than there are points: that process is not killed, and has passed them all.
    for last in range(len(points) + 1):
        name = f"{last}"
        dataset, values = ledger.open(name, epsilon=1), folder / name
        values.mkdir()
        reached = killed_at(last, release_and_save, place.url, name, values, trace=folder / "trace")
        assert reached == points[: last + 1]
        done = [kind for kind in ("reserve", "confirm") if f"{kind}: committed" in reached]
        assert kinds(dataset) == ["open", *done], reached[-1]
        assert dataset.spent.epsilon == TENTH * done.count("reserve"), reached[-1]
        assert done or "draw: asked" not in reached
        check_files(reached, values, dataset)
        assert unpaid(dataset, values) == [], reached[-1]
        assert name in ledger.verify().datasets
        # It goes on, and nobody waits for the process that was killed.
        release(dataset)
        assert kinds(dataset) == ["open", *done, "reserve", "confirm"], reached[-1]
        assert dataset.spent.epsilon == TENTH * (1 + done.count("reserve"))
    assert ledger.verify().datasets == sorted(ledger.datasets())


@pytest.mark.slow
def test_that_it_would_show(place: Place, folder: Path) -> None:
    """A release that is paid for after it was written: found, from when it is written until it is paid."""
    ledger = place.ledger()
    ledger.open("all", epsilon=1)
    (folder / "all").mkdir()
    points = killed_at(-1, pay_later, place.url, "all", folder / "all", trace=folder / "trace")
    shows = []
    ends = ("file: begun", "file: written", "file: in place", "reserve: commit", "reserve: committed")
    for point in ends:
        values = folder / point
        values.mkdir()
        dataset = ledger.open(point, epsilon=1)
        last = points.index(point)
        assert killed_at(last, pay_later, place.url, point, values, trace=folder / "trace")[-1] == point
        shows.append(len(unpaid(dataset, values)))
    assert shows == [0, 1, 1, 1, 0]


def several_killed(place: Place, folder: Path, number: int, dice: random.Random) -> None:
    """Four processes at once share a budget of six releases; each is killed at its own point, or never."""
    ledger, name, values = place.ledger(), f"trips {number}", folder / f"values {number}"
    dataset = ledger.open(name, epsilon="0.6")
    values.mkdir()
    processes = []
    for one in range(4):
        last = dice.randrange(3 * len(POINTS[place.kind]))
        trace = folder / f"trace {number} {one}"
        processes.append(KilledProcess.started(release_and_save, (place.url, name, values, 3), trace, last))
    reached = [point for process in processes for point in process.ended()]
    for kind in ("reserve", "confirm"):
        assert kinds(dataset).count(kind) == reached.count(f"{kind}: committed")
    assert dataset.spent.epsilon == TENTH * reached.count("reserve: committed")
    assert reached.count("draw: asked") <= reached.count("reserve: committed") <= 6
    assert len(list(values.glob("*.json"))) == reached.count("file: in place")
    assert unpaid(dataset, values) == []


def many_killed(place: Place, folder: Path, count: int) -> None:
    dice = random.Random(2026)
    for number in range(count):
        several_killed(place, folder, number, dice)
    ledger = place.ledger()
    release(ledger.open("after", epsilon=1))
    assert len(ledger.verify().entries) == count + 1


@MOSTLY_IN_A_FILE
def test_several_killed_at_once(place: Place, folder: Path) -> None:
    many_killed(place, folder, 2)


# A fault that shows in one round of ten is missed by 30 rounds with a probability of 4 %, by 125 never.
@pytest.mark.parametrize(
    "rounds", [pytest.param(30, marks=pytest.mark.slow), pytest.param(125, marks=pytest.mark.evidence)]
)
def test_many_killed_at_once(place: Place, folder: Path, rounds: int) -> None:
    many_killed(place, folder, rounds)
