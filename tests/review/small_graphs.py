"""All graphs of a few nodes as sets of pairs, and facts about them by looking at every edge.

A graph is a whole number: bit k says whether the k-th pair of nodes is joined.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from functools import cache, cached_property
from itertools import combinations, permutations, product

import numpy as np
from numpy.typing import NDArray

from veil.graphs import Graph
from veil.graphs.numerics.pairs import PairSpace


@dataclass(frozen=True)
class SmallGraphs:
    """All graphs of one kind. columns: the nodes of the other side of a bipartite graph."""

    nodes: int
    kind: str = "undirected"
    loops: bool = False
    columns: int = 0

    @cached_property
    def pairs(self) -> list[tuple[int, int]]:
        nodes = range(self.nodes)
        if self.kind == "bipartite":
            return list(product(nodes, range(self.columns)))
        some = list(combinations(nodes, 2)) if self.kind == "undirected" else list(permutations(nodes, 2))
        return sorted(some + ([(i, i) for i in nodes] if self.loops else []))

    @property
    def space(self) -> PairSpace:
        if self.kind == "bipartite":
            return PairSpace.between(self.nodes, self.columns)
        return PairSpace.among(self.nodes, directed=self.kind == "directed", loops=self.loops)

    def __len__(self) -> int:
        return 1 << len(self.pairs)

    def edges(self, graph: int) -> list[tuple[int, int]]:
        return [pair for k, pair in enumerate(self.pairs) if graph >> k & 1]

    def of(self, graph: int) -> Graph:
        """The same graph for Veil, its pairs numbered by Veil itself."""
        ends = np.array(self.edges(graph), dtype=np.int64).reshape(-1, 2)
        return Graph(self.space, np.sort(self.space.codes(ends[:, 0], ends[:, 1])))

    def number(self, graph: Graph) -> int:
        """And back."""
        rows, columns = graph.space.ends(graph.codes)
        joined = set(zip(rows.tolist(), columns.tolist(), strict=True))
        return sum(1 << k for k, pair in enumerate(self.pairs) if pair in joined)

    def changes(self, most: int) -> Iterator[tuple[int, int]]:
        """Every set of up to so many pairs, with its size."""
        for count in range(1, min(most, len(self.pairs)) + 1):
            for some in combinations(range(len(self.pairs)), count):
                yield sum(1 << k for k in some), count

    def neighbours(self, most: int) -> Iterator[tuple[int, int, int]]:
        """Every two graphs that differ in up to so many pairs, once, and in how many they do."""
        for change, count in self.changes(most):
            for graph in range(len(self)):
                if graph < graph ^ change:
                    yield graph, graph ^ change, count

    # Facts: loops count for nothing but the number of edges.

    @cache  # noqa: B019
    def near(self, graph: int) -> tuple[frozenset[int], ...]:
        """The neighbours of each node."""
        found: list[set[int]] = [set() for _ in range(self.nodes)]
        for i, j in self.edges(graph):
            if i != j:
                found[i].add(j)
                found[j].add(i)
        return tuple(map(frozenset, found))

    def degree_profile(self, graph: int, cut: int) -> list[int]:
        """How many nodes have a degree of 1, 2 ... cut or more; what is beyond the cut, in falling order."""
        degrees = sorted((len(near) for near in self.near(graph)), reverse=True)
        columns = [sum(degree >= k for degree in degrees) for k in range(1, cut + 1)]
        return columns + [max(degree - cut, 0) for degree in degrees]

    def triangles(self, graph: int) -> int:
        near = self.near(graph)
        return sum(
            j in near[i] and k in near[i] and k in near[j] for i, j, k in combinations(range(self.nodes), 3)
        )

    @cached_property
    def sensitivities(self) -> NDArray[np.int64]:
        """By how much one edge can change the triangles of a graph that t edges lead to, [t, graph]."""
        counts = [self.triangles(graph) for graph in range(len(self))]
        around = np.arange(len(self))[:, None] ^ (1 << np.arange(len(self.pairs)))[None, :]
        first = np.abs(np.array(counts)[around] - np.array(counts)[:, None])
        rows = [first.max(axis=1)]
        while len(rows) <= len(self.pairs):
            rows.append(np.maximum(rows[-1], rows[-1][around].max(axis=1)))
        return np.array(rows, dtype=np.int64)


@dataclass(frozen=True)
class Rungs:
    """Noise on a ladder: rung 0 reaches `first` to each side, rung k is widths[k - 1] wide, all further ones
    as wide as the last."""

    first: int
    widths: tuple[int, ...]
    decay: Fraction

    @property
    def total(self) -> Fraction:
        """The sum of all weights: an output in rung k weighs decay^k."""
        steps = sum((2 * width * self.decay ** (k + 1) for k, width in enumerate(self.widths)), Fraction(0))
        beyond = 2 * self.widths[-1] * self.decay ** (len(self.widths) + 1) / (1 - self.decay)
        return 2 * self.first + 1 + steps + beyond

    def rung(self, offset: int) -> int:
        left, k = abs(offset) - self.first, 0
        while left > 0:
            left -= self.widths[min(k, len(self.widths) - 1)]
            k += 1
        return k

    def loss_factor(self, other: Rungs, moved: int) -> Fraction:
        """The largest ratio of the probabilities of any output; the count of the other lies `moved` higher.

        Where both ladders have come to their last widths, which are equal, rungs repeat.
        """
        assert self.decay == other.decay
        assert self.widths[-1] == other.widths[-1]
        period = self.widths[-1]
        settled = self.first + other.first + sum(self.widths) + sum(other.widths) + abs(moved)
        far = settled + 3 * period
        gaps = {other.rung(y - moved) - self.rung(y) for y in range(-far, far + 1)}
        # decay^(rung of y here) / total here, over the same there.
        up = max(self.decay**-gap for gap in gaps) * other.total / self.total
        down = max(self.decay**gap for gap in gaps) * self.total / other.total
        return max(up, down)


def rungs_of(sensitivities: NDArray[np.int64], floor: int, share: Fraction, decay: Fraction) -> Rungs:
    """The ladder of a graph by its definition: w_t = max(floor, S_t), c = 1 and h = floor(share w_0)."""
    widths = [max(floor, int(one)) for one in sensitivities]
    slack = int(share > 0)
    return Rungs(int(share * widths[0]), tuple(width + slack for width in widths), decay)
