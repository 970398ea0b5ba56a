"""Which transitions are allowed, from files and from what users hold: public, such as a road map."""

from __future__ import annotations

import os
from collections.abc import Hashable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from veil.core.checks import within
from veil.core.errors import InvalidArgument, InvalidData, UnreadableFile
from veil.core.files import holds_release, parse_release
from veil.core.intake import Names
from veil.core.record import Release
from veil.matrices.chain import Chain
from veil.matrices.reading import Edge, Edges, from_text, listed, weight_of
from veil.tables.cells import is_plain_integer
from veil.tables.files import PARQUET, decoded, ending_of, file_of, name_of, parse_json, parse_json_lines
from veil.tables.reading import read_table
from veil.words.chain_words import Support, matrix_support

_NUMBERS = ("probability", "weight")
_TEXTS, _LINES = (".csv", ".tsv", ".txt"), (".jsonl", ".ndjson")


def read_support(source: Any, *, least: float = 0.0) -> Support:
    """The allowed transitions of a public chain, as (labels, successors).

    source: a path, or an object, as for `words.read`. In a list of transitions the first two columns say from
        where and to where, and a column of probabilities or weights may follow; what is 0 is not allowed. A
        table that could be both is a matrix if it is a square one of numbers, or has the same labels as rows
        and columns.
    least: a public threshold: transitions with a smaller probability or weight are not allowed. Chains that
        were estimated give every transition a little.

    Labels are text or whole numbers, in the order of the matrix or of their first appearance. Those of a CSV
    file are whole numbers if all of them are. In a CSV list the first line is a header unless one of its two
    names occurs again as a state.

    >>> from veil.words.supports import read_support
    >>> read_support({"home": ["work", "home"], "work": ["home"]})
    Support(labels=('home', 'work'), successors=((0, 1), (0,)))
    """
    least = within("least", least, 0.0, 1e300, expected="a number of at least 0")
    if isinstance(source, Support):
        return source
    name = "support"
    if isinstance(source, (str, os.PathLike)):
        name = Path(source).name
        source = _from_file(str(os.fspath(source)))
    elif _is_table(source):
        source = _from_table(source, name)
    support = _support(source, name, least)
    if not any(support.successors):
        hint = "{least} may be too large." if least > 0.0 else ""
        expected = "a transition that is allowed"
        raise InvalidData(name, expected=expected, found="none", hint=hint, names=("least",))
    return support


def _is_table(source: Any) -> bool:
    library = type(source).__module__.partition(".")[0]
    return type(source).__name__ == "DataFrame" or (
        library in {"pyarrow", "polars"} or hasattr(source, "__arrow_c_stream__")
    )


def _support(source: Any, name: str, least: float) -> Support:
    if isinstance(source, Release):
        from veil.matrices.chain_summary import to_chain

        try:
            source = to_chain(source)
        except InvalidArgument as error:
            raise InvalidData(name, expected=error.expected, found=error.found) from None
    if isinstance(source, Edges):
        return _from_edges(name, source.edges, [], least)
    if isinstance(source, Chain):
        return _from_matrix(name, source, least)
    if hasattr(source, "is_directed") and hasattr(source, "adjacency"):
        return _from_edges(name, _graph_edges(name, source), list(source.nodes), least)
    if isinstance(source, Mapping) and not hasattr(source, "tocsr"):
        return _from_edges(name, _mapping_edges(name, source), list(source), least)
    if isinstance(source, (list, tuple)) and _are_pairs(source):
        return _from_edges(name, [(row[0], row[1], None) for row in source], [], least)
    return _from_matrix(name, source, least)


def _are_pairs(rows: Sequence[Any]) -> bool:
    """Whether a list is one of (from, to) with text in it; numbers are taken for a matrix."""
    return bool(rows) and all(
        isinstance(row, (list, tuple)) and len(row) == 2 and any(isinstance(cell, str) for cell in row)
        for row in rows
    )


def _graph_edges(name: str, graph: Any) -> list[Edge]:
    if not graph.is_directed():
        raise InvalidData(
            name, expected="a directed graph", found="an undirected one", hint="Use graph.to_directed()."
        )
    return [
        (origin, end, next((attributes[key] for key in _NUMBERS if key in attributes), None))
        for origin, end, attributes in graph.edges(data=True)
    ]


def _mapping_edges(name: str, rows: Mapping[Any, Any]) -> list[Edge]:
    edges: list[Edge] = []
    for origin, row in rows.items():
        if isinstance(row, Mapping):
            edges += [(origin, end, number) for end, number in row.items()]
        elif isinstance(row, Iterable) and not isinstance(row, (str, bytes)):
            listed = sorted(row, key=str) if isinstance(row, (set, frozenset)) else row
            edges += [(origin, end, None) for end in listed]
        else:
            raise InvalidData(
                name, expected="{state: [states]} or {state: {state: probability}}", found="another mapping"
            )
    return edges


def _from_edges(name: str, edges: Sequence[Edge], first: Sequence[Any], least: float) -> Support:
    """first: labels that come before those that are found among the transitions."""
    labels: dict[Any, int] = {}
    for label in first:
        labels.setdefault(_label(name, label), len(labels))
    after: dict[int, set[int]] = {}
    if least > 0.0 and edges and all(number is None for _, _, number in edges):
        raise InvalidArgument("least", expected="transitions with probabilities", found="a list without any")
    for origin, end, number in edges:
        i, j = (labels.setdefault(_label(name, label), len(labels)) for label in (origin, end))
        if number is None or _is_allowed(name, number, least):
            after.setdefault(i, set()).add(j)
    successors = tuple(tuple(sorted(after.get(i, ()))) for i in range(len(labels)))
    return Support(_checked(name, tuple(labels)), successors)


