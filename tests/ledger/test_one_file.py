"""A ledger that is a file: one name, all charges in it, readable by those who may only read."""

from __future__ import annotations

import multiprocessing
import os
import shutil
import sqlite3
import stat
from pathlib import Path

import pytest

import veil
from tests.ledger.places import Place, new_file, release
from tests.ledger.points import watching
from tests.ledger.workers import PATIENCE
from veil.errors import InvalidArgument, LedgerCorrupt, LedgerUnavailable
from veil.ledger.store import is_mounted


@pytest.fixture
def place(folder: Path) -> Place:
    return new_file(folder)


def path_of(place: Place) -> Path:
    return Path(place.url.removeprefix("sqlite:///"))


def test_a_second_name_of_the_file_is_refused(place: Place, folder: Path) -> None:
    """Files that SQLite writes beside a ledger have its name: under two names there would be two budgets."""
    dataset = place.ledger().open("trips", epsilon=1)
    os.link(path_of(place), folder / "second.db")
    for ledger in (place.ledger(), veil.Ledger(folder / "second.db")):
        with pytest.raises(LedgerUnavailable, match="2 names"):
            ledger.dataset("trips")
        with pytest.raises(LedgerUnavailable, match="2 names"):
            ledger.open("grades", epsilon=1)
    with pytest.raises(LedgerUnavailable, match="2 names"):
        release(dataset)
    (folder / "second.db").unlink()
    release(dataset)
    assert dataset.spent.epsilon == 0.1


def test_a_symbolic_link_is_the_file_itself(place: Place, folder: Path) -> None:
    dataset = place.ledger().open("trips", epsilon=1)
    (folder / "other.db").symlink_to(path_of(place))
    release(veil.Ledger(folder / "other.db").dataset("trips"))
    release(dataset)
    assert dataset.spent.epsilon == 0.2


