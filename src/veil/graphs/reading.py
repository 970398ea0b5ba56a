"""From a list of edges to a graph: the nodes with their labels, and the pairs that are joined."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from veil.core.checks import choice, shown
from veil.core.errors import InvalidArgument, InvalidData, UnreadableFile
from veil.core.named_matrix import Names
from veil.graphs.ends import ends_of
from veil.graphs.graph import Graph
from veil.graphs.labels import ON, distinct, listed_nodes, only_used, placed
from veil.graphs.numerics.pairs import KINDS, Kind, PairSpace
from veil.tables.coded import Coded, Integers, sorted_once
from veil.tables.files import name_of
from veil.tables.given import is_file

NODES = "it is public that every node in the list has an edge"
SIDES = "it is public that every node in the two lists has an edge"


@dataclass(frozen=True, eq=False, repr=False)
class EdgeSource:
    """A graph as it was read. It is sensitive data, not a release.

    space: the pairs of nodes that may be joined. codes: the numbers of those that are, sorted. labels: of the
    nodes, in order; of a bipartite graph those of the rows, and column_labels those of the columns. repeated:
    how many lines named an edge that was there already; sensitive, and not for reports.
    """

    space: PairSpace
    codes: NDArray[np.int64]
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


def read_edges(
    source: Any,
    *,
    origin: str | None = None,
    destination: str | None = None,
    nodes: Any = None,
    kind: Kind = "undirected",
    loops: bool | str = False,
    delimiter: str | None = None,
    header: bool | None = None,
) -> EdgeSource:
    """The graph of a list of edges, two labels for each. What else a line holds is left out.

    source: a path or glob, or "-" for standard input: text with spaces, tabs, commas or semicolons between
        (also packed), Parquet, JSON lines; a pandas, Polars or Arrow table; an array of two columns or a list
        of pairs.
    origin, destination: the columns, by default the first two.
    nodes: the public list of nodes: labels, the path of a file with one per line, or n for 0 to n-1; of a
        bipartite graph a pair of these, or "a.txt,b.txt". Without it the nodes are those that have an edge,
        which is then assumed to be public: nodes without edges would be missing.
    kind: "undirected", where a,b and b,a are one edge; "directed"; or "bipartite", where origins and
        destinations are nodes of two kinds.
    loops: edges from a node to itself are refused, kept if True, left out if "drop".
    delimiter, header: of text; what separates cells, and whether the first line has names. Both are found
        out from the file where that can be done without losing an edge.

    Labels in files are whole numbers if all of them are, else text; those found are sorted.

    >>> from veil.graphs.reading import read_edges
    >>> graph = read_edges([("ann", "bob"), ("bob", "cid"), ("bob", "ann")])
    >>> graph.labels, [part.tolist() for part in graph.space.ends(graph.codes)]
    (('ann', 'bob', 'cid'), [[0, 1], [1, 2]])
    """
    choice("kind", kind, KINDS)
    keeps = _loops(loops, kind)
    given = _given_nodes(nodes, kind)
    columns, assumptions = ends_of(source, origin, destination, header=header, delimiter=delimiter)
    if given is None and len(columns[0].codes) == 0:
        raise _no_edges(source)
    if kind == "bipartite":
        return _bipartite(columns, given, assumptions)
    labels, ends = distinct(columns)
    ends = _without_loops(ends, keeps)
    if given is None:
        labels, ends = only_used(labels, ends)
        if not labels:
            raise _no_edges(source)
        assumptions = [NODES, *assumptions]
    else:
        ends, labels = placed(labels, ends, given[0]), given[0]
    space = PairSpace.among(len(labels), directed=kind == "directed", loops=keeps == "keep")
    codes, repeated = sorted_once(space.codes(*ends))
    return EdgeSource(space, codes, labels, None, repeated, tuple(assumptions))


def _bipartite(columns: Sequence[Coded], given: list[Names] | None, assumptions: list[str]) -> EdgeSource:
    sides = [distinct([column]) for column in columns]
    labels, ends = [side[0] for side in sides], [side[1][0] for side in sides]
    if given is None:
        assumptions = [SIDES, *assumptions]
    else:
        ends = [placed(labels[i], [ends[i]], given[i], side=ON[i])[0] for i in range(2)]
        labels = given
    space = PairSpace.between(len(labels[0]), len(labels[1]))
    codes, repeated = sorted_once(space.codes(ends[0], ends[1]))
    return EdgeSource(space, codes, labels[0], labels[1], repeated, tuple(assumptions))


def _no_edges(source: Any) -> InvalidData:
    is_path = isinstance(source, (str, os.PathLike))
    return UnreadableFile(
        name_of(os.fspath(source)) if is_path else "source",
        expected="edges, two labels each",
        found="none",
        hint="Give {nodes} if the graph has no edges.",
        names=("nodes",),
    )


def _loops(loops: Any, kind: str) -> str:
    """What becomes of edges from a node to itself: "keep", "drop" or "refuse"."""
    words = {True: "keep", False: "refuse", "keep": "keep", "drop": "drop", "refuse": "refuse"}
    if not isinstance(loops, (bool, str)) or loops not in words:
        raise InvalidArgument("loops", expected='True, False or "drop"', found=shown(loops))
    if kind == "bipartite" and words[loops] != "refuse":
        raise InvalidArgument(
            "loops", expected="none for a bipartite graph, which has two sides", found="some"
        )
    return words[loops]


def _without_loops(ends: Sequence[Integers], keeps: str) -> list[Integers]:
    if keeps == "keep":
        return list(ends)
    loops = ends[0] == ends[1]
    number = int(loops.sum())
    if not number:
        return list(ends)
    if keeps == "refuse":
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
        if isinstance(nodes, str) and "," in nodes and not is_file(nodes):
            raise InvalidArgument("nodes", expected="one list for such a graph", found="several")
        return [listed_nodes(nodes)]
    if isinstance(nodes, str):
        nodes = [side.strip() for side in nodes.split(",")]
    if not isinstance(nodes, (list, tuple)) or len(nodes) != 2:
        found = str(len(nodes)) if isinstance(nodes, (list, tuple)) else type(nodes).__name__
        raise InvalidArgument("nodes", expected="two lists, the nodes of each side", found=found)
    return [listed_nodes(side, ON[i]) for i, side in enumerate(nodes)]
