"""The database behind a ledger: SQLite or PostgreSQL, by the same code.

Every change of a dataset runs in one transaction that first locks the dataset: SQLite by BEGIN IMMEDIATE,
PostgreSQL by SELECT ... FOR UPDATE. So entries follow one another, and two that together would spend too much
never both see room. A commit returns once the entry is on the disk.

A forked process opens connections of its own: one that two processes write to is neither's.
"""

from __future__ import annotations

import os
import re
import sqlite3
import stat
import threading
import time
import weakref
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass
from pathlib import Path
from secrets import token_hex
from typing import Any, TypeVar
from urllib.parse import quote

from sqlalchemy import Connection, Engine, inspect, text
from sqlalchemy.exc import DBAPIError, IntegrityError, SQLAlchemyError

from veil.core.checks import choice, shown
from veil.core.errors import InvalidArgument, LedgerCorrupt, LedgerUnavailable, VeilError
from veil.core.writing import SENSITIVE, replacing
from veil.ledger import schema
from veil.ledger.address import Address
from veil.ledger.anchors import Anchor
from veil.ledger.chain import Last
from veil.ledger.connections import (
    engine_for,
    gone,
    is_full,
    is_gone,
    is_race,
    is_unfinished,
    missing,
    translated,
    unavailable,
    unsettled,
)
from veil.ledger.keys import Key
from veil.ledger.marks import Marks
from veil.ledger.server import ROLES, grants
from veil.ledger.session import CommitFailed, Session, session_of

Result = TypeVar("Result")

# How long a server may be away, in seconds.
_RECONNECT = 15.0


@dataclass(frozen=True, slots=True)
class Written:
    """The entry that this process wrote last to a dataset.

    is_alone: when it was written, the newest before it was of this process, too: nobody else seems to write.
    """

    last: Last
    is_alone: bool


