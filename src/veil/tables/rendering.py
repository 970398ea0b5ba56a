"""From DuckDB's dialect, in which the queries are written, to that of the engine at hand."""

from __future__ import annotations

from collections.abc import Iterable

from veil.tables.engines.names import text_literal


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
