"""The database behind a ledger: SQLite or PostgreSQL, by the same code.

Every change of a dataset runs in one transaction that first locks the dataset: SQLite by BEGIN IMMEDIATE,
PostgreSQL by SELECT ... FOR UPDATE. So entries follow one another, and two that together would spend too much
never both see room. A commit returns once the entry is on the disk.

A forked process opens connections of its own: one that two processes write to is neither's.
"""

from __future__ import annotations

import os
import stat
import threading
import time
import weakref
from collections.abc import Callable, Iterator
from contextlib import contextmanager, nullcontext
from pathlib import Path
from secrets import token_hex
from typing import TypeVar

from sqlalchemy import Connection, Engine, inspect, text
from sqlalchemy.exc import DBAPIError, IntegrityError, SQLAlchemyError

from veil.core.errors import LedgerCorrupt, LedgerUnavailable, VeilError
from veil.ledger import schema
from veil.ledger.address import Address
from veil.ledger.connections import engine_for, gone, is_full, is_gone, missing, translated, unavailable

Result = TypeVar("Result")

# How long a server may be away, in seconds.
_RECONNECT = 15.0
# Any fixed number: who makes the tables holds it.
_MAKING_TABLES = 8_323_107


class Store:
    """One ledger's database. Nothing is opened before it is used."""

    def __init__(self, address: Address) -> None:
        self.address = address
        self._engines: dict[int, Engine] = {}
        self._name: str | None = None
        self._opened: tuple[int, int] | None = None
        # Of a file: held while it is in use, and by whoever forks.
        self.in_use = threading.RLock()
        if self.is_file:
            _FILES.add(self)
        # Who forgets a ledger need not close it.
        weakref.finalize(self, _let_go, self._engines)

    @property
    def is_file(self) -> bool:
        return self.address.file is not None

    @property
    def name(self) -> str:
        """The random name that the ledger was given; entries carry it."""
        if self._name is None:
            if self.read(version_of) < schema.version_now():
                self.write(lambda connection, again: _ensure(connection))
            self._name = self.read(lambda connection: schema.facts(connection).get("name", ""))
        return self._name

    def create(self) -> None:
        """Make the tables where there are none, and bring older ones up to date."""
        self._make_file()
        self.write(lambda connection, again: _ensure(connection))

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
        """Look at one moment of the ledger."""
        return self._patiently(lambda connection, again: work(connection), locking=False)

    def write(self, work: Callable[[Connection, bool], Result], *, lasting: bool = True) -> Result:
        """All of the work, or nothing of it; on the disk when it returns, unless it need not be lasting.

        The work is told whether it was tried before: an answer may be lost though the work was done.
        """
        return self._patiently(work, locking=True, lasting=lasting)

    def _patiently(
        self, work: Callable[[Connection, bool], Result], *, locking: bool, lasting: bool = True
    ) -> Result:
        """A server that restarts is asked again; everything else is said at once."""
        end = time.monotonic() + _RECONNECT
        pause, again, collided = 0.05, False, False
        while True:
            failed: VeilError | None = None
            try:
                with self._connected(locking=locking, lasting=lasting) as connection:
                    return work(connection, again)
            except IntegrityError:
                # Two opened the same name at once and the other was first, which the next look shows. If it
                # shows nothing new, an entry that should be the next is there already.
                if collided:
                    failed = LedgerCorrupt(str(self.address), "entries after the last one")
                collided = True
            except DBAPIError as error:
                away, full = is_gone(error), is_full(error)
                if self.is_file or not (away or full) or (full and time.monotonic() > end):
                    failed = translated(error, self.address)
                elif time.monotonic() > end:
                    failed = gone(self.address, writing=locking)
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

    @contextmanager
    def _connected(self, *, locking: bool, lasting: bool) -> Iterator[Connection]:
        file = self.address.file
        with self.in_use if file is not None else nullcontext():
            if file is not None:
                self._look_at(file)
            with self._engine().connect() as connection:
                if not locking:
                    # Reads see one moment and hold nobody up.
                    connection = connection.execution_options(veil_reads=True)
                    if file is None:
                        connection = connection.execution_options(isolation_level="REPEATABLE READ")
                if file is not None:
                    connection = connection.execution_options(veil_lasting=lasting)
                with connection.begin():
                    if file is None and not lasting:
                        connection.execute(text("SET LOCAL synchronous_commit = off"))
                    yield connection

    def _look_at(self, file: Path) -> None:
        """Whether it is there, and still the one that was opened: connections follow one that was moved."""
        try:
            status = file.stat()
        except OSError:
            raise missing(self.address, "no such file") from None
        if not stat.S_ISREG(status.st_mode):
            kind = "a folder" if stat.S_ISDIR(status.st_mode) else "no file"
            raise unavailable(self.address, f"it is {kind}")
        if self._opened != (status.st_dev, status.st_ino):
            self.close()
            self._opened = (status.st_dev, status.st_ino)

    def _engine(self) -> Engine:
        """Of this process: connections do not survive a fork."""
        engine = self._engines.get(os.getpid())
        if engine is None:
            # No lock, which a forked process might find held for ever: of two engines one is kept.
            engine = self._engines.setdefault(os.getpid(), engine_for(self.address))
        return engine

    def settle(self) -> None:
        """All that was written so far is on the disk: a commit that lasts takes along those before it."""
        same = schema.ABOUT.update().where(schema.ABOUT.c.key == "schema").values(value=schema.ABOUT.c.value)
        self.write(lambda connection, again: connection.execute(same))

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


def _let_go(engines: dict[int, Engine]) -> None:
    """Close the connections that this process opened."""
    engine = engines.pop(os.getpid(), None)
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


def _ensure(connection: Connection) -> None:
    if connection.dialect.name == "postgresql":
        connection.execute(text(f"SELECT pg_advisory_xact_lock({_MAKING_TABLES})"))
    if not inspect(connection).has_table(schema.ABOUT.name):
        schema.create(connection, token_hex(16))
        return
    version = version_of(connection)
    if version < schema.version_now():
        schema.migrate(connection, version)


def version_of(connection: Connection) -> int:
    """The version of the tables; a newer one is refused, since we might misread it."""
    version = schema.facts(connection).get("schema", "")
    if not (version.isascii() and version.isdigit()) or not 1 <= int(version) <= schema.version_now():
        raise LedgerUnavailable(
            f"ledger: expected schema 1 to {schema.version_now()}, found {version[:20]!r}. A newer Veil "
            "wrote this ledger; install it to use the ledger."
        )
    return int(version)