class Store:
    """One ledger's database. Nothing is opened before it is used."""

    def __init__(self, address: Address, keys: Sequence[Key] = (), anchors: Sequence[Anchor] = ()) -> None:
        """keys: the first is that of new entries, all are for verifying. anchors: where entries are noted."""
        self.address = address
        self.keys, self.anchors, self.marks = tuple(keys), tuple(anchors), Marks()
        # By process, and whether they only read.
        self._engines: dict[tuple[int, bool], Engine] = {}
        self._name: str | None = None
        self._is_present = False
        # What this process has written last to each dataset.
        self.written: dict[str, Written] = {}
        self._opened: tuple[int, int] | None = None
        # Of a file: held while it is in use, and by whoever forks.
        self.in_use = threading.RLock()
        if self.is_file:
            _FILES.add(self)
        # Who forgets a ledger need not close it.
        weakref.finalize(self, _let_go, self._engines)

    @property
    def key(self) -> Key | None:
        return self.keys[0] if self.keys else None

    @property
    def is_file(self) -> bool:
        return self.address.file is not None

    @property
    def name(self) -> str:
        """The random name that the ledger was given; entries carry it."""
        if self._name is None:
            self._name = self.read(lambda connection: _facts(connection).get("name", ""))
        return self._name

    def create(self) -> None:
        """Make the tables where there are none, and bring older ones up to date."""
        self._make_file()
        self._connecting(_ensure, locking=True)
        self._is_present = True

    def _make_file(self) -> None:
        file = self.address.file
        if file is None or file.exists():
            return
        try:
            # For its owner alone: it says what was asked of the data, when and by whom.
            os.close(os.open(file, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600))
        except FileExistsError:
            pass
        except OSError as error:
            raise unavailable(self.address, error.strerror or "no file") from None

    def read(self, work: Callable[[Connection], Result]) -> Result:
        """Look at one moment of the ledger. Nothing is changed: also that of an older Veil stays as it is."""
        return self._connecting(work, locking=False)

    def write(
        self, work: Callable[[Session, bool], Result], *, quick: Callable[[Session], Result | None] | None
    ) -> Result:
        """All of the work, or nothing of it; on the disk when it returns.

        The work is told whether it was tried before: an answer may be lost though the work was done. Tables
        of an older Veil are brought up to date first. quick: on a server, the same work by one statement that
        is a transaction of its own; None, and nothing done, where that is not possible.
        """
        self._bring_up_to_date()

        def attempt(again: bool) -> Result:
            if quick is not None and not self.is_file and not again:
                with self._session(at_once=True) as session:
                    done = quick(session)
                if done is not None:
                    return done
            with self._session() as session:
                return work(session, again)

        return self._patiently(attempt, locking=True)

    def change(self, work: Callable[[Connection], Result]) -> Result:
        """As `write`, of what is no entry: tables and rights."""
        self._bring_up_to_date()
        return self._connecting(work, locking=True)

    def _bring_up_to_date(self) -> None:
        if not self._is_present:
            if self.read(version_of) < schema.version_now():
                self._connecting(_ensure, locking=True)
            self._is_present = True

    def _connecting(self, work: Callable[[Connection], Result], *, locking: bool) -> Result:
        def attempt(again: bool) -> Result:
            with self._connected(locking=locking) as connection:
                return work(connection)

        return self._patiently(attempt, locking=locking)

    def _patiently(self, attempt: Callable[[bool], Result], *, locking: bool) -> Result:
        """A server that restarts is asked again; everything else is said at once."""
        end = time.monotonic() + _RECONNECT
        pause, again, collided = 0.05, False, False
        while True:
            failed: VeilError | None = None
            try:
                return attempt(again)
            except IntegrityError:
                # Two opened the same name at once and the other was first, which the next look shows. If it
                # shows nothing new, an entry that should be the next is there already.
                if collided:
                    failed = LedgerCorrupt(str(self.address), "entries after the last one")
                collided = True
            except DBAPIError as error:
                away, full = is_gone(error), is_full(error)
                if self.is_file and not locking and not again and is_unfinished(error):
                    # SQLite takes back what a process that died had not committed, which is a write.
                    failed = self._recovered()
                elif is_race(error) and time.monotonic() <= end:
                    # The next look shows what the other has made.
                    pass
                elif self.is_file or not (away or full) or (full and time.monotonic() > end):
                    failed = translated(error, self.address)
                elif time.monotonic() > end:
                    failed = gone(self.address, writing=locking)
            except CommitFailed as failure:
                failed = unsettled(failure.error, self.address)
            except SQLAlchemyError as error:
                failed = translated(error, self.address)
            except UnicodeError:
                # In a text of the file or of an export, or in SQLite's own words about it.
                failed = LedgerCorrupt(str(self.address), "a text that is none")
            if failed is not None:
                # Out here, not as the consequence of the driver's error: that one knows the password.
                raise failed
            time.sleep(pause)
            pause, again = min(1.0, 2.0 * pause), True

    def _recovered(self) -> VeilError | None:
        """Let SQLite finish what a process that died left behind; the reason if this user cannot."""
        try:
            with self._connected(locking=True):
                return None
        except DBAPIError:
            return unavailable(
                self.address,
                "a process that wrote to it died, or Veil 0.1 wrote it, and it has to be opened once by "
                "somebody who may write to it and its folder",
            )

    @contextmanager
    def _connected(self, *, locking: bool) -> Iterator[Connection]:
        file = self.address.file
        with self.in_use if file is not None else nullcontext():
            if file is not None:
                self._look_at(file)
            with self._engine(reading=file is not None and not locking).connect() as connection:
                if not locking:
                    # Reads see one moment and hold nobody up.
                    connection = connection.execution_options(veil_reads=True)
                    if file is None:
                        connection = connection.execution_options(isolation_level="REPEATABLE READ")
                with connection.begin():
                    yield connection

    @contextmanager
    def _session(self, *, at_once: bool = False) -> Iterator[Session]:
        file = self.address.file
        with self.in_use if file is not None else nullcontext():
            if file is not None:
                self._look_at(file)
            with session_of(self._engine(reading=False), at_once=at_once) as session:
                yield session

    def _look_at(self, file: Path) -> None:
        """Whether it is there, and still the one that was opened: connections follow one that was moved."""
        try:
            status = file.stat()
        except OSError:
            raise missing(self.address, "no such file") from None
        if not stat.S_ISREG(status.st_mode):
            kind = "a folder" if stat.S_ISDIR(status.st_mode) else "no file"
            raise unavailable(self.address, f"it is {kind}")
        # What SQLite writes beside a file has the name of the file: under two names it would be missed.
        if status.st_nlink > 1:
            raise unavailable(
                self.address, f"the file has {status.st_nlink} names (hard links); leave it one"
            )
        if self._opened != (status.st_dev, status.st_ino):
            if is_mounted(file):
                raise unavailable(
                    self.address, "the file is mounted on its own; mount the folder that it is in"
                )
            self.close()
            self._opened = (status.st_dev, status.st_ino)

    def _engine(self, *, reading: bool) -> Engine:
        """Of this process: connections do not survive a fork."""
        key = (os.getpid(), reading)
        engine = self._engines.get(key)
        if engine is None:
            # No lock, which a forked process might find held for ever: of two engines one is kept.
            engine = self._engines.setdefault(key, engine_for(self.address, reading=reading))
        return engine

    def backup(self, target: Path) -> None:
        """Copy a ledger that is a file to a new file, by SQLite's own means: others may write meanwhile."""
        file = self.address.file
        if file is None:
            raise InvalidArgument("ledger", expected="a file", found="a server", hint="Use pg_dump.")
        _ = self.name
        with replacing(target, overwrite=False, mode=SENSITIVE) as beside, self.in_use:
            copy, source = (
                sqlite3.connect(beside),
                sqlite3.connect(f"file:{quote(str(file))}?mode=ro", uri=True),
            )
            try:
                source.backup(copy)
                copy.execute("PRAGMA journal_mode=DELETE")
            except sqlite3.Error as error:
                raise unavailable(self.address, f"the copy failed ({error.sqlite_errorname})") from None
            finally:
                source.close()
                copy.close()

    def grant(self, role: Any, purpose: Any) -> list[str]:
        """Let a role of the server do what its purpose needs, and no more."""
        choice("purpose", purpose, ROLES)
        if self.is_file:
            raise InvalidArgument("ledger", expected="a server", found="a file, which has no roles")
        if not isinstance(role, str) or not role.isprintable() or not 0 < len(role) <= 63:
            raise InvalidArgument("role", expected="the name of a role of the server", found=shown(role))

        def work(connection: Connection) -> list[str]:
            statements = grants(
                str(connection.execute(text("SELECT current_schema()")).scalar()), role, purpose
            )
            for statement in statements:
                connection.execute(schema.as_it_stands(statement))
            # Who may not grant is only warned by the server.
            granted = text("SELECT has_table_privilege(:role, 'veil_ledger_entries', 'SELECT')")
            if not connection.execute(granted, {"role": role}).scalar():
                raise unavailable(self.address, "this user may not grant rights: its owner can")
            return statements

        return self.change(work)

    def check_file(self) -> None:
        """SQLite's own look at its pages."""
        if self.is_file:
            answer = self.read(lambda connection: connection.execute(text("PRAGMA quick_check")).scalar())
            if answer != "ok":
                raise LedgerCorrupt(str(self.address), "pages that do not fit together")

    def close(self) -> None:
        """Let go of the connections of this process."""
        _let_go(self._engines)


