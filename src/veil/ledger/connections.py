"""Connections to SQLite and to PostgreSQL, set up so that what is committed stays; and what may go wrong.

SQLite keeps a rollback journal, not a write-ahead log: a commit is then in the ledger's own file, so that a
copy of that file holds every charge that was acknowledged. Errors are in our words: the driver's may quote a
password.
"""

from __future__ import annotations

import re
import sqlite3
import time
from functools import partial
from pathlib import Path
from urllib.parse import quote

from sqlalchemy import Connection, Engine, NullPool, QueuePool, create_engine, event
from sqlalchemy.exc import DBAPIError, SQLAlchemyError

from veil.core.errors import LedgerCorrupt, LedgerUnavailable, MissingExtra, VeilError
from veil.ledger.address import Address
from veil.ledger.entry import Entry
from veil.ledger.schema import DATASETS, ENTRIES

# How long others may hold the ledger, in seconds.
PATIENCE = 60.0
_REASONS = {
    "locked": f"others have held it for more than {PATIENCE:.0f} seconds",
    "lock timeout": f"others have held it for more than {PATIENCE:.0f} seconds",
    "disk is full": "the disk is full",
    "no space left": "the disk is full",
    "readonly": "it cannot be written to",
    "read-only": "it cannot be written to",
    "unable to open": "the file or its folder cannot be written to",
    "disk i/o": "the disk does not take it",
    "support ssl": "the server does not offer TLS",
    "certificate": "the server is not the one that its certificate should show",
    "password": "the server refuses the user or the password",
    "authentication": "the server refuses the user or the password",
    "permission denied": "this user may not write to it",
    "too many clients": "the server has no connection left",
    "connection slots": "the server has no connection left",
    "connection": "the server does not answer",
}
# Of PostgreSQL: a table, a column, a function or another object that is there already.
_MADE_TWICE = ("42P07", "42701", "42723", "42710")
_DOUBT = "If a charge was on its way it may have been made, and then it stands. "
_AWAY = (
    "connection refused",
    "server closed",
    "shutting down",
    "starting up",
    "recovery mode",
    "not yet accepting",
    "terminating connection",
)


def engine_for(address: Address, *, reading: bool = False) -> Engine:
    """Nothing is connected before it is used. reading: a file is opened so that it cannot be written to."""
    if address.file is not None:
        # A reader that stays connected to a file with a write-ahead log would hinder those who change that.
        pool = NullPool if reading else QueuePool
        engine = create_engine(
            "sqlite://", creator=partial(_open_file, address.file, reading), poolclass=pool
        )
        event.listen(engine, "begin", _begin_reading if reading else _begin_writing)
        return engine
    try:
        import psycopg  # noqa: F401 (only whether it is there)
    except ImportError:
        raise MissingExtra("psycopg", "postgres") from None
    return create_engine(
        address.url,
        isolation_level="READ COMMITTED",
        pool_size=2,
        connect_args={
            "connect_timeout": 10,
            "options": f"-c lock_timeout={int(PATIENCE)}s -c statement_timeout=300s "
            # Whatever the role or the database is set to: a charge that a crash of the server may lose
            # would be no charge.
            "-c synchronous_commit=on",
            "application_name": "veil",
        },
    )


def _open_file(file: Path, reading: bool) -> sqlite3.Connection:
    """A connection whose transactions are ours to begin. A file that is not there is not made."""
    address = f"file:{quote(str(file))}?mode={'ro' if reading else 'rw'}"
    # The pool hands a connection to one thread at a time.
    connection = sqlite3.connect(
        address, uri=True, timeout=PATIENCE, isolation_level=None, check_same_thread=False
    )
    if not reading:
        try:
            _keep_rollback_journal(connection)
            # A commit is on the disk when it returns.
            connection.execute("PRAGMA synchronous=FULL")
        except BaseException:
            connection.close()
            raise
    return connection


def _keep_rollback_journal(connection: sqlite3.Connection) -> None:
    """Also for files with a write-ahead log, as Veil 0.1 made them, once nobody else has them open.

    Between transactions the journal stays as a file with an empty header: that is the quickest of its forms.
    """
    end = time.monotonic() + PATIENCE
    while True:
        try:
            connection.execute("PRAGMA journal_mode=PERSIST")
            return
        except sqlite3.OperationalError as error:
            # SQLite itself does not wait here.
            if "locked" not in str(error) or time.monotonic() > end:
                raise
        time.sleep(0.01)


