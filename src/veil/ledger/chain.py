"""The entries of one dataset, in the store: added at the end, never changed.

Each entry holds the hash of the one before it, the totals after it, and which entry set the terms that hold.
The dataset's own row holds the last entry once more, so that one locked read says all that a charge needs.
Who edits an entry later breaks the chain, which `verify` shows. Who cuts off the end, and sets the dataset's
row back as well, leaves a consistent chain: only what is kept elsewhere shows that (marks, anchors, exports).
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

from sqlalchemy import Connection

from veil.core.errors import LedgerCorrupt
from veil.ledger.balance import Balance
from veil.ledger.entry import Entry, digest
from veil.ledger.server import RELEASING
from veil.ledger.session import Session, rows_of

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
_OPEN = "INSERT INTO veil_ledger_datasets (name, last) VALUES (:dataset, :body)"
# Its row may be there, though nothing else of the dataset is.
_QUEUE = "INSERT INTO veil_ledger_queue (dataset) VALUES (:dataset) ON CONFLICT DO NOTHING"
_SET_LAST = "UPDATE veil_ledger_datasets SET last = :body, parts = :parts WHERE name = :dataset"
# All columns, since tables of an older Veil, which are only read, have fewer.
_LAST = "SELECT * FROM veil_ledger_datasets WHERE name = :dataset"
_ENTRY = "SELECT * FROM veil_ledger_entries WHERE dataset = :dataset AND number = :number"
_WITH_TOKEN = "SELECT number FROM veil_ledger_entries WHERE dataset = :dataset AND token = :token"
_AFTER = (
    "SELECT * FROM veil_ledger_entries WHERE dataset = :dataset AND number > :number "
    "ORDER BY number LIMIT :most"
)
_NAMES = "SELECT name FROM veil_ledger_datasets UNION SELECT dataset FROM veil_ledger_entries"


@dataclass(frozen=True, slots=True)
class Row:
    """An entry as it is kept. token: of the attempt that wrote it. mac: "" where it has none."""

    entry: Entry
    token: str
    mac: str


@dataclass(frozen=True, slots=True)
class Last:
    """The newest entry of a dataset. parts: what was spent on parts, if that is kept beside the entry.

    token, mac: as of any row; "" unless the entry was locked. balance: after it, where it is known already.
    """

    entry: Entry
    parts: str | None
    token: str = ""
    mac: str = ""
    balance: Balance | None = None


def last_entry(connection: Connection | Session, dataset: str) -> Last | None:
    """The newest entry; None if there is no such dataset."""
    rows = rows_of(connection, _LAST, {"dataset": dataset})
    return Last(Entry.parse(rows[0].last, dataset), getattr(rows[0], "parts", None)) if rows else None


def locked_entry(session: Session, dataset: str, known: Last | None) -> Last | None:
    """The newest entry, which stays so until the session ends; None if there is no such dataset.

    known: what this process takes for the newest, which need not be read again if it is.
    """
    rows = session.rows(_LOCK if session.on_server else _LAST_AND_NEWEST, {"dataset": dataset})
    if not rows:
        return None
    row = rows[0]
    same = known is not None and known.entry.body == row.last and known.parts == row.parts
    last = known.entry if same and known is not None else Entry.parse(row.last, dataset)
    # Anybody who writes to the database may change the row; of the entries the database takes care.
    if (row.number, row.sha256) != (last.number, last.sha256):
        raise LedgerCorrupt(dataset, "a last entry that is not the newest")
    balance = known.balance if same and known is not None else None
    return Last(last, row.parts, str(row.token), str(row.mac or ""), balance)


def row_at(connection: Connection | Session, dataset: str, number: int) -> Row:
    """The entry with this number, with what is kept beside it."""
    # A number that a database could not hold is none of an entry.
    known = type(number) is int and 0 < number < 2**31
    rows = rows_of(connection, _ENTRY, {"dataset": dataset, "number": number}) if known else []
    if not rows:
        raise LedgerCorrupt(f"{dataset}/{number}", "no such entry")
    return _parsed(rows[0], dataset)


def _parsed(row: Any, dataset: str) -> Row:
    where = f"{dataset}/{row.number}"
    if digest(row.body) != row.sha256:
        raise LedgerCorrupt(where, "an entry that is not what it was")
    entry = Entry.parse(row.body, where)
    if type(row.number) is not int or row.number != entry.number:
        raise LedgerCorrupt(where, "an entry at another place than it says")
    return Row(entry, str(row.token), str(getattr(row, "mac", None) or ""))


def entry_at(connection: Connection | Session, dataset: str, number: int) -> Entry:
    """The entry with this number."""
    return row_at(connection, dataset, number).entry


def entry_with(connection: Connection | Session, dataset: str, token: str) -> Entry | None:
    """The entry that carries this token, if there is one."""
    rows = rows_of(connection, _WITH_TOKEN, {"dataset": dataset, "token": token})
    return entry_at(connection, dataset, int(rows[0].number)) if rows else None


def rows_after(connection: Connection | Session, dataset: str, number: float, most: int) -> list[Row]:
    """The entries after a number, with what is kept beside them, oldest first."""
    rows = rows_of(connection, _AFTER, {"dataset": dataset, "number": number, "most": most})
    return [_parsed(row, dataset) for row in rows]


def dataset_names(connection: Connection | Session) -> list[str]:
    """All datasets of the ledger, and any that has entries though it is not listed."""
    return sorted(str(row.name) for row in rows_of(connection, _NAMES, {}))


def time_after(last: Entry | None) -> str:
    """Now, or the time of the last entry if that is later: a clock that was set back does no harm."""
    now = datetime.now(UTC).isoformat(timespec="microseconds")
    return now if last is None else max(now, last.time)


def append(session: Session, row: Row, *, parts: str | None) -> None:
    """Add an entry after the last one, which the session holds locked.

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
    if session.on_server and entry.kind in RELEASING:
        session.run(_ADD_BY_FUNCTION, values)
        return
    session.run(_ADD, values)
    if entry.number > 1:
        session.run(_SET_LAST, values)
        return
    session.run(_OPEN, values)
    if session.on_server:
        session.run(_QUEUE, values)
