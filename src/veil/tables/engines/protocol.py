"""What every engine can do, name its columns and run one query; and the columns that a question needs.

Names, texts and queries in SQL are quoted, so that any column or table can be called anything.
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from enum import Enum
from typing import Any, Protocol

from veil.core.errors import InvalidArgument, InvalidData


class Kind(Enum):
    """What a column holds, as far as counting cares."""

    INTEGER = "whole numbers"
    WIDE = "whole numbers of any size"
    TEXT = "text"
    WORDS = "values that are told apart by their text"
    FLOAT = "floating-point numbers"
    TIME = "times"
    OTHER = "nested or binary values"


# The names of types, in capitals, in all engines: no two of them mean different kinds by the same name.
_TYPES = {
    Kind.INTEGER: "TINYINT SMALLINT INT INTEGER BIGINT UTINYINT USMALLINT UINTEGER INT2 INT4 INT8",
    Kind.WIDE: "UBIGINT HUGEINT UHUGEINT BIGNUM VARINT",
    Kind.TEXT: "VARCHAR TEXT STRING",
    Kind.WORDS: 'BOOLEAN UUID "NULL" VOID',
    Kind.FLOAT: "FLOAT DOUBLE FLOAT4 FLOAT8 MONEY",
    Kind.TIME: "DATE TIME TIMETZ TIMESTAMP TIMESTAMPTZ TIMESTAMP_NTZ",
    Kind.OTHER: "JSON JSONB BYTEA XML INTERVAL RECORD",
}
ADDRESSES = ("postgresql://", "postgres://", "postgresql+psycopg://", "postgresql+psycopg2://")
DATABASE = (".duckdb", ".db")
# What is taken from a time, and all roles in which columns hold times.
DERIVED = ("hour_of", "weekday_of", "month_of")
TIMES = ("order", "tie_break", *DERIVED)
# What readers call columns without a name.
_GIVEN = re.compile(r"column\d+")
KINDS = {name: kind for kind, names in _TYPES.items() for name in names.split()}


@dataclass(frozen=True, slots=True)
class Column:
    """A column as the engine knows it: its identifier there, and what it holds.

    folded: the engine takes some texts that differ for the same, and has no collation to tell them apart.
    declared: the engine's name of its type, in capitals. expression: what is used instead of the column, in
    DuckDB's SQL over veil_source, such as the hour of its times.
    """

    identifier: str
    kind: Kind
    folded: bool = False
    declared: str = field(default="", compare=False)
    expression: str = ""


class Engine(Protocol):
    """A table in an engine. relation: a query, in the engine's dialect, that gives its rows.

    guesses_layout: the types of the columns were guessed from the rows. row_by_row: it was checked that each
    record of the data is at most one row, and affects no other (proof in tables/sql/row_wise.md).
    """

    dialect: str
    relation: str
    guesses_layout: bool
    row_by_row: bool

    def columns(self) -> dict[str, Column]:
        """The columns by the names that users know them by."""
        ...

    def run(self, sql: str) -> Any:
        """The result of a query as an Arrow table."""
        ...

    def close(self) -> None:
        """Give back what was opened. What the user handed in stays open."""
        ...


def is_database(source: Any) -> bool:
    """Whether a source is a database, of which a table is to be named: an address, a file, a connection."""
    if isinstance(source, (str, os.PathLike)):
        path = os.fspath(source)
        return isinstance(path, str) and (path.startswith(ADDRESSES) or path.lower().endswith(DATABASE))
    return type(source).__module__.startswith("pyspark.") or type(source).__name__ == "DuckDBPyConnection"


def are_names(names: Iterable[str], asked: Iterable[str | None]) -> bool:
    """Whether the first line of a text, or the keys of its objects, are known to be names of columns.

    They are if the user asked for one of them. Otherwise they may be cells, which no error may quote. Names
    that are given to columns without any (column1) show nothing.
    """
    return any(name and not _GIVEN.fullmatch(name) for name in set(asked) & set(names))


def missing_column(
    names: list[str], name: str, role: str, *, asked: Iterable[str | None] | None = None
) -> InvalidData:
    """The error for a column that is not there.

    asked: all that the user asked for, where the names may be cells: then see `are_names`.
    """
    from difflib import get_close_matches

    if asked is not None and not are_names(names, asked):
        # One that is spelled alike is what the user said, and shows nothing else.
        alike = next((other for other in names if _folded(other) == _folded(name)), "")
        hint = "Is the first line a record? Its cells are not shown: they may be sensitive."
        hint = f"Did you mean {alike!r}?" if _folded(alike) else hint
        return InvalidData(role, expected=f"a column {name!r}", found="none of that name", hint=hint)
    folded = {other.casefold(): other for other in names}
    near = get_close_matches(name.casefold(), list(folded), 1, 0.5)
    listed = ", ".join(names[:20]) + (", ..." if len(names) > 20 else "")
    found = f"the columns {listed}" if names else "no columns"
    hint = f"Did you mean {folded[near[0]]!r}?" if near else ""
    return InvalidData(role, expected=f"a column {name!r}", found=found, hint=hint)


def _folded(name: str) -> str:
    """A name without what is easily mistaken: case, blanks, lines and dots."""
    return "".join(sign for sign in name.casefold() if sign.isalnum())


def needed_columns(
    engine: Engine, roles: Mapping[str, str], *, floats: Collection[str] = ()
) -> dict[str, Column]:
    """The columns that are needed, by role, after a look at what they hold.

    floats: roles in which floats are for `whole_floats` to judge.
    """
    present = engine.columns()
    asked = list(roles.values()) if engine.guesses_layout else None
    for role, name in roles.items():
        if name not in present:
            raise missing_column(list(present), name, role, asked=asked)
        kind = present[name].kind
        if kind is Kind.OTHER:
            raise InvalidData(name, expected="a column of single values", found=kind.value)
        if role in TIMES:
            continue
        hint = ""
        if kind is Kind.FLOAT and (role not in floats or present[name].declared == "MONEY"):
            hint = "Cast it to whole numbers or text; in pandas a gap turns whole numbers into such."
        elif kind is Kind.TIME and not role.startswith("by"):
            hint = "Cast it to text."
        if hint:
            raise InvalidData(name, expected="whole numbers or text", found=kind.value, hint=hint)
    return {role: present[name] for role, name in roles.items()}


def whole_floats(engine: Engine, column: Column, name: str) -> Column:
    """A column of floats that are all whole, as whole numbers. In pandas a gap turns these into floats."""
    number = f"veil_source.{quoted(column.identifier)}"
    odd = f"{number} <> FLOOR({number}) OR ABS({number}) > 1e15"
    text = f"SELECT COUNT(CASE WHEN {odd} THEN 1 END) AS others FROM veil_source"
    whole = f"WITH veil_source AS (\n{engine.relation}\n)\n{render(text, engine.dialect)}"
    if engine.run(whole).to_pylist()[0]["others"]:
        hint = "Cast it to text, or to whole numbers."
        raise InvalidData(name, expected="whole numbers or text", found="others", hint=hint)
    return Column(column.identifier, Kind.INTEGER, expression=f"CAST({number} AS BIGINT)")


def told_apart(column: Column, dialect: str) -> str:
    """A column of veil_source in SQL, in which two cells are the same only if their texts are.

    A column, a type, a session or a whole database may be declared blind to case, to accents or to spaces at
    the end. Two people, or two states, would then be one: so text is compared byte by byte, always. Whole
    numbers and times are compared as such, which tells apart what their texts tell apart.
    """
    if column.expression:
        return column.expression
    reference = f"veil_source.{quoted(column.identifier)}"
    if column.folded:
        return f"CAST(CAST({reference} AS BLOB) AS TEXT)"
    if column.kind is Kind.WORDS:
        return exact_text(f"CAST({reference} AS TEXT)", dialect)
    return exact_text(reference, dialect) if column.kind is Kind.TEXT else reference


def exact_text(expression: str, dialect: str) -> str:
    """Text by code points; in Spark that is so by itself, unless a column is declared otherwise."""
    return expression if dialect == "spark" else f'({expression} COLLATE "C")'


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


def selected(table: str | None, quote: Callable[[str], str] = quoted) -> str:
    """The query behind table=. quote: puts a part of the table's name in quotes."""
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


