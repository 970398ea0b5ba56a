"""Graphs as users hold them: NetworkX, SciPy sparse, lists of edges."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Mapping
from fractions import Fraction
from itertools import pairwise
from typing import Any

import numpy as np

from veil.core.errors import InvalidData
from veil.graphs.graph import Graph, Labels, check_nodes
from veil.graphs.numerics.pairs import Codes, PairSpace
from veil.tables.frames import is_frame

_MATRIX = "scipy.sparse.csr_array(matrix) makes a graph of an adjacency matrix"


def are_pairs(value: Any) -> bool:
    """Whether a value is a list of edges: a list or set of pairs, or an array or frame of two columns.

    It is a matter of types and columns, never of what is in them, nor of how many edges there are: a list is
    one of edges, and never an adjacency matrix. What may be something else is refused.
    """
    if any(hasattr(value, name) for name in ("space", "tocoo", "is_directed")):
        return False
    if isinstance(value, (list, tuple, set, frozenset)):
        for number, pair in enumerate(value):
            if isinstance(pair, (str, bytes)) or not hasattr(pair, "__len__") or len(pair) != 2:
                raise InvalidData(
                    "graph",
                    expected="a list of pairs of nodes",
                    found=f"something else at position {number}",
                    hint=f"graphs.read leaves out what follows a pair; {_MATRIX}.",
                )
        return True
    if isinstance(value, np.ndarray):
        if value.ndim != 2 or value.shape[1] != 2 or value.dtype == np.bool_:
            bits = " of bits" if value.dtype == np.bool_ else ""
            found = f"an array{bits} of shape {value.shape}"
            raise InvalidData("graph", expected="two columns of nodes", found=found, hint=f"{_MATRIX}.")
        return True
    return is_frame(value) and _has_two_columns(value)


def _has_two_columns(frame: Any) -> bool:
    """Whether the columns of a table in memory are the two ends of edges; an error otherwise."""
    if isinstance(frame, Mapping):
        # Of two nodes it may as well be {node: neighbours}.
        hint = "graphs.read takes columns; graphs.release takes a NetworkX graph."
        raise InvalidData("graph", expected="a graph or a table of two columns", found="a mapping", hint=hint)
    names = frame.collect_schema().names() if hasattr(frame, "collect_schema") else None
    columns = list(names or getattr(frame, "column_names", None) or frame.columns)
    index = getattr(frame, "index", None)
    if type(index).__name__ != "RangeIndex" and index is not None and list(index) == columns:
        found = "as many rows, with the same names"
        raise InvalidData("graph", expected="two columns of nodes", found=found, hint=f"{_MATRIX}.")
    if len(columns) != 2:
        hint = f"graphs.read(frame, origin=..., destination=...) says which ones; {_MATRIX}."
        raise InvalidData("graph", expected="two columns of nodes", found=f"{len(columns)}", hint=hint)
    return True


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
        return Graph(space, distinct_codes(space, rows, columns))
    if value.shape[0] != value.shape[1]:
        raise InvalidData(
            "graph",
            expected="as many rows as columns",
            found=f"shape {tuple(value.shape)}",
            hint="graphs.Graph.of(matrix, bipartite=True) takes rows and columns as different nodes.",
        )
    space = PairSpace.among(check_nodes(value.shape[0]), directed=directed, loops=loops)
    graph = Graph(space, distinct_codes(space, rows, columns))
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


def distinct_codes(space: PairSpace, rows: Codes, columns: Codes) -> Codes:
    """The numbers of the pairs, each once; an error if there are loops that the space does not have."""
    loops = int((rows == columns).sum())
    if loops and not space.loops:
        hint = "graphs.Graph.of(graph, loops=True) keeps them: a loop is then one more bit of every node."
        raise InvalidData("graph", expected="no edge from a node to itself", found=f"{loops}", hint=hint)
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
    return Graph(space, distinct_codes(space, *ends.T), labels)


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
    left, right = (tuple(node for node in nodes if sides[node] == side) for side in (0, 1))
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
    space = PairSpace.between(len(left), len(right))
    return Graph(space, distinct_codes(space, *np.array(pairs, dtype=np.int64).reshape(-1, 2).T), left, right)
