"""Where a ledger may live, and that a password never shows."""

from __future__ import annotations

import os
import pickle
import sqlite3
import stat
import traceback
from pathlib import Path
from typing import Any

import pytest

import veil
from tests.ledger.clock import Clock
from tests.ledger.places import new_database, release
from tests.tables.servers import Server
from veil.errors import InvalidArgument, LedgerCorrupt, LedgerUnavailable, VeilError
from veil.ledger.address import Address

SECRET = "correct-horse"


def test_files_by_every_name(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(folder)
    names: list[Any] = [
        "sqlite:///plain.db",
        f"sqlite:///{folder}/absolute.db",
        "name.db",
        "name.sqlite",
        "NAME.SQLITE3",
        folder / "path.of.any.ending",
        "sqlite:///with%20space.db",
        "sqlite:///any.ending",
    ]
    for name in names:
        release(veil.Ledger(name).open("trips", epsilon=1))
        assert veil.Ledger(name).dataset("trips").spent.epsilon == 0.1
    made = {path.name for path in folder.iterdir() if not path.name.endswith("-journal")}
    assert made == {
        "plain.db",
        "absolute.db",
        "name.db",
        "name.sqlite",
        "NAME.SQLITE3",
        "path.of.any.ending",
        "with space.db",
        "any.ending",
    }
    # For its owner alone, and so is what SQLite writes beside it.
    for path in folder.iterdir():
        assert stat.S_IMODE(path.stat().st_mode) == 0o600, path


def test_what_is_no_address() -> None:
    odd: list[Any] = [
        "",
        "   ",
        "budget",
        "budget.txt",
        "sqlite://",
        "sqlite:///",
        "sqlite:///:memory:",
        "sqlite://budget.db",
        "mysql://root@localhost/x",
        "postgresql://",
        "postgresql:///database",
        "postgresql://host:port/database",
        "https://example.org/budget.db",
        None,
        5,
        b"budget.db",
        ["budget.db"],
    ]
    for address in odd:
        with pytest.raises(InvalidArgument, match="ledger"):
            veil.Ledger(address)


def said(error: BaseException) -> str:
    return "".join(traceback.format_exception(error)) + repr(error) + repr(error.args)


def test_a_password_never_shows() -> None:
    """Not in what is printed, and not in any error: of an address that is wrong, or a server that is away."""
    address = f"postgresql://somebody:{SECRET}@127.0.0.1:1/budget"
    ledger = veil.Ledger(address)
    known: Any = Address.of(address)
    for text in (repr(ledger), str(ledger), str(known), repr(known)):
        assert SECRET not in text
    for wrong in (
        f"postgresql://somebody:{SECRET}@:port/x",
        f"mysql://somebody:{SECRET}@host/x",
        f"somebody:{SECRET}@host/x",
        f"postgresql:/somebody:{SECRET}@host/x",
        f"somebody:{SECRET}@host://x",
    ):
        with pytest.raises(InvalidArgument) as caught:
            veil.Ledger(wrong)
        assert SECRET not in said(caught.value)


@pytest.mark.xdist_group("postgres")
def test_a_server_that_refuses(postgres: Server, clock: Clock) -> None:
    ledger = veil.Ledger(postgres.address(SECRET))
    with pytest.raises(LedgerUnavailable, match="password") as caught:
        ledger.datasets()
    assert SECRET not in said(caught.value)
    away = veil.Ledger(f"postgresql://somebody:{SECRET}@127.0.0.1:1/budget")
    with pytest.raises(LedgerUnavailable, match="does not answer") as gone:
        away.open("trips", epsilon=1)
    assert SECRET not in said(gone.value)
    assert "Nothing was released" in str(gone.value)
    assert 15 <= clock.now <= 16
    with pytest.raises(LedgerUnavailable) as missing:
        veil.Ledger(postgres.address(database="nowhere")).datasets()
    assert postgres.password not in said(missing.value)


@pytest.mark.xdist_group("postgres")
def test_a_dataset_travels_with_its_password(postgres: Server) -> None:
    place = new_database(postgres)
    dataset = place.ledger().open("trips", epsilon=1)
    again: Any = pickle.loads(pickle.dumps(dataset))
    release(again)
    assert dataset.spent.epsilon == 0.1
    for text in (repr(again), str(again)):
        assert postgres.password not in text


def test_wrong_files(folder: Path) -> None:
    """A clear error, and the file stays as it was."""
    cases: dict[str, tuple[bytes, type[VeilError]]] = {
        "text.db": (b"name,epsilon\ngrades,1\n" * 50, LedgerCorrupt),
        "noise.db": (os.urandom(8192), LedgerCorrupt),
        "empty.db": (b"", LedgerUnavailable),
    }
    for name, (content, error) in cases.items():
        file = folder / name
        file.write_bytes(content)
        for attempt in (
            lambda file=file: veil.Ledger(file).datasets(),
            lambda file=file: veil.Ledger(file).dataset("trips"),
            lambda file=file: veil.Ledger(file).verify(),
        ):
            with pytest.raises(error):
                attempt()
        if content:
            with pytest.raises(error):
                veil.Ledger(file).open("trips", epsilon=1)
            assert file.read_bytes() == content
    with pytest.raises(LedgerUnavailable):
        veil.Ledger(folder).datasets()
    with pytest.raises(VeilError):
        veil.Ledger(folder).open("trips", epsilon=1)
    with pytest.raises(LedgerUnavailable):
        veil.Ledger(folder / "none" / "budget.db").open("trips", epsilon=1)


def test_another_database(folder: Path) -> None:
    """Of SQLite, but no ledger."""
    file = folder / "other.db"
    with sqlite3.connect(file) as connection:
        connection.execute("CREATE TABLE people (name TEXT)")
        connection.execute("INSERT INTO people VALUES ('Ada')")
    connection.close()
    with pytest.raises(LedgerUnavailable, match="veil ledger open"):
        veil.Ledger(file).datasets()


def test_a_ledger_that_was_moved_away(folder: Path) -> None:
    """Charges go to the file of that name, never to one that has none any more."""
    file = folder / "budget.db"
    dataset = veil.Ledger(file).open("trips", epsilon=1)
    release(dataset)
    # All that belongs to it, while it is in use.
    for name in folder.glob("budget.db*"):
        name.rename(folder / name.name.replace("budget", "aside"))
    with pytest.raises(LedgerUnavailable, match="no such file"):
        release(dataset)
    # Another ledger in its place is not the one that is meant, though it knows the same name.
    other = veil.Ledger(file).open("trips", epsilon=1)
    with pytest.raises(LedgerCorrupt, match="another ledger"):
        release(dataset)
    assert len(other.entries()) == 1
    other._store.close()
    for name in folder.glob("budget.db*"):
        name.unlink()
    for name in folder.glob("aside.db*"):
        name.rename(folder / name.name.replace("aside", "budget"))
    release(dataset)
    assert dataset.spent.epsilon == 0.2
