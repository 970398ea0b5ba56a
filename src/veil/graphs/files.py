"""From a private graph back to a list of edges: text, CSV or Parquet."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from veil.core.errors import InvalidArgument
from veil.core.formulas import safe_texts
from veil.core.writing import replacing
from veil.graphs.graph import Graph, checked_labels
from veil.graphs.numerics.pairs import Codes
from veil.tables.table_writing import needs_quotes, write_parquet, write_text

_SPACED, _PARQUET = (".txt", ".edges", ".edgelist"), (".parquet", ".pq")
_MARKS = {".csv": ",", ".tsv": "\t"} | dict.fromkeys(_SPACED, " ")
_TEXT = (".txt", ".edges", ".csv", ".tsv")
EDGE_FILES = (*_TEXT, *(f"{ending}.gz" for ending in _TEXT), *_PARQUET)
NAMES = ("origin", "destination")
# Edges that are written at a time.
_BATCH = 1_000_000


def write_graph(path: Path, graph: Graph, *, overwrite: bool = False, csv_safe: bool = False) -> None:
    """Write the edges of a graph, two labels per line; nodes without labels by their numbers from 0 on.

    path: ends in .txt or .edges (a space between the labels), in .csv or .tsv (under a line of names), all
        also with .gz, or in .parquet. It is written beside and renamed, so that nobody ever sees half a file,
        and is overwritten only if `overwrite` is True.
    csv_safe: in .csv and .tsv, an apostrophe in front of labels that a spreadsheet would take for a formula.
    """
    labels = check_labels(path, graph, csv_safe=csv_safe)
    with replacing(path, overwrite=overwrite) as beside:
        _write(beside, *_ending(path), graph.edges(), labels)


def check_labels(path: Path, graph: Graph, *, csv_safe: bool = False) -> list[Any]:
    """The labels of both ends as Arrow; an error if such a file cannot hold them, or ends in something else.

    For use before a draw as well: a graph that cannot be written would be paid for all the same.
    """
    ending, _ = _ending(path)
    if graph.labels is None and graph.column_labels is not None:
        raise InvalidArgument("labels", expected="labels as well as column_labels", found="none")
    first = _arrow("labels", graph.labels)
    both = [first, first if graph.column_labels is None else _arrow("column_labels", graph.column_labels)]
    if csv_safe and ending in (".csv", ".tsv"):
        both = [_safe(labels) for labels in both]
    texts = [text for labels in both for text in _texts(labels)]
    if ending in _SPACED and any(map(_needs_table, texts)):
        raise InvalidArgument(
            "path",
            expected="an ending of .csv or .parquet for labels with spaces or separators",
            found="one of text with spaces between",
            hint="Write to .csv instead.",
        )
    if ending not in _PARQUET and any(text != text.strip() for text in texts):
        raise InvalidArgument(
            "path",
            expected="an ending of .parquet for labels with spaces before or after",
            found="one of text",
            hint="Write to .parquet instead.",
        )
    return both


def _safe(labels: Any) -> Any:
    import pyarrow as pa

    texts = _texts(labels)
    return pa.array(safe_texts(texts), pa.string()) if texts else labels


def _needs_table(text: str) -> bool:
    """Whether a label would not be read as it is between spaces."""
    return text.startswith(("#", "%")) or any(mark.isspace() or mark in ',;|"' for mark in text)


def _ending(path: Path) -> tuple[str, bool]:
    """How a path ends, and whether the file is to be packed."""
    name = path.name.lower()
    bare = name.removesuffix(".gz")
    ending = Path(bare).suffix
    if ending not in _MARKS and (bare != name or ending not in _PARQUET):
        raise InvalidArgument(
            "path",
            expected="an ending of .txt, .edges, .csv or .tsv, perhaps with .gz, or of .parquet",
            found="another",
        )
    return ending, bare != name


def _write(path: str, ending: str, packed: bool, ends: tuple[Codes, Codes], labels: list[Any]) -> None:
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


def _arrow(field: str, labels: Sequence[Any] | None) -> Any:
    """The labels as Arrow: whole numbers if they all are, else text. None stands for the places."""
    import pyarrow as pa

    if labels is None:
        return None
    plain = [label.item() if isinstance(label, np.generic) else label for label in labels]
    checked_labels(field, plain)
    if all(isinstance(label, int) and -(2**63) <= label < 2**63 for label in plain):
        return pa.array(plain, pa.int64())
    return pa.array([str(label) for label in plain], pa.string())


def _texts(labels: Any) -> list[str]:
    import pyarrow as pa

    return [] if labels is None or not pa.types.is_string(labels.type) else labels.to_pylist()
