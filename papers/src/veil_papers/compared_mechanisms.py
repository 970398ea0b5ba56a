"""The mechanisms that the XOR paper compares itself with (Section 8.2), at the epsilon that they truly cost.

Neighbours differ in one edge. All noise is whole-number noise, P(z) ~ exp(-|z| / scale), drawn exactly. What
follows the noisy numbers is post-processing.

LDPGen (Qin and others, CCS 2017). Everybody reports how many neighbours they have in each group of people, of
a random division first, then of one by k-means on the noisy reports; a graph is drawn with expected degrees
(Chung and Lu) for every pair of groups. An edge is in two reports and adds one to an entry of each: a round
has L1 sensitivity 2, with half of epsilon a scale of 4 / epsilon. The paper's own guarantee is for one
report: what it states as epsilon costs an edge 2 epsilon. The number of groups, for which it has a rule, is
given here.

PBCN (Huang and others, 2020), as far as the XOR paper describes it: noisy degrees, and a graph that has them
by Havel's theorem. Node by node an edge adds 1 to two degrees: scale 2 / epsilon. Its clusters and its noise
nodes are not described, and are left out.

Pygmalion (Sala and others, IMC 2011). The joint degrees: how many edges join nodes of degrees i and j. An
edge between nodes of degrees d and e moves the d + e edges that they had to other cells, and adds one: at
most 4 D + 1 changes, D the largest degree. Cell (i, j) needs no more than a scale of (4 max(i, j) + 1) /
epsilon. Proof: each of the d edges of the first node leaves a cell with a maximum of at least d for one of at
least d + 1, so they cost at most 2 d / (4 d + 1) epsilon. The other node costs at most 2 e / (4 e + 1), the
new edge 1 / (4 M + 5), M = max(d, e). Together at most (4 M + 1) / (4 M + 1). Every cell must be noisy, those
that are empty too: which are, is told by the graph. The largest degree is taken to be public, in its favour.

ApproxDeg (Ji and others, 2019) is described by half a sentence: noise by global sensitivity, then
post-processing. It cannot be made again from that; `degree_counts` is the plainest mechanism of its kind. An
edge moves two nodes to the next degree, each of which changes two counts by one: scale 4 / epsilon.

DPCD (the same) is left out. It perturbs the objective of a search for communities, with the guarantee that
Chaudhuri and Monteleoni prove for objectives that are convex and have bounded gradients. The likelihood of
affiliations is neither as a whole; solved person by person, every round costs again, and how many there are
is not said. There is no epsilon at which it could be compared.
"""

from __future__ import annotations

from fractions import Fraction

import numpy as np
from scipy.cluster.vq import ClusterError, kmeans2

from veil.core.arrays import Floats
from veil.core.errors import InvalidArgument
from veil.core.random.discrete import sample_discrete_laplace
from veil.core.random.streams import Rng
from veil.graphs.graph import Graph
from veil.graphs.numerics.degrees import degree_distribution
from veil.graphs.numerics.triangles import Integers
from veil.graphs.planning import checked_epsilon

# Rounds of reports, and the groups of LDPGen.
_ROUNDS = 2
GROUPS = 10


def degrees_of(graph: Graph) -> Integers:
    """The number of neighbours of every node."""
    return np.bincount(np.concatenate(graph.edges()), minlength=graph.space.nodes).astype(np.int64)


def _scale(sensitivity: int, epsilon: float) -> Fraction:
    if not checked_epsilon(epsilon) > 0.0:
        raise InvalidArgument("epsilon", expected="more than 0", found=repr(epsilon))
    return Fraction(sensitivity) / Fraction(epsilon)


# LDPGen


def reports(graph: Graph, labels: Integers, groups: int) -> Integers:
    """How many neighbours every node has in every group."""
    first, second = graph.edges()
    found = np.zeros((graph.space.nodes, groups), dtype=np.int64)
    np.add.at(found, (first, labels[second]), 1)
    np.add.at(found, (second, labels[first]), 1)
    return found


def ldpgen(graph: Graph, epsilon: float, rng: Rng, *, groups: int = GROUPS) -> Graph:
    """A graph by LDPGen, whose edges each cost epsilon in all."""
    labels = rng.permutation(graph.space.nodes) % groups
    labels = _grouped(_noisy_reports(graph, labels, groups, epsilon, rng), groups, rng)
    degrees = _noisy_reports(graph, labels, groups, epsilon, rng)
    return graph.replaced(_with_expected_degrees(degrees, labels, graph, rng))


def _noisy_reports(graph: Graph, labels: Integers, groups: int, epsilon: float, rng: Rng) -> Floats:
    """The reports of one of two rounds; those below 0 are taken as 0."""
    true = reports(graph, labels, groups)
    noise = sample_discrete_laplace(rng, scale=_scale(2 * _ROUNDS, epsilon), size=true.size)
    return np.asarray(np.maximum(true + noise.reshape(true.shape), 0), dtype=np.float64)


