"""Communities read off a graph released by randomised response, by the spectrum of its debiased matrix.

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
"""

from __future__ import annotations

from dataclasses import dataclass
from math import sqrt

import numpy as np
from scipy.cluster.vq import ClusterError, kmeans2
from scipy.linalg import eigh
from scipy.sparse import csr_array
from scipy.sparse.linalg import LinearOperator, eigsh

from veil.core.arrays import Floats
from veil.graphs.numerics.debias import flip_variance
from veil.graphs.numerics.triangles import Integers, Neighbours

_MOST_VECTORS = 48
# Numbers of communities that are tried rise by this factor, and by one at least.
_GROWTH = 1.25
_TRIES, _SEED = 5, 20
# Up to so many nodes the whole spectrum is computed.
_SMALL = 400
_ACCURACY = 1e-5


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
    edges = (graph.edges - flip * size * (size - 1) / 2.0) / keep
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
