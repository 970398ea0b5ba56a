"""A full disk, a file that cannot be written or was damaged: a clear error, and nothing lost."""

from __future__ import annotations

import multiprocessing
import os
import pwd
import random
import resource
import shutil
import signal
import sqlite3
import subprocess
import tempfile
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

import veil
from tests.ledger.places import Elsewhere, kinds, new_file, release
from tests.ledger.points import POINTS, watching
from tests.ledger.workers import PATIENCE
from veil.errors import LedgerCorrupt, LedgerUnavailable, PrivacyWarning, VeilError


def in_child(work: Callable[[], object]) -> str:
    """What the work says in a process of its own: its result, or the name and the text of its error."""
    context = multiprocessing.get_context("fork")
    out = context.Queue()

    def run() -> None:
        try:
            out.put(str(work()))
        except BaseException as error:
            out.put(f"{type(error).__name__}: {error}")

    worker = context.Process(target=run, daemon=True)
    worker.start()
    said: str = out.get(timeout=PATIENCE)
    worker.join(PATIENCE)
    return said


def until_refused(dataset: veil.ledger.dataset.Dataset) -> int:
    """Release until the ledger cannot be written to; how often it went well."""
    for made in range(100_000):
        try:
            release(dataset)
        except LedgerUnavailable as error:
            if "Nothing was charged" not in str(error):
                raise
            return made
        except veil.errors.PrivacyWarning:
            # Charged and drawn, but there was no room to note it.
            return made + 1
    raise AssertionError("never refused")


def reserved(dataset: veil.ledger.dataset.Dataset) -> int:
    return sum(entry.kind == "reserve" for entry in dataset.entries())


@contextmanager
def small_disk(size: str) -> Iterator[Path]:
    place = tempfile.mkdtemp(prefix="veil-disk-")
    call = ["mount", "-t", "tmpfs", "-o", f"size={size}", "veil-test", place]
    try:
        if shutil.which("mount") is None or subprocess.run(call, capture_output=True, check=False).returncode:
            pytest.skip("no small file system can be mounted here")
        try:
            yield Path(place)
        finally:
            subprocess.run(["umount", "-l", place], capture_output=True, check=False)
    finally:
        Path(place).rmdir()


@pytest.mark.slow
def test_a_full_disk() -> None:
    with small_disk("512k") as disk:
        dataset = new_file(disk).ledger().open("trips", epsilon=100_000)
        (disk / "other").write_bytes(b"x" * 200_000)
        made = until_refused(dataset)
        with pytest.raises(LedgerUnavailable, match="disk"):
            dataset.reserve(epsilon=0.1, description={"name": "x" * 3_000})
        # What was charged is there, and it can be read while the disk is full.
        assert made > 5
        assert reserved(dataset) == made
        (disk / "other").unlink()
        release(dataset)
        assert reserved(dataset) == made + 1
        assert veil.Ledger(dataset._store.address).verify().datasets == ["trips"]
        dataset._store.close()


def test_a_ledger_cannot_be_made_on_a_full_disk() -> None:
    with small_disk("512k") as disk:
        (disk / "other").write_bytes(b"x" * 500_000)
        place = new_file(disk)
        with pytest.raises(LedgerUnavailable, match="disk"):
            place.ledger().open("trips", epsilon=1)
        (disk / "other").unlink()
        with pytest.raises(LedgerUnavailable):
            place.ledger().dataset("trips")
        ledger = place.ledger()
        ledger.open("trips", epsilon=1)
        assert ledger.verify().datasets == ["trips"]
        ledger._store.close()


@pytest.mark.slow
def test_a_limit_on_the_size_of_files(folder: Path) -> None:
    """The same without a file system of its own: the process may not write beyond some size."""
    place = new_file(folder)
    ledger = place.ledger()
    dataset = ledger.open("trips", epsilon=100_000)
    release(dataset)

    def work() -> int:
        signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
        resource.setrlimit(resource.RLIMIT_FSIZE, (300_000, 300_000))
        return until_refused(dataset)

    made = int(in_child(work))
    assert made > 5
    assert reserved(dataset) == made + 1
    assert ledger.verify().datasets == ["trips"]
    release(dataset)


def as_nobody(work: Callable[[], object]) -> str:
    """As a user who may not write."""

    def run() -> object:
        if os.geteuid() == 0:
            try:
                os.seteuid(pwd.getpwnam("nobody").pw_uid)
            except (KeyError, OSError):
                return "skipped"
        return work()

    said = in_child(run)
    if said == "skipped":
        pytest.skip("there is no other user")
    return said


@pytest.mark.slow
def test_a_folder_that_cannot_be_written(tmp_path_factory: pytest.TempPathFactory) -> None:
    release(new_file(tmp_path_factory.mktemp("warm")).ledger().open("warm", epsilon=1))
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        place = new_file(folder)
        ledger = place.ledger()
        dataset = ledger.open("trips", epsilon=1)
        release(dataset)
        file = Path(place.url.removeprefix("sqlite:///"))
        other = new_file(folder)
        ledger._store.close()
        for path in folder.iterdir():
            path.chmod(0o444)
        folder.chmod(0o555)
        try:
            before = file.read_bytes()
            for said in (
                as_nobody(lambda: release(place.ledger().dataset("trips"))),
                as_nobody(lambda: place.ledger().open("grades", epsilon=1)),
                as_nobody(lambda: other.ledger().open("grades", epsilon=1)),
            ):
                assert said.startswith("LedgerUnavailable: ledger:"), said
            assert file.read_bytes() == before
        finally:
            folder.chmod(0o755)
        # In a folder that may be written to, a file that may not.
        folder.chmod(0o777)
        file.chmod(0o444)
        said = as_nobody(lambda: release(place.ledger().dataset("trips")))
        assert said.startswith("LedgerUnavailable: ledger:"), said
        for beside in folder.glob(f"{file.name}-*"):
            beside.unlink()
        file.chmod(0o600)
        folder.chmod(0o700)
        assert ledger.verify().datasets == ["trips"]
        assert reserved(dataset) == 1
        release(dataset)


