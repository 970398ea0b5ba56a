"""Path lengths of a graph as it is: mean and diameter, by breadth-first search.

These describe the graph at hand. A graph released by randomised response has many false edges, which shorten
all paths: its distances say nothing about the hidden graph, and no debiasing mends that.

Searches end as soon as every node is reached, so dense graphs are quick. All nodes are started from where
that is affordable; otherwise a sample, which gives the mean with an error, and the diameter from below.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import inf, nan

import numpy as np

from veil.core.numerics.compiled import compiled
from veil.graphs.numerics.triangles import Integers, Neighbours

# Steps that are affordable: a minute or less.
_MOST_STEPS = 10_000_000_000
_LEAST_SOURCES = 64
_SEED = 7


@dataclass(frozen=True)
class PathLengths:
    """The mean length of the shortest paths between joined pairs, and the longest.

    error: the standard error of the mean, 0 if all nodes were started from. connected: the share of the pairs
    that any path joins. exact: whether the diameter is; if not, it is at least this. Both are taken over the
    pairs that are joined by a path; with none, mean is nan and diameter 0.
    """

    mean: float
    error: float
    diameter: int
    connected: float
    exact: bool

    @property
    def strict_diameter(self) -> float:
        """Infinite if some pair is not joined, as mathematicians have it."""
        return float(self.diameter) if self.connected == 1.0 else inf


def path_lengths(graph: Neighbours, *, sources: int | None = None) -> PathLengths:
    """Mean path length and diameter, from so many nodes (all, or as many as are affordable).

    >>> import numpy as np
    >>> from veil.graphs.numerics.triangles import neighbours
    >>> path = path_lengths(neighbours(4, np.array([0, 1, 2]), np.array([1, 2, 3])))
    >>> path.diameter, round(path.mean, 4)
    (3, 1.6667)
    """
    size = graph.size
    if sources is None:
        affordable = _MOST_STEPS // max(len(graph.nodes) + size, 1)
        sources = max(_LEAST_SOURCES, affordable)
    if sources >= size:
        chosen = np.arange(size, dtype=np.int64)
    else:
        chosen = np.sort(np.random.default_rng(_SEED).choice(size, sources, replace=False)).astype(np.int64)
    sums, reached, longest = _searches(graph.starts, graph.nodes, chosen)
    every = len(chosen) * (size - 1)
    total, joined = int(sums.sum()), int(reached.sum())
    mean = total / joined if joined else nan
    error = 0.0
    if len(chosen) < size and joined:
        # The error of a ratio of sums over a sample drawn without putting back.
        residuals = sums - mean * reached
        spread = float((residuals**2).sum()) / (len(chosen) - 1) * (1.0 - len(chosen) / size)
        error = float(np.sqrt(spread / len(chosen)) / (joined / len(chosen)))
    return PathLengths(mean, error, int(longest), joined / every if every else 1.0, len(chosen) == size)


@compiled
def _searches(starts: Integers, nodes: Integers, sources: Integers) -> tuple[Integers, Integers, int]:
    """For each source the sum of the distances to what it reaches and their number; the longest of all."""
    count = len(starts) - 1
    met = np.full(count, -1, np.int64)
    queue = np.empty(count, np.int64)
    distance = np.zeros(count, np.int64)
    sums = np.zeros(len(sources), np.int64)
    reached = np.zeros(len(sources), np.int64)
    longest = 0
    for at in range(len(sources)):
        source = sources[at]
        met[source] = at
        distance[source] = 0
        queue[0] = source
        first, last = 0, 1
        while first < last and last < count:
            node = queue[first]
            first += 1
            for place in range(starts[node], starts[node + 1]):
                other = nodes[place]
                if met[other] != at:
                    met[other] = at
                    distance[other] = distance[node] + 1
                    queue[last] = other
                    last += 1
                    sums[at] += distance[other]
        reached[at] = last - 1
        longest = max(longest, distance[queue[last - 1]])
    return sums, reached, longest
