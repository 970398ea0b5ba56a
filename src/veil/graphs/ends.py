"""The two ends of every edge: from text, Parquet and JSON lines, frames, arrays and lists of pairs.

In text other than .csv and .tsv, lines that begin with # or % are comments. What follows the two labels, such
as a weight or a time, is left out, but all lines have as many cells as the first: a label with a space in it
would otherwise be taken for two. Files of whole numbers, which most graphs are, take a faster path.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from veil.core.errors import InvalidArgument, InvalidData
from veil.core.mechanism import LAYOUT_IS_PUBLIC, ROW_BY_ROW
from veil.tables.cells import Coded, is_plain_integer, numbers_of
from veil.tables.dialect import has_header, places_of
from veil.tables.engines.protocol import missing_column
from veil.tables.reading import read_table
from veil.tables.text_tables import TextTable

if TYPE_CHECKING:
    from veil.graphs.requests import GraphRead

_EMPTY = Coded(np.empty(0, dtype=np.int64))
_LABELS = "labels that are text or whole numbers"
HEADER = "the first line of the file names its columns, and is no edge"
# Pairs of names, in either order.
_USUAL = [
    set(pair.split())
    for pair in (
        *("origin destination", "from to", "source target", "source destination", "source dest"),
        *("src dst", "src dest", "start end", "head tail", "u v", "node1 node2", "node_1 node_2"),
        *("id1 id2", "id_1 id_2", "node_a node_b", "fromnodeid tonodeid", "from_id to_id"),
        *("source_id target_id", "user item", "user_id item_id", "follower followed", "follower followee"),
    )
]


def ends_of(asked: GraphRead) -> tuple[list[Coded], list[str]]:
    """The origins and destinations of all edges, and what was assumed to read them."""
    origin, destination = asked.origin, asked.destination
    _check_names(origin, destination)
    read = read_table(
        _pairs(asked.source),
        expected="a path, a table in memory, a list of pairs, or a database",
        header=asked.header,
        delimiter=asked.delimiter,
        least=2,
        comments=True,
        table=asked.table,
        query=asked.query,
    )
    if read.text is not None:
        return _from_text(read.text, origin, destination, asked.header)
    if read.columns is None:
        return [_EMPTY, _EMPTY], []
    names = list(read.columns)
    places = _places(names, origin, destination, "source", may_be_cells=read.may_be_cells)
    shown = places_of(names) if read.may_be_cells and origin is None else {}
    ends = [
        _from_column(read.columns[names[place]], shown.get(names[place], names[place])) for place in places
    ]
    assumptions = [ROW_BY_ROW] if read.unchecked else []
    return ends, [*assumptions, *([LAYOUT_IS_PUBLIC] if read.layout_guessed else [])]


def _check_names(origin: Any, destination: Any) -> None:
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


def _places(
    present: Sequence[str],
    origin: str | None,
    destination: str | None,
    name: str,
    *,
    may_be_cells: bool,
) -> list[int]:
    """The places of the two columns: those named, or the first two. may_be_cells: instead of names."""
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
            asked = (origin, destination) if may_be_cells else None
            raise missing_column(list(present), column, field, asked=asked)
    return [present.index(origin), present.index(destination)]


def _from_text(
    table: TextTable, origin: str | None, destination: str | None, header: bool | None
) -> tuple[list[Coded], list[str]]:
    def judge(columns: Sequence[Coded]) -> bool | None:
        heads = [column.head for column in columns]
        below = set().union(*(column.below.values for column in columns))
        usual = {head.casefold().lstrip("#").strip() for head in heads} in _USUAL
        return has_header([(heads, below)], usual=usual)

    stated = table.has_names(header, [name for name in (origin, destination) if name is not None])
    names = table.names(stated)
    if stated is None and origin is not None and not {origin, destination} <= set(names):
        field, column = ("destination", destination) if origin in table.first else ("origin", origin)
        raise InvalidData(
            field,
            expected=f"a column {column!r}",
            # The first line may be an edge, of which nothing is to be shown.
            found="none of that name in the first line",
            hint="Without a line of names, leave {origin} and {destination} out.",
            names=("origin", "destination"),
        )
    places = _places(names, origin, destination, table.name, may_be_cells=True)
    columns, has_names = table.columns(places, header=stated, judge=judge, record="an edge", whole=True)
    ends = [_in_numbers(_with_labels(column, table.name)) for column in columns]
    return ends, [HEADER] if stated is None and has_names else []


def _in_numbers(ends: Coded) -> Coded:
    """The labels as whole numbers if all of them are written as such."""
    if ends.texts is None or not ends.values or not all(map(is_plain_integer, ends.values)):
        return ends
    numbers = np.zeros(len(ends.texts), dtype=np.int64)
    numbers[ends.used] = [int(ends.texts[code]) for code in ends.used]
    return Coded(numbers[ends.codes])


def _with_labels(ends: Coded, name: str) -> Coded:
    """The ends, unless some have no label."""
    empty = [code for code, text in enumerate(ends.texts or []) if not text]
    lines = int(np.isin(ends.codes, empty).sum()) if empty else 0
    if lines:
        raise _no_label(name, lines)
    return ends


def _pairs(source: Any) -> Any:
    """A list of pairs as columns; what follows the two labels, such as a weight, is left out."""
    if not isinstance(source, (list, tuple, set, frozenset)):
        return source
    edges = list(source)
    for i, pair in enumerate(edges):
        if isinstance(pair, str) or not hasattr(pair, "__len__") or len(pair) < 2:
            raise InvalidData(f"source, edge {i + 1}", expected="a pair of labels", found="something else")
    return {"column1": [pair[0] for pair in edges], "column2": [pair[1] for pair in edges]}


def _from_column(array: Any, name: str) -> Coded:
    """One end of every edge, from an Arrow column of whole numbers or text."""
    import pyarrow as pa
    import pyarrow.compute as pc

    if isinstance(array, pa.ChunkedArray):
        array = array.unify_dictionaries().combine_chunks()
    if pa.types.is_null(array.type) and len(array) == 0:
        return _EMPTY
    is_floating = pa.types.is_floating(array.type)
    gaps = int(array.null_count) + (int(pc.sum(pc.is_nan(array)).as_py() or 0) if is_floating else 0)
    if gaps:
        raise _no_label(name, gaps)
    if is_floating:
        whole = numbers_of(array.cast(pa.float64()))
        if not ((whole == np.round(whole)) & (np.abs(whole) < 2**53)).all():
            raise InvalidData(name, expected=_LABELS, found="numbers with decimals")
        return Coded(whole.astype(np.int64))
    if pa.types.is_integer(array.type):
        try:
            return Coded(numbers_of(array.cast(pa.int64())))
        except pa.ArrowInvalid:
            array = array.cast(pa.string())
    encoded = array if pa.types.is_dictionary(array.type) else array.dictionary_encode()
    texts = encoded.dictionary
    if pa.types.is_integer(texts.type):
        numbers = numbers_of(texts.cast(pa.int64()))
        return Coded(numbers[numbers_of(encoded.indices)])
    if str(texts.type) not in {"string", "large_string", "string_view"}:
        raise InvalidData(name, expected=_LABELS, found="values of another type")
    return _with_labels(Coded(numbers_of(encoded.indices.cast(pa.int64())), texts.to_pylist()), name)


def _no_label(name: str, lines: int) -> InvalidData:
    return InvalidData(name, expected="a label at both ends of every edge", found=f"{lines} without one")
