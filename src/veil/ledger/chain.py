"""The entries of one dataset, in the store: added at the end, never changed.

Each entry holds the hash of the one before it, the totals after it, and which entry set the terms that hold.
The dataset's own row holds the last entry once more, so that one locked read says all that a charge needs.
Who edits an entry later breaks the chain, which `verify` shows. Who cuts off the end, and sets the dataset's
row back as well, leaves a consistent chain: only a head that was exported before shows that
(`veil ledger export`, `veil ledger verify --against`).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from datetime import UTC, datetime
from typing import Any

from sqlalchemy import Connection, bindparam, func, insert, select, true, update

from veil.core.errors import LedgerCorrupt
from veil.ledger.entry import NOTHING, Entry, digest
from veil.ledger.schema import DATASETS, ENTRIES

# Those who wait for a row of PostgreSQL must follow all that became of it meanwhile; here they only queue.
# The number is any fixed one.
_QUEUE = select(func.pg_advisory_xact_lock(func.hashtextextended(bindparam("dataset"), 8_323_108)))
# In one statement, which sees one moment: that of its beginning, when the queue is behind us.
_NEWEST = (
    select(ENTRIES.c.number, ENTRIES.c.sha256)
    .where(ENTRIES.c.dataset == bindparam("dataset"))
    .order_by(ENTRIES.c.number.desc())
    .limit(1)
    .subquery()
)
_LAST_AND_NEWEST = (
    select(DATASETS.c.last, _NEWEST.c.number, _NEWEST.c.sha256)
    .select_from(DATASETS.outerjoin(_NEWEST, true()))
    .where(DATASETS.c.name == bindparam("dataset"))
    .with_for_update(of=DATASETS)
)
_SET_LAST = update(DATASETS).where(DATASETS.c.name == bindparam("dataset")).values(last=bindparam("body"))
_ADD = _SET_LAST.add_cte(
    insert(ENTRIES).values({column: bindparam(column.name) for column in ENTRIES.c}).cte("added")
)


def last_entry(connection: Connection, dataset: str, *, lock: bool = False) -> Entry | None:
    """The newest entry; None if there is no such dataset. lock: until the transaction ends it stays so."""
    if not lock:
        body = connection.execute(select(DATASETS.c.last).where(DATASETS.c.name == dataset)).scalar()
        return None if body is None else Entry.parse(body, dataset)
    if connection.dialect.name == "postgresql":
        connection.execute(_QUEUE, {"dataset": dataset})
    row = connection.execute(_LAST_AND_NEWEST, {"dataset": dataset}).first()
    if row is None:
        return None
    last = Entry.parse(row.last, dataset)
    # Anybody who writes to the database may change the row; of the entries the database takes care.
    if (row.number, row.sha256) != (last.number, digest(row.last)):
        raise LedgerCorrupt(dataset, "a last entry that is not the newest")
    return last


def entry_at(connection: Connection, dataset: str, number: int) -> Entry:
    """An entry by its number, checked against its own hash."""
    query = select(ENTRIES.c.body, ENTRIES.c.sha256)
    # No database counts further.
    known = type(number) is int and 1 <= number < 2**31
    where = query.where(ENTRIES.c.dataset == dataset, ENTRIES.c.number == number)
    row = connection.execute(where).first() if known else None
    if row is None:
        raise LedgerCorrupt(f"{dataset}/{number}", "no such entry")
    if digest(row.body) != row.sha256:
        raise LedgerCorrupt(f"{dataset}/{number}", "an entry that is not what it was")
    return Entry.parse(row.body, f"{dataset}/{number}")


def entry_with(connection: Connection, dataset: str, token: str) -> Entry | None:
    """The entry that carries this token, if there is one."""
    query = select(ENTRIES.c.number).where(ENTRIES.c.dataset == dataset, ENTRIES.c.token == token)
    number = connection.execute(query).scalar()
    return None if number is None else entry_at(connection, dataset, int(number))


def all_entries(connection: Connection, dataset: str) -> Iterator[tuple[Entry, str]]:
    """Every entry, with the token that stands beside it, oldest first."""
    query = select(ENTRIES.c.body, ENTRIES.c.sha256, ENTRIES.c.token, ENTRIES.c.number)
    rows = connection.execute(query.where(ENTRIES.c.dataset == dataset).order_by(ENTRIES.c.number))
    for body, sha256, token, number in rows:
        if digest(body) != sha256:
            raise LedgerCorrupt(f"{dataset}/{number}", "an entry that is not what it was")
        yield Entry.parse(body, f"{dataset}/{number}"), token


def dataset_names(connection: Connection) -> list[str]:
    """All datasets of the ledger, and any that has entries though it is not listed."""
    listed = connection.execute(select(DATASETS.c.name)).scalars()
    mentioned = connection.execute(select(ENTRIES.c.dataset).distinct()).scalars()
    return sorted({str(name) for name in (*listed, *mentioned)})


def append(
    connection: Connection,
    last: Entry | None,
    *,
    ledger: str,
    dataset: str,
    kind: str,
    content: Mapping[str, Any],
    token: str,
) -> Entry:
    """Add an entry after the last one, which the transaction holds locked."""
    made = Entry(
        ledger=ledger,
        dataset=dataset,
        number=1 if last is None else last.number + 1,
        time=datetime.now(UTC).isoformat(timespec="microseconds"),
        kind=kind,
        content=content,
        previous=NOTHING if last is None else last.sha256,
    )
    body = made.body
    row = {"dataset": dataset, "number": made.number, "sha256": digest(body), "token": token, "body": body}
    if last is None:
        connection.execute(insert(ENTRIES), row)
        connection.execute(insert(DATASETS), {"name": dataset, "last": body})
    elif connection.dialect.name == "postgresql":
        # Both at once: who waits for this dataset waits for every question to the server.
        connection.execute(_ADD, row)
    else:
        connection.execute(insert(ENTRIES), row)
        connection.execute(_SET_LAST, row)
    return made
