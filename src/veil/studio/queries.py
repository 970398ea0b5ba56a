"""Queries that are put together by clicks: new columns and conditions, each of one row of the table.

What is made here works row by row, by the same check that a release applies (`tables/sql/row_wise.md`), so
that each record of the data is one row at most and the guarantee assumes nothing more.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from veil.core.errors import InvalidArgument, VeilError
from veil.tables.engines.protocol import quoted, table_parts, text_literal
from veil.tables.sql.row_wise import row_wise
from veil.tables.sql.statement import one_select

DUCKDB, POSTGRES = "duckdb", "postgres"
_NUMBER = {DUCKDB: "DOUBLE", POSTGRES: "DOUBLE PRECISION"}


@dataclass(frozen=True, slots=True)
class Operation:
    """Something that is done to one column, or asked of it. takes: what must be typed in for it, if anything.

    sql: with places for the column, what was typed in, and the type of numbers.
    """

    words: str
    sql: str
    takes: str = ""

    def text(self, column: str, value: str, dialect: str) -> str:
        """The expression. value: as it was typed in."""
        typed = ""
        if self.takes == "text":
            typed = text_literal(value)
        elif self.takes:
            typed = _number(value, whole=self.takes == "whole number")
        elif value.strip():
            raise InvalidArgument("value", expected=f"none for “{self.words}”", found="one")
        return self.sql.format(column=quoted(column), value=typed, number=_NUMBER[dialect])


def _time(part: str) -> str:
    return f"CAST(EXTRACT({part} FROM CAST({{column}} AS TIMESTAMP)) AS INT)"


NEW: dict[str, Operation] = {
    "hour": Operation("hour of the day, 0 to 23", _time("HOUR")),
    "weekday": Operation("day of the week, 1 (Monday) to 7", _time("ISODOW")),
    "month": Operation("month, 1 to 12", _time("MONTH")),
    "year": Operation("year", _time("YEAR")),
    "day": Operation("date", "CAST({column} AS DATE)"),
    "steps": Operation(
        "number, rounded down to steps of", "floor(CAST({column} AS {number}) / {value}) * {value}", "number"
    ),
    "left": Operation("the first letters, so many", "left({column}, {value})", "whole number"),
    "lower": Operation("in small letters", "lower({column})"),
    "trim": Operation("without spaces around it", "trim({column})"),
    "same": Operation("as it is, under another name", "{column}"),
}
WHERE: dict[str, Operation] = {
    "is": Operation("is", "CAST({column} AS VARCHAR) = {value}", "text"),
    "is not": Operation("is not", "CAST({column} AS VARCHAR) <> {value}", "text"),
    "least": Operation("is at least", "CAST({column} AS {number}) >= {value}", "number"),
    "most": Operation("is at most", "CAST({column} AS {number}) <= {value}", "number"),
    "there": Operation("is there", "{column} IS NOT NULL"),
}


def _number(text: str, *, whole: bool) -> str:
    expected = "a whole number above 0" if whole else "a number above 0, such as 0.5"
    plain = text.strip()
    if not plain.replace(".", "", 0 if whole else 1).isdecimal() or not plain.isascii():
        raise InvalidArgument("value", expected=expected, found=plain[:20] or "none")
    return plain


# Of a line of the form, in the order of the fields of a rule.
_KEYS = ("column", "operation", "value", "name")


@dataclass(frozen=True, slots=True)
class Rule:
    """One line of the form. column: of the table; operation: its name; name: of a new column."""

    column: str
    operation: str
    value: str = ""
    name: str = ""


def rules_in(texts: Mapping[str, str], part: str) -> list[Rule]:
    """The lines that were filled in. part: "new" or "where"."""
    found, number = [], 0
    while f"query.{part}.{number}.column" in texts:
        rule = Rule(*(texts.get(f"query.{part}.{number}.{key}", "") for key in _KEYS))
        if rule.column or rule.name:
            found.append(rule)
        number += 1
    return found


def texts_of(rules: Sequence[Rule], part: str) -> dict[str, str]:
    """The lines as they are kept in a draft, and an empty one after them."""
    texts = {}
    for number, rule in enumerate([*rules, Rule("", "")]):
        for key in _KEYS:
            texts[f"query.{part}.{number}.{key}"] = getattr(rule, key)
    return texts


def composed(
    columns: Sequence[str], new: Sequence[Rule], where: Sequence[Rule], *, table: str, dialect: str
) -> str:
    """The query: all columns as they are, new ones after them, of the rows that fulfil every condition.

    table: as the query is to call it, with dots between its parts.
    """
    shown = [quoted(column) for column in columns]
    names = set(columns)
    for rule in new:
        operation = _operation(NEW, rule, columns)
        name = rule.name.strip()
        if not name or name in names:
            found = "none" if not name else "one that is there already"
            raise InvalidArgument("name", expected="a name for the new column", found=found)
        names.add(name)
        shown.append(f"{operation.text(rule.column, rule.value, dialect)} AS {quoted(name)}")
    kept = [_operation(WHERE, rule, columns).text(rule.column, rule.value, dialect) for rule in where]
    source = ".".join(map(quoted, table_parts(table)))
    query = f"SELECT {', '.join(shown)} FROM {source}"
    query += f" WHERE {' AND '.join(kept)}" if kept else ""
    if not works_row_by_row(query, dialect):
        expected = "letters, digits and plain marks in names and values"
        raise InvalidArgument("value", expected=expected, found="a mark that may mean something else in SQL")
    return query


def _operation(known: Mapping[str, Operation], rule: Rule, columns: Sequence[str]) -> Operation:
    if rule.column not in columns:
        raise InvalidArgument("column", expected="a column of the table", found=rule.column[:40] or "none")
    if rule.operation not in known:
        raise InvalidArgument("operation", expected="one of those that are listed", found="another")
    return known[rule.operation]


def works_row_by_row(query: str, dialect: str) -> bool:
    """Whether a query, by its text alone, gives at most one row for each record and affects no other."""
    try:
        return row_wise(one_select(query, dialect)) is not None
    except VeilError:
        return False
