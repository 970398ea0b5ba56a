"""Lists of neighbours, and what is counted by them: triangles, wedges, shared neighbours.

A wedge is a path of two edges; nodes of degree d are the middle of d (d - 1) / 2 of them. The shared
neighbours a_ij of two nodes are the wedges between them. Summed over the edges they count every triangle
three times; their squares, summed over all pairs, are what the spread of a noisy triangle count rests on.

Two ways to find them. Sparse graphs: for each node, walk to the neighbours of its neighbours and tally; the
steps are the sum of the squared degrees, whatever the number of nodes is. Dense ones, such as a graph
released at a small epsilon: a row of bits a node, and the bits that two rows share.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import coo_array

from veil.core.errors import InvalidData
from veil.core.numerics.compiled import compiled

Integers = NDArray[np.int64]
Words = NDArray[np.uint64]

_WORD = 64
# Rows of bits: from so dense on they are quicker (a step by lists takes about as long as one of 8 words),
# and up to so many words of memory.
_DENSE_STEPS = 8
_MOST_WORDS = 2**28


class Neighbours(NamedTuple):
    """The neighbours of node i are nodes[starts[i] : starts[i + 1]], rising; every edge is there twice."""

    starts: Integers
    nodes: Integers

    @property
    def size(self) -> int:
        """How many nodes there are."""
        return len(self.starts) - 1

    def ends(self) -> tuple[Integers, Integers]:
        """Each edge once, as its lower and its higher node."""
        rows = np.repeat(np.arange(self.size, dtype=np.int64), self.degrees)
        upper = self.nodes > rows
        return rows[upper], self.nodes[upper]

    @property
    def degrees(self) -> Integers:
        return np.diff(self.starts)


def neighbours(count: int, rows: Integers, columns: Integers) -> Neighbours:
    """The lists of a graph with nodes 0 ... count - 1; each edge is given once, its ends in either order."""
    ends = np.concatenate([rows, columns]).astype(np.int64), np.concatenate([columns, rows]).astype(np.int64)
    if len(rows) and (min(ends[0].min(), 0) < 0 or ends[0].max() >= count):
        raise InvalidData("edges", expected=f"nodes from 0 to {count - 1}", found="a node outside")
    if bool((np.asarray(rows) == np.asarray(columns)).any()):
        raise InvalidData("edges", expected="edges between two nodes", found="a loop")
    matrix = coo_array((np.ones(len(ends[0]), dtype=np.bool_), ends), shape=(count, count)).tocsr()
    if matrix.nnz != len(ends[0]):
        raise InvalidData("edges", expected="every edge once", found="an edge that is there twice")
    matrix.sort_indices()
    return Neighbours(matrix.indptr.astype(np.int64), matrix.indices.astype(np.int64))


class Shape(NamedTuple):
    """Counts of a graph, and sums over all pairs i < j of shared neighbours a_ij.

    shared_squares: of a_ij^2. shared_degrees: of a_ij (d_i + d_j). degree_squares: over the nodes, of d_i^2.
    """

    nodes: int
    edges: int
    wedges: int
    triangles: int
    degree_squares: int
    shared_squares: int
    shared_degrees: int

    @property
    def transitivity(self) -> float:
        """The share of the wedges that are closed, 0 without any."""
        return 3.0 * self.triangles / self.wedges if self.wedges else 0.0


def shape(graph: Neighbours) -> Shape:
    """Everything that is counted here, in one pass.

    >>> import numpy as np
    >>> square = neighbours(4, np.array([0, 1, 2, 3, 0]), np.array([1, 2, 3, 0, 2]))
    >>> shape(square)[1:4]
    (5, 8, 2)
    """
    degrees = graph.degrees
    closed, squares = _shared_sums(graph)
    rows, columns = graph.ends()
    along = int((degrees[rows] * degrees[columns]).sum())
    degree_squares = int((degrees * degrees).sum())
    return Shape(
        nodes=graph.size,
        edges=len(graph.nodes) // 2,
        wedges=int((degrees * (degrees - 1) // 2).sum()),
        triangles=closed // 3,
        degree_squares=degree_squares,
        shared_squares=squares,
        # From i, two steps lead to d_k - 1 other ends by way of its neighbour k.
        shared_degrees=2 * along - degree_squares,
    )


def by_degree(graph: Neighbours) -> Neighbours:
    """The same graph with its nodes renumbered, the largest degree first."""
    rank = np.empty(graph.size, dtype=np.int64)
    rank[np.argsort(-graph.degrees, kind="stable")] = np.arange(graph.size)
    rows, columns = graph.ends()
    return neighbours(graph.size, rank[rows], rank[columns])


def count_triangles(graph: Neighbours) -> int:
    """Triangles. On sparse graphs with hubs this is quicker than all of `shape`."""
    if _bits_are_quicker(graph):
        return _shared_sums(graph)[0] // 3
    ranked = by_degree(graph)
    return int(_once_each(ranked.starts, ranked.nodes))


def _shared_sums(graph: Neighbours) -> tuple[int, int]:
    """The sum of shared neighbours over the edges, and of their squares over all pairs."""
    if _bits_are_quicker(graph):
        closed, squares = _by_bits(_bit_rows(graph.starts, graph.nodes, -(-graph.size // _WORD)))
    else:
        closed, squares = _by_lists(graph.starts, graph.nodes)
    return int(closed), int(squares)


def _bits_are_quicker(graph: Neighbours) -> bool:
    words = -(-graph.size // _WORD)
    by_lists = int((graph.degrees * graph.degrees).sum())
    by_bits = graph.size * graph.size // 2 * words
    return graph.size * words <= _MOST_WORDS and by_bits < _DENSE_STEPS * by_lists


@compiled
def _once_each(starts: Integers, nodes: Integers) -> int:
    """Triangles, each at the last of its nodes: with falling degrees the lists that are walked are short."""
    count = len(starts) - 1
    joined = np.full(count, -1, np.int64)
    closed = 0
    for i in range(count):
        for at in range(starts[i], starts[i + 1]):
            if nodes[at] >= i:
                break
            joined[nodes[at]] = i
        for at in range(starts[i], starts[i + 1]):
            middle = nodes[at]
            if middle >= i:
                break
            for other in range(starts[middle], starts[middle + 1]):
                if nodes[other] >= middle:
                    break
                if joined[nodes[other]] == i:
                    closed += 1
    return closed


@compiled
def tally_shared(starts: Integers, nodes: Integers, i: int, tally: Integers, met: Integers) -> int:
    """How many neighbours node i shares with each node before it; `met` lists those that it shares any with.

    Returns how many these are. The tally is 0 everywhere before.
    """
    many = 0
    for at in range(starts[i], starts[i + 1]):
        middle = nodes[at]
        for other in range(starts[middle], starts[middle + 1]):
            j = nodes[other]
            # The lists rise.
            if j >= i:
                break
            if tally[j] == 0:
                met[many] = j
                many += 1
            tally[j] += 1
    return many


@compiled
def _by_lists(starts: Integers, nodes: Integers) -> tuple[int, int]:
    count = len(starts) - 1
    tally, met = np.zeros(count, np.int64), np.empty(count, np.int64)
    closed, squares = 0, 0
    for i in range(count):
        many = tally_shared(starts, nodes, i, tally, met)
        for at in range(starts[i], starts[i + 1]):
            # Only those before i have a tally.
            closed += tally[nodes[at]]
        for at in range(many):
            squares += tally[met[at]] * tally[met[at]]
            tally[met[at]] = 0
    return closed, squares


@compiled
def _bit_rows(starts: Integers, nodes: Integers, words: int) -> Words:
    bits = np.zeros((len(starts) - 1, words), np.uint64)
    for i in range(len(starts) - 1):
        for at in range(starts[i], starts[i + 1]):
            j = nodes[at]
            bits[i, j >> 6] |= np.uint64(1) << np.uint64(j & 63)
    return bits


@compiled
def _by_bits(bits: Words) -> tuple[int, int]:
    count, words = bits.shape
    closed, squares = 0, 0
    for i in range(count):
        for j in range(i + 1, count):
            shared = 0
            for at in range(words):
                # The number of ones in a word: sums of 2, 4, 8 bits side by side, then of the bytes.
                x = bits[i, at] & bits[j, at]
                x = x - ((x >> np.uint64(1)) & np.uint64(0x5555555555555555))
                quarters = (x >> np.uint64(2)) & np.uint64(0x3333333333333333)
                x = (x & np.uint64(0x3333333333333333)) + quarters
                x = (x + (x >> np.uint64(4))) & np.uint64(0x0F0F0F0F0F0F0F0F)
                shared += int((x * np.uint64(0x0101010101010101)) >> np.uint64(56))
            squares += shared * shared
            if (bits[i, j >> 6] >> np.uint64(j & 63)) & np.uint64(1):
                closed += shared
    return closed, squares
