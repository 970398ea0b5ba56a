"""Connections to SQLite and to PostgreSQL, set up so that what is committed stays; and what may go wrong.

Errors are in our words: the driver's may quote a password.
"""

from __future__ import annotations

import sqlite3
import time
from typing import Any

from sqlalchemy import Connection, Engine, create_engine, event
from sqlalchemy.exc import DBAPIError, SQLAlchemyError

from veil.core.errors import LedgerCorrupt, LedgerUnavailable, MissingExtra, VeilError
from veil.ledger.address import Address
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
    "password": "the server refuses the user or the password",
    "authentication": "the server refuses the user or the password",
    "permission denied": "this user may not write to it",
    "too many clients": "the server has no connection left",
    "connection slots": "the server has no connection left",
    "connection": "the server does not answer",
}
_AWAY = (
    "connection refused",
    "server closed",
    "shutting down",
    "starting up",
    "recovery mode",
    "not yet accepting",
    "terminating connection",
)


def engine_for(address: Address) -> Engine:
    """Nothing is connected before it is used."""
    if address.file is not None:
        engine = create_engine(address.url, connect_args={"timeout": PATIENCE})
        event.listen(engine, "connect", _set_up_sqlite)
        event.listen(engine, "begin", _begin_sqlite)
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


def _set_up_sqlite(connection: Any, _record: Any) -> None:
    connection.isolation_level = None  # transactions are ours to begin
    cursor = connection.cursor()
    try:
        # Readers do not wait for writers; a commit is on the disk when it returns.
        _set_journal(cursor)
        cursor.execute("PRAGMA synchronous=FULL")
    finally:
        cursor.close()


def _set_journal(cursor: Any) -> None:
    """For good, in the file. SQLite does not wait here where several connections do it at once: we do."""
    end = time.monotonic() + PATIENCE
    while True:
        try:
            cursor.execute("PRAGMA journal_mode=WAL")
            return
        except sqlite3.OperationalError as error:
            if "locked" not in str(error) or time.monotonic() > end:
                raise
        time.sleep(0.01)


def _begin_sqlite(connection: Connection) -> None:
    options = connection.get_execution_options()
    reads = options.get("veil_reads")
    # With a write-ahead log, NORMAL leaves a commit to the next one that is synchronised.
    if not reads:
        connection.exec_driver_sql(f"PRAGMA synchronous={'FULL' if options['veil_lasting'] else 'NORMAL'}")
    connection.exec_driver_sql("BEGIN" if reads else "BEGIN IMMEDIATE")


def translated(error: SQLAlchemyError, address: Address) -> VeilError:
    """An error of the driver as one of ours."""
    cause = str(getattr(error, "orig", error)).lower()
    if "malformed" in cause or "not a database" in cause or "corrupt" in cause or "decode" in cause:
        return LedgerCorrupt(str(address), "a damaged file, or one that is no ledger")
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


def missing(address: Address, found: str) -> LedgerUnavailable:
    return LedgerUnavailable(
        f"ledger: expected a ledger at {address}, found {found}. `veil ledger open` makes one."
    )


def gone(address: Address, *, writing: bool) -> LedgerUnavailable:
    """The server went away, perhaps in the middle of a commit."""
    doubt = "If a charge was on its way it may have been made, and then it stands. " if writing else ""
    return LedgerUnavailable(
        f"ledger: {address} cannot be used: the server does not answer. {doubt}Nothing was released."
    )


def is_full(error: DBAPIError) -> bool:
    """Whether the server has no connection to spare just now."""
    cause = str(error.orig).lower()
    return "too many clients" in cause or "connection slots" in cause


def is_gone(error: DBAPIError) -> bool:
    """Whether the connection broke, so that asking again may help."""
    cause = str(error.orig).lower()
    return bool(error.connection_invalidated) or any(mark in cause for mark in _AWAY)
