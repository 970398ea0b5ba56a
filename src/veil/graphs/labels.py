"""The labels of nodes: those at the ends of edges, and the public list of all nodes."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from veil.core.errors import InvalidArgument, InvalidData, UnreadableFile
from veil.core.named_matrix import Names
from veil.graphs.numerics.pairs import MOST_NODES
from veil.tables.states import is_plain_integer
from veil.tables.text_files import check_encoding, files_of, name_of, text_bytes

Integers = NDArray[np.int64]
_NUMBER = re.compile(r"-?[0-9]{1,18}")
# The sides of a bipartite graph, as errors name them.
ON = (" on the first side", " on the second side")
# What a list of nodes may have as its first line.
_HEADINGS = {"node", "nodes", "id", "ids", "label", "labels", "name", "node_id", "nodeid", "vertex"}


class Ends(NamedTuple):
    """One end of every edge: whole numbers that are the labels, or places in a list of texts."""

    codes: Integers
    texts: list[str] | None = None


def joined(parts: Sequence[Ends]) -> Ends:
    """The ends of the edges of several files. Labels are numbers if they are in all files."""
    if len(parts) == 1:
        return parts[0]
    if all(part.texts is None for part in parts):
        return Ends(np.concatenate([part.codes for part in parts]))
    texts: list[str] = []
    codes = []
    for part in map(as_texts, parts):
        codes.append(part.codes + len(texts))
        texts += part.texts or []
    return Ends(np.concatenate(codes), texts)


def as_texts(ends: Ends) -> Ends:
    """The same labels as texts."""
    if ends.texts is not None:
        return ends
    numbers, (codes,) = _distinct_numbers([ends.codes])
    return Ends(codes, list(map(str, numbers.tolist())))


def distinct(columns: Sequence[Ends]) -> tuple[Names, list[Integers]]:
    """The labels that occur, sorted, and for each column of ends their places among the labels.

    Whole numbers are sorted by size, text by code points; where both occur all are text.
    """
    if all(column.texts is None for column in columns):
        numbers, places = _distinct_numbers([column.codes for column in columns])
        return tuple(numbers.tolist()), places
    columns = [as_texts(column) for column in columns]
    used = [np.flatnonzero(np.bincount(column.codes)) for column in columns]
    found = {
        (column.texts or [])[code] for column, codes in zip(columns, used, strict=True) for code in codes
    }
    labels = sorted(found)
    place = {label: i for i, label in enumerate(labels)}
    targets = [
        np.array([place.get(text, -1) for text in column.texts or []], dtype=np.int64) for column in columns
    ]
    return tuple(labels), [target[column.codes] for target, column in zip(targets, columns, strict=True)]


def _distinct_numbers(columns: Sequence[Integers]) -> tuple[Integers, list[Integers]]:
    some = [column for column in columns if len(column)]
    if not some:
        return np.empty(0, dtype=np.int64), list(columns)
    low, high = min(int(column.min()) for column in some), max(int(column.max()) for column in some)
    span = high - low + 1
    if span <= 4 * sum(map(len, some)) + 1_000_000:
        # A table over all numbers between is faster than sorting.
        present = np.zeros(span, dtype=np.bool_)
        for column in some:
            present[column - low] = True
        if bool(present.all()):
            return np.arange(span, dtype=np.int64) + low, [
                column - low if low else column for column in columns
            ]
        places = np.cumsum(present) - 1
        return np.flatnonzero(present) + low, [places[column - low] for column in columns]
    numbers, _ = sorted_once(np.concatenate(some))
    return numbers, [np.searchsorted(numbers, column) for column in columns]


def sorted_once(numbers: Integers) -> tuple[Integers, int]:
    """The numbers sorted, each once, and how many were repeated; np.unique is slower on millions of them."""
    ordered = np.sort(numbers)
    first = np.ones(len(ordered), dtype=np.bool_)
    first[1:] = ordered[1:] != ordered[:-1]
    once = ordered if bool(first.all()) else ordered[first]
    return once, len(ordered) - len(once)


def only_used(labels: Names, columns: Sequence[Integers]) -> tuple[Names, list[Integers]]:
    """The labels that are still at the end of some edge, and the ends as places among them."""
    present = np.zeros(len(labels), dtype=np.bool_)
    for column in columns:
        present[column] = True
    if present.all():
        return labels, list(columns)
    places = np.cumsum(present) - 1
    return tuple(labels[i] for i in np.flatnonzero(present)), [places[column] for column in columns]


def listed_nodes(nodes: Any, side: str = "") -> Names:
    """The public list of nodes: labels, a file with one label per line, or a number n for 0 to n-1.

    side: of a bipartite graph, which one errors name.
    """
    if isinstance(nodes, str) and _NUMBER.fullmatch(nodes.strip()):
        # A number in text rather than the name of a file.
        nodes = int(nodes)
    if isinstance(nodes, (str, os.PathLike)):
        return _from_file(os.fspath(nodes), side)
    if isinstance(nodes, (int, np.integer)) and not isinstance(nodes, bool):
        if nodes < 0:
            raise InvalidArgument(
                "nodes", expected=f"a whole number of at least 0{side}", found=str(nodes)[:40]
            )
        if nodes > MOST_NODES:
            raise InvalidArgument("nodes", expected=f"at most {MOST_NODES:,} nodes{side}", found="more")
        return tuple(range(int(nodes)))
    if not isinstance(nodes, Iterable):
        expected = f"a list of labels, a path, or a number of nodes{side}"
        raise InvalidArgument("nodes", expected=expected, found=type(nodes).__name__)
    labels = list(nodes.tolist() if hasattr(nodes, "tolist") else nodes)
    if isinstance(nodes, (set, frozenset)):
        # A set has no order of its own that would be the same tomorrow.
        labels.sort(key=lambda label: (str(type(label)), label))
    return _all_different(labels, side)


def _all_different(labels: Sequence[Any], side: str) -> Names:
    for label in labels:
        if isinstance(label, bool) or not isinstance(label, (str, int)) or label == "":
            raise InvalidArgument(
                "nodes",
                expected=f"labels that are text or whole numbers{side}",
                found="an empty one" if label == "" else f"one of type {type(label).__name__}",
            )
    if len(set(map(str, labels))) < len(labels):
        expected = f"labels that all differ{side}"
        raise InvalidArgument("nodes", expected=expected, found="one of them twice")
    return tuple(labels)


def _from_file(path: str, side: str) -> Names:
    file = files_of(path)[0]
    raw, name = text_bytes(file), name_of(file)
    check_encoding(raw, name)
    lines = [line.strip() for line in raw.decode("utf-8").split("\n")]
    labels = [line for line in lines if line]
    if labels and labels[0].casefold() in _HEADINGS:
        labels = labels[1:]
    if not labels:
        raise UnreadableFile(name, expected="one label per line", found="none")
    numbers = all(map(is_plain_integer, labels))
    return _all_different([int(label) for label in labels] if numbers else labels, side)


def placed(labels: Names, columns: Sequence[Integers], nodes: Names, *, side: str = "") -> list[Integers]:
    """The ends as places in the public list, or an error that says which edge has another label.

    Labels are matched by their text: 41 and "41" are the same.
    """
    if labels == nodes:
        return list(columns)
    place = {str(label): i for i, label in enumerate(nodes)}
    targets = np.array([place.get(str(label), -1) for label in labels], dtype=np.int64)
    found = [targets[column] for column in columns]
    outside = np.zeros(len(columns[0]), dtype=np.bool_)
    for column in found:
        outside |= column < 0
    if outside.any():
        edges = int(outside.sum())
        number = "1 edge has another" if edges == 1 else f"{edges} edges have others"
        raise InvalidData(
            "nodes",
            expected=f"one of the {len(nodes)} listed nodes {side.strip() or 'at both ends'} of every edge",
            found=f"that {number}, the first is edge {int(np.argmax(outside)) + 1}",
            hint="{nodes} must list every node that occurs.",
            names=("nodes",),
        )
    return found
