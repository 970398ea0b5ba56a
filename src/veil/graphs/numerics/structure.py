"""What a released graph shows of its structure: communities and path lengths.

Communities are read off a graph released by randomised response, by the spectrum of its debiased matrix.
The debiased matrix B = (released - q) / (1 - 2 q) off the diagonal is the hidden one plus independent noise
of variance s = q (1 - q) / (1 - 2 q)^2. The eigenvalues of such noise end at 2 sqrt(s n): vectors of larger
ones show structure, all others mostly noise. The nodes are placed by the vectors above that edge. Each is
stretched by what its eigenvalue w stands for without noise, L = (w + sqrt(w^2 - edge^2)) / 2, times the part
1 - s n / L^2 of it that is not noise. Places are scaled to length one, so that degrees do not matter, and
grouped by k-means.

How many vectors, and as many communities? Those with the largest modularity (Newman and Girvan, 2004) of the
debiased matrix: sum over the communities of m_c / m - (D_c / 2 m)^2, edges and degrees debiased. It is the
release itself that is asked again, so at a small epsilon the value is flattering; the choice stands.

If no eigenvalue is above the edge there is one community: nothing can be told from noise.

Path lengths, their mean and the longest, describe the graph at hand, by breadth-first search. A graph
released by randomised response has many false edges, which shorten all paths: its distances say nothing about
the hidden graph, and no debiasing mends that.

Searches end as soon as every node is reached, so dense graphs are quick. All nodes are started from where
that is affordable; otherwise a sample, which gives the mean with an error, and the diameter from below.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import inf, nan, sqrt

import numpy as np
from scipy.linalg import eigh
from scipy.sparse import csr_array
from scipy.sparse.linalg import LinearOperator, eigsh

from veil.core.arrays import Floats
from veil.core.numerics.compiled import compiled
from veil.graphs.numerics.debias import flip_variance
from veil.graphs.numerics.triangles import Integers, Neighbours

_MOST_VECTORS = 48
# Numbers of communities that are tried rise by this factor, and by one at least.
_GROWTH = 1.25
_TRIES, _SEED = 5, 20
# Up to so many nodes the whole spectrum is computed.
_SMALL = 400
_ACCURACY = 1e-5
# Steps that are affordable: a minute or less.
_MOST_STEPS = 10_000_000_000
_LEAST_SOURCES = 64
_SOURCE_SEED = 7


@dataclass(frozen=True)
class Spectrum:
    """Eigenvalues of the debiased matrix, falling, with their vectors as columns; and where noise ends."""

    values: Floats
    vectors: Floats
    edge: float

    @property
    def above(self) -> int:
        """How many are above the noise."""
        return int((self.values > self.edge).sum())

    def places(self, count: int) -> Floats:
        """The nodes placed by so many leading vectors, at length one."""
        values = self.values[:count]
        clean = (values + np.sqrt(np.maximum(values**2 - self.edge**2, 0.0))) / 2.0
        stretched = self.vectors[:, :count] * (clean - np.minimum(self.edge**2 / (4.0 * clean), clean))
        lengths = np.linalg.norm(stretched, axis=1, keepdims=True)
        return np.asarray(stretched / np.maximum(lengths, np.finfo(np.float64).tiny))


def debiased_spectrum(graph: Neighbours, flip: float, *, most: int = _MOST_VECTORS) -> Spectrum:
    """The largest eigenvalues of the debiased matrix of a release."""
    size, keep = graph.size, 1.0 - 2.0 * flip
    matrix = csr_array((np.ones(len(graph.nodes)), graph.nodes, graph.starts), shape=(size, size))
    edge = 2.0 * sqrt(flip_variance(flip) * size)
    if size <= max(_SMALL, 3 * most):
        dense = (matrix.toarray() - flip) / keep
        np.fill_diagonal(dense, 0.0)
        values, vectors = eigh(dense)
        most = min(most, size)
        return Spectrum(values[::-1][:most], vectors[:, ::-1][:, :most], edge)

    def product(vector: Floats) -> Floats:
        flat = vector.ravel()
        return np.asarray((matrix @ flat - flip * (flat.sum() - flat)) / keep)

    operator = LinearOperator((size, size), matvec=product, dtype=np.float64)
    # A start that is no eigenvector, the same every time.
    start = np.random.default_rng(_SEED).standard_normal(size)
    values, vectors = eigsh(operator, k=most, which="LA", v0=start, tol=_ACCURACY)
    order = np.argsort(-values)
    return Spectrum(values[order], vectors[:, order], edge)


def debiased_modularity(graph: Neighbours, labels: Integers, flip: float) -> float:
    """The modularity of a partition of the hidden graph, estimated from its release; 0 without any edges."""
    rows, columns = graph.ends()
    size, keep, many = graph.size, 1.0 - 2.0 * flip, int(labels.max(initial=0)) + 1
    members = np.bincount(labels, minlength=many)
    edges = (len(graph.nodes) // 2 - flip * size * (size - 1) / 2.0) / keep
    if edges <= 0.0:
        return 0.0
    same = np.bincount(labels[rows][labels[rows] == labels[columns]], minlength=many)
    inside = (same - flip * members * (members - 1) / 2.0) / keep
    degrees = np.bincount(labels, weights=graph.degrees, minlength=many)
    ends = (degrees - flip * members * (size - 1)) / keep
    return float((inside / edges - (ends / (2.0 * edges)) ** 2).sum())


def spectral_communities(
    graph: Neighbours, flip: float, *, communities: int | None = None, most: int = _MOST_VECTORS
) -> Integers:
    """A community for every node of the hidden graph, numbered from 0.

    communities: how many; as many leading vectors are used, above the noise or not. None chooses.
    """
    if graph.size == 0:
        return np.zeros(0, dtype=np.int64)
    wanted = most if communities is None else min(communities, graph.size)
    spectrum = debiased_spectrum(graph, flip, most=min(wanted, graph.size))
    if communities is not None:
        return _grouped(spectrum.places(wanted), wanted)
    best, highest = np.zeros(graph.size, dtype=np.int64), -np.inf
    count = 2
    while count <= spectrum.above:
        labels = _grouped(spectrum.places(count), count)
        modularity = debiased_modularity(graph, labels, flip)
        if modularity > highest:
            best, highest = labels, modularity
        count = max(count + 1, int(count * _GROWTH))
    return best


def _grouped(places: Floats, count: int) -> Integers:
    """K-means from several fixed starts; the tightest grouping of those without an empty group."""
    from scipy.cluster.vq import ClusterError, kmeans2

    best, least = np.zeros(len(places), dtype=np.int64), np.inf
    if count < 2:
        return best
    for attempt in range(_TRIES):
        try:
            centres, labels = kmeans2(places, count, minit="++", missing="raise", seed=_SEED + attempt)
        except ClusterError:
            continue
        spread = float(((places - centres[labels]) ** 2).sum())
        if spread < least:
            best, least = labels.astype(np.int64), spread
    return best


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
        sources = max(_LEAST_SOURCES, _MOST_STEPS // max(len(graph.nodes) + size, 1))
    chosen = np.arange(size, dtype=np.int64)
    if sources < size:
        chosen = np.sort(np.random.default_rng(_SOURCE_SEED).choice(chosen, sources, replace=False))
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
