"""From a private graph back to a list of edges: text, CSV or Parquet."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from veil.core.errors import InvalidArgument
from veil.core.writing import replacing
from veil.graphs.graph import Graph
from veil.tables.table_writing import needs_quotes, write_parquet, write_text

_SPACED, _PARQUET = (".txt", ".edges", ".edgelist"), (".parquet", ".pq")
_MARKS = {".csv": ",", ".tsv": "\t"} | dict.fromkeys(_SPACED, " ")
EDGE_FILES = (
    ".txt",
    ".edges",
    ".csv",
    ".tsv",
    ".txt.gz",
    ".edges.gz",
    ".csv.gz",
    ".tsv.gz",
    ".parquet",
    ".pq",
)
NAMES = ("origin", "destination")
# Edges that are written at a time.
_BATCH = 1_000_000


def write_edges(
    path: str | os.PathLike[str],
    labels: Sequence[Any] | None,
    rows: Any,
    columns: Any,
    *,
    column_labels: Sequence[Any] | None = None,
    overwrite: bool = False,
) -> None:
    """Write edges, two labels per line.

    path: ends in .txt or .edges (a space between the labels), in .csv or .tsv (under a line of names), all
        also with .gz, or in .parquet. It is written beside and renamed, so that nobody ever sees half a file,
        and is overwritten only if `overwrite` is True.
    labels: of the nodes; None for their numbers from 0 on. column_labels: of the other side of a bipartite
        graph. rows, columns: for each edge the places of its two ends among the labels.
    """
    both = _checked(path, labels, column_labels)
    others = labels if column_labels is None else column_labels
    ends = [_places("rows", rows, labels), _places("columns", columns, others)]
    if len(ends[0]) != len(ends[1]):
        raise InvalidArgument("columns", expected=f"{len(ends[0])} ends, as in rows", found=str(len(ends[1])))
    with replacing(Path(path), overwrite=overwrite) as beside:
        _write(beside, *_ending(path), ends, both)


def write_graph(path: Path, graph: Graph, *, overwrite: bool = False) -> None:
    """Write the edges of a graph; see `write_edges`."""
    rows, columns = graph.edges()
    write_edges(path, graph.labels, rows, columns, column_labels=graph.column_labels, overwrite=overwrite)


def check_labels(
    path: str | os.PathLike[str], labels: Sequence[Any] | None, column_labels: Sequence[Any] | None = None
) -> None:
    """Raise what `write_edges` would raise about the path's ending and the labels, and write nothing.

    For use before a draw: a graph that cannot be written would be paid for all the same.
    """
    _checked(path, labels, column_labels)


def _checked(
    path: str | os.PathLike[str], labels: Sequence[Any] | None, column_labels: Sequence[Any] | None
) -> list[Any]:
    """The labels of both ends as Arrow, which the kind of file can hold."""
    ending, _ = _ending(path)
    if labels is None and column_labels is not None:
        raise InvalidArgument("labels", expected="labels as well as column_labels", found="none")
    first = _arrow("labels", labels)
    both = [first, first if column_labels is None else _arrow("column_labels", column_labels)]
    if ending in _SPACED:
        _check_spaced(both)
    if ending not in _PARQUET:
        _check_text(both)
    return both


def _ending(path: str | os.PathLike[str]) -> tuple[str, bool]:
    """How a path ends, and whether the file is to be packed."""
    name = Path(path).name.lower()
    bare = name.removesuffix(".gz")
    ending = Path(bare).suffix
    if ending not in _MARKS and (bare != name or ending not in _PARQUET):
        raise InvalidArgument(
            "path",
            expected="an ending of .txt, .edges, .csv or .tsv, perhaps with .gz, or of .parquet",
            found="another",
        )
    return ending, bare != name


def _write(path: str, ending: str, packed: bool, ends: list[NDArray[np.int64]], labels: list[Any]) -> None:
    import pyarrow as pa

    kinds = [pa.int64() if one is None else one.type for one in labels]

    def batches() -> Iterator[Any]:
        for first in range(0, len(ends[0]), _BATCH):
            parts = [pa.array(column[first : first + _BATCH]) for column in ends]
            cells = [part if one is None else one.take(part) for part, one in zip(parts, labels, strict=True)]
            yield pa.Table.from_arrays(cells, names=list(NAMES))

    if ending in _PARQUET:
        write_parquet(path, pa.schema(list(zip(NAMES, kinds, strict=True))), batches())
        return
    mark = _MARKS[ending]
    quotes = any(needs_quotes(text, mark) for one in labels for text in _texts(one))
    names = None if ending in _SPACED else NAMES
    write_text(path, names, batches(), delimiter=mark, packed=packed, quotes=quotes)


def _places(field: str, places: Any, labels: Sequence[Any] | None) -> NDArray[np.int64]:
    numbers = np.asarray(places)
    if numbers.ndim != 1 or (numbers.dtype.kind not in "iu" and numbers.size):
        raise InvalidArgument(
            field, expected="a whole number for each edge", found=f"an array of shape {numbers.shape}"
        )
    numbers = numbers.astype(np.int64)
    most = np.inf if labels is None else len(labels) - 1
    if numbers.size and not 0 <= numbers.min() <= numbers.max() <= most:
        raise InvalidArgument(field, expected="places of nodes", found="others")
    return numbers


def _arrow(field: str, labels: Sequence[Any] | None) -> Any:
    """The labels as Arrow: whole numbers if they all are, else text. None stands for the places."""
    import pyarrow as pa

    if labels is None:
        return None
    plain = [label.item() if isinstance(label, np.generic) else label for label in labels]
    if any(isinstance(label, bool) or not isinstance(label, (str, int)) or label == "" for label in plain):
        raise InvalidArgument(field, expected="labels that are text or whole numbers", found="others")
    if len(set(map(str, plain))) < len(plain):
        raise InvalidArgument(field, expected="labels that all differ", found="one of them twice")
    if all(isinstance(label, int) and -(2**63) <= label < 2**63 for label in plain):
        return pa.array(plain, pa.int64())
    return pa.array([str(label) for label in plain], pa.string())


def _texts(labels: Any) -> list[str]:
    import pyarrow as pa

    return [] if labels is None or not pa.types.is_string(labels.type) else labels.to_pylist()


def _check_spaced(labels: list[Any]) -> None:
    """Raise if a label would not be read as it is between spaces."""
    for one in labels:
        for text in _texts(one):
            if text.startswith(("#", "%")) or any(mark.isspace() or mark in ',;|"' for mark in text):
                raise InvalidArgument(
                    "path",
                    expected="an ending of .csv or .parquet for labels with spaces or separators",
                    found="one of text with spaces between",
                    hint="Write to .csv instead.",
                )


def _check_text(labels: list[Any]) -> None:
    for one in labels:
        if any(text != text.strip() for text in _texts(one)):
            raise InvalidArgument(
                "path",
                expected="an ending of .parquet for labels with spaces before or after",
                found="one of text",
                hint="Write to .parquet instead.",
            )
