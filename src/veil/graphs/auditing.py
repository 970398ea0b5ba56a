"""How audits attack mechanisms on graphs."""

from __future__ import annotations

from itertools import combinations
from typing import Any

import numpy as np

from veil.bits.adjacency import BitFlips
from veil.bits.mechanisms.matrix_bernoulli import MatrixBernoulli
from veil.core.adjacency import Adjacency
from veil.core.arrays import Booleans, Floats
from veil.core.audit.subject import AuditPair, AuditSubject, Example, Reader
from veil.core.errors import InvalidArgument
from veil.graphs.graph import Graph
from veil.graphs.mechanisms.private_graph import GraphDraw, PrivateGraph
from veil.graphs.mechanisms.randomized_response import RandomizedResponse
from veil.graphs.mechanisms.xor_graph import XorGraph
from veil.graphs.numerics.pairs import Codes

# Of graphs whose size the mechanism leaves open.
_NODES = 8
# A complete graph beyond is too large to draw many times.
_MOST_COMPLETE = 200
# Pairs that are looked at besides those that differ, and numbers of a table of facts.
_OTHERS, _MOST_FACTS = 16, 256


class GraphAudit(AuditSubject):
    """Audits of mechanisms on graphs."""

    def examples(self) -> list[Example]:
        square = MatrixBernoulli(0.4 * np.eye(6), 0.05 * np.eye(6), 6)
        return [
            (RandomizedResponse(1.0), None),
            (XorGraph(square), None),
            (PrivateGraph(1.0, statistics=("degrees", "edges", "triangles"), share=0.5), None),
            (PrivateGraph(1.0, statistics=("edges",), share=1.0), None),
        ]

    def pairs(self, mechanism: Any, adjacency: Any) -> list[AuditPair]:
        """An edge in an empty graph, in a full one, of a hub, and one that closes the most triangles."""
        noise = getattr(mechanism, "noise", None)
        nodes = _NODES if noise is None else noise.rows
        empty: list[tuple[int, int]] = []
        hub = [(0, node) for node in range(1, nodes - 1)]
        shared = [(end, node) for end in (0, 1) for node in range(2, nodes)]
        graphs = {"an empty graph": empty, "a hub": hub, "two nodes that share all others": shared}
        if nodes <= _MOST_COMPLETE:
            graphs["a complete graph"] = list(combinations(range(nodes), 2))
        # The edge that differs, or the first of several.
        edges = {"a hub": (0, nodes - 1), "a complete graph": (nodes - 2, nodes - 1)}
        audit_pairs = []
        for name, pairs in graphs.items():
            value = Graph.from_edges(pairs, nodes)
            start = int(value.space.codes(*(np.array([end]) for end in edges.get(name, (0, 1))))[0])
            count = min(adjacency.count, value.space.count)
            flips = np.sort((start + np.arange(count)) % value.space.count)
            audit_pairs.append(AuditPair(name, value, value.replaced(np.setxor1d(value.codes, flips))))
        return audit_pairs

    def relation(self, mechanism: Any, first: Any, second: Any) -> Adjacency:
        if first.space != second.space:
            raise InvalidArgument("neighbour", expected="a graph on the same nodes", found="another")
        return BitFlips(max(1, len(np.setxor1d(first.codes, second.codes))))

    def apart(self, mechanism: Any, adjacency: Any, first: Any, second: Any) -> str:
        between: Any = self.relation(mechanism, first, second)
        return "" if between.count <= adjacency.count else f"{between.count} edges that differ"

    def size(self, mechanism: Any, valid: Any) -> int:
        return len(valid)

    def samples(self, mechanism: Any) -> int:
        return 2_000

    def reader(self, mechanism: Any, value: Any, neighbour: Any) -> Reader:
        first, second = mechanism.validate(value), mechanism.validate(neighbour)
        changed = np.setxor1d(first.codes, second.codes)
        as_first = _joined(changed, first.codes)
        # The bits that are looked at: those of the pairs that differ, and a few others.
        few, count = min(_OTHERS, first.space.count), first.space.count
        pairs = np.unique(np.concatenate([changed, np.arange(few), np.arange(count - few, count)]))
        return lambda drawn: np.array([_numbers(one, changed, as_first, pairs) for one in drawn])


def _joined(pairs: Codes, codes: Codes) -> Booleans:
    """Which of the pairs are among sorted numbers of pairs."""
    places = np.searchsorted(codes, pairs)
    return np.asarray(np.append(codes, -1)[places] == pairs)


def _numbers(drawn: Any, changed: Codes, as_first: Booleans, pairs: Codes) -> Floats:
    """A released graph as the bits of some pairs, how many that differ are as in the first, and its facts."""
    graph = drawn.graph if isinstance(drawn, GraphDraw) else drawn
    parts: list[Any] = []
    if graph is not None:
        agree = (_joined(changed, graph.codes) == as_first).sum()
        parts += [_joined(pairs, graph.codes), [agree, len(graph)]]
    for key, table in (drawn.tables if isinstance(drawn, GraphDraw) else {}).items():
        if key != "nodes":
            numbers = np.asarray(table, dtype=np.float64)
            parts += [[numbers.sum()], numbers[:_MOST_FACTS]]
            # How many nodes have at least so many edges: what one edge moves is side by side.
            parts.append(np.cumsum(numbers[:_MOST_FACTS]) if len(numbers) > 2 else [])
    return np.concatenate([np.asarray(part, dtype=np.float64) for part in parts])
