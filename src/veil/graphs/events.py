"""Graphs as an audit sees them: a row of numbers for each draw."""

from __future__ import annotations

from typing import Any

import numpy as np

from veil.core.arrays import Floats
from veil.graphs.graph import Graph
from veil.graphs.mechanisms.private_graph import GraphDraw
from veil.graphs.numerics.pairs import Codes

# Pairs that are looked at besides those that differ, and numbers of a table of facts.
_OTHERS, _MOST_FACTS = 16, 256


def watched(first: Graph, second: Graph) -> tuple[Codes, Codes]:
    """The pairs that differ, and those whose bits are looked at: these, and a few others."""
    changed = np.setxor1d(first.codes, second.codes)
    few = min(_OTHERS, first.space.count)
    ends = np.arange(few), np.arange(first.space.count - few, first.space.count)
    return changed, np.unique(np.concatenate([changed, *ends]))


def graph_numbers(drawn: Any, first: Graph, second: Graph) -> Floats:
    """Each released graph as the bits of some pairs, how many of those that differ are as in the first,
    and its facts."""
    changed, pairs = watched(first, second)
    as_first = np.isin(changed, first.codes)
    return np.array([_numbers(one, changed, as_first, pairs) for one in drawn], dtype=np.float64)


def _numbers(drawn: Any, changed: Codes, as_first: Any, pairs: Codes) -> Floats:
    graph = drawn.graph if isinstance(drawn, GraphDraw) else drawn
    parts: list[Any] = []
    if graph is not None:
        agree = (np.isin(changed, graph.codes) == as_first).sum()
        parts += [np.isin(pairs, graph.codes), [agree, len(graph)]]
    for key, table in (drawn.tables if isinstance(drawn, GraphDraw) else {}).items():
        if key != "nodes":
            numbers = np.asarray(table, dtype=np.float64)
            parts += [[numbers.sum()], numbers[:_MOST_FACTS]]
            # How many nodes have at least so many edges: what one edge moves is side by side.
            parts.append(np.cumsum(numbers[:_MOST_FACTS]) if len(numbers) > 2 else [])
    return np.concatenate([np.asarray(part, dtype=np.float64) for part in parts])
