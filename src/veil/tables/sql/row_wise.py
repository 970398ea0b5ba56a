"""Which queries work row by row: each record of one table gives at most one row, and changes no other.

Only then is a record of the table a record of the result, and the guarantee holds as it is printed (proof in
row_wise.md). The check knows what it accepts, and nothing else. What is not on its lists may be right too,
but nobody has shown it: a release then lists `veil.core.mechanism:ROW_BY_ROW` as an assumption.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from veil.tables.sql.statement import Statement

# The parts of a SELECT that a query may have.
_PARTS = {"expressions", "from_", "from", "where"}
# Expressions of one row, by sqlglot's names.
_NODE_NAMES = """
Alias Paren Literal Null Boolean Column Identifier Star Var Neg Not And Or EQ NEQ GT GTE LT LTE NullSafeEQ
NullSafeNEQ Is In Between Like ILike Escape Add Sub Mul Div IntDiv Mod DPipe Case If Cast TryCast DataType
DataTypeParam Interval Coalesce Nullif Lower Upper Initcap Trim Substring Length Left Right Replace Concat
ConcatWs Pad StrPosition SplitPart Abs Sign Round Floor Ceil Sqrt Pow Ln Least Greatest MD5 Extract
TimestampTrunc DateTrunc Year Month Day Hour Minute Second TsOrDsToDate TimeStrToTime TimeToStr ToChar
StrToTime UnixToTime TimeToUnix AtTimeZone Dayname Monthname DayOfWeek DayOfWeekIso DayOfMonth DayOfYear Week
WeekOfYear Quarter
"""
# Functions of one row, all deterministic, and whatever else may stand before a bracket.
_CALL_NAMES = """
lower upper initcap length char_length trim ltrim rtrim btrim substring substr left right replace concat
concat_ws lpad rpad position strpos split_part coalesce nullif abs sign round floor ceil ceiling sqrt ln power
pow mod least greatest md5 cast try_cast extract date_part date_trunc year month day hour minute second
strftime to_char date_format strptime try_strptime to_timestamp make_timestamp epoch epoch_ms dayname
monthname dayofweek isodow weekday dayofmonth dayofyear week weekofyear quarter
if varchar char decimal numeric timestamp time
in and or not when then else case where select between like ilike as is from
+ - * / % || = <> != < > <= >= , (
"""
_TYPE_NAMES = """
TINYINT SMALLINT INT BIGINT INT128 UTINYINT USMALLINT UINT UBIGINT DECIMAL FLOAT DOUBLE TEXT VARCHAR CHAR
BOOLEAN DATE TIME TIMETZ TIMESTAMP TIMESTAMPTZ TIMESTAMPLTZ TIMESTAMPNTZ UUID INTERVAL
"""
_NODES, _CALLS, _TYPES = (frozenset(names.split()) for names in (_NODE_NAMES, _CALL_NAMES, _TYPE_NAMES))
# Called without a name of sqlglot's own in some engine.
_BY_NAME = frozenset({"date_part", "char_length", "weekday", "try_strptime"})
# What engines may read in different ways: comments, escapes, dollar quotes and variables.
_ODD = ("--", "/*", "\\", "$")
# The parts of the name of a table.
_OF_TABLE = {"this", "db", "catalog", "alias"}


@dataclass(frozen=True, slots=True)
class Name:
    """A name in a query. quoted: as it is, rather than in whichever case the engine keeps names."""

    text: str
    quoted: bool


@dataclass(frozen=True, slots=True)
class BaseTable:
    """A table that holds its own rows, and is no view. path: its whole name, quoted. columns: their names."""

    path: str
    columns: frozenset[str]


@dataclass(frozen=True, slots=True)
class RowWise:
    """A query that works row by row if the table it reads holds its own rows.

    table: the parts of its name. columns: all that are named. alias: what columns are said to be of.
    """

    statement: Statement
    table: tuple[Name, ...]
    columns: tuple[Name, ...]
    alias: Name
    has_alias: bool
    start: int
    end: int

    def text(self, base: BaseTable, fold: Callable[[Name], str], quote: Callable[[str], str]) -> str | None:
        """The query with the whole name of the table; None unless the table has every column that is named.

        A name that is no column may be a place on the disk, or a function of the whole row.
        fold: the case that the engine keeps a name in.
        """
        known = {fold(Name(column, quoted=True)) for column in base.columns}
        if not {fold(name) for name in self.columns} <= known:
            return None
        alias = "" if self.has_alias else f" AS {quote(fold(self.alias))}"
        text = self.statement.text
        return f"{text[: self.start]}{base.path}{alias}{text[self.end :]}"


def row_wise(statement: Statement) -> RowWise | None:
    """The query, if it is a SELECT from one table whose expressions are of one row; None otherwise."""
    from sqlglot import exp

    select: Any = statement.tree
    text = statement.text
    is_plain = " ".join(text.split()).isprintable() and not any(mark in text for mark in _ODD)
    if not is_plain or not isinstance(select, exp.Select) or not statement.called <= _CALLS:
        return None
    if any(value for part, value in select.args.items() if part not in _PARTS):
        return None
    source = select.args.get("from_") or select.args.get("from")
    table: Any = None if source is None else source.this
    if type(table) is not exp.Table or any(table.args[one] for one in table.args if one not in _OF_TABLE):
        return None
    names = [part for part in map(table.args.get, ("catalog", "db", "this")) if part]
    alias = table.args.get("alias")
    if any(type(part) is not exp.Identifier for part in names) or (alias and alias.args.get("columns")):
        return None
    called_as = _name(alias.this if alias else names[-1])
    columns, place = _columns(select, called_as), _place_of_table(statement, len(names))
    if columns is None or place is None:
        return None
    return RowWise(statement, tuple(map(_name, names)), columns, called_as, bool(alias), *place)


def _columns(select: Any, table: Name) -> tuple[Name, ...] | None:
    """The columns that a SELECT names; None unless all of its expressions are of one row of the table."""
    from sqlglot import exp

    columns: list[Name] = []
    where = select.args.get("where")
    for expression in [*select.expressions, *([] if where is None else [where.this])]:
        for node in expression.walk():
            if not _of_one_row(node):
                return None
            if isinstance(node, exp.Column):
                owner = node.args.get("table")
                if owner is not None and _name(owner) != table:
                    return None
                columns += [] if isinstance(node.this, exp.Star) else [_name(node.this)]
    return tuple(columns)


def _name(identifier: Any) -> Name:
    return Name(identifier.name, bool(identifier.args.get("quoted")))


def _of_one_row(node: Any) -> bool:
    """Whether an expression, apart from those inside it, is one of a single row."""
    kind = type(node).__name__
    if kind == "Anonymous":
        return str(node.name).casefold() in _BY_NAME
    if kind not in _NODES:
        return False
    if kind == "Star":
        return not any(node.args.values())
    if kind == "Column":
        return not any(node.args.get(part) for part in ("db", "catalog", "join_mark"))
    if kind == "In":
        return not any(node.args.get(part) for part in ("query", "unnest", "field"))
    if kind == "DataType":
        return node.this.name in _TYPES and not node.args.get("nested")
    return True


def _place_of_table(statement: Statement, parts: int) -> tuple[int, int] | None:
    """Where the name of the table begins and ends in the text."""
    depth, found = 0, []
    tokens = statement.tokens
    for place, token in enumerate(tokens):
        mark = token.text if token.start == token.end else ""
        depth += (mark == "(") - (mark == ")")
        is_from = token.token_type.name == "FROM" and depth == 0
        if is_from and not (place and tokens[place - 1].token_type.name == "DISTINCT"):
            found.append(place)
    if len(found) != 1:
        return None
    name = tokens[found[0] + 1 : found[0] + 2 * parts]
    if len(name) != 2 * parts - 1 or any(dot.text != "." for dot in name[1::2]):
        return None
    return name[0].start, name[-1].end + 1
