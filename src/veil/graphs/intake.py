"""Graphs as users hold them: NetworkX, SciPy sparse, pairs of labels."""

from __future__ import annotations

from collections.abc import Hashable, Iterable
from fractions import Fraction
from itertools import pairwise
from typing import Any

import numpy as np

from veil.core.checks import items, truth
from veil.core.errors import InvalidArgument, InvalidData, MissingExtra
from veil.graphs.graph import Graph, Labels, check_nodes
from veil.graphs.numerics.pairs import Codes, PairSpace

NO_LOOPS = "no edge from a node to itself"
LOOPS_HINT = "graphs.Graph.of(graph, loops=True) keeps them: a loop is then one more bit of every node."


def from_sparse(value: Any, *, directed: bool, bipartite: bool, loops: bool) -> Graph:
    """A sparse adjacency matrix of zeros and ones."""
    if getattr(value, "ndim", 2) != 2:
        raise InvalidData("graph", expected="a matrix", found=f"{value.ndim} axes")
    entries = value.tocoo()
    numbers = np.asarray(entries.data)
    if numbers.dtype.kind not in "biuf" or not np.isin(numbers, (0, 1)).all():
        raise InvalidData(
            "graph", expected="entries of 0 and 1", found="others", hint="Weights are not hidden."
        )
    kept = numbers != 0
    rows, columns = entries.row[kept].astype(np.int64), entries.col[kept].astype(np.int64)
    if bipartite:
        space = PairSpace.between(check_nodes(value.shape[0]), check_nodes(value.shape[1]))
        return Graph(space, np.unique(space.codes(rows, columns)))
    if value.shape[0] != value.shape[1]:
        raise InvalidData(
            "graph",
            expected="as many rows as columns",
            found=f"shape {tuple(value.shape)}",
            hint="graphs.Graph.of(matrix, bipartite=True) takes rows and columns as different nodes.",
        )
    space = PairSpace.among(check_nodes(value.shape[0]), directed=directed, loops=loops)
    graph = Graph(space, _codes(space, rows, columns))
    # Counted once each: a matrix may hold a cell twice.
    cells, diagonal = np.unique(rows * space.rows + columns), np.unique(rows[rows == columns])
    if not directed and 2 * len(graph) - len(diagonal) != len(cells):
        raise InvalidData(
            "graph",
            expected="a symmetric matrix, for an undirected graph",
            found="entries without their mirror image",
            hint="graphs.Graph.of(matrix, directed=True) takes it as a directed graph.",
        )
    return graph


def _codes(space: PairSpace, rows: Codes, columns: Codes) -> Codes:
    if not space.loops and (rows == columns).any():
        found = f"{int((rows == columns).sum())}"
        raise InvalidData("graph", expected=NO_LOOPS, found=found, hint=LOOPS_HINT)
    return np.unique(space.codes(rows, columns))


def from_networkx(graph: Any, *, bipartite: bool, loops: bool) -> Graph:
    """A graph of NetworkX; what is attached to its nodes and edges is left out."""
    if graph.is_multigraph():
        raise InvalidData(
            "graph",
            expected="at most one edge between two nodes",
            found="a multigraph",
            hint="Use nx.Graph(g).",
        )
    nodes = _sorted(graph.nodes)
    check_nodes(len(nodes))
    if bipartite:
        return _bipartite(graph, nodes)
    space = PairSpace.among(len(nodes), directed=graph.is_directed(), loops=loops)
    place = {node: i for i, node in enumerate(nodes)}
    ends = np.array([(place[a], place[b]) for a, b in graph.edges()], dtype=np.int64).reshape(-1, 2)
    labels = None if nodes == tuple(range(len(nodes))) else nodes
    return Graph(space, _codes(space, ends[:, 0], ends[:, 1]), labels)


def _sorted(nodes: Iterable[Hashable]) -> Labels:
    """In an order of their own: that in which they were added may tell which edges there are."""
    listed = list(nodes)
    ranked = sorted((_rank(node), place) for place, node in enumerate(listed))
    if any(one[0] == two[0] for one, two in pairwise(ranked)):
        raise InvalidData(
            "nodes",
            expected="labels that differ as text, so that they have an order of their own",
            found="some that do not",
            hint="nx.relabel_nodes gives them names.",
        )
    return tuple(listed[place] for _, place in ranked)


