"""Columns of points and of trips, as arrays, from any source."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from veil.core.arrays import Floats
from veil.core.errors import InvalidData
from veil.tables import complaints
from veil.tables.engines.opening import open_engine
from veil.tables.engines.protocol import Column, Engine, Kind, needed_columns, quoted, render, told_apart
from veil.tables.times import ordered_times

_DEGREES = {"lat": 90.0, "to_lat": 90.0, "lng": 180.0, "to_lng": 180.0}
_TIMES = ("order", "arrival")
_KEYS = ("by", "trip", "state", "destination")


@dataclass(frozen=True, eq=False, repr=False)
class Points:
    """Rows of a source. names: of the columns, by role.

    degrees: by role; NaN where there are none. seconds: by role; NaN where there is no time. keys: numbers
    that stand for values, by role; -1 where there is none. labels: the values of keys, by role.
    """

    names: Mapping[str, str]
    rows: int
    degrees: Mapping[str, Floats]
    seconds: Mapping[str, Floats]
    keys: Mapping[str, NDArray[np.int64]]
    labels: Mapping[str, list[Any]]
    layout_guessed: bool
    unchecked: bool


def read_points(
    source: Any,
    roles: Mapping[str, str],
    *,
    table: str | None,
    query: str | None,
    time_format: str | None,
    milliseconds: bool,
    tell: Callable[[str], None],
) -> Points:
    """The columns of a source, by role."""
    tell("looking at the columns")
    engine = open_engine(source, roles, table=table, query=query, has_format=time_format is not None)
    try:
        columns = needed_columns(engine, roles, floats=(*_DEGREES, "arrival", "by", "trip"))
        for role in _TIMES:
            if role in columns:
                columns[role] = ordered_times(engine, columns[role], roles[role], time_format)
        tell("reading points")
        found = engine.run(_query(engine, columns))
        guessed, unchecked = engine.guesses_layout, not engine.row_by_row
    finally:
        engine.close()
    if found.num_rows == 0:
        raise complaints.empty_table()
    degrees = {role: _degrees(found.column(role), role, roles[role]) for role in roles if role in _DEGREES}
    seconds = {
        role: _seconds(found.column(role), roles[role], milliseconds=milliseconds)
        for role in roles
        if role in _TIMES
    }
    keys, labels = {}, {}
    for role in roles:
        if role in _KEYS:
            keys[role], labels[role] = _numbers(found.column(role))
    return Points(dict(roles), found.num_rows, degrees, seconds, keys, labels, guessed, unchecked)


def _query(engine: Engine, columns: Mapping[str, Column]) -> str:
    """All columns, in the order of the rows as far as there is one."""
    picked = []
    for role, column in columns.items():
        reference = f"veil_source.{quoted(column.identifier)}"
        if role in _DEGREES:
            if column.kind is Kind.TEXT and engine.dialect == "duckdb":
                # Text that is no number comes as NaN, and what is missing as nothing.
                text = f"CASE WHEN {reference} IS NULL OR trim({reference}) = '' THEN NULL "
                expression = (
                    text + f"ELSE COALESCE(TRY_CAST({reference} AS DOUBLE), CAST('nan' AS DOUBLE)) END"
                )
            else:
                expression = f"CAST({reference} AS DOUBLE)"
        elif role in _TIMES:
            expression = column.expression or reference
        else:
            expression = told_apart(column, engine.dialect)
        picked.append(f"{expression} AS {quoted(role)}")
    text = f"SELECT {', '.join(picked)} FROM veil_source"
    return f"WITH veil_source AS (\n{engine.relation}\n)\n{render(text, engine.dialect)}"


def _degrees(column: Any, role: str, name: str) -> Floats:
    """Degrees; NaN where there are none. Anything that is no number is an error."""
    import pyarrow as pa

    missing = column.is_null().to_numpy()
    values = np.array(column.cast(pa.float64()).fill_null(0.0).to_numpy(), dtype=np.float64)
    most = _DEGREES[role]
    if odd := int((~np.isfinite(values)).sum()):
        hint = "Such as 48.1374, with a point; not 48°08'14\" or 48,1374."
        rows = "1 row" if odd == 1 else f"{odd:,} rows"
        raise InvalidData(
            name, expected="degrees as plain numbers", found=f"something else in {rows}", hint=hint
        )
    if far := int((np.abs(values) > most).sum()):
        rows = "1 row" if far == 1 else f"{far:,} rows"
        hint = "Are latitude and longitude swapped?" if most < 180.0 else "Are these degrees?"
        expected = f"degrees between {-most:g} and {most:g}"
        raise InvalidData(name, expected=expected, found=f"others in {rows}", hint=hint)
    values[missing] = np.nan
    return values


def _seconds(column: Any, name: str, *, milliseconds: bool) -> Floats:
    """Seconds since 1970, or as they are counted; NaN where there is no time."""
    import pyarrow as pa
    import pyarrow.types as pt

    kind, unit = column.type, 1e-3 if milliseconds else 1.0
    if pt.is_timestamp(kind) or pt.is_date(kind):
        column, unit = column.cast(pa.timestamp("us")).cast(pa.int64()), 1e-6
    elif pt.is_time(kind):
        column, unit = column.cast(pa.time64("us")).cast(pa.int64()), 1e-6
    elif not (pt.is_integer(kind) or pt.is_floating(kind) or pt.is_decimal(kind)):
        hint = "Name how they are written: {time_format}."
        raise InvalidData(
            name, expected="times, or numbers of seconds", found="text", hint=hint, names=("time_format",)
        )
    return np.array(column.cast(pa.float64()).fill_null(np.nan).to_numpy(), dtype=np.float64) * unit


def _numbers(column: Any) -> tuple[NDArray[np.int64], list[Any]]:
    """Numbers that stand for the values of a column; -1 for nothing."""
    encoded = column.combine_chunks().dictionary_encode() if column.num_chunks else column
    if hasattr(encoded, "chunks"):
        encoded = encoded.chunk(0) if encoded.num_chunks else None
    if encoded is None:
        return np.empty(0, dtype=np.int64), []
    return np.array(encoded.indices.fill_null(-1).to_numpy(), dtype=np.int64), encoded.dictionary.to_pylist()
