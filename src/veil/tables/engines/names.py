"""Names, texts and queries in SQL: quoted, so that any column or table can be called anything."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable

from veil.core.errors import InvalidArgument


def quoted(name: str) -> str:
    """An identifier in double quotes."""
    return '"' + name.replace('"', '""') + '"'


def text_literal(text: str) -> str:
    """A text in single quotes, as DuckDB and PostgreSQL read it."""
    return "'" + text.replace("'", "''") + "'"


def table_parts(table: str) -> list[str]:
    """The parts of a table's name: split at dots, except inside double quotes."""
    parts, inside = [""], False
    for mark in table:
        inside ^= mark == '"'
        if mark == "." and not inside:
            parts.append("")
        else:
            parts[-1] += mark
    return [part[1:-1].replace('""', '"') if re.fullmatch(r'(?s)".*"', part) else part for part in parts]


def selected(table: str | None, query: str | None, quote: Callable[[str], str] = quoted) -> str:
    """The query behind table= or query=. quote: puts a part of the table's name in quotes."""
    if query is not None:
        return query.strip().rstrip(";")
    if table is not None:
        return f"SELECT * FROM {'.'.join(map(quote, table_parts(table)))}"
    raise InvalidArgument("table", expected="the name of a table, or a query", found="none")


def render(text: str, dialect: str) -> str:
    """A query in another dialect."""
    if dialect == "duckdb":
        return text
    import sqlglot

    return str(sqlglot.transpile(text, read="duckdb", write=dialect)[0])


def literal(text: str, dialect: str) -> str:
    """A text as a literal of the dialect."""
    if dialect != "spark":
        return text_literal(text)
    # Spark would put a variable of its session in the place of ${...}.
    escaped = text.replace("\\", "\\\\").replace("'", "\\'").replace("${", "$\\u007b")
    return f"'{escaped}'"


def places(labels: Iterable[tuple[str, int]]) -> str:
    """A table of labels (as literals) and their places; without any, one row that nothing equals."""
    return f"VALUES {', '.join(f'({label}, {i})' for label, i in labels) or '(CAST(NULL AS BIGINT), 0)'}"
