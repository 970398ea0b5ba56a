"""From a list of edges to a graph: the nodes with their labels, and the pairs that are joined."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from os.path import exists
from typing import TYPE_CHECKING, Any

import numpy as np

from veil.core.checks import choice
from veil.core.errors import InvalidArgument, InvalidData, UnreadableFile
from veil.core.intake import Names
from veil.graphs.ends import ends_of
from veil.graphs.graph import Graph, checked_labels
from veil.graphs.numerics.pairs import KINDS, MOST_NODES, PairSpace
from veil.tables.cells import Coded, Integers, as_texts, distinct_numbers, is_plain_integer, sorted_once
from veil.tables.dialect import has_usual_header
from veil.tables.files import file_of, name_of, read_text

if TYPE_CHECKING:
    from veil.graphs.requests import GraphRead

NODES = "it is public that every node in the list has an edge"
SIDES = "it is public that every node in the two lists has an edge"
LOOPS = ("refuse", "keep", "drop")
_NUMBER = re.compile(r"-?[0-9]{1,18}")
# The sides of a bipartite graph, as errors name them.
_ON = (" on the first side", " on the second side")


@dataclass(frozen=True, eq=False, repr=False)
class EdgeSource:
    """A graph as it was read. It is sensitive data, not a release.

    space: the pairs of nodes that may be joined. codes: the numbers of those that are, sorted. labels: of the
    nodes, in order; of a bipartite graph those of the rows, and column_labels those of the columns. repeated:
    how many lines named an edge that was there already; sensitive, and not for reports.
    """

    space: PairSpace
    codes: Integers
    labels: Names
    column_labels: Names | None = None
    repeated: int = 0
    assumptions: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        self.codes.setflags(write=False)

    def __repr__(self) -> str:
        return f"<EdgeSource of {self.space.nodes} nodes, {self.space.kind}, sensitive>"

    def __len__(self) -> int:
        return len(self.codes)

    @property
    def graph(self) -> Graph:
        return Graph(self.space, self.codes, self.labels, self.column_labels)


def read_edges(asked: GraphRead) -> EdgeSource:
    """The graph that a request names; see `graphs.read`."""
    kind = choice("kind", asked.kind, KINDS)
    loops = choice("loops", asked.loops, LOOPS)
    if kind == "bipartite" and loops != "refuse":
        raise InvalidArgument(
            "loops", expected="none for a bipartite graph, which has two sides", found="some"
        )
    given = _given_nodes(asked.nodes, kind)
    columns, assumptions = ends_of(asked)
    if given is None and len(columns[0].codes) == 0:
        raise _no_edges(asked.source)
    if kind == "bipartite":
        return _bipartite(columns, given, assumptions)
    labels, ends = _distinct(columns)
    ends = _without_loops(ends, loops)
    if given is None:
        labels, ends = _only_used(labels, ends)
        if not labels:
            raise _no_edges(asked.source)
        assumptions = [NODES, *assumptions]
    else:
        ends, labels = _placed(labels, ends, given[0]), given[0]
    space = PairSpace.among(len(labels), directed=kind == "directed", loops=loops == "keep")
    codes, repeated = sorted_once(space.codes(*ends))
    return EdgeSource(space, codes, labels, None, repeated, tuple(assumptions))


def _bipartite(columns: Sequence[Coded], given: list[Names] | None, assumptions: list[str]) -> EdgeSource:
    sides = [_distinct([column]) for column in columns]
    labels, ends = [side[0] for side in sides], [side[1][0] for side in sides]
    if given is None:
        assumptions = [SIDES, *assumptions]
    else:
        ends = [_placed(labels[i], [ends[i]], given[i], side=_ON[i])[0] for i in range(2)]
        labels = given
    space = PairSpace.between(len(labels[0]), len(labels[1]))
    codes, repeated = sorted_once(space.codes(ends[0], ends[1]))
    return EdgeSource(space, codes, labels[0], labels[1], repeated, tuple(assumptions))


def _no_edges(source: Any) -> InvalidData:
    return UnreadableFile(
        name_of(os.fspath(source)) if isinstance(source, (str, os.PathLike)) else "source",
        expected="edges, two labels each",
        found="none",
        hint="Give {nodes} if the graph has no edges.",
        names=("nodes",),
    )


def _without_loops(ends: list[Integers], wanted: str) -> list[Integers]:
    loops = ends[0] == ends[1]
    number = int(loops.sum())
    if wanted == "keep" or not number:
        return ends
    if wanted == "refuse":
        raise InvalidData(
            "source",
            expected="edges between different nodes",
            found="1 edge from a node to itself" if number == 1 else f"{number} edges from a node to itself",
            hint="{loops} drop leaves them out, {loops} keep keeps them.",
            names=("loops",),
        )
    return [column[~loops] for column in ends]


def _given_nodes(nodes: Any, kind: str) -> list[Names] | None:
    if nodes is None:
        return None
    if kind != "bipartite":
        if isinstance(nodes, str) and "," in nodes and not exists(nodes):
            raise InvalidArgument(
                "nodes",
                expected="the path of a file with a node in each line, or how many nodes there are",
                found="a text with commas",
            )
        return [_listed_nodes(nodes)]
    if isinstance(nodes, str):
        nodes = [side.strip() for side in nodes.split(",")]
    if not isinstance(nodes, (list, tuple)) or len(nodes) != 2:
        found = str(len(nodes)) if isinstance(nodes, (list, tuple)) else type(nodes).__name__
        raise InvalidArgument("nodes", expected="two lists, the nodes of each side", found=found)
    return [_listed_nodes(side, _ON[i]) for i, side in enumerate(nodes)]


def _distinct(columns: Sequence[Coded]) -> tuple[Names, list[Integers]]:
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


def _only_used(labels: Names, columns: Sequence[Integers]) -> tuple[Names, list[Integers]]:
    """The labels that are still at the end of some edge, and the ends as places among them."""
    present = np.zeros(len(labels), dtype=np.bool_)
    for column in columns:
        present[column] = True
    if present.all():
        return labels, list(columns)
    places = np.cumsum(present) - 1
    return tuple(labels[i] for i in np.flatnonzero(present)), [places[column] for column in columns]


def _listed_nodes(nodes: Any, side: str = "") -> Names:
    """The public list of nodes. side: of a bipartite graph, which one errors name."""
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
    return checked_labels("nodes", labels, side)


def _from_file(path: str, side: str) -> Names:
    file = file_of(path)
    labels = [line for line in map(str.strip, read_text(file).split("\n")) if line]
    if has_usual_header([[label] for label in labels]):
        labels = labels[1:]
    if not labels:
        raise UnreadableFile(name_of(file), expected="one label per line", found="none")
    numbers = all(map(is_plain_integer, labels))
    return checked_labels("nodes", [int(label) for label in labels] if numbers else labels, side)


def _placed(labels: Names, columns: Sequence[Integers], nodes: Names, *, side: str = "") -> list[Integers]:
    """The ends as places in the public list, or an error that says which edge has another label.

    Labels are matched by their text: 41 and "41" are the same.
    """
    if labels == nodes:
        return list(columns)
    place = {str(label): i for i, label in enumerate(nodes)}
    targets = np.array([place.get(str(label), -1) for label in labels], dtype=np.int64)
    places = [targets[column] for column in columns]
    outside = np.any([column < 0 for column in places], axis=0)
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
    return places
