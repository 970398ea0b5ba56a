"""Queries over a source without tables of its own, a file or a frame: they read `input` and nothing else."""

from __future__ import annotations

from veil.core.errors import InvalidArgument
from veil.tables.sql.statement import Statement

# What the source is called in a query.
INPUT = "input"
# Functions in the place of a table that read nothing, by sqlglot's names.
_MADE_UP = ("GenerateSeries",)
# Functions that tell of the machine rather than of the source.
_ABOUT = {"current_setting", "getvariable", "getenv", "version"}


def check_input(statement: Statement) -> None:
    """Raise unless all tables that the query names are `input` or parts of the query itself.

    This is for a clear refusal before anything is opened. DuckDB is told besides which files it may read, so
    that a name which is read differently there finds nothing else either.
    """
    from sqlglot import exp

    parts = {str(part.alias).casefold() for part in statement.tree.find_all(exp.CTE)}
    for table in statement.tree.find_all(exp.Table):
        if type(table.this).__name__ in _MADE_UP:
            continue
        is_plain = isinstance(table.this, exp.Identifier) and not table.args.get("db")
        if not is_plain or table.name.casefold() not in {INPUT, *parts}:
            found = "another table" if is_plain else "a function or another place to read from"
            raise _refused(f"FROM {INPUT}, which is the named source", found)
    if statement.called & _ABOUT:
        raise _refused("a query of the named source alone", "a function that tells of the machine")


def named_columns(statement: Statement) -> list[str]:
    """The columns that a query names, each once, in the order in which they come."""
    from sqlglot import exp

    names = (str(column.name) for column in statement.tree.find_all(exp.Column))
    return [name for name in dict.fromkeys(names) if name and name != "*"]


def _refused(expected: str, found: str) -> InvalidArgument:
    return InvalidArgument("query", expected=expected, found=found, hint="Nothing was run.")
