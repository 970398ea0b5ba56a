"""What the balanced weights of words are made of: functions of a few counts around three nodes in a row."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from veil.core.arrays import Floats, Ints, Places
from veil.words.numerics.graph import WordGraph, begins, edges_after

# Counts between knots are interpolated.
_KNOTS = np.array([0, 1, 2, 3, 4, 5, 6, 8, 12, 16, 24, 32, 64, 128, 256, 1024, 2**20], dtype=np.float64)
# The functions: of how many nodes fit in between, at the beginning, with a short cut, or else; of how many
# follow a node, the last nodes, and the first.
_BEGIN, _SHORT_CUT, _BETWEEN, _FOLLOW, _LAST_BUT_ONE, _LAST, _FIRST = range(7)


def lifted(graph: WordGraph) -> WordGraph:
    """The same words, read along pairs of neighbouring nodes: the edges, and after them the first nodes."""
    begin = np.flatnonzero(graph.first)
    here = np.concatenate((graph.targets, begin))
    degrees, targets = edges_after(graph.starts, here)
    first = np.zeros(len(here), dtype=np.bool_)
    first[graph.edges :] = True
    symbol, starts, last = graph.symbol[here], begins(degrees), graph.last[here]
    return WordGraph(graph.length, graph.alphabet, symbol, starts, targets.astype(np.int32), first, last)


class Features(NamedTuple):
    """log weight = matrix @ coefficients: a row for every edge of the lifted graph, then one for every node.

    As sparse rows: edge e has the features feature[begin[e] : begin[e + 1]] with these values.
    width: how many features there are.
    """

    begin: Places
    feature: Ints
    value: Floats
    width: int

    def log_weights(self, coefficients: Floats) -> Floats:
        """The logarithms of the weights of all edges, then of all nodes as first nodes."""
        rows = np.repeat(np.arange(len(self.begin) - 1), np.diff(self.begin))
        answer = np.zeros(len(self.begin) - 1)
        np.add.at(answer, rows, coefficients[self.feature] * self.value)
        return answer


def features_of(graph: WordGraph, pairs: WordGraph) -> Features:
    """The features of the weights of `pairs`, the lifted graph: how many nodes fit at a place, and degrees.

    For the nodes a, b, c in a row: how many nodes fit between a and c, with one function if c may follow a at
    once, another if not, and a third at the beginning; and how many nodes follow b. The end of a word has a
    neighbour less, so two functions of the last nodes are added, as differences that cancel elsewhere.
    """
    from scipy.sparse import coo_array, csr_array

    size, edges = graph.size, graph.edges
    begin = np.flatnonzero(graph.first)
    degrees = np.diff(graph.starts)
    endings = np.append(np.bincount(graph.sources, weights=graph.last[graph.targets], minlength=size), 0.0)
    # How many ways lead from a node over another one to a symbol; the last row is for the beginning.
    leaves = np.concatenate((graph.sources, np.full(len(begin), size)))
    here = np.concatenate((graph.targets, begin))
    steps = csr_array((np.ones(len(here)), (leaves, here)), shape=(size + 1, size))
    read = graph.symbol[graph.targets]
    reads = csr_array((np.ones(edges), (graph.sources, read)), shape=(size, graph.alphabet))
    between = csr_array(steps @ reads).toarray()
    a, b, c = leaves[pairs.sources], here[pairs.sources], here[pairs.targets]
    opens = a == size
    fits = between[a, graph.symbol[c]] - 1.0
    kind = np.where(opens, _BEGIN, np.where(graph.step[a, graph.symbol[c]] >= 0, _SHORT_CUT, _BETWEEN))
    place = np.arange(pairs.edges)
    nodes = pairs.edges + np.flatnonzero(pairs.first)
    terms = [
        _hats(place, kind, fits, 1.0),
        _hats(place, _FOLLOW, degrees[b], 1.0),
        _hats(place, _LAST_BUT_ONE, endings[b], 1.0),
        _hats(place[~opens], _LAST_BUT_ONE, endings[a[~opens]], -1.0),
        _hats(place, _LAST, degrees[c], 1.0),
        _hats(place, _LAST, degrees[b], -1.0),
        _hats(nodes, _LAST, degrees[begin], 1.0),
        _hats(nodes, _FIRST, degrees[begin], 1.0),
    ]
    rows, columns, values = (np.concatenate(parts) for parts in zip(*terms, strict=True))
    shape = (pairs.edges + pairs.size, 7 * len(_KNOTS))
    matrix = csr_array(coo_array((values, (rows, columns)), shape=shape))
    matrix.eliminate_zeros()
    used, feature = np.unique(matrix.indices, return_inverse=True)
    return Features(matrix.indptr.astype(np.int64), feature.astype(np.int32), matrix.data, len(used))


def _hats(rows: Places, group: Places | int, counts: Floats, sign: float) -> tuple[Places, Places, Floats]:
    """Entries of a matrix that interpolate a function of the counts between the knots, a function a group."""
    above = np.clip(np.searchsorted(_KNOTS, counts, side="right"), 1, len(_KNOTS) - 1)
    share = np.clip((counts - _KNOTS[above - 1]) / (_KNOTS[above] - _KNOTS[above - 1]), 0.0, 1.0)
    column = np.broadcast_to(group, above.shape) * len(_KNOTS) + above
    return (
        np.concatenate((rows, rows)),
        np.concatenate((column - 1, column)),
        sign * np.concatenate((1.0 - share, share)),
    )
