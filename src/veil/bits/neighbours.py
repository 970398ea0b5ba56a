"""Made-up neighbours among tables of bits and graphs."""

from __future__ import annotations

from itertools import combinations
from typing import Any

import numpy as np

from veil.bits.bit_flips import BitFlips
from veil.bits.domain import Bits, Table
from veil.core.audit.pair import AuditPair
from veil.graphs.graph import Graph

# Of tables and graphs whose size the mechanism leaves open.
_ROWS, _COLUMNS, _NODES = 2, 5, 8
# A complete graph beyond is too large to draw many times.
_MOST_COMPLETE = 200


def table_pairs(domain: Bits, relation: BitFlips) -> list[AuditPair]:
    """All zeros and all ones; the first bits, the last bits, as many as may differ and one alone."""
    rows, columns = domain.rows or _ROWS, domain.columns or _COLUMNS
    room = columns if relation.where == "row" else rows * columns
    count = min(relation.count, room)
    zeros = np.zeros((rows, columns), dtype=np.bool_)
    ones = np.ones((rows, columns), dtype=np.bool_)
    mixed = (np.add.outer(np.arange(rows), np.arange(columns)) % 3) == 0
    first, last = np.arange(rows * columns)[:count], np.arange(rows * columns)[-count:]
    bits = "bit" if count == 1 else f"{count} bits"
    found = [
        AuditPair(f"all zeros, the first {bits}", zeros, _flipped(zeros, first)),
        AuditPair(f"all ones, the last {bits}", ones, _flipped(ones, last)),
        AuditPair(f"mixed, the last {bits}", mixed, _flipped(mixed, last)),
    ]
    if count > 1:
        found.append(AuditPair("all zeros, the last bit alone", zeros, _flipped(zeros, last[-1:])))
        found.append(AuditPair("mixed, the first bit alone", mixed, _flipped(mixed, first[:1])))
    return found


def _flipped(table: Table, places: Any) -> Table:
    changed = table.copy()
    changed.ravel()[places] ^= True
    return changed


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
    # The edge that is told apart, or the first of several.
    edges = {"a hub": (0, nodes - 1), "a complete graph": (nodes - 2, nodes - 1)}
    found = []
    for name, pairs in graphs.items():
        value = Graph.from_edges(pairs, nodes)
        start = int(value.space.codes(*(np.array([end]) for end in edges.get(name, (0, 1))))[0])
        count = min(relation.count, value.space.count)
        flips = np.sort((start + np.arange(count)) % value.space.count)
        found.append(AuditPair(name, value, value.replaced(np.setxor1d(value.codes, flips))))
    return found
