"""Tables in memory as Arrow columns: pandas, Polars, Arrow, Ibis, whatever speaks Arrow; arrays; lists."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from veil.core.checks import plain_texts
from veil.core.errors import InvalidArgument, InvalidData
from veil.tables.dialect import column_names
from veil.tables.engines.protocol import missing_column

Columns = dict[str, Any]
Roles = Mapping[str, str]


def checked_columns(columns: Any, field: str = "columns") -> list[str] | None:
    """The names of columns that the user asks for."""
    if columns is None:
        return None
    names = [columns] if isinstance(columns, str) else columns
    if not isinstance(names, Sequence) or not names or not all(isinstance(one, str) for one in names):
        raise InvalidArgument(field, expected="names of columns", found=type(columns).__name__)
    if len(set(names)) < len(names):
        raise InvalidArgument(field, expected="different columns", found="one of them twice")
    return list(names)


def chosen(
    present: Sequence[str],
    wanted: Sequence[str] | None,
    roles: Roles | None = None,
    *,
    may_be_cells: bool = False,
) -> list[str]:
    """The wanted columns, all if none are named, or an error that names the nearest.

    roles: the field that names each column, for errors; `columns` for those that have none. may_be_cells: the
    names are from the text of a file, and may be cells instead.
    """
    if wanted is None:
        if len(set(present)) < len(present):
            expected = "columns with different names"
            raise InvalidData("source", expected=expected, found="one of them twice")
        return list(present)
    for name in wanted:
        role = (roles or {}).get(name, "columns")
        if name not in present:
            raise missing_column(list(present), name, role, asked=wanted if may_be_cells else None)
        if list(present).count(name) > 1:
            raise InvalidData(role, expected=f"one column {name!r}", found="several of that name")
    return list(wanted)


def is_frame(source: Any) -> bool:
    """Whether the source is a table in memory with names of columns."""
    return (
        isinstance(source, Mapping)
        or hasattr(source, "__arrow_c_stream__")
        or _library(source) in {"pandas", "polars", "pyarrow", "ibis"}
    )


def is_computed(source: Any) -> bool:
    """Whether a table is what a query makes of other data when it is asked for, rather than data in memory.

    Then one record of that data may be in several rows, or change them all.
    """
    library, kind = _library(source), type(source).__name__
    if library == "polars":
        return kind == "LazyFrame"
    is_held = isinstance(source, (Mapping, Sequence, np.ndarray)) or library in {"pandas", "pyarrow"}
    return not is_held


def _library(source: Any) -> str:
    return type(source).__module__.partition(".")[0]


def frame_columns(
    source: Any, wanted: Sequence[str] | None, *, roles: Roles | None = None, mixed: bool = True
) -> Columns | None:
    """The columns of a table in memory; None if the source is something else.

    Arrays and lists of rows have columns that are called column1, column2, ... mixed: values of several types
    in a column become text; they are refused otherwise.
    """
    if _library(source) in {"pandas", "polars"} and type(source).__name__ == "Series":
        raise InvalidData("source", expected="a table", found="a single column", hint="Use to_frame().")
    if isinstance(source, np.ndarray):
        given = _of_array(source)
    elif isinstance(source, (list, tuple)):
        given = _of_rows(source)
    elif _library(source) == "pandas":
        names = [str(column) for column in source.columns]
        kept = chosen(names, wanted, roles)
        return {name: _array(source.iloc[:, names.index(name)], name, mixed=mixed) for name in kept}
    elif isinstance(source, Mapping):
        if len({str(name) for name in source}) < len(source):
            chosen([str(name) for name in source], None)
        given = {str(name): values for name, values in source.items()}
    elif is_frame(source):
        table = _arrow(source, lambda names: chosen(names, wanted, roles))
        return {name: table.column(name) for name in chosen(table.column_names, wanted, roles)}
    else:
        return None
    columns = {name: _array(given[name], name, mixed=mixed) for name in chosen(list(given), wanted, roles)}
    if len({len(array) for array in columns.values()}) > 1:
        raise InvalidData("source", expected="columns of the same length", found="others")
    return columns


def _arrow(source: Any, choose: Callable[[list[str]], list[str]]) -> Any:
    """An Arrow table with the chosen columns; what is computed or read only now is not asked for others."""
    import pyarrow as pa

    if _library(source) == "polars":
        lazy = source.lazy()
        return lazy.select(choose(lazy.collect_schema().names())).collect().to_arrow()
    if _library(source) == "ibis":
        return source.select(*choose(list(source.columns))).to_pyarrow()
    # Of Arrow's own: a relation of DuckDB has a method of this name that does something else.
    if _library(source) == "pyarrow" and hasattr(source, "to_table"):
        return source.to_table(columns=choose(list(source.schema.names)))
    return source if isinstance(source, pa.Table) else pa.table(source)


def _of_array(source: Any) -> Columns:
    if source.ndim != 2:
        hint = "A single column is array.reshape(-1, 1)." if source.ndim == 1 else ""
        raise InvalidData(
            "source", expected="rows and columns", found=f"an array of shape {source.shape}", hint=hint
        )
    if isinstance(source, np.ma.MaskedArray):
        # What is masked is no value.
        mask, source = np.ma.getmaskarray(source), np.array(source.data, dtype=object)
        source[mask] = None
    # The bits of a matrix are written 0 and 1.
    cells = source.view(np.int8) if source.dtype == np.bool_ else source
    return {name: cells[:, i] for i, name in enumerate(column_names(source.shape[1]))}


def _of_rows(source: Sequence[Any]) -> Columns:
    rows = [row.tolist() if isinstance(row, np.ndarray) else row for row in source]
    if not rows or not all(isinstance(row, (list, tuple)) for row in rows):
        raise InvalidData("source", expected="a list of rows, each a list of cells", found="another list")
    width = len(rows[0])
    uneven = next((i for i, row in enumerate(rows) if len(row) != width), None)
    if uneven is not None:
        expected, found = f"{width} cells as in the first", f"{len(rows[uneven])}"
        raise InvalidData(f"source, row {uneven + 1}", expected=expected, found=found)
    return {name: [row[i] for row in rows] for i, name in enumerate(column_names(width))}


def _array(values: Any, name: str, *, mixed: bool) -> Any:
    import pyarrow as pa

    if isinstance(values, (str, bytes)) or not hasattr(values, "__len__"):
        raise InvalidData(name, expected="a column of values", found="a single value")
    if isinstance(values, np.ndarray):
        values = np.ascontiguousarray(values)
    try:
        array = pa.array(values, from_pandas=True)
    except UnicodeEncodeError:
        plain_texts(name, (value for value in values if isinstance(value, str)), error=InvalidData)
        raise InvalidData(name, expected="text", found="half a character") from None
    except (pa.ArrowException, TypeError, ValueError, OverflowError):
        if not mixed:
            # Arrow's own text would quote the value.
            raise InvalidData(name, expected="values of one type", found="a mixture") from None
        array = pa.array([_text(value, name) for value in list(values)], pa.string())
    if pa.types.is_nested(array.type):
        raise nested(name)
    return array


def _text(value: Any, name: str) -> str | None:
    """A cell of a column of several types; missing values of any library are None."""
    if value is None or type(value).__name__ in {"NAType", "NaTType"} or bool(value != value):
        return None
    if isinstance(value, (bool, np.bool_)):
        return str(value).lower()
    if isinstance(value, (str, int, float, np.number)):
        whole = isinstance(value, (float, np.floating)) and float(value).is_integer()
        return str(int(value)) if whole else str(value)
    raise nested(name)


def nested(name: str) -> InvalidData:
    """The error for a column whose cells are lists, records or bytes."""
    return InvalidData(name, expected="a column of single values", found="nested or binary values")
