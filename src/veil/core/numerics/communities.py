"""Communities of a weighted graph: groups of nodes with more weight inside than their strengths would give.

The Louvain method (Blondel and others 2008): nodes move, one after the other, to the neighbouring community
that raises modularity most; then communities become nodes, and it begins again. Nodes are visited in their
order, so that the same weights always give the same communities.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from veil.core.arrays import Floats

Places = NDArray[np.int64]

_MOST_SWEEPS = 30
# A gain in modularity below this share of a node's strength is rounding.
_LEAST_GAIN = 1e-9


def communities(weights: Any) -> Places:
    """The community of each node, numbered from 0 by their total weight, the heaviest first.

    weights: a square matrix, dense or sparse, none of them negative. What goes from i to j and from j to i
    counts together; what stays at a node joins it to nobody.
    """
    from scipy.sparse import coo_array, csr_array

    between = csr_array(weights, dtype=np.float64)
    between = csr_array(between + between.T)
    between.setdiag(0.0)
    between.eliminate_zeros()
    strengths = np.asarray(between.sum(axis=1)).ravel()
    nodes = len(strengths)
    found: Places = np.arange(nodes)
    while True:
        merged = _moved(between)
        count = int(merged.max(initial=-1)) + 1
        found = merged[found]
        if count == between.shape[0]:
            break
        into = coo_array((np.ones(len(merged)), (np.arange(len(merged)), merged)), shape=(len(merged), count))
        into = csr_array(into)
        between = csr_array(into.T @ between @ into)
    total = np.bincount(found, weights=strengths, minlength=1)
    sizes = np.bincount(found, minlength=1)
    order = np.lexsort((np.arange(len(total)), -sizes, -total))
    rank = np.empty_like(order)
    rank[order] = np.arange(len(order))
    return np.asarray(rank[found], dtype=np.int64)


def _moved(between: Any) -> Places:
    """The community of each node after it was moved until nothing is gained, numbered from 0."""
    nodes = between.shape[0]
    starts, columns, data = between.indptr, between.indices, between.data
    strengths: Floats = np.asarray(between.sum(axis=1)).ravel()
    total = max(float(strengths.sum()), 1e-300)
    label: Places = np.arange(nodes)
    inside = strengths.copy()
    for _ in range(_MOST_SWEEPS):
        moves = 0
        for node in range(nodes):
            near = columns[starts[node] : starts[node + 1]]
            others = near != node
            if not others.any():
                continue
            own, strength = label[node], strengths[node]
            inside[own] -= strength
            around, back = np.unique(label[near[others]], return_inverse=True)
            links = np.bincount(back, weights=data[starts[node] : starts[node + 1]][others])
            gains = links - strength * inside[around] / total
            at_home = np.flatnonzero(around == own)
            stay = float(gains[at_home[0]]) if len(at_home) else -strength * float(inside[own]) / total
            best = int(np.argmax(gains))
            if gains[best] > stay + _LEAST_GAIN * strength:
                own, moves = around[best], moves + 1
            label[node] = own
            inside[own] += strength
        if moves == 0:
            break
    return np.asarray(np.unique(label, return_inverse=True)[1], dtype=np.int64)
