"""kill -9 and failures at every step of `veil release` with a ledger: charge, draw, write, confirm.

The steps are those that tests/ledger/points.py sees, whatever they are: a first run that nothing disturbs
lists them, and each of them is then tried. So no step is left out when the way of a release changes.
"""

from __future__ import annotations

import contextlib
import io
import json
from pathlib import Path

import pytest

import veil
from tests.ledger.places import MOSTLY_IN_A_FILE, Place, kinds
from tests.ledger.points import watching
from tests.ledger.workers import killed_at
from veil.cli.app import main
from veil.ledger.dataset import Dataset
from veil.ledger.history import BudgetHistory


def command(url: str, name: str, folder: str) -> int:
    """A release of the command line; its exit code."""
    table = Path(folder) / "grades.csv"
    with contextlib.redirect_stdout(io.StringIO()), contextlib.redirect_stderr(io.StringIO()):
        charged = ["--ledger", url, "--dataset", name, "-o", str(Path(folder) / f"{name}.json")]
        return main(["release", "vector", str(table), "--epsilon", "0.1", *charged])


@pytest.fixture
def work(folder: Path) -> Path:
    made = folder / "work"
    made.mkdir()
    (made / "grades.csv").write_text("grade,students\nA,31\nB,28\nC,39\n")
    return made


def steps(place: Place, work: Path) -> list[str]:
    """All points of a release that nothing disturbs, in order."""
    reached: list[str] = []
    place.ledger().open("whole", epsilon=1)
    with watching(lambda point, _: reached.append(point)):
        assert command(place.url, "whole", str(work)) == 0
    places = [
        reached.index(f"{point}") for point in ("reserve: committed", "draw: made", "file: in place")
    ] + [reached.index("confirm: asked"), reached.index("confirm: committed")]
    assert places == sorted(places)
    return reached


def results(work: Path, name: str) -> list[Path]:
    """Whole results of a release, under its name or under one that is not its own yet."""
    found = []
    for path in work.iterdir():
        if name in path.name and path.suffix != ".csv" and path.read_bytes().strip(b"\\0"):
            with contextlib.suppress(ValueError):
                json.loads(path.read_text().rstrip("\\0"))
                found.append(path)
    return found


def state(dataset: Dataset) -> str:
    return [moment.state for moment in BudgetHistory.of(dataset).moments if moment.entry.kind == "reserve"][
        -1
    ]


@pytest.mark.slow
@MOSTLY_IN_A_FILE
def test_killed_at_every_step(place: Place, work: Path, folder: Path) -> None:
    """Never a result without its charge; a charge that was not confirmed shows as one without a result."""
    points = steps(place, work)
    for number, point in enumerate(points):
        name = f"n{number}"
        dataset = place.ledger().open(name, epsilon=1)
        reached = killed_at(number, command, place.url, name, str(work), trace=folder / "trace")
        assert reached == points[: number + 1]
        charged = "reserve: committed" in reached
        confirmed = "confirm: committed" in reached
        assert kinds(dataset) == ["open", *["reserve"] * charged, *["confirm"] * confirmed], point
        found = results(work, name)
        assert charged or not found, point
        if "file: in place" in reached:
            assert veil.load(work / f"{name}.json").entry == dataset.entries()[1].id, point
        if charged:
            assert state(dataset) == ("released" if confirmed else "charged, no result"), point
        assert name in place.ledger().verify().datasets
    # What was left in the middle hinders nobody.
    assert command(place.url, "n0", str(work)) == 0


class Broken(OSError):
    """The disk, at some step."""


@pytest.mark.slow
@MOSTLY_IN_A_FILE
def test_failures_at_every_step_of_a_file(
    place: Place, work: Path, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A process that lives on keeps the result, or says why not; never is there one without a charge."""
    monkeypatch.setenv("VEIL_STATE", str(folder / "state"))
    points = [point for point in steps(place, work) if point.startswith(("file:", "draw: made"))]
    for number, point in enumerate(dict.fromkeys(points)):
        name = f"f{number}"
        dataset = place.ledger().open(name, epsilon=1)
        failed: list[str] = []

        def fail(now: str, _: object, *, at: str = point, done: list[str] = failed) -> None:
            if now == at and not done:
                done.append(now)
                raise Broken(28, "No space left on device")

        with watching(fail):
            code = command(place.url, name, str(work))
        assert failed == [point]
        charged = "reserve" in kinds(dataset)
        kept = [*results(work, name), *results(folder / "state", name)] if (folder / "state").exists() else []
        kept += [path for path in (folder / "state").rglob("*.json") if f'"{name}"' in path.read_text()]
        if not charged:
            assert (code not in (0, 7, 8), kept) == (True, []), point
        elif code in (0, 7):
            assert kept, point
        else:
            assert code == 8, point
            assert kinds(dataset) == ["open", "reserve"], point
            assert state(dataset) == "charged, no result"
        assert name in place.ledger().verify().datasets