def test_a_file_that_is_mounted_on_its_own(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """As containers mount one: it may have another name elsewhere. The list is /proc/self/mountinfo."""
    file = tmp_path / "a budget.db"
    file.touch()
    mounts = tmp_path / "mountinfo"
    mounts.write_text(
        "22 1 0:21 / /proc rw,nosuid shared:5 - proc proc rw\n"
        f"500 22 8:1 /budget {str(file).replace(' ', chr(92) + '040')} rw - ext4 /dev/sda1 rw\n"
        f"501 22 8:1 /folder {tmp_path} rw - ext4 /dev/sda1 rw\n"
    )
    assert is_mounted(file, str(mounts))
    assert not is_mounted(tmp_path / "another.db", str(mounts))
    assert not is_mounted(file)
    assert not is_mounted(file, str(tmp_path / "none"))
    monkeypatch.setattr("veil.ledger.store.is_mounted", lambda found: is_mounted(found, str(mounts)))
    with pytest.raises(LedgerUnavailable, match="mounted on its own"):
        veil.Ledger(file).open("trips", epsilon=1)


def _charge_until(url: str, point: str, charged: str) -> None:
    dataset = veil.Ledger(url).dataset("trips")
    for _ in range(3):
        release(dataset)
    Path(charged).write_text(str(dataset.spent.epsilon))

    def reach(now: str, _: object) -> None:
        if now == point:
            os.kill(os.getpid(), 9)

    with watching(reach):
        release(dataset)


@pytest.mark.parametrize(
    "point", ["reserve: row written", "reserve: commit", "reserve: committed", "draw: made"]
)
def test_a_copy_of_the_file_alone_has_every_charge(
    place: Place, folder: Path, tmp_path: Path, point: str
) -> None:
    """After a kill, whatever is beside the file is left behind: what was acknowledged is in it."""
    place.ledger().open("trips", epsilon=1)
    context = multiprocessing.get_context("fork")
    told = tmp_path / "charged"
    process = context.Process(target=_charge_until, args=(place.url, point, str(told)))
    process.start()
    process.join(PATIENCE)
    assert process.exitcode == -9
    moved = folder / "moved.db"
    shutil.copyfile(path_of(place), moved)
    for beside in folder.glob("*-*"):
        assert not beside.name.endswith(("-wal", "-shm"))
    spent = veil.Ledger(moved).dataset("trips").spent.epsilon
    assert told.read_text() == "0.3"
    assert spent == (0.4 if point in ("reserve: committed", "draw: made") else 0.3)
    assert veil.Ledger(moved).verify().datasets == ["trips"]


def test_files_with_a_write_ahead_log_get_rid_of_it(place: Place) -> None:
    """As 0.1 made them; charges that were only in the log are in the file afterwards."""
    dataset = place.ledger().open("trips", epsilon=1)
    release(dataset)
    dataset._store.close()
    with sqlite3.connect(path_of(place)) as connection:
        assert connection.execute("PRAGMA journal_mode=WAL").fetchone() == ("wal",)
        connection.execute("UPDATE veil_ledger SET value = value")
    connection.close()
    release(dataset)
    dataset._store.close()
    # Bytes 18 and 19 of the header: 1 stands for a rollback journal, 2 for a log.
    assert path_of(place).read_bytes()[18:20] == b"\1\1"
    assert dataset.spent.epsilon == 0.2


def test_looking_changes_nothing(place: Place, folder: Path) -> None:
    ledger = place.ledger()
    release(ledger.open("trips", epsilon=1))
    ledger._store.close()
    before = {path.name: path.read_bytes() for path in folder.iterdir()}
    path_of(place).chmod(0o400)
    other = place.ledger()
    assert other.datasets() == ["trips"]
    assert other.dataset("trips").spent.epsilon == 0.1
    assert len(other.dataset("trips").entries()) == 3
    assert other.verify(other.export()).datasets == ["trips"]
    assert {path.name: path.read_bytes() for path in folder.iterdir()} == before


@pytest.mark.skipif(os.geteuid() != 0, reason="to become another user takes root")
def test_an_auditor_who_may_only_read(place: Place, folder: Path) -> None:
    """Another user, who can write neither to the file nor to the folder."""
    ledger = place.ledger()
    release(ledger.open("trips", epsilon=1))
    folder.chmod(0o755)
    for path in folder.iterdir():
        path.chmod(0o644)

    def audit() -> None:
        os.setuid(65534)
        found = veil.Ledger(place.url)
        assert found.verify().datasets == ["trips"]
        assert found.dataset("trips").spent.epsilon == 0.1
        with pytest.raises(LedgerUnavailable, match="cannot be written to"):
            release(found.dataset("trips"))

    worker = multiprocessing.get_context("fork").Process(target=audit)
    worker.start()
    worker.join(PATIENCE)
    assert worker.exitcode == 0


def test_backup(place: Place, folder: Path) -> None:
    ledger = place.ledger()
    dataset = ledger.open("trips", epsilon=1)
    release(dataset)
    ledger.backup(folder / "copy.db")
    assert stat.S_IMODE((folder / "copy.db").stat().st_mode) == 0o600
    copied = veil.Ledger(folder / "copy.db")
    assert copied.export()["datasets"] == ledger.export()["datasets"]
    assert copied.verify(ledger.export()).datasets == ["trips"]
    with pytest.raises(veil.errors.OutputExists):
        ledger.backup(folder / "copy.db")
    with pytest.raises(InvalidArgument, match="folder"):
        ledger.backup(folder / "none" / "copy.db")
    # What was charged since is missing in the copy, which this machine notices.
    release(dataset)
    with pytest.raises(LedgerCorrupt, match="this machine has seen 5"):
        release(copied.dataset("trips"))


def test_backup_while_others_charge(place: Place, folder: Path) -> None:
    ledger = place.ledger()
    dataset = ledger.open("trips", epsilon=1)
    release(dataset)

    def reach(point: str, _: object) -> None:
        if point == "reserve: committed":
            ledger.backup(folder / "copy.db")

    with watching(reach):
        release(dataset)
    assert veil.Ledger(folder / "copy.db").dataset("trips").spent.epsilon == 0.2
