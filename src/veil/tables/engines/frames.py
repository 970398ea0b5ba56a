"""Tables in memory, as Arrow: pandas, Polars, Arrow itself, Ibis, and whatever else speaks Arrow."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from veil.core.errors import InvalidData
from veil.tables.engines.duck import DuckEngine, frame_engine
from veil.tables.engines.protocol import missing_column


def is_frame(source: Any) -> bool:
    """Whether the source is a table in memory."""
    return (
        isinstance(source, Mapping)
        or hasattr(source, "__arrow_c_stream__")
        or _library(source) in {"pandas", "polars", "pyarrow", "ibis"}
    )


def _library(source: Any) -> str:
    return type(source).__module__.partition(".")[0]


def open_frame(source: Any, wanted: Mapping[str, str]) -> DuckEngine:
    """The engine for a table in memory, of which only the wanted columns (role and name) are taken."""
    names = list(dict.fromkeys(wanted.values()))
    arrays = _columns(source, names, {name: role for role, name in wanted.items()})
    # Plain names inside: DuckDB would not tell a column A from a column a.
    identifiers = {name: f"c{i}" for i, name in enumerate(names)}
    import pyarrow as pa

    table = pa.table({identifiers[name]: array for name, array in zip(names, arrays, strict=True)})
    return frame_engine("source", table, identifiers)


def _columns(source: Any, names: Sequence[str], roles: Mapping[str, str]) -> list[Any]:
    library = _library(source)
    if library in {"pandas", "polars"} and type(source).__name__ == "Series":
        raise InvalidData("source", expected="a table", found="a single column")
    if library == "pandas":
        present = [str(column) for column in source.columns]
        _check_present(present, names, roles)
        return [_array(source.iloc[:, present.index(name)], name) for name in names]
    if library == "polars":
        lazy = source.lazy()
        _check_present(lazy.collect_schema().names(), names, roles)
        table = lazy.select(names).collect().to_arrow()
    elif library == "ibis":
        _check_present(list(source.columns), names, roles)
        table = source.select(*names).to_pyarrow()
    elif isinstance(source, Mapping):
        _check_present([str(name) for name in source], names, roles)
        return [_array(source[name], name) for name in names]
    else:
        table = _arrow(source, names)
        _check_present(source.schema.names if hasattr(source, "schema") else table.column_names, names, roles)
    return [table.column(name) for name in names]


def _arrow(source: Any, names: Sequence[str]) -> Any:
    import pyarrow as pa

    if isinstance(source, pa.Table):
        return source
    if hasattr(source, "to_table"):
        # A data set, of which only some columns need to be read.
        return source.to_table(columns=[name for name in source.schema.names if name in names])
    return pa.table(source)


def _check_present(present: Sequence[str], names: Sequence[str], roles: Mapping[str, str]) -> None:
    for name in names:
        if name not in present:
            raise missing_column(list(present), name, roles[name])
        if list(present).count(name) > 1:
            raise InvalidData(roles[name], expected=f"one column {name!r}", found="several of that name")


def _array(values: Any, name: str) -> Any:
    import pyarrow as pa

    try:
        return pa.array(values, from_pandas=True)
    except (pa.ArrowException, TypeError, ValueError, OverflowError):
        # Arrow's own text would quote the value.
        raise InvalidData(name, expected="values of one type", found="a mixture") from None