# Up to so many labels are written as rows. Engines read one long text much faster than very many rows.
_MOST_ROWS = 2_000
_BETWEEN = "\x1f"


def places(labels: Iterable[tuple[str, int]], dialect: str, *, text: bool) -> str:
    """A query for labels and their places; without any, one row that nothing equals.

    text: labels are text, and not whole numbers.
    """
    listed = list(labels)
    if len(listed) > _MOST_ROWS and not any(_BETWEEN in label for label, _ in listed):
        return _packed_places(listed, dialect, text=text)
    rows = (f"({literal(label, dialect) if text else label}, {i})" for label, i in listed)
    return f"VALUES {', '.join(rows) or '(CAST(NULL AS BIGINT), 0)'}"


def _packed_places(labels: Sequence[tuple[str, int]], dialect: str, *, text: bool) -> str:
    """The same, as two long texts that the engine splits."""
    names = literal(_BETWEEN.join(label for label, _ in labels), dialect)
    numbers = literal(_BETWEEN.join(str(place) for _, place in labels), dialect)
    mark = literal(_BETWEEN, dialect)
    if dialect == "spark":
        both = f"EXPLODE(ARRAYS_ZIP(SPLIT({names}, {mark}), SPLIT({numbers}, {mark})))"
        first, second, source = "p.`0`", "p.`1`", f"(SELECT {both} AS p)"
    else:
        split = "STRING_TO_ARRAY" if dialect == "postgres" else "STRING_SPLIT"
        first, second = "a", "b"
        lists = (
            f"UNNEST({split}({part}, {mark})) AS {name}" for part, name in ((names, "a"), (numbers, "b"))
        )
        source = f"(SELECT {', '.join(lists)})"
    label = first if text else f"CAST({first} AS BIGINT)"
    return f"SELECT {label}, CAST({second} AS BIGINT) FROM {source} AS packed"
