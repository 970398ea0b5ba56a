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
from veil.graphs.graph import Graph
from veil.graphs.labels import (
    ON,
    Ends,
    Integers,
    distinct,
    joined,
    listed_nodes,
    only_used,
    placed,
    sorted_once,
)
from veil.graphs.numerics.pairs import KINDS, Kind, PairSpace
from veil.graphs.tables import check_names, ends_of_table
from veil.graphs.text import ends_of_text
from veil.tables.delimited import checked_delimiter
from veil.tables.plain_tables import is_table_file
from veil.tables.text_files import files_of, name_of

NODES = "it is public that every node in the list has an edge"
SIDES = "it is public that every node in the two lists has an edge"
HEADER = "the first line of the file names its columns, and is no edge"


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
    check_names(origin, destination)
    if header is not None and not isinstance(header, bool):
        raise InvalidArgument("header", expected="True, False or None", found=type(header).__name__)
    given = _given_nodes(nodes, kind)
    columns, assumptions = _ends(source, origin, destination, header, checked_delimiter(delimiter))
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


def _bipartite(columns: Sequence[Ends], given: list[Names] | None, assumptions: list[str]) -> EdgeSource:
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


def _ends(
    source: Any, origin: str | None, destination: str | None, header: bool | None, delimiter: str | None
) -> tuple[list[Ends], list[str]]:
    """The two columns of ends, and what was assumed to read them."""
    if isinstance(source, (str, os.PathLike)):
        path = os.fspath(source)
        if not is_table_file(path):
            parts = [ends_of_text(file, origin, destination, header, delimiter) for file in files_of(path)]
            guessed = any(part.guessed for part in parts)
            origins, destinations = [part.origins for part in parts], [part.destinations for part in parts]
            return [joined(origins), joined(destinations)], [HEADER] if guessed else []
        source = path
    for field, value in (("header", header), ("delimiter", delimiter)):
        if value is not None:
            raise InvalidArgument(field, expected="none for this kind of source", found="one")
    return list(ends_of_table(source, origin, destination)), []


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
        return [listed_nodes(nodes)]
    if isinstance(nodes, str):
        nodes = [side.strip() for side in nodes.split(",")]
    if not isinstance(nodes, (list, tuple)) or len(nodes) != 2:
        raise InvalidArgument(
            "nodes", expected="a pair of lists: the nodes of each side", found=type(nodes).__name__
        )
    return [listed_nodes(side, ON[i]) for i, side in enumerate(nodes)]
