"""The tables of a ledger, and how older ones become like them."""

from __future__ import annotations

import json
from collections.abc import Callable

from sqlalchemy import (
    Column,
    Connection,
    Index,
    Integer,
    MetaData,
    String,
    Table,
    Text,
    TextClause,
    func,
    insert,
    select,
    text,
)

from veil.core.text import visible
from veil.ledger.server import functions

METADATA = MetaData()

# What the ledger is: its random name, and the version of these tables.
ABOUT = Table(
    "veil_ledger",
    METADATA,
    Column("key", String(40), primary_key=True),
    Column("value", Text, nullable=False),
)
# One row per dataset, which is locked while an entry is added. last: the body of its last entry. parts: what
# was spent on each part, where that is too long for an entry, which then holds its hash.
DATASETS = Table(
    "veil_ledger_datasets",
    METADATA,
    Column("name", String(200), primary_key=True),
    Column("last", Text, nullable=False),
)
# Only ever added to. token: of one attempt, so that an answer that was lost is not asked for twice. mac: of
# the body and the token, where the dataset is keyed.
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
# On a server: who adds an entry holds the row of its dataset. Rows never change, so that to wait for one is
# to wait in a queue; on a row that changes everybody would have to follow all that became of it meanwhile.
QUEUE = Table("veil_ledger_queue", MetaData(), Column("dataset", String(200), primary_key=True))

# What the database itself refuses, by the names of the triggers.
WATCHES = {
    "sqlite": {
        f"veil_ledger_no_{verb}": f"BEFORE {verb} ON veil_ledger_entries "
        "BEGIN SELECT RAISE(ABORT, 'entries of a ledger are never changed'); END"
        for verb in ("UPDATE", "DELETE")
    }
    # INSERT OR REPLACE deletes without asking the trigger for deletions.
    | {
        "veil_ledger_no_other": "BEFORE INSERT ON veil_ledger_entries WHEN EXISTS "
        "(SELECT 1 FROM veil_ledger_entries WHERE dataset = NEW.dataset AND "
        "(number >= NEW.number OR token = NEW.token)) "
        "BEGIN SELECT RAISE(ABORT, 'entries of a ledger are never changed'); END"
    },
    "postgresql": {
        "veil_ledger_no_change": "BEFORE UPDATE OR DELETE ON veil_ledger_entries "
        "FOR EACH ROW EXECUTE FUNCTION veil_ledger_keep()",
        "veil_ledger_no_truncate": "BEFORE TRUNCATE ON veil_ledger_entries "
        "FOR EACH STATEMENT EXECUTE FUNCTION veil_ledger_keep()",
    },
}
# Of PostgreSQL, what each looks at, as pg_trigger has it: each row before it is changed; the whole table.
_TYPES = {"veil_ledger_no_change": 1 + 2 + 8 + 16, "veil_ledger_no_truncate": 2 + 32}
_KEEP = (
    "CREATE OR REPLACE FUNCTION veil_ledger_keep() RETURNS trigger LANGUAGE plpgsql AS "
    "$$ BEGIN RAISE EXCEPTION 'entries of a ledger are never changed'; END $$"
)


def as_it_stands(statement: str) -> TextClause:
    """A statement without parameters, whatever marks are in it."""
    return text(statement.replace(":", "\\:"))


Migration = Callable[[Connection], None]


def _watch(connection: Connection) -> None:
    """From 1 to 2: the database itself refuses to change entries."""
    on_server = connection.dialect.name == "postgresql"
    if on_server:
        connection.execute(text(_KEEP))
    create = "CREATE OR REPLACE TRIGGER" if on_server else "CREATE TRIGGER IF NOT EXISTS"
    for name, what in WATCHES[connection.dialect.name].items():
        connection.execute(text(f"{create} {name} {what}"))


def _check_meaning(connection: Connection) -> None:
    """From 2 to 3: keys, long lists of parts beside the entries, functions for those who only release.

    Entries that were written before are checked by the rules of their time: how many there are is noted.
    """
    connection.execute(text("ALTER TABLE veil_ledger_entries ADD COLUMN mac TEXT"))
    connection.execute(text("ALTER TABLE veil_ledger_datasets ADD COLUMN parts TEXT"))
    counted = select(ENTRIES.c.dataset, func.count()).group_by(ENTRIES.c.dataset)
    known = {str(name): int(number) for name, number in connection.execute(counted)}
    earlier = {"key": "earlier", "value": json.dumps(known, sort_keys=True)}
    connection.execute(insert(ABOUT), earlier)
    if connection.dialect.name != "postgresql":
        return
    QUEUE.create(connection)
    names = connection.execute(select(DATASETS.c.name)).scalars().all()
    if names:
        connection.execute(insert(QUEUE), [{"dataset": name} for name in names])
    place = str(connection.execute(text("SELECT current_schema()")).scalar())
    for statement in functions(place):
        connection.execute(as_it_stands(statement))


# The step at place i leads from version i + 1 to the next; the last one leads to the present.
MIGRATIONS: list[Migration] = [_watch, _check_meaning]


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


def watches(connection: Connection) -> dict[str, bool]:
    """The triggers on the tables of entries and datasets, and whether each is as Veil made it."""
    if connection.dialect.name == "sqlite":
        query = (
            "SELECT name, sql FROM sqlite_master WHERE type = 'trigger' AND tbl_name IN (:entries, :datasets)"
        )
        known = {name: f"CREATE TRIGGER {name} {what}" for name, what in WATCHES["sqlite"].items()}
    else:
        # Only those that are on, whatever a session says; by what they look at, and what their function does.
        query = (
            "SELECT t.tgname, CASE WHEN t.tgenabled IN ('O', 'A') AND t.tgqual IS NULL "
            "THEN t.tgtype || ' ' || btrim(p.prosrc) END "
            "FROM pg_trigger t JOIN pg_proc p ON p.oid = t.tgfoid "
            "WHERE NOT t.tgisinternal AND t.tgrelid IN (to_regclass(:entries), to_regclass(:datasets))"
        )
        known = {name: f"{_TYPES[name]} {_KEEP.split('$$')[1].strip()}" for name in WATCHES["postgresql"]}
    tables = {"entries": ENTRIES.name, "datasets": DATASETS.name}
    return {str(name): known.get(str(name)) == made for name, made in connection.execute(text(query), tables)}


def faults_of_watches(connection: Connection) -> list[str]:
    """Triggers that are missing, that were changed, and that are not Veil's."""
    present, wanted = watches(connection), WATCHES[connection.dialect.name]
    open_to_changes = "the database does not refuse changes any more: the trigger"
    return [
        *(f"{open_to_changes} {name} is missing" for name in sorted(set(wanted) - set(present))),
        *(
            f"{open_to_changes} {name} is another one"
            for name in sorted(wanted)
            if not present.get(name, True)
        ),
        *(f"the trigger {visible(name)} is not of Veil" for name in sorted(set(present) - set(wanted))),
    ]
