"""What a certificate would cost, before it is computed."""

from __future__ import annotations

import numpy as np

from veil.core.arrays import Floats
from veil.words.numerics.contexts import Side
from veil.words.numerics.graph import WordGraph


def comparisons(graph: WordGraph, length: int, pasts: list[Floats], futures: list[Floats]) -> float:
    """About how many operations it takes to compare all pasts with all futures at one position."""
    from scipy.sparse import csr_array

    shape = (graph.size, graph.size)
    steps = csr_array((np.ones(graph.edges), (graph.sources, graph.targets)), shape=shape)
    ways = np.ones(graph.size)
    for _ in range(length - 1):
        ways = steps @ ways
    each = 20.0 * length * ways.sum() / graph.size
    if not pasts:
        return float(ways.sum() * graph.size + ways.sum() ** 2 * each)
    between = steps
    for _ in range(length):
        between = between @ steps
    exchanges = pasts[-1] @ (between * between) @ futures[-1]
    return float(pasts[-1] @ between @ futures[-1] * graph.size + exchanges * each)


def context_counts(side: Side, memory: int) -> list[Floats]:
    """How many contexts of memory + 1 nodes end in every node, for each memory up to the given one."""
    sources = np.repeat(np.arange(len(side.initial)), np.diff(side.starts))
    counts = [np.ones(len(side.initial))]
    for _ in range(memory):
        found = np.bincount(side.targets, weights=counts[-1][sources], minlength=len(side.initial))
        counts.append(found.astype(np.float64))
    return counts
