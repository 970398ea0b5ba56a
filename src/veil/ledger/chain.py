"""The entries of one dataset, in the store: added at the end, never changed.

Each entry holds the hash of the one before it, the totals after it, and which entry set the terms that hold.
The dataset's own row holds the last entry once more, so that one locked read says all that a charge needs.
Who edits an entry later breaks the chain, which `verify` shows. Who cuts off the end, and sets the dataset's
row back as well, leaves a consistent chain: only what is kept elsewhere shows that (marks, anchors, exports).
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

from sqlalchemy import Connection, CursorResult, insert, literal_column, select
from sqlalchemy.dialects.postgresql import insert as insert_on_server

from veil.core.errors import LedgerCorrupt
from veil.ledger.entry import Entry, digest
from veil.ledger.schema import DATASETS, ENTRIES, QUEUE
from veil.ledger.server import RELEASING

# In one statement, which sees one moment.
_LAST_AND_NEWEST = (
    "SELECT veil_ledger_datasets.last, veil_ledger_datasets.parts, newest.number, newest.sha256, "
    "newest.token, newest.mac FROM veil_ledger_datasets LEFT JOIN (SELECT number, sha256, token, mac "
    "FROM veil_ledger_entries WHERE dataset = :dataset ORDER BY number DESC LIMIT 1) AS newest ON true "
    "WHERE veil_ledger_datasets.name = :dataset"
)
# On a server by functions, which a role may be allowed that has no other way to write.
_LOCK = "SELECT last, parts, number, sha256, token, mac FROM veil_ledger_lock(:dataset)"
_ADD_BY_FUNCTION = "SELECT veil_ledger_add(:dataset, :number, :sha256, :token, :body, :mac, :parts)"
_ADD = (
    "INSERT INTO veil_ledger_entries (dataset, number, sha256, token, body, mac) "
    "VALUES (:dataset, :number, :sha256, :token, :body, :mac)"
)
_SET_LAST = "UPDATE veil_ledger_datasets SET last = :body, parts = :parts WHERE name = :dataset"
# Its row may be there, though nothing else of the dataset is.
_QUEUE = insert_on_server(QUEUE).on_conflict_do_nothing()
# All columns, since tables of an older Veil, which are only read, have fewer.
_EVERY: Any = literal_column("*")


# The same statements as PostgreSQL's driver takes them.
_FOR_SERVERS = {
    statement: re.sub(r":(\w+)", r"%(\1)s", statement)
    for statement in (_LOCK, _ADD_BY_FUNCTION, _ADD, _SET_LAST)
}


def _run(connection: Connection, statement: str, values: dict[str, Any]) -> CursorResult[Any]:
    """Straight to the driver, which is quicker: every charge runs these."""
    if connection.dialect.name == "postgresql":
        statement = _FOR_SERVERS[statement]
    return connection.exec_driver_sql(statement, values)


@dataclass(frozen=True, slots=True)
class Row:
    """An entry as it is kept. token: of the attempt that wrote it. mac: "" where it has none."""

    entry: Entry
    token: str
    mac: str


@dataclass(frozen=True, slots=True)
class Last:
    """The newest entry of a dataset. parts: what was spent on parts, if that is kept beside the entry.

    token, mac: as of any row; "" unless the entry was locked.
    """

    entry: Entry
    parts: str | None
    token: str = ""
    mac: str = ""


def last_entry(connection: Connection, dataset: str, *, lock: bool = False) -> Last | None:
    """The newest entry; None if there is no such dataset. lock: until the transaction ends it stays so."""
    if not lock:
        named = select(_EVERY).select_from(DATASETS).where(DATASETS.c.name == dataset)
        found = connection.execute(named).first()
        return (
            None if found is None else Last(Entry.parse(found.last, dataset), getattr(found, "parts", None))
        )
    query = _LOCK if connection.dialect.name == "postgresql" else _LAST_AND_NEWEST
    row = _run(connection, query, {"dataset": dataset}).first()
    if row is None:
        return None
    last = Entry.parse(row.last, dataset)
    # Anybody who writes to the database may change the row; of the entries the database takes care.
    if (row.number, row.sha256) != (last.number, last.sha256):
        raise LedgerCorrupt(dataset, "a last entry that is not the newest")
    return Last(last, row.parts, str(row.token), str(row.mac or ""))


def row_at(connection: Connection, dataset: str, number: int) -> Row:
    """The entry with this number, with what is kept beside it."""
    where = (
        select(_EVERY).select_from(ENTRIES).where(ENTRIES.c.dataset == dataset, ENTRIES.c.number == number)
    )
    # A number that a database could not hold is none of an entry.
    known = type(number) is int and 0 < number < 2**31
    row = connection.execute(where).first() if known else None
    if row is None:
        raise LedgerCorrupt(f"{dataset}/{number}", "no such entry")
    return _parsed(row, dataset)


def _parsed(row: Any, dataset: str) -> Row:
    where = f"{dataset}/{row.number}"
    if digest(row.body) != row.sha256:
        raise LedgerCorrupt(where, "an entry that is not what it was")
    return Row(Entry.parse(row.body, where), str(row.token), str(getattr(row, "mac", None) or ""))


def entry_at(connection: Connection, dataset: str, number: int) -> Entry:
    """The entry with this number."""
    return row_at(connection, dataset, number).entry


def entry_with(connection: Connection, dataset: str, token: str) -> Entry | None:
    """The entry that carries this token, if there is one."""
    query = select(ENTRIES.c.number).where(ENTRIES.c.dataset == dataset, ENTRIES.c.token == token)
    number = connection.execute(query).scalar()
    return None if number is None else entry_at(connection, dataset, int(number))


def rows_after(connection: Connection, dataset: str, number: int, most: int) -> list[Row]:
    """The entries after a number, with what is kept beside them, oldest first."""
    query = select(_EVERY).select_from(ENTRIES).where(ENTRIES.c.dataset == dataset, ENTRIES.c.number > number)
    rows = connection.execute(query.order_by(ENTRIES.c.number).limit(most))
    return [_parsed(row, dataset) for row in rows]


def dataset_names(connection: Connection) -> list[str]:
    """All datasets of the ledger, and any that has entries though it is not listed."""
    listed = connection.execute(select(DATASETS.c.name)).scalars()
    mentioned = connection.execute(select(ENTRIES.c.dataset).distinct()).scalars()
    return sorted({str(name) for name in (*listed, *mentioned)})


def time_after(last: Entry | None) -> str:
    """Now, or the time of the last entry if that is later: a clock that was set back does no harm."""
    now = datetime.now(UTC).isoformat(timespec="microseconds")
    return now if last is None else max(now, last.time)


def append(connection: Connection, row: Row, *, parts: str | None) -> None:
    """Add an entry after the last one, which the transaction holds locked.

    parts: what was spent on parts, where the entry has only its hash.
    """
    entry, body = row.entry, row.entry.body
    values: dict[str, Any] = {
        "dataset": entry.dataset,
        "number": entry.number,
        "sha256": entry.sha256,
        "token": row.token,
        "body": body,
        "mac": row.mac or None,
        "parts": parts,
    }
    on_server = connection.dialect.name == "postgresql"
    if on_server and entry.kind in RELEASING:
        _run(connection, _ADD_BY_FUNCTION, values)
        return
    _run(connection, _ADD, values)
    if entry.number > 1:
        _run(connection, _SET_LAST, values)
        return
    connection.execute(insert(DATASETS), {"name": entry.dataset, "last": body})
    if on_server:
        connection.execute(_QUEUE, {"dataset": entry.dataset})