def _is_allowed(name: str, number: Any, least: float) -> bool:
    try:
        value = float(number)
    except (TypeError, ValueError):
        value = np.nan
    if not np.isfinite(value) or value < 0.0:
        raise InvalidData(
            name, expected="probabilities or weights of at least 0", found="something else with a transition"
        )
    return value > 0.0 and value >= least


def _from_matrix(name: str, value: Any, least: float) -> Support:
    rows, successors = matrix_support(name, value, InvalidData, least)
    return Support(_checked(name, tuple(_label(name, label) for label in rows)), successors)


def _label(name: str, label: Any) -> Hashable:
    plain = label.item() if isinstance(label, np.generic) else label
    if isinstance(plain, bool) or not isinstance(plain, (int, str)) or plain == "":
        found = "an empty one" if plain is None or plain == "" else f"one of type {type(plain).__name__}"
        raise InvalidData(name, expected="labels that are text or whole numbers", found=found)
    return plain


def _checked(name: str, labels: Names) -> Names:
    """The labels, unless two of them would be written in the same way."""
    if len({str(label) for label in labels}) < len(labels):
        raise InvalidData(name, expected="labels that all differ", found="one of them twice")
    return labels


def _from_file(path: str) -> Any:
    """What a file holds: a list of transitions, a matrix, a mapping or a release."""
    file = file_of(path)
    name, suffix = name_of(file), ".csv" if file == "-" else ending_of(file)
    if suffix not in {*_TEXTS, *_LINES, *PARQUET, ".json"}:
        raise UnreadableFile(
            name,
            expected="a file of a known kind",
            found=f"the ending {suffix or 'none'}",
            hint="Known are .csv, .tsv, .txt, .json and .jsonl (also .gz), and .parquet.",
        )
    read = read_table(file, expected="allowed transitions", typed=PARQUET, small=True, documents=True)
    if read.columns is not None:
        return _from_table(read.columns, name)
    text = decoded(read.raw, name)
    if holds_release(text):
        return parse_release(text, name)
    if suffix in _LINES:
        return _records(parse_json_lines(read.raw, name), name)
    if read.text is None:
        return _from_json(parse_json(read.raw, name), name)
    return from_text(read)


def _from_json(content: Any, name: str) -> Any:
    if isinstance(content, list) and content and all(map(_is_record, content)):
        return _records(content, name)
    if not isinstance(content, (list, dict)) or not content:
        raise UnreadableFile(
            name,
            expected="a list of rows, {state: [states]} or {state: {state: probability}}",
            found="neither",
        )
    return _with_numbers(content) if isinstance(content, dict) else content


def _is_record(row: Any) -> bool:
    """Whether a row is a transition rather than one of a matrix: it has names, or text in it."""
    return isinstance(row, Mapping) or (isinstance(row, list) and any(isinstance(cell, str) for cell in row))


def _with_numbers(rows: dict[str, Any]) -> dict[Any, Any]:
    """The mapping with whole numbers for labels if all are; in JSON the keys are always text."""
    inside = [label for row in rows.values() if isinstance(row, (list, dict)) for label in row]
    if not all(isinstance(label, (int, str)) and is_plain_integer(str(label)) for label in (*rows, *inside)):
        return rows
    return {
        int(label): {int(end): number for end, number in row.items()}
        if isinstance(row, dict)
        else list(map(int, row))
        for label, row in rows.items()
        if isinstance(row, (list, dict))
    }


def _records(rows: Sequence[Any], name: str) -> Edges:
    """JSON objects, one for each transition; or lists of two states."""
    if not all(isinstance(row, (Mapping, list)) for row in rows):
        raise InvalidData(name, expected="a transition in every line", found="something else")
    if isinstance(rows[0], list):
        if any(not isinstance(row, list) or len(row) not in (2, 3) for row in rows):
            raise InvalidData(name, expected="two states in every line", found="something else")
        return Edges([(row[0], row[1], weight_of(row[2]) if len(row) == 3 else None) for row in rows])
    keys = list(rows[0])
    if any(not isinstance(row, Mapping) or not set(keys) <= set(row) for row in rows):
        raise InvalidData(name, expected="the same fields in every line", found="others")
    return listed({key: [row[key] for row in rows] for key in keys}, name)


def _from_table(source: Any, name: str) -> Any:
    """A table in memory: a list of transitions, or where its rows are named like its columns, a matrix."""
    if type(source).__module__.partition(".")[0] != "pandas":
        import pyarrow as pa

        try:
            table = pa.table(source)
        except (pa.ArrowException, TypeError, ValueError):
            found = f"an object of type {type(source).__name__}"
            raise InvalidArgument("support", expected="a table in memory", found=found) from None
        columns = {key: table.column(i).to_pylist() for i, key in enumerate(table.column_names)}
    elif _is_square(source):
        return source.astype("int8") if all(kind.kind == "b" for kind in source.dtypes) else source
    else:
        columns = {str(column): source.iloc[:, i].tolist() for i, column in enumerate(source.columns)}
    return listed(columns, name)


def _is_square(frame: Any) -> bool:
    labels = [str(label) for label in frame.columns]
    numeric = all(getattr(kind, "kind", "O") in "iufb" for kind in frame.dtypes)
    return numeric and sorted(map(str, frame.index)) == sorted(labels)
