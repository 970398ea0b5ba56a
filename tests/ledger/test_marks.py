"""What a machine has seen of a ledger: entries cannot vanish unnoticed, and a lawful restore is recorded."""

from __future__ import annotations

import fcntl
import os
import shutil
import stat
from pathlib import Path

import pytest

import veil
from tests.ledger.places import NEAR, Elsewhere, Place, kinds, new_file, release
from veil.core.state import state_folder
from veil.errors import BudgetExceeded, InvalidArgument, LedgerCorrupt
from veil.ledger.head import Head
from veil.ledger.history import BudgetHistory
from veil.ledger.marks import Marks, _locked


def path_of(place: Place) -> Path:
    return Path(place.url.removeprefix("sqlite:///"))


@pytest.fixture
def place(folder: Path) -> Place:
    return new_file(folder)


def test_set_back_while_the_process_lives(
    place: Place, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Also where no mark can be kept on the disk: the process itself remembers."""
    monkeypatch.setenv("VEIL_STATE", "/dev/null/nowhere")
    assert state_folder("ledgers") is None
    dataset = place.ledger().open("trips", epsilon=1)
    release(dataset)
    shutil.copyfile(path_of(place), folder / "old.db")
    release(dataset)
    shutil.copyfile(folder / "old.db", path_of(place))
    with pytest.raises(LedgerCorrupt, match="3 entries, though this machine has seen 5"):
        release(dataset)
    assert "this machine has seen 5" in dataset.set_back
    # Nobody else can know.
    assert place.ledger().dataset("trips").set_back == ""


def test_set_back_between_processes(place: Place, folder: Path, elsewhere: Elsewhere) -> None:
    release(place.ledger().open("trips", epsilon=1))
    place.ledger().backup(folder / "old.db")
    release(place.ledger().dataset("trips"))
    shutil.copyfile(folder / "old.db", path_of(place))
    fresh = place.ledger()
    for attempt in (
        lambda: release(fresh.dataset("trips")),
        lambda: fresh.dataset("trips").raise_budget(epsilon=5, why="more"),
        lambda: fresh.verify(),
    ):
        with pytest.raises(LedgerCorrupt, match="this machine has seen 5"):
            attempt()
    # To look is allowed, and says so.
    assert fresh.dataset("trips").spent.epsilon == 0.1
    elsewhere()
    assert place.ledger().verify().datasets == ["trips"]


def test_another_history_of_the_same_length(place: Place, folder: Path, elsewhere: Elsewhere) -> None:
    release(place.ledger().open("trips", epsilon=1))
    place.ledger().backup(folder / "fork.db")
    release(place.ledger().dataset("trips"))
    seen = state_folder()
    elsewhere()
    for _ in range(2):
        release(veil.Ledger(folder / "fork.db").dataset("trips"))
    shutil.copyfile(folder / "fork.db", path_of(place))
    assert seen is not None
    elsewhere_state = state_folder()
    assert elsewhere_state != seen
    with pytest.MonkeyPatch.context() as back:
        back.setenv("VEIL_STATE", str(seen))
        with pytest.raises(LedgerCorrupt, match="another entry 5 than this machine has seen"):
            release(place.ledger().dataset("trips"))


def test_a_lawful_restore_is_recorded_and_paid_for(place: Place, folder: Path) -> None:
    ledger = place.ledger()
    dataset = ledger.open("trips", epsilon=1, adjacency=NEAR, parts=["north", "south"])
    release(dataset)
    release(dataset.part("south"))
    ledger.backup(folder / "monday.db")
    heads = ledger.export(heads_only=True)
    for part in ("north", "north", "south"):
        release(dataset.part(part))
    later = ledger.export(heads_only=True)
    shutil.copyfile(folder / "monday.db", path_of(place))
    restored = place.ledger().dataset("trips")
    with pytest.raises(LedgerCorrupt, match="accept-restore"):
        release(restored)
    restored.accept_restore(why="a disk failed", by="officer")
    assert kinds(restored)[-1] == "restore"
    # What was spent in the lost entries counts: in each part as much as this machine had seen.
    assert restored.part("north").spent.epsilon == 0.3
    assert restored.part("south").spent.epsilon == 0.3
    assert restored.set_back == ""
    release(restored)
    assert place.ledger().verify(heads).datasets == ["trips"]
    # Heads of what is lost are accounted for by the restore, too.
    assert place.ledger().verify(later).datasets == ["trips"]
    shown = [
        moment.to_dict() for moment in BudgetHistory.of(restored).moments if moment.entry.kind == "restore"
    ]
    assert (shown[0]["what"], shown[0]["by"]) == ("a disk failed", "officer")
    with pytest.raises(InvalidArgument, match="seen and that are gone"):
        restored.accept_restore(why="again")


def test_a_restore_does_not_give_the_budget_back(place: Place, folder: Path) -> None:
    ledger = place.ledger()
    dataset = ledger.open("trips", epsilon="0.3")
    ledger.backup(folder / "empty.db")
    for _ in range(3):
        release(dataset)
    shutil.copyfile(folder / "empty.db", path_of(place))
    restored = place.ledger().dataset("trips")
    restored.accept_restore(why="a disk failed")
    assert restored.remaining.epsilon == 0
    with pytest.raises(BudgetExceeded):
        release(restored)


@pytest.mark.slow
def test_long_lists_of_parts_are_restored_in_full(place: Place, folder: Path) -> None:
    """Of which an entry has only the hash."""
    names = [f"{number:0>190}" for number in range(100)]
    ledger = place.ledger()
    dataset = ledger.open("trips", epsilon=1, parts=names)
    for name in names[:20]:
        release(dataset.part(name))
    assert max(len(entry.body) for entry in dataset.entries()[1:]) < 4_000
    ledger.backup(folder / "old.db")
    for name in names[:25]:
        release(dataset.part(name))
    assert ledger.verify().datasets == ["trips"]
    assert dataset.part(names[0]).spent.epsilon == 0.2
    shutil.copyfile(folder / "old.db", path_of(place))
    restored = place.ledger().dataset("trips")
    restored.accept_restore(why="a disk failed")
    assert restored.part(names[0]).spent.epsilon == 0.2
    assert restored.part(names[24]).spent.epsilon == 0.1
    assert place.ledger().verify().datasets == ["trips"]


def test_marks_only_move_forward(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("VEIL_STATE", str(tmp_path / "state"))
    heads = [
        Head("ledger", "trips", number, f"{number:0>64}", {"x": "y" * 10 * (9 - number)}) for number in (5, 7)
    ]
    for mine in (Marks(), Marks()):
        mine.note(heads[1])
        mine.note(heads[0])
        assert Marks().seen("ledger", "trips") == heads[1]
    Marks().note(heads[0], back=True)
    assert Marks().seen("ledger", "trips") == heads[0]
    assert Marks().seen("ledger", "grades") is None
    kept = [path for path in (tmp_path / "state").rglob("*") if path.is_file()]
    assert [stat.S_IMODE(path.stat().st_mode) for path in kept] == [0o600]
    assert stat.S_IMODE((tmp_path / "state").stat().st_mode) == 0o700
    # What cannot be read, as after a power failure, is no mark.
    kept[0].write_text("{")
    assert Marks().seen("ledger", "trips") is None
    monkeypatch.setenv("VEIL_STATE", "")
    with pytest.raises(InvalidArgument, match="VEIL_STATE"):
        Marks().seen("ledger", "trips")


def test_the_usual_place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("VEIL_STATE")
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    assert state_folder("ledgers") == tmp_path / "state" / "veil" / "ledgers"
    monkeypatch.delenv("XDG_STATE_HOME")
    monkeypatch.setenv("HOME", str(tmp_path))
    assert state_folder() == tmp_path / ".local" / "state" / "veil"


def test_a_fork_in_the_middle_of_a_note_leaves_no_lock(tmp_path: Path) -> None:
    """The child has the file open as well: a lock that is only closed would be its own for good."""
    file = tmp_path / "mark"
    read, write = os.pipe()
    with _locked(file):
        child = os.fork()
        if child == 0:
            os.read(read, 1)
            os._exit(0)
    handle = os.open(file, os.O_RDWR)
    try:
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
    finally:
        os.write(write, b"x")
        os.waitpid(child, 0)
        for one in (handle, read, write):
            os.close(one)