def damaged(content: bytes, dice: random.Random) -> bytes:
    """Cut short, with bytes changed, with a stretch overwritten."""
    made = bytearray(content)
    match dice.randrange(4):
        case 0:
            del made[dice.randrange(len(made)) :]
        case 1:
            for _ in range(dice.randrange(1, 40)):
                made[dice.randrange(len(made))] = dice.randrange(256)
        case 2:
            place = dice.randrange(len(made))
            made[place] ^= 1 << dice.randrange(8)
        case 3:
            place = dice.randrange(len(made))
            made[place : place + 600] = dice.randbytes(len(made[place : place + 600]))
    return bytes(made)


def whole(ledger: veil.Ledger) -> Any:
    return {name: kept["chain"] for name, kept in ledger.export()["datasets"].items()}


@pytest.mark.slow
@pytest.mark.parametrize("seed", [0, *(pytest.param(seed, marks=pytest.mark.slow) for seed in (1, 2, 3))])
def test_damaged_files(folder: Path, seed: int, elsewhere: Elsewhere) -> None:
    """Whatever happened to the file: an error of Veil's, or all that was there still is.

    What else may be: a file that is cut to nothing is an empty one, of which an export tells.
    """
    place = new_file(folder)
    ledger = place.ledger()
    trips = ledger.open("trips", epsilon=10, parts=["north", "south"])
    for _ in range(8):
        release(trips)
        release(trips.part("north"))
    release(ledger.open("grades", epsilon=1))
    kept, chains = ledger.export(heads_only=True), whole(ledger)
    ledger._store.close()
    file = Path(place.url.removeprefix("sqlite:///"))
    content, dice = file.read_bytes(), random.Random(seed)
    assert not list(folder.glob("*-wal"))
    caught = 0
    for _ in range(30):
        elsewhere()
        place = new_file(folder)
        Path(place.url.removeprefix("sqlite:///")).write_bytes(damaged(content, dice))
        try:
            found = place.ledger()
            found.verify(against=kept)
            assert whole(found) == chains
        except (LedgerCorrupt, LedgerUnavailable):
            caught += 1
        for attempt in (
            lambda ledger: ledger.datasets(),
            lambda ledger: ledger.dataset("trips").spent,
            lambda ledger: ledger.dataset("trips").entries(),
            lambda ledger: release(ledger.dataset("trips")),
            lambda ledger: ledger.open("new", epsilon=1),
        ):
            try:
                with warnings.catch_warnings():
                    # That a confirmation could not be noted is a warning: the release was charged and made.
                    warnings.simplefilter("ignore", PrivacyWarning)
                    attempt(place.ledger())
            except VeilError as error:
                if "\n" in str(error):
                    raise
    assert caught >= 10
    elsewhere()
    assert ledger.verify(against=kept).datasets == ["grades", "trips"]


INSIDE = [point for point in POINTS["sqlite"] if point.startswith(("reserve: ", "confirm: "))]


@pytest.mark.parametrize("again", [False, True], ids=["once", "from then on"])
def test_sqlite_fails_at_every_step(folder: Path, again: bool) -> None:
    """Inside the charge and the note of it: never a value without its charge, and what is said is true."""
    ledger, seen = new_file(folder).ledger(), []
    for point in (point for point in INSIDE if not point.endswith(": asked")):
        dataset = ledger.open(point.replace(":", ""), epsilon=1)
        failed: list[str] = []

        def fail(now: str, driver: object, *, at: str = point, done: list[str] = failed) -> None:
            if driver is not None and ((now == at and not done) or (done and again)):
                done.append(now)
                raise sqlite3.OperationalError("disk I/O error")

        out, said = None, ""
        with watching(fail), warnings.catch_warnings(record=True) as told:
            warnings.simplefilter("always")
            try:
                out = release(dataset)
            except LedgerUnavailable as error:
                said = str(error)
        assert failed[0] == point
        charged, noted = "reserve" in kinds(dataset), "confirm" in kinds(dataset)
        assert charged or out is None, point
        if out is None:
            stands = f"{dataset.name}/2 was written all the same, and stands. Nothing was released."
            assert said.endswith(stands if charged else "Nothing was charged."), point
        assert bool(told) == (out is not None and not noted), point
        seen.append((charged, noted, out is not None))
        assert dataset.name in ledger.verify().datasets
        release(dataset)
    # Before the commit nothing is charged, after it nothing is drawn unless the commit went well.
    first = INSIDE.index("reserve: committed") - 1
    assert seen[:first] == [(False, False, False)] * first
    assert seen[first] == (True, False, False)
    assert all(charged and made for charged, _, made in seen[first + 1 :])
