"""What PostgreSQL's catalogue says of a name: whether it is a table that holds its own rows, or what acts."""

from __future__ import annotations

from typing import Any

from veil.tables.engines.protocol import quoted
from veil.tables.sql.row_wise import BaseTable, Name, row_wise
from veil.tables.sql.side_effects import HARMLESS
from veil.tables.sql.statement import Statement

# The table itself and all tables that inherit from it, partitions among them: their rows are its rows.
_FAMILY = """
WITH RECURSIVE family(oid) AS (
    SELECT to_regclass(%(name)s)::oid
    UNION
    SELECT inhrelid FROM pg_catalog.pg_inherits JOIN family ON inhparent = family.oid
)
SELECT bool_and(relkind IN ('r', 'p') AND NOT relrowsecurity
    AND nspname NOT IN ('pg_catalog', 'information_schema') AND nspname NOT LIKE 'pg\\_toast%%')
FROM family
JOIN pg_catalog.pg_class USING (oid)
JOIN pg_catalog.pg_namespace ON pg_namespace.oid = relnamespace
"""
_NAME = """
SELECT nspname, relname FROM pg_catalog.pg_class
JOIN pg_catalog.pg_namespace ON pg_namespace.oid = relnamespace
WHERE pg_class.oid = to_regclass(%(name)s)
"""
# Columns of PostgreSQL's own types, of enumerations and of domains over its own types: what operators and
# functions mean for them cannot be declared otherwise.
_COLUMNS = """
SELECT attname, kind.typnamespace = 'pg_catalog'::regnamespace OR kind.typtype = 'e'
    OR (kind.typtype = 'd' AND base.typnamespace = 'pg_catalog'::regnamespace)
FROM pg_catalog.pg_attribute
JOIN pg_catalog.pg_type AS kind ON kind.oid = atttypid
LEFT JOIN pg_catalog.pg_type AS base ON base.oid = kind.typbasetype
WHERE attrelid = to_regclass(%(name)s) AND attnum > 0 AND NOT attisdropped
"""
_VOLATILE = """
SELECT EXISTS (
    SELECT 1 FROM pg_catalog.pg_proc
    WHERE provolatile = 'v' AND lower(proname) = ANY(%(names)s)
    AND NOT (pronamespace = 'pg_catalog'::regnamespace AND proname = ANY(%(harmless)s))
)
"""


def row_by_row(connection: Any, statement: Statement) -> str | None:
    """The query with the whole name of its table, if it works row by row; None otherwise."""
    found = row_wise(statement)
    if found is None:
        return None
    base = base_table(connection, ".".join(quoted(folded(part)) for part in found.table))
    return None if base is None else found.text(base, folded, quoted)


def folded(name: Name) -> str:
    """Names are in small letters unless they are quoted."""
    return name.text if name.quoted else name.text.lower()


def base_table(connection: Any, name: str) -> BaseTable | None:
    """The table of this name, quoted, if it holds its own rows, and all of them may be seen; None otherwise.

    Views, foreign tables, system tables and tables with policies for rows are none.
    """
    asked = {"name": name}
    kept = connection.execute(_FAMILY, asked).fetchone()
    if kept is None or not kept[0]:
        return None
    path = ".".join(map(quoted, connection.execute(_NAME, asked).fetchone()))
    columns = connection.execute(_COLUMNS, asked).fetchall()
    return BaseTable(path, frozenset(column for column, is_known in columns if is_known))


def use_own_functions(connection: Any) -> None:
    """Let names of functions and operators mean PostgreSQL's own ones, whatever others the database has."""
    connection.execute("SET LOCAL search_path TO pg_catalog, pg_temp")


def acts(connection: Any, statement: Statement) -> bool:
    """Whether a query may call a function that does more than to compute a value, as it is declared."""
    names = sorted(statement.called | statement.dotted)
    row = connection.execute(_VOLATILE, {"names": names, "harmless": list(HARMLESS)}).fetchone()
    return row is None or bool(row[0])
