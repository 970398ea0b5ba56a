"""How audits attack mechanisms on graphs."""

from __future__ import annotations

from itertools import combinations
from typing import Any

import numpy as np

from veil.bits.adjacency import BitFlips
from veil.bits.mechanisms.matrix_bernoulli import MatrixBernoulli
from veil.core.adjacency import Adjacency
from veil.core.audit.pair import AuditPair
from veil.core.audit.subject import AuditSubject, Example, Reader
from veil.core.errors import InvalidArgument
from veil.graphs.events import graph_numbers
from veil.graphs.graph import Graph
from veil.graphs.mechanisms.private_graph import PrivateGraph
from veil.graphs.mechanisms.randomized_response import RandomizedResponse
from veil.graphs.mechanisms.xor_graph import XorGraph

# Of graphs whose size the mechanism leaves open.
_NODES = 8
# A complete graph beyond is too large to draw many times.
_MOST_COMPLETE = 200


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
        return graph_pairs(mechanism, adjacency)

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
        return lambda found: graph_numbers(found, first, second)


def graph_pairs(mechanism: Any, relation: BitFlips) -> list[AuditPair]:
    """An edge in an empty graph, in a full one, of a hub, and one that closes as many triangles as it can."""
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
    found = []
    for name, pairs in graphs.items():
        value = Graph.from_edges(pairs, nodes)
        start = int(value.space.codes(*(np.array([end]) for end in edges.get(name, (0, 1))))[0])
        count = min(relation.count, value.space.count)
        flips = np.sort((start + np.arange(count)) % value.space.count)
        found.append(AuditPair(name, value, value.replaced(np.setxor1d(value.codes, flips))))
    return found
