"""Connections to SQLite and to PostgreSQL, set up so that what is committed stays."""

from __future__ import annotations

import sqlite3
import time
from typing import Any

from sqlalchemy import Connection, Engine, create_engine, event

from veil.core.errors import MissingExtra
from veil.ledger.address import Address

# How long others may hold the ledger, in seconds.
PATIENCE = 60.0


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
