"""The labels of nodes: those at the ends of edges, and the public list of all nodes."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np

from veil.core.errors import InvalidArgument, InvalidData, UnreadableFile
from veil.core.named_matrix import Names
from veil.graphs.numerics.pairs import MOST_NODES
from veil.tables.cells import is_plain_integer
from veil.tables.coded import Coded, Integers, as_texts, distinct_numbers
from veil.tables.dialect import has_usual_header
from veil.tables.files import file_of, name_of, read_text

_NUMBER = re.compile(r"-?[0-9]{1,18}")
# The sides of a bipartite graph, as errors name them.
ON = (" on the first side", " on the second side")


def distinct(columns: Sequence[Coded]) -> tuple[Names, list[Integers]]:
    """The labels that occur, sorted, and for each column of ends their places among the labels.

    Whole numbers are sorted by size, text by code points; where both occur all are text.
    """
    if all(column.texts is None for column in columns):
        numbers, places = distinct_numbers([column.codes for column in columns])
        return tuple(numbers.tolist()), places
    columns = [as_texts(column) for column in columns]
    labels = sorted(set().union(*(column.values for column in columns)))
    place = {label: i for i, label in enumerate(labels)}
    targets = [
        np.array([place.get(text, -1) for text in column.texts or []], dtype=np.int64) for column in columns
    ]
    return tuple(labels), [target[column.codes] for target, column in zip(targets, columns, strict=True)]


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
    file = file_of(path)
    labels = [line for line in map(str.strip, read_text(file).split("\n")) if line]
    if has_usual_header([[label] for label in labels]):
        labels = labels[1:]
    if not labels:
        raise UnreadableFile(name_of(file), expected="one label per line", found="none")
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
