"""Times in columns: texts that are read in a stated format, and what is taken from a time, such as the hour.

Nothing is guessed from the data: 01/02/2026 is a day of January or of February as the user says, and unless
they say so, texts are such as 2026-11-15 10:00 (ISO 8601). Times with an offset (Z, +02:00) are ordered as
moments. The hour, weekday and month are those that are written; of typed columns with a time zone they are
those in UTC.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import product
from typing import Any

from veil.core.checks import shown
from veil.core.errors import InvalidArgument, InvalidData
from veil.core.request import option
from veil.tables.engines.protocol import Column, Engine, Kind, quoted, render, text_literal

ISO, DAY_FIRST, MONTH_FIRST = "iso", "day-first", "month-first"
_EXAMPLES = {
    ISO: "2026-11-15 10:00 or 2026-11-15T10:00:00Z",
    DAY_FIRST: "15/11/2026 10:00",
    MONTH_FIRST: "11/15/2026 10:00 or 11/15/2026 3:04 PM",
}
# The parts of such a text: date, time, offset, its sign, hours and minutes.
_ISO_TEXT = (
    r"(\d{4}-\d{2}-\d{2})(?:[T ](\d{2}:\d{2}(?::\d{2}(?:\.\d{1,6})?)?)(?: ?(Z|([+-])(\d{2}):?(\d{2})?))?)?"
)
_FOUR_DIGITS = r"\d{1,2}[/.-]\d{1,2}[/.-]\d{4}( .*)?"
_CLOCKS = ("", " %H:%M", " %H:%M:%S", " %H:%M:%S.%f", " %I:%M %p", " %I:%M:%S %p")


@dataclass(frozen=True, slots=True)
class Part:
    """What is taken from a time. unit: its name in SQL. first: the number of the first of its values."""

    unit: str
    first: int
    labels: tuple[str, ...]
    # What a pattern must have some of, and what a typed column must not be.
    needs: tuple[str, ...]
    lacking: str


_DAYS = ("Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday")
_MONTHS = (
    *("January", "February", "March", "April", "May", "June"),
    *("July", "August", "September", "October", "November", "December"),
)
# By role, as in `veil.tables.engines.protocol:DERIVED`.
PARTS = {
    "hour_of": Part("HOUR", 0, tuple(map(str, range(24))), ("%H", "%I", "%-H", "%-I"), "DATE"),
    "weekday_of": Part("ISODOW", 1, _DAYS, ("%d", "%-d", "%j", "%-j"), "TIME"),
    "month_of": Part("MONTH", 1, _MONTHS, ("%m", "%-m", "%b", "%B", "%j", "%-j"), "TIME"),
}


def time_format_option() -> Any:
    """The field of a request for how times are written, where they are text."""
    help_text = (
        "How times that are text are written: iso (2026-11-15 10:00, the default), day-first (15/11/2026), "
        "month-first (11/15/2026), or a pattern such as %d.%m.%Y %H:%M."
    )
    return option(None, help=help_text, group="Input")


def checked_format(value: Any) -> str | None:
    """The format that the user states, if it is one."""
    if value is None:
        return None
    expected = "iso, day-first, month-first, or a pattern such as %d.%m.%Y %H:%M"
    if isinstance(value, str) and value in _EXAMPLES:
        return value
    if not isinstance(value, str) or "%" not in value:
        raise InvalidArgument("time_format", expected=expected, found=shown(value))
    if "%z" in value or "%Z" in value:
        expected = "a pattern without a time zone; {time_format=iso} has them"
        raise InvalidArgument("time_format", expected=expected, found=shown(value), names=("time_format",))
    import duckdb

    try:
        with duckdb.connect() as connection:
            connection.sql(f"SELECT try_strptime('', {text_literal(value)})").fetchall()
    except duckdb.Error:
        raise InvalidArgument("time_format", expected=expected, found="an unknown %-sign") from None
    return value


def ordered_times(engine: Engine, column: Column, name: str, stated: str | None) -> Column:
    """The column as what rows are ordered by; name: of the column, for errors.

    Numbers and times are so as they are. Text is read as times if it is written as stated, or else ordered
    letter by letter where that is right.
    """
    if column.kind is not Kind.TEXT and not (column.kind is Kind.INTEGER and "%" in (stated or "")):
        return column
    if engine.dialect != "duckdb":
        _check_can_parse(stated)
        _check_letters(engine, column, name)
        return column
    text = _Text.of(column, stated)
    found = text.counted(engine)
    if found["others"] == 0:
        if 0 < found["zoned"] < found["present"]:
            expected = "times that all have an offset such as Z or +02:00, or none"
            raise InvalidData(name, expected=expected, found="some of each")
        return Column(column.identifier, Kind.TIME, expression=text.moment)
    if stated is None and not found["zoned"]:
        _check_letters(engine, column, name)
        return column
    raise _others(name, stated)


def _check_letters(engine: Engine, column: Column, name: str) -> None:
    """Raise where times that are text would not sort as times do. name: of their column, for the error.

    Text is sorted character by character. That is the order in time for texts such as 2026-11-15, without
    offsets, and for texts of one length without separators.
    """
    time = f"veil_source.{quoted(column.identifier)}"
    offset = f"{time} LIKE '____-__-__%+%' OR {time} LIKE '____-__-__%:%-%'"
    text = (
        f"SELECT COUNT(CASE WHEN {time} NOT LIKE '____-__-__%' THEN 1 END) AS others, "
        f"MIN(LENGTH({time})) AS shortest, MAX(LENGTH({time})) AS longest, "
        f"COUNT(CASE WHEN {offset} THEN 1 END) AS zoned, COUNT({time}) AS present, "
        f"COUNT(CASE WHEN {time} LIKE '____-__-__%Z' THEN 1 END) AS universal, "
        f"COUNT(CASE WHEN {time} LIKE '%/%' OR {time} LIKE '%.%' THEN 1 END) AS marked FROM veil_source"
    )
    whole = f"WITH veil_source AS (\n{engine.relation}\n)\n{render(text, engine.dialect)}"
    row = engine.run(whole).to_pylist()[0]
    expected, names = "numbers, times, or text such as 2026-11-15 10:00 or 0042", ("time_format",)
    if row["zoned"] or 0 < row["universal"] < row["present"]:
        hint = "Moments of several offsets are not in the order of their letters: make times of them."
        raise InvalidData(name, expected=expected, found="text with offsets", hint=hint)
    if row["others"] and (row["shortest"] != row["longest"] or row["marked"]):
        hint = 'It would be ordered letter by letter, "10:00" before "9:00": make times or numbers of it'
        hint += ", or say with {time_format} how it is written." if engine.dialect == "duckdb" else "."
        raise InvalidData(name, expected=expected, found="other text", hint=hint, names=names)


def part_of(engine: Engine, column: Column, name: str, role: str, stated: str | None) -> Column:
    """The column with the hour, weekday or month of each time, as a number. role: which, of `PARTS`."""
    part = PARTS[role]
    unit = "DAYOFWEEK_ISO" if part.unit == "ISODOW" and engine.dialect == "spark" else part.unit
    time = f"veil_source.{quoted(column.identifier)}"
    if column.kind is Kind.TIME:
        if column.declared == part.lacking or column.declared.startswith(f"{part.lacking} "):
            raise InvalidData(name, expected=f"times with {_called(role)}", found="times without one")
        if engine.dialect != "spark" and column.declared in {"TIMESTAMP WITH TIME ZONE", "TIMESTAMPTZ"}:
            time = f"({time} AT TIME ZONE 'UTC')"
    elif column.kind is Kind.TEXT:
        if engine.dialect != "duckdb":
            _check_can_parse(stated)
            hint = "Make times of it with {query=SELECT CAST(...) AS ...}."
            raise InvalidData(name, expected="times", found="text", hint=hint, names=("query",))
        text = _Text.of(column, stated)
        if "%" in (stated or "") and not any(sign in str(stated) for sign in part.needs):
            expected = f"a pattern with {_called(role)}, such as %d.%m.%Y %H:%M"
            raise InvalidArgument("time_format", expected=expected, found=shown(stated))
        found = text.counted(engine)
        if found["others"]:
            raise _others(name, stated)
        if role == "hour_of" and "%" not in (stated or "") and found["clocks"] < found["present"]:
            raise InvalidData(name, expected="times with an hour", found="dates alone in some rows")
        time = text.written
    else:
        expected = f"times, or text such as {_EXAMPLES[ISO]}"
        raise InvalidData(name, expected=expected, found=column.kind.value)
    return Column(column.identifier, Kind.INTEGER, expression=f"CAST(EXTRACT({unit} FROM {time}) AS BIGINT)")


def _called(role: str) -> str:
    return "an hour" if role == "hour_of" else "a date"


@dataclass(frozen=True, slots=True)
class _Text:
    """A column of text in SQL of DuckDB. written: the time as it is written; moment: less its offset."""

    text: str
    written: str
    moment: str
    zone: str

    @classmethod
    def of(cls, column: Column, stated: str | None) -> _Text:
        text = f"trim(CAST(veil_source.{quoted(column.identifier)} AS VARCHAR))"
        if stated in (None, ISO):
            pattern = text_literal(f"^{_ISO_TEXT}$")
            date, clock, zone, sign, hours, minutes = (
                f"regexp_extract({text}, {pattern}, {i})" for i in range(1, 7)
            )
            written = f"TRY_CAST(rtrim(concat({date}, ' ', {clock})) AS TIMESTAMP)"
            number = f"60 * TRY_CAST({hours} AS BIGINT) + coalesce(TRY_CAST({minutes} AS BIGINT), 0)"
            offset = f"CASE {sign} WHEN '+' THEN {number} WHEN '-' THEN -({number}) ELSE 0 END"
            return cls(text, written, f"({written} - to_minutes({offset}))", zone)
        if stated in (DAY_FIRST, MONTH_FIRST):
            days = "%d{0}%m{0}%Y" if stated == DAY_FIRST else "%m{0}%d{0}%Y"
            formats = [days.format(mark) + clock for mark, clock in product("/.-", _CLOCKS)]
            parsed = f"try_strptime({text}, [{', '.join(map(text_literal, formats))}])"
            # A year of two digits would be one of the first century.
            has_year = f"regexp_full_match({text}, {text_literal(_FOUR_DIGITS)})"
            written = f"(CASE WHEN {has_year} THEN {parsed} END)"
        else:
            written = f"try_strptime({text}, {text_literal(str(stated))})"
        return cls(text, written, written, "''")

    def counted(self, engine: Engine) -> dict[str, int]:
        """How many texts there are, with a time of day, with an offset, and that are written otherwise."""
        sql = (
            f"SELECT COUNT({self.text}) AS present, "
            f"COUNT(CASE WHEN {self.text} LIKE '%:%' THEN 1 END) AS clocks, "
            f"COUNT(CASE WHEN {self.zone} <> '' THEN 1 END) AS zoned, "
            f"COUNT(CASE WHEN {self.text} IS NOT NULL AND {self.moment} IS NULL THEN 1 END) AS others "
            "FROM veil_source"
        )
        whole = f"WITH veil_source AS (\n{engine.relation}\n)\n{render(sql, engine.dialect)}"
        row: dict[str, int] = engine.run(whole).to_pylist()[0]
        return row


def _others(name: str, stated: str | None) -> InvalidData:
    example = _EXAMPLES.get(stated or ISO, stated)
    hint = "{time_format} says how they are written: day-first, month-first, or a pattern."
    return InvalidData(
        name, expected=f"times such as {example}", found="other text", hint=hint, names=("time_format",)
    )


def _check_can_parse(stated: str | None) -> None:
    if stated not in (None, ISO):
        expected = "none for PostgreSQL and Spark: make times of the text with {query}"
        raise InvalidArgument("time_format", expected=expected, found=shown(stated), names=("query",))