_FILES: weakref.WeakSet[Store] = weakref.WeakSet()


def _let_go(engines: dict[tuple[int, bool], Engine]) -> None:
    """Close the connections that this process opened."""
    for reading in (False, True):
        engine = engines.pop((os.getpid(), reading), None)
        if engine is not None:
            engine.dispose()


# One thread forks at a time; meanwhile it holds every ledger that is a file.
_FORKING = threading.RLock()
_HELD: list[Store] = []


def _before_fork() -> None:
    """Nothing is inherited: SQLite keeps a list of the locks of a process, which a child does not have."""
    _FORKING.acquire()
    for store in list(_FILES):
        store.in_use.acquire()
        _HELD.append(store)
        store.close()


def _after_fork() -> None:
    while _HELD:
        _HELD.pop().in_use.release()
    _FORKING.release()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(before=_before_fork, after_in_parent=_after_fork, after_in_child=_after_fork)


def is_mounted(file: Path, mounts: str = "/proc/self/mountinfo") -> bool:
    """Whether the file itself, not a folder above it, is a mount: then it may have another name elsewhere."""
    try:
        listed = Path(mounts).read_text(encoding="utf-8", errors="surrogateescape").splitlines()
    except OSError:
        return False
    # The fifth field; blanks and the like are written in octal.
    points = {re.sub(r"\\([0-7]{3})", lambda m: chr(int(m[1], 8)), line.split(" ")[4]) for line in listed}
    return str(file.resolve()) in points


def _ensure(connection: Connection) -> None:
    if not inspect(connection).has_table(schema.ABOUT.name):
        schema.create(connection, token_hex(16))
        return
    version = version_of(connection)
    if version < schema.version_now():
        schema.migrate(connection, version)


def _facts(connection: Connection) -> dict[str, str]:
    """What the ledger says of itself, if this Veil knows its tables."""
    version_of(connection)
    return schema.facts(connection)


def version_of(connection: Connection) -> int:
    """The version of the tables; a newer one is refused, since we might misread it."""
    version = schema.facts(connection).get("schema", "")
    if not (version.isascii() and version.isdigit()) or not 1 <= int(version) <= schema.version_now():
        raise LedgerUnavailable(
            f"ledger: expected schema 1 to {schema.version_now()}, found {version[:20]!r}. A newer Veil "
            "wrote this ledger; install it to use the ledger."
        )
    return int(version)
