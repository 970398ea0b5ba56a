"""The tables of a ledger, and how older ones become like them."""

from __future__ import annotations

from collections.abc import Callable

from sqlalchemy import Column, Connection, Index, Integer, MetaData, String, Table, Text, select, text

METADATA = MetaData()

# What the ledger is: its random name, and the version of these tables.
ABOUT = Table(
    "veil_ledger",
    METADATA,
    Column("key", String(40), primary_key=True),
    Column("value", Text, nullable=False),
)
# One row a dataset, which is locked while an entry is added. last: the body of its last entry.
DATASETS = Table(
    "veil_ledger_datasets",
    METADATA,
    Column("name", String(200), primary_key=True),
    Column("last", Text, nullable=False),
)
# Only ever added to. token: of one attempt, so that an answer that was lost is not asked for twice.
ENTRIES = Table(
    "veil_ledger_entries",
    METADATA,
    Column("dataset", String(200), primary_key=True),
    Column("number", Integer, primary_key=True),
    Column("sha256", String(64), nullable=False),
    Column("token", String(80), nullable=False),
    Column("body", Text, nullable=False),
    Index("veil_ledger_tokens", "dataset", "token", unique=True),
)

_WATCHES = {
    "sqlite": [
        f"CREATE TRIGGER IF NOT EXISTS veil_ledger_no_{verb} BEFORE {verb} ON veil_ledger_entries "
        "BEGIN SELECT RAISE(ABORT, 'entries of a ledger are never changed'); END"
        for verb in ("UPDATE", "DELETE")
    ]
    # INSERT OR REPLACE deletes without asking the trigger for deletions.
    + [
        "CREATE TRIGGER IF NOT EXISTS veil_ledger_no_other BEFORE INSERT ON veil_ledger_entries WHEN EXISTS "
        "(SELECT 1 FROM veil_ledger_entries WHERE dataset = NEW.dataset AND "
        "(number >= NEW.number OR token = NEW.token)) "
        "BEGIN SELECT RAISE(ABORT, 'entries of a ledger are never changed'); END"
    ],
    "postgresql": [
        "CREATE OR REPLACE FUNCTION veil_ledger_keep() RETURNS trigger LANGUAGE plpgsql AS "
        "$$ BEGIN RAISE EXCEPTION 'entries of a ledger are never changed'; END $$",
        "CREATE OR REPLACE TRIGGER veil_ledger_no_change BEFORE UPDATE OR DELETE ON veil_ledger_entries "
        "FOR EACH ROW EXECUTE FUNCTION veil_ledger_keep()",
        "CREATE OR REPLACE TRIGGER veil_ledger_no_truncate BEFORE TRUNCATE ON veil_ledger_entries "
        "FOR EACH STATEMENT EXECUTE FUNCTION veil_ledger_keep()",
    ],
}

Migration = Callable[[Connection], None]


def _watch(connection: Connection) -> None:
    """From 1 to 2: the database itself refuses to change entries."""
    for statement in _WATCHES[connection.dialect.name]:
        connection.execute(text(statement))


# The step at place i leads from version i + 1 to the next; the last one leads to the present.
MIGRATIONS: list[Migration] = [_watch]


def version_now() -> int:
    return len(MIGRATIONS) + 1


def create(connection: Connection, name: str) -> None:
    """The tables of the first version, and all that was changed since."""
    METADATA.create_all(connection)
    connection.execute(ABOUT.insert(), [{"key": "name", "value": name}, {"key": "schema", "value": "1"}])
    migrate(connection, 1)


def migrate(connection: Connection, version: int) -> None:
    """From a version to the present one, within the caller's transaction."""
    for step in MIGRATIONS[version - 1 :]:
        step(connection)
    present = {"value": str(version_now())}
    connection.execute(ABOUT.update().where(ABOUT.c.key == "schema").values(**present))


def facts(connection: Connection) -> dict[str, str]:
    """What the ledger says of itself."""
    return {str(row.key): str(row.value) for row in connection.execute(select(ABOUT))}
