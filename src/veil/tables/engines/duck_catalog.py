"""What DuckDB's catalogue says of a name: whether it is a table that holds its own rows, or a function."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cache
from typing import Any

from veil.core.errors import InvalidArgument
from veil.tables.engines.protocol import quoted
from veil.tables.sql.row_wise import BaseTable, Name, row_wise
from veil.tables.sql.statement import Statement

Ask = Callable[[str], Any]
_NAMED = "SELECT database_name, schema_name,"
_TABLES = f"{_NAMED} table_name, sql FROM system.main.duckdb_tables()"
_VIEWS = f"{_NAMED} view_name, NULL FROM system.main.duckdb_views()"
_COLUMNS = f"{_NAMED} table_name, column_name FROM system.main.duckdb_columns()"
_DATABASES = "SELECT database_name, type, internal FROM system.main.duckdb_databases()"
_FUNCTIONS = (
    "SELECT function_name, function_type, CAST(parameter_types AS VARCHAR), return_type, macro_definition "
    "FROM system.main.duckdb_functions()"
)


def row_by_row(ask: Ask, statement: Statement) -> str | None:
    """The query with the whole name of its table, if it works row by row; None otherwise."""
    found = row_wise(statement)
    base = None if found is None else base_table(ask, [name.text for name in found.table])
    if found is None or base is None or not _are_built_in(ask):
        return None
    return found.text(base, folded, quoted)


def folded(name: Name) -> str:
    """DuckDB does not tell upper from lower case in names, quoted or not."""
    return name.text.casefold()


def base_table(ask: Ask, parts: Sequence[str]) -> BaseTable | None:
    """The one table that such a name can mean, if it holds its own rows; None for views and all else.

    A name that could mean several things is not followed. A column that is computed when it is read may be a
    number of the row, which depends on the other rows.
    """
    if len(parts) > 3:
        return None
    table, *places = [part.casefold() for part in reversed(parts)]
    # Compared here: a macro may have taken the name of an operator or a function.
    found = [
        row
        for row in [*ask(_TABLES).fetchall(), *ask(_VIEWS).fetchall()]
        if row[2].casefold() == table and all(one in {row[0].casefold(), row[1].casefold()} for one in places)
    ]
    if len(found) != 1 or found[0][3] is None or "GENERATED" in found[0][3].upper():
        return None
    kept = {name for name, kind, internal in ask(_DATABASES).fetchall() if kind == "duckdb" and not internal}
    if found[0][0] not in {*kept, "temp"}:
        return None
    columns = [row[3] for row in ask(_COLUMNS).fetchall() if row[:3] == found[0][:3]]
    return BaseTable(".".join(map(quoted, found[0][:3])), frozenset(columns))


def check_one_select(connection: Any, statement: Statement) -> None:
    """Raise unless DuckDB, too, takes the text for one SELECT. A text that it cannot read fails later."""
    import duckdb

    try:
        found = [one.type.name for one in connection.extract_statements(statement.text)]
    except duckdb.Error:
        return
    if found != ["SELECT"]:
        raise InvalidArgument("query", expected="one SELECT statement", found="another statement")


def _are_built_in(ask: Ask) -> bool:
    """Whether DuckDB's functions and operators are its own: macros of users may take their names."""
    own, names = _own_functions()
    present = {tuple(row) for row in ask(_FUNCTIONS).fetchall() if row[0] in names}
    return present == own


@cache
def _own_functions() -> tuple[frozenset[Any], frozenset[str]]:
    import duckdb

    with duckdb.connect() as fresh:
        own = frozenset(tuple(row) for row in fresh.sql(_FUNCTIONS).fetchall())
    return own, frozenset(row[0] for row in own)