def _begin_reading(connection: Connection) -> None:
    connection.exec_driver_sql("BEGIN")


def _begin_writing(connection: Connection) -> None:
    connection.exec_driver_sql("BEGIN IMMEDIATE")


def translated(error: SQLAlchemyError, address: Address) -> VeilError:
    """An error of the driver as one of ours."""
    cause = str(getattr(error, "orig", error)).lower()
    if "malformed" in cause or "not a database" in cause or "corrupt" in cause or "decode" in cause:
        return LedgerCorrupt(str(address), "a damaged file, or one that is no ledger")
    unknown = re.search(r'(role|database) ".*" does not exist', cause)
    if unknown is not None:
        return unavailable(address, f"the server knows no such {unknown[1]}")
    if "no such table" in cause or "does not exist" in cause:
        # That of what the ledger is comes first: where only another one is missing there was a ledger once.
        if DATASETS.name in cause or ENTRIES.name in cause:
            return LedgerCorrupt(str(address), "no table of entries or of datasets")
        return missing(address, "none there")
    for mark, words in _REASONS.items():
        if mark in cause:
            return unavailable(address, words)
    return unavailable(address, type(getattr(error, "orig", error)).__name__)


def unavailable(address: Address, reason: str) -> LedgerUnavailable:
    return LedgerUnavailable(f"ledger: {address} cannot be used: {reason}. Nothing was charged.")


class UnsettledCommit(LedgerUnavailable):
    """A commit failed, and whether it was made is not known yet. reason: why it failed."""

    reason = ""


def unsettled(error: DBAPIError, address: Address) -> VeilError:
    """The disk failed in the middle of a commit."""
    plain = translated(error, address)
    if isinstance(plain, LedgerCorrupt):
        return plain
    text = str(plain).removesuffix("Nothing was charged.")
    failure = UnsettledCommit(f"{text}{_DOUBT}Nothing was released.")
    failure.reason = text
    return failure


def settled(failure: UnsettledCommit, entry: Entry | None) -> LedgerUnavailable:
    """What came of it: the entry is there, or it is not. No release relies on one whose commit failed."""
    if entry is None:
        return LedgerUnavailable(f"{failure.reason}Nothing was charged.")
    return LedgerUnavailable(
        f"{failure.reason}{entry.dataset}/{entry.number} was written all the same, and stands. Nothing was "
        "released."
    )


def missing(address: Address, found: str) -> LedgerUnavailable:
    return LedgerUnavailable(
        f"ledger: expected a ledger at {address}, found {found}. `veil ledger open` makes one."
    )


def gone(address: Address, *, writing: bool) -> LedgerUnavailable:
    """The server went away, perhaps in the middle of a commit."""
    doubt = _DOUBT if writing else ""
    return LedgerUnavailable(
        f"ledger: {address} cannot be used: the server does not answer. {doubt}Nothing was released."
    )


def is_unfinished(error: DBAPIError) -> bool:
    """Whether a file has to be written to before it can be read: a process died in the midst of a commit."""
    # A read-only connection says so by one of these, depending on what it may do in the folder.
    codes = (
        "SQLITE_READONLY_ROLLBACK",
        "SQLITE_READONLY_RECOVERY",
        "SQLITE_READONLY_CANTINIT",
        "SQLITE_CANTOPEN",
    )
    return getattr(error.orig, "sqlite_errorname", "").startswith(codes)


def is_race(error: DBAPIError) -> bool:
    """Whether somebody else made the tables or functions of the ledger at the same moment."""
    cause = str(error.orig).lower()
    return getattr(error.orig, "sqlstate", None) in _MADE_TWICE or "concurrently updated" in cause


def is_refused(error: DBAPIError) -> bool:
    """Whether a function of the ledger itself did not accept an entry."""
    return getattr(error.orig, "sqlstate", None) == "P0001"


def is_full(error: DBAPIError) -> bool:
    """Whether the server has no connection to spare just now."""
    cause = str(error.orig).lower()
    return "too many clients" in cause or "connection slots" in cause


def is_gone(error: DBAPIError) -> bool:
    """Whether the connection broke, so that asking again may help."""
    cause = str(error.orig).lower()
    return bool(error.connection_invalidated) or any(mark in cause for mark in _AWAY)
