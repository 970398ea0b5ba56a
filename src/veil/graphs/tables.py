"""Edges from tables with types: Parquet and JSON lines, frames, arrays and lists of pairs."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from veil.core.errors import InvalidArgument, InvalidData
from veil.graphs.labels import Ends
from veil.tables.delimited import numbers_of
from veil.tables.engines.protocol import missing_column
from veil.tables.plain_tables import file_columns, frame_columns


def check_names(origin: Any, destination: Any) -> None:
    """Raise unless both columns are named, or neither."""
    for field, name in (("origin", origin), ("destination", destination)):
        if name is not None and (not isinstance(name, str) or not name):
            raise InvalidArgument(field, expected="the name of a column", found=type(name).__name__)
    if (origin is None) != (destination is None):
        raise InvalidArgument(
            "origin" if origin is None else "destination", expected="both columns or neither", found="none"
        )
    if origin is not None and origin == destination:
        expected = "another column than {origin}"
        raise InvalidArgument("destination", expected=expected, found="the same", names=("origin",))


def places_of(present: Sequence[str], origin: str | None, destination: str | None, name: str) -> list[int]:
    """The places of the two columns: those named, else the first two."""
    if len(present) < 2:
        raise InvalidData(
            name,
            expected="two columns, one for each end of an edge",
            found=f"{len(present)}",
            hint="Is the separator another one? {delimiter} states it.",
            names=("delimiter",),
        )
    if origin is None or destination is None:
        return [0, 1]
    for field, column in (("origin", origin), ("destination", destination)):
        if column not in present:
            raise missing_column(list(present), column, field)
    return [present.index(origin), present.index(destination)]


def ends_of_table(source: Any, origin: str | None, destination: str | None) -> tuple[Ends, Ends]:
    """The ends of the edges in a typed file or in a table in memory."""
    if isinstance(source, str):
        columns: dict[str, Any] | None = file_columns(source, None)
    else:
        columns = frame_columns(_pairs(source), None)
    if columns is None:
        raise InvalidArgument(
            "source",
            expected="a path, a table in memory, or a list of pairs",
            found=f"an object of type {type(source).__name__}",
        )
    names = list(columns)
    first, second = (names[place] for place in places_of(names, origin, destination, "source"))
    return ends_of_column(columns[first], first), ends_of_column(columns[second], second)


def _pairs(source: Any) -> Any:
    """A list of pairs as columns; what follows the two labels, such as a weight, is left out."""
    if isinstance(source, (set, frozenset)):
        source = list(source)
    if isinstance(source, (list, tuple)):
        short = (
            next((i for i, pair in enumerate(source) if isinstance(pair, str) or len(pair) < 2), None)
            if all(hasattr(pair, "__len__") for pair in source)
            else 0
        )
        if short is not None:
            raise InvalidData(
                f"source, edge {short + 1}", expected="a pair of labels", found="something else"
            )
        return {"column1": [pair[0] for pair in source], "column2": [pair[1] for pair in source]}
    return source


def ends_of_column(array: Any, name: str) -> Ends:
    """One end of every edge, from an Arrow column of whole numbers or text."""
    import pyarrow as pa
    import pyarrow.compute as pc

    if isinstance(array, pa.ChunkedArray):
        array = array.unify_dictionaries().combine_chunks()
    if pa.types.is_null(array.type) and len(array) == 0:
        return Ends(np.empty(0, dtype=np.int64))
    gaps = int(array.null_count)
    if pa.types.is_floating(array.type):
        gaps += int(pc.sum(pc.is_nan(array)).as_py() or 0)
    if gaps:
        raise no_label(name, gaps)
    if pa.types.is_floating(array.type):
        whole = numbers_of(array.cast(pa.float64()))
        if not (
            np.isfinite(whole).all() and (whole == np.round(whole)).all() and np.abs(whole).max() < 2**53
        ):
            raise _not_labels(name, "numbers with decimals")
        return Ends(whole.astype(np.int64))
    if pa.types.is_integer(array.type):
        try:
            return Ends(numbers_of(array.cast(pa.int64())))
        except pa.ArrowInvalid:
            array = array.cast(pa.string())
    encoded = array if pa.types.is_dictionary(array.type) else array.dictionary_encode()
    texts = encoded.dictionary
    if pa.types.is_integer(texts.type):
        numbers = numbers_of(texts.cast(pa.int64()))
        return Ends(numbers[numbers_of(encoded.indices)])
    if not any(check(texts.type) for check in (pa.types.is_string, pa.types.is_large_string, _is_view)):
        raise _not_labels(name, "values of another type")
    codes = numbers_of(encoded.indices.cast(pa.int64()))
    return checked_texts(Ends(codes, texts.to_pylist()), name)


def _is_view(kind: Any) -> bool:
    return str(kind) == "string_view"


def checked_texts(ends: Ends, name: str) -> Ends:
    """The ends, unless some have no label."""
    empty = [code for code, text in enumerate(ends.texts or []) if not text]
    lines = int(np.isin(ends.codes, empty).sum()) if empty else 0
    if lines:
        raise no_label(name, lines)
    return ends


def no_label(name: str, lines: int) -> InvalidData:
    """The error for edges that lack an end."""
    found = "1 without one" if lines == 1 else f"{lines} without one"
    return InvalidData(name, expected="a label at both ends of every edge", found=found)


def _not_labels(name: str, found: str) -> InvalidData:
    return InvalidData(name, expected="labels that are text or whole numbers", found=found)
