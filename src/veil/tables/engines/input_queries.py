"""Queries over files and frames: `SELECT … FROM input`, in a DuckDB of our own that can read nothing else.

Cells of CSV are text in a query, whatever they look like: nothing is guessed about them, and 007 stays 007. A
query says itself what it takes them for: CAST(t AS TIMESTAMP), strptime(t, '%d/%m/%Y %H:%M').
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

from veil.core.errors import InvalidArgument, VeilError
from veil.tables.engines import duck
from veil.tables.engines.file_relations import Wanted, replaced, whole_numbers
from veil.tables.engines.protocol import missing_column, quoted
from veil.tables.frames import frame_columns, is_computed
from veil.tables.sql.one_input import INPUT, check_input, named_columns
from veil.tables.sql.row_wise import BaseTable, row_wise
from veil.tables.sql.statement import Statement, one_select
from veil.tables.typed_files import parquet_types

_PATH = f'"memory"."main".{quoted(INPUT)}'
_TEXT = (
    "Cells of text files are text: CAST(t AS TIMESTAMP), strptime(t, '%d/%m/%Y %H:%M') or CAST(n AS BIGINT)."
)
_ADVICE = "TRY_CAST and try_strptime make gaps of cells that are something else."
# How DuckDB says which function has no form for the types of its arguments.
_FUNCTION = re.compile(r"'(\w+\([A-Z0-9_,() ]*\))'")


def input_engine(
    name: str,
    connection: Any,
    close: Callable[[], None],
    relation: str,
    statement: Statement,
    *,
    guesses_layout: bool = False,
    row_by_row: bool = True,
    labels: set[str] | None = None,
) -> duck.DuckEngine:
    """The result of a query over rows that DuckDB reads with another one, the relation.

    guesses_layout: the names of the columns may be cells. row_by_row: the rows are records of the data.
    labels: columns of the result that come as numbers where all cells are whole ones.
    """
    import duckdb

    present: dict[str, str] = {}
    try:
        connection.execute(f"CREATE VIEW {quoted(INPUT)} AS {relation}")
        present |= _described(connection, f"SELECT * FROM {quoted(INPUT)}")
        checked = _row_by_row(statement, list(present))
        text = checked or statement.text
        result = _described(connection, text)
    except (duckdb.BinderException, duckdb.CatalogException, duckdb.ParserException) as error:
        close()
        raise _explained(error, statement, list(present), guesses_layout=guesses_layout) from None
    except VeilError:
        close()
        raise
    words = {one for one in labels or () if result.get(one) == "VARCHAR"}
    with duck.translated(name, reads_rows=True, advice=_ADVICE):
        casts = {one: f"CAST({quoted(one)} AS BIGINT)" for one in whole_numbers(connection, text, words)}
    if casts:
        text = f"SELECT *{replaced(casts)} FROM (\n{text}\n) AS veil_lines"
    return duck.DuckEngine(
        name,
        connection.sql,
        text,
        close=close,
        watches=connection,
        guesses_layout=guesses_layout,
        row_by_row=row_by_row and checked is not None,
        advice=_ADVICE,
    )


def _described(connection: Any, text: str) -> dict[str, str]:
    """The columns of a query with their types."""
    return {str(row[0]): str(row[1]) for row in connection.sql(f"DESCRIBE {text}").fetchall()}


def _row_by_row(statement: Statement, columns: list[str]) -> str | None:
    """The query with the whole name of its table, if it works row by row (proof in tables/sql/row_wise.md).

    The connection is our own, so that functions are those of DuckDB, and `input` has one meaning.
    """
    found = row_wise(statement)
    if found is None or [one.text.casefold() for one in found.table] != [INPUT]:
        return None
    return found.text(BaseTable(_PATH, frozenset(columns)), lambda one: one.text.casefold(), quoted)


def _explained(
    error: Exception, statement: Statement, columns: list[str], *, guesses_layout: bool
) -> VeilError:
    """What is wrong with a query, in words that hold no cells: no row was read, but names may be cells."""
    said = str(error)
    function = _FUNCTION.search(said) if "No function matches" in said else None
    if function is not None:
        hint = _TEXT if "VARCHAR" in function[1] else ""
        expected = "functions of the types that the columns have"
        return InvalidArgument("query", expected=expected, found=function[1], hint=hint)
    known = {name.casefold() for name in columns}
    asked = named_columns(statement)
    missing = [name for name in asked if name.casefold() not in known]
    if "Referenced column" in said and missing:
        near = [name for name in columns if name.casefold() in {one.casefold() for one in asked}]
        return missing_column(columns, missing[0], "query", asked=near if guesses_layout else None)
    found = type(error).__name__ if guesses_layout else said.strip().splitlines()[0].rstrip(".")
    hint = _TEXT if "VARCHAR" in said else ""
    return InvalidArgument("query", expected="a query that DuckDB can read", found=found, hint=hint)


def one_input(query: str) -> Statement:
    """A query over a file or a frame, checked before anything is opened."""
    statement = one_select(query, "duckdb")
    check_input(statement)
    return statement


def wanted_by(statement: Statement) -> Wanted:
    """The columns that a query names, to be read as they are written."""
    return Wanted(set(named_columns(statement)), set(), set(), every=True)


def columns_read(statement: Statement, file: str) -> int:
    """How many columns of a Parquet file a query reads."""
    from sqlglot import exp

    if statement.tree.find(exp.Star) is None:
        return len(named_columns(statement))
    return len(parquet_types(file))


def queried_frame(source: Any, statement: Statement, *, ordered: bool) -> duck.DuckEngine:
    """The result of a query over a table in memory."""
    import pyarrow as pa

    columns = frame_columns(source, None, mixed=False) or {}
    if len({name.casefold() for name in columns}) < len(columns):
        # DuckDB does not tell upper from lower case in names.
        expected = "columns whose names differ in more than upper and lower case, for a query"
        raise InvalidArgument("query", expected=expected, found="two that do not")
    connection, close = duck.private_connection(ordered=ordered)
    connection.register("veil_frame", pa.table(columns))
    relation, is_data = "SELECT * FROM veil_frame", not is_computed(source)
    return input_engine("source", connection, close, relation, statement, row_by_row=is_data)