def _rank(label: Hashable) -> tuple[str, Fraction, str]:
    if isinstance(label, (int, np.integer)):
        return "", Fraction(int(label)), str(label)
    if isinstance(label, (float, np.floating)) and np.isfinite(label):
        return "", Fraction(float(label)), str(label)
    return type(label).__name__, Fraction(0), str(label)


def _bipartite(graph: Any, nodes: Labels) -> Graph:
    sides = {node: graph.nodes[node].get("bipartite") for node in nodes}
    left = tuple(node for node in nodes if sides[node] == 0)
    right = tuple(node for node in nodes if sides[node] == 1)
    if len(left) + len(right) != len(nodes) or not left or not right:
        raise InvalidData(
            "graph", expected="an attribute bipartite of 0 or 1 on every node", found="nodes without it"
        )
    place = {node: i for side in (left, right) for i, node in enumerate(side)}
    pairs = []
    for a, b in graph.edges():
        if sides[a] == sides[b]:
            raise InvalidData("graph", expected="edges between the two sides only", found="one within a side")
        pairs.append((place[a], place[b]) if sides[a] == 0 else (place[b], place[a]))
    ends = np.array(pairs, dtype=np.int64).reshape(-1, 2)
    space = PairSpace.between(len(left), len(right))
    return Graph(space, np.unique(space.codes(ends[:, 0], ends[:, 1])), left, right)


def from_pairs(
    edges: Iterable[tuple[Hashable, Hashable]],
    nodes: int | Iterable[Hashable],
    *,
    directed: bool,
    loops: bool,
) -> Graph:
    """Pairs of labels; the nodes are given, since a node without edges would not show."""
    labels: Labels | None = None
    if isinstance(nodes, (int, np.integer)):
        count = check_nodes(int(nodes))
    else:
        if isinstance(nodes, (str, bytes)) or not hasattr(nodes, "__iter__"):
            raise InvalidArgument(
                "nodes", expected="how many there are, or their list", found=type(nodes).__name__
            )
        labels = tuple(items("nodes", nodes, expected="how many there are, or their list"))
        count = check_nodes(len(labels))
    if type(edges).__name__ == "DataFrame":
        frame: Any = edges
        edges = zip(frame.iloc[:, 0], frame.iloc[:, 1], strict=True)
    directed, loops = truth("directed", directed), truth("loops", loops)
    try:
        # Nodes that are only counted are not made: a number may say far more of them than fit.
        place: Any = range(count) if labels is None else {label: i for i, label in enumerate(labels)}
    except TypeError:
        raise InvalidArgument("nodes", expected="labels such as text or numbers", found="others") from None
    if len(place) != count:
        raise InvalidArgument("nodes", expected="different labels", found="one of them twice")
    ends = []
    if not isinstance(edges, Iterable) or hasattr(edges, "tocoo"):
        raise InvalidData("edges", expected="pairs of nodes", found=type(edges).__name__)
    edge: Any
    for number, edge in enumerate(edges):
        try:
            first, second = edge
            if labels is None and (first < 0 or second < 0):
                raise IndexError
            ends.append((place[first], place[second]))
        except (TypeError, ValueError, LookupError):
            expected = "pairs of nodes that are listed"
            raise InvalidData(
                "edges", expected=expected, found=f"something else at position {number}"
            ) from None
    pairs = np.array(ends, dtype=np.int64).reshape(-1, 2)
    space = PairSpace.among(count, directed=directed, loops=loops)
    return Graph(space, _codes(space, pairs[:, 0], pairs[:, 1]), labels)


def to_networkx(graph: Graph) -> Any:
    """A NetworkX graph of the same nodes, in their order."""
    try:
        import networkx
    except ImportError:
        raise MissingExtra("networkx", "networkx") from None
    made = networkx.DiGraph() if graph.space.kind == "directed" else networkx.Graph()
    if graph.space.kind == "bipartite":
        made.add_nodes_from(graph.node_labels, bipartite=0)
        made.add_nodes_from(graph.other_labels, bipartite=1)
        if len(made) != graph.space.nodes:
            raise InvalidArgument(
                "labels", expected="labels that differ between the two sides", found="shared ones"
            )
    else:
        made.add_nodes_from(graph.node_labels)
    made.add_edges_from(graph.labelled_edges())
    return made