def _grouped(places: Floats, groups: int, rng: Rng) -> Integers:
    try:
        _, labels = kmeans2(places, groups, minit="++", missing="raise", seed=int(rng.integers(2**31)))
    except ClusterError:
        # An empty group: everybody is in one that is not.
        return np.asarray(places.argmax(axis=1), dtype=np.int64)
    return np.asarray(labels, dtype=np.int64)


def _with_expected_degrees(degrees: Floats, labels: Integers, graph: Graph, rng: Rng) -> Integers:
    """Pairs, each drawn with a chance in proportion to d(u, group of v) d(v, group of u).

    Two groups are joined by as many edges as the mean of what either says.
    """
    sums = np.array([degrees[labels == group].sum(axis=0) for group in range(degrees.shape[1])])
    products = sums * sums.T
    scaled = np.divide(sums + sums.T, 2.0 * products, out=np.zeros_like(sums), where=products > 0.0)
    drawn = []
    for row in range(graph.space.nodes - 1):
        later = labels[row + 1 :]
        expected = degrees[row, later] * degrees[row + 1 :, labels[row]] * scaled[labels[row], later]
        found = np.flatnonzero(rng.random(len(later)) < expected) + row + 1
        drawn.append(np.column_stack([np.full(len(found), row), found]))
    pairs = np.concatenate(drawn)
    return np.asarray(np.sort(graph.space.codes(pairs[:, 0], pairs[:, 1])), dtype=np.int64)


# PBCN


def noisy_degrees(graph: Graph, epsilon: float, rng: Rng) -> Integers:
    """The degree of every node with noise, as close as whole numbers from 0 to n - 1 are."""
    scale = _scale(2, epsilon)
    noise = sample_discrete_laplace(rng, scale=scale, size=graph.space.nodes)
    return np.asarray(np.clip(degrees_of(graph) + noise, 0, graph.space.nodes - 1), dtype=np.int64)


def realised(degrees: Integers, graph: Graph) -> Graph:
    """A graph with these degrees (Havel and Hakimi), or with nearly these where no graph has them.

    The node that lacks most is joined to those that lack most of the others, again and again.
    """
    lacking, drawn = degrees.astype(np.int64).copy(), []
    open_nodes = np.flatnonzero(lacking)
    while len(open_nodes):
        order = open_nodes[np.argsort(-lacking[open_nodes], kind="stable")]
        first, others = order[0], order[1 : 1 + lacking[order[0]]]
        drawn.append(np.column_stack([np.minimum(first, others), np.maximum(first, others)]))
        lacking[others] -= 1
        lacking[first] = 0
        open_nodes = order[lacking[order] > 0]
    pairs = np.concatenate([np.zeros((0, 2), dtype=np.int64), *drawn])
    return graph.replaced(np.sort(graph.space.codes(pairs[:, 0], pairs[:, 1])))


def pbcn(graph: Graph, epsilon: float, rng: Rng) -> Graph:
    """A graph by what is described of PBCN, whose edges each cost epsilon."""
    return realised(noisy_degrees(graph, epsilon, rng), graph)


# Pygmalion


def joint_degrees(graph: Graph, largest: int) -> Integers:
    """The number of edges between nodes of degrees i <= j, as the entry (i, j); 0 ... largest."""
    degrees = degrees_of(graph)
    ends = np.sort(np.column_stack([degrees[end] for end in graph.edges()]), axis=1)
    found = np.zeros((largest + 1, largest + 1), dtype=np.int64)
    np.add.at(found, (ends[:, 0], ends[:, 1]), 1)
    return found


def noisy_joint_degrees(graph: Graph, epsilon: float, largest: int, rng: Rng) -> Integers:
    """The joint degrees with noise, for i <= j; a pair of degrees that cannot be has 0."""
    found = joint_degrees(graph, largest)
    for high in range(1, largest + 1):
        scale = _scale(4 * high + 1, epsilon)
        found[1 : high + 1, high] += sample_discrete_laplace(rng, scale=scale, size=high)
    return found


def degrees_by_joint(joint: Integers, nodes: int) -> Floats:
    """The shares of the degrees that joint degrees say: node counts, those below 0 taken as 0.

    The nodes of degree d have d ends each, of the edges in row and column d.
    """
    size = min(len(joint), nodes)
    ends = joint.sum(axis=0) + joint.sum(axis=1)
    counts = np.zeros(nodes)
    counts[1:size] = np.maximum(ends[1:size] / np.arange(1, size), 0.0)
    return np.asarray(counts / counts.sum()) if counts.any() else counts


# ApproxDeg


def degree_counts(graph: Graph, epsilon: float, rng: Rng) -> Floats:
    """The shares of the nodes by degree, from noisy counts of them; those below 0 are taken as 0."""
    nodes = graph.space.nodes
    scale = _scale(4, epsilon)
    true = np.bincount(degrees_of(graph), minlength=nodes)
    counts = np.maximum(true + sample_discrete_laplace(rng, scale=scale, size=nodes), 0)
    return degree_distribution(np.repeat(np.arange(nodes), counts), nodes=nodes)
