"""Tables as Arrow columns, with their rows in order: frames in memory, Parquet, JSON lines."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from veil.core.errors import InvalidArgument, InvalidData
from veil.tables.delimited import column_names
from veil.tables.engines.names import quoted, text_literal
from veil.tables.engines.protocol import missing_column
from veil.tables.parquet_files import read_parquet
from veil.tables.text_files import JSON_LINES, PARQUET, ending_of, files_of, name_of

Columns = dict[str, Any]


def is_table_file(path: str) -> bool:
    """Whether a file holds a table with names and types: Parquet or JSON lines."""
    return ending_of(path) in {*PARQUET, *JSON_LINES}


def checked_columns(columns: Any, field: str = "columns") -> list[str] | None:
    """The names of columns that the user asks for."""
    if columns is None:
        return None
    names = [columns] if isinstance(columns, str) else columns
    if not isinstance(names, Sequence) or not names or not all(isinstance(one, str) for one in names):
        raise InvalidArgument(field, expected="names of columns", found=type(columns).__name__)
    if len(set(names)) < len(names):
        raise InvalidArgument(field, expected="different columns", found="one that stands twice")
    return list(names)


def chosen(present: Sequence[str], wanted: Sequence[str] | None, field: str) -> list[str]:
    """The wanted columns, all if none are named, or an error that names the nearest."""
    if wanted is None:
        return list(present)
    for name in wanted:
        if name not in present:
            raise missing_column(list(present), name, field)
    return list(wanted)


def file_columns(source: str, wanted: Sequence[str] | None, *, field: str = "columns") -> Columns:
    """The columns of a Parquet or JSON lines file, or of several with the same columns."""
    import pyarrow as pa

    tables = []
    for path in files_of(source):
        read = _parquet if ending_of(path) in PARQUET else _json
        tables.append(read(path, wanted, field))
    names = tables[0].column_names
    if any(table.column_names != names for table in tables):
        raise InvalidData("source", expected="files with the same columns", found="others")
    try:
        table = pa.concat_tables(tables, promote_options="permissive")
    except (pa.ArrowInvalid, pa.ArrowTypeError):
        raise InvalidData(
            "source", expected="columns of the same type in all files", found="others"
        ) from None
    return {name: table.column(i) for i, name in enumerate(names)}


def _parquet(path: str, wanted: Sequence[str] | None, field: str) -> Any:
    return read_parquet(path, name_of(path), lambda names: chosen(_unique(names), wanted, field))


def _json(path: str, wanted: Sequence[str] | None, field: str) -> Any:
    """JSON lines by DuckDB, in the order of the lines."""
    from veil.tables.engines.duck import private_connection, translated

    connection, close = private_connection()
    try:
        with translated(name_of(path), reads_rows=True):
            connection.execute("SET preserve_insertion_order = true")
            escaped = "".join(f"[{mark}]" if mark in "*?[" else mark for mark in path)
            relation = f"read_json({text_literal(escaped)}, sample_size = -1)"
            kinds = connection.sql(f"DESCRIBE SELECT * FROM {relation}").fetchall()
            present = {str(row[0]): str(row[1]) for row in kinds}
            names = chosen(list(present), wanted, field)
            listed = ", ".join(_selected(name, present[name]) for name in names)
            return connection.sql(f"SELECT {listed} FROM {relation}").to_arrow_table()
    finally:
        close()


def _selected(name: str, kind: str) -> str:
    if kind.startswith(("STRUCT", "MAP", "UNION")) or kind.endswith("]"):
        raise _nested(name)
    # Where numbers and text stand in one column DuckDB calls it JSON, and text would keep its quotes.
    return f"{quoted(name)} ->> '$' AS {quoted(name)}" if kind == "JSON" else quoted(name)


def frame_columns(source: Any, wanted: Sequence[str] | None, *, field: str = "columns") -> Columns | None:
    """The columns of a table in memory; None if the source is something else.

    pandas, Polars, Arrow and what speaks Arrow; {name: values}; 2-D arrays and lists of rows, whose columns
    are called column1, column2, ...
    """
    library = type(source).__module__.partition(".")[0]
    if library in {"pandas", "polars"} and type(source).__name__ == "Series":
        raise InvalidData("source", expected="a table", found="a single column", hint="Use to_frame().")
    if library == "pandas":
        names = _unique([str(column) for column in source.columns])
        return {
            name: _array(source.iloc[:, names.index(name)], name) for name in chosen(names, wanted, field)
        }
    if isinstance(source, Mapping):
        names = _unique([str(name) for name in source])
        given = dict(zip(names, source.values(), strict=True))
        return _even({name: _array(given[name], name) for name in chosen(names, wanted, field)})
    if isinstance(source, np.ndarray):
        return _from_array(source, wanted, field)
    if isinstance(source, (list, tuple)):
        return _from_rows(source, wanted, field)
    if library in {"polars", "pyarrow", "ibis"} or hasattr(source, "__arrow_c_stream__"):
        table = _arrow(source)
        names = _unique(table.column_names)
        return {name: table.column(names.index(name)) for name in chosen(names, wanted, field)}
    return None


def _arrow(source: Any) -> Any:
    import pyarrow as pa

    if isinstance(source, pa.Table):
        return source
    for method in ("collect", "to_arrow", "to_pyarrow", "to_table"):
        if hasattr(source, method):
            made = getattr(source, method)()
            return made if isinstance(made, pa.Table) else _arrow(made)
    return pa.table(source)


def _from_array(source: Any, wanted: Sequence[str] | None, field: str) -> Columns:
    if source.ndim != 2:
        hint = "A single column is array.reshape(-1, 1)." if source.ndim == 1 else ""
        raise InvalidData(
            "source", expected="rows and columns", found=f"an array of shape {source.shape}", hint=hint
        )
    names = column_names(source.shape[1])
    # The bits of a matrix are written 0 and 1.
    cells = source.view(np.int8) if source.dtype == np.bool_ else source
    return {name: _array(cells[:, names.index(name)], name) for name in chosen(names, wanted, field)}


def _from_rows(source: Sequence[Any], wanted: Sequence[str] | None, field: str) -> Columns:
    rows = [row.tolist() if isinstance(row, np.ndarray) else row for row in source]
    if not rows or not all(isinstance(row, (list, tuple)) for row in rows):
        raise InvalidData("source", expected="a list of rows, each a list of cells", found="another list")
    width = len(rows[0])
    uneven = next((i for i, row in enumerate(rows) if len(row) != width), None)
    if uneven is not None:
        raise InvalidData(
            f"source, row {uneven + 1}",
            expected=f"{width} cells as in the first",
            found=f"{len(rows[uneven])}",
        )
    names = column_names(width)
    return {
        name: _array([row[names.index(name)] for row in rows], name) for name in chosen(names, wanted, field)
    }


def _array(values: Any, name: str) -> Any:
    """The values as Arrow; those of several types as text."""
    import pyarrow as pa

    if isinstance(values, np.ndarray):
        values = np.ascontiguousarray(values)
    try:
        array = pa.array(values, from_pandas=True)
    except (pa.ArrowException, TypeError, ValueError, OverflowError):
        array = pa.array([_text(value, name) for value in list(values)], pa.string())
    if pa.types.is_nested(array.type):
        raise _nested(name)
    return array


def _text(value: Any, name: str) -> str | None:
    """A cell of a column of several types; missing values of any library are none."""
    if value is None or type(value).__name__ in {"NAType", "NaTType"} or bool(value != value):
        return None
    if isinstance(value, (bool, np.bool_)):
        return str(value).lower()
    if isinstance(value, (str, int, float, np.number)):
        whole = isinstance(value, (float, np.floating)) and float(value).is_integer()
        return str(int(value)) if whole else str(value)
    raise _nested(name)


def _nested(name: str) -> InvalidData:
    return InvalidData(name, expected="a column of single values", found="nested or binary values")


def _even(columns: Columns) -> Columns:
    if len({len(array) for array in columns.values()}) > 1:
        raise InvalidData("source", expected="columns of the same length", found="others")
    return columns


def _unique(names: Sequence[str]) -> list[str]:
    if len(set(names)) < len(names):
        raise InvalidData("source", expected="columns with different names", found="a name that stands twice")
    return list(names)
