"""What a graph released by randomised response says of the graph behind it: counts without bias, and errors.

Every pair's bit A_e was flipped on its own with probability q < 1/2. Let b_e = (the released bit - q) /
(1 - 2 q). Then b_e = A_e + h_e; the h_e are independent with mean 0, variance s = q (1 - q) / (1 - 2 q)^2 and
third moment s (1 - 2 A_e). A count is a sum of products of *different* bits, so the same sum of products of b
has that count as its mean: no bias. M is the number of pairs, m that of edges, n that of nodes, d_i a degree,
a_ij the shared neighbours, and C3 = n (n - 1) (n - 2) / 6.

Edges: sum of b_e; variance M s, whatever the graph is. A degree: the sum over its n - 1 pairs.

Wedges W: sum over pairs of pairs with one common end of b_e b_f. The error is sum_e h_e c_e + sum h_e h_f
with c_e = d_i + d_j - 2 A_e the edges next to e. All terms are uncorrelated, so the variance is s sum_e c_e^2
+ 3 s^2 C3, and sum_e c_e^2 = (n - 6) D + 4 m^2 + 4 m with D = sum d_i^2 = 2 W + 2 m.

Triangles T: sum over triples of b b b. The error is sum_e h_e a_e + sum h_e h_f A_g (g closes the wedge e, f)
+ sum h h h, and the variance s sum a_e^2 + s^2 m (n - 2) + s^3 C3. The covariance of W and T is s sum a_e c_e
+ s^2 m (n - 2), and sum a_e c_e = 2 G - D - 6 T with G = sum over the edges of d_i d_j.

Transitivity 3 T / W: the ratio of the two, its error by the delta method; its bias is a part of its error.

The variances depend on the hidden graph, and are estimated without bias too:

    sum a^2: sum over pairs of (B^2)_ij^2, B the matrix of the b, less 2 s m (n - 2) + 3 s^2 C3. Its mean is
        a_ij^2 + sum_k ((A_ik + s)(A_kj + s) - A_ik A_kj) = a_ij^2 + s (d_i + d_j - 2 A_ij) + s^2 (n - 2).
    m^2: the square of the estimate less M s.
    G: sum over pairs of b_ij D_i D_j, D_i the estimated degrees, less s (2 m (n - 2) + m + M). For let
        D_i = b + R_i and r_i the mean of R_i. The mean of b D_i D_j is E b^3 + E b^2 (r_i + r_j) + A r_i r_j,
        with E b^2 = A + s and E b^3 = A + 3 A s + s (1 - 2 A). That is more than A (A + r_i)(A + r_j) by
        s (r_i + r_j + A + 1).

All sums over pairs are polynomials in the few whole numbers of `Shape`, so nothing of size n^2 is kept and
nothing is rounded until the end. Intervals are normal: the errors are sums of very many small terms. Terms of
a variance that cannot be negative are not allowed to be.

The degree distribution. A node of degree d among p possible pairs has the released degree Bin(d, 1 - q) +
Bin(p - d, q): mean p q + d (1 - 2 q), variance p q (1 - q) whatever d is. The released degrees are therefore
a mixture of these known laws, in the proportions sought. The proportions of highest likelihood are found by
EM (Kiefer and Wolfowitz, 1956); as that is ragged where the noise hides single degrees, each round is
followed by a slight smoothing (Silverman, Jones, Wilson and Nychka, J. R. Stat. Soc. B 52, 1990), on a grid
of an eighth of the noise. Degrees of different nodes share a pair, so they are not quite independent; EM only
needs their shares.

No unbiased estimate with a useful error exists: taking noise off a distribution magnifies its errors without
bound. So no errors are stated for it.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from math import comb, inf, sqrt

import numpy as np
from scipy.special import ndtr, ndtri
from scipy.stats import binom

from veil.core.arrays import Floats
from veil.core.errors import InvalidArgument
from veil.graphs.numerics.triangles import Integers, Shape

# Grid steps to a standard error of a degree; above so many steps degrees are taken as they are.
_STEPS, _MOST_STEPS = 8.0, 4000
# From this variance on the released degree is taken as normal.
_NORMAL = 50.0
_ROUNDS, _SMOOTHING = 100, 0.05
_TAIL = 1e-12


@dataclass(frozen=True)
class Estimate:
    """A number with its standard error, and what it cannot be beyond."""

    value: float
    error: float
    least: float = 0.0
    most: float = inf

    def interval(self, confidence: float = 0.95) -> tuple[float, float]:
        """Within which the truth lies with so much confidence, by the normal law; cut to what is possible."""
        if not 0.0 < confidence < 1.0:
            raise InvalidArgument("confidence", expected="a number between 0 and 1", found=repr(confidence))
        reach = float(ndtri(0.5 + 0.5 * confidence)) * self.error
        low, high = self.value - reach, self.value + reach
        return min(max(low, self.least), self.most), max(min(high, self.most), self.least)


def flip_variance(flip: float) -> Fraction:
    """s: the variance of a debiased bit, exactly, for this flip probability."""
    if not 0.0 <= flip < 0.5:
        raise InvalidArgument("flip", expected="a probability of at least 0 and below 1/2", found=repr(flip))
    q = Fraction(flip)
    return q * (1 - q) / (1 - 2 * q) ** 2


def edge_number(edges: int, *, pairs: int, flip: float) -> Estimate:
    """The edges of the hidden graph, from those of the release; any kind of graph."""
    q, error = Fraction(flip), sqrt(flip_variance(flip) * pairs)
    return Estimate(float((edges - q * pairs) / (1 - 2 * q)), error, 0.0, float(pairs))


def node_degrees(degrees: Integers, *, possible: int, flip: float) -> tuple[Floats, float]:
    """The hidden degree of every node, and the standard error that all of them have.

    possible: how many pairs a node is in. For in- and out-degrees, or the sides of a bipartite graph, hand in
    those degrees and pairs. An estimate may be negative: cutting it off would bias it.
    """
    error = sqrt(flip_variance(flip) * possible)
    return np.asarray((degrees - possible * flip) / (1.0 - 2.0 * flip)), error


@dataclass(frozen=True)
class CountEstimates:
    """Estimated counts of an undirected graph."""

    edges: Estimate
    wedges: Estimate
    triangles: Estimate
    transitivity: Estimate


def debiased_counts(released: Shape, flip: float) -> CountEstimates:
    """Edges, wedges, triangles and transitivity of the graph behind a release.

    >>> from veil.graphs.numerics.triangles import Shape
    >>> found = debiased_counts(Shape(4, 5, 8, 2, 26, 24, 44), 0.0)
    >>> found.triangles.value, found.triangles.error, found.transitivity.value
    (2.0, 0.0, 0.75)
    """
    s, n = flip_variance(flip), released.nodes
    pairs, triples = comb(n, 2), comb(n, 3)
    means = _means(released, Fraction(flip), s)
    m, wedges, triangles = means.edges, means.wedges, means.triangles
    near = s * s * max(m, Fraction(0)) * max(n - 2, 0)
    of_triangles = s * max(means.shared_squares, Fraction(0)) + near + s**3 * triples
    degree_squares = 2 * wedges + 2 * m
    beside = (n - 6) * degree_squares + 4 * means.edge_squares + 4 * m
    of_wedges = s * max(beside, Fraction(0)) + 3 * s * s * triples
    both = s * (2 * means.along - degree_squares - 6 * triangles) + near
    return CountEstimates(
        edges=Estimate(float(m), sqrt(s * pairs), 0.0, float(pairs)),
        wedges=Estimate(float(wedges), sqrt(of_wedges), 0.0, float(3 * triples)),
        triangles=Estimate(float(triangles), sqrt(of_triangles), 0.0, float(triples)),
        transitivity=_ratio(triangles, wedges, of_triangles, of_wedges, both),
    )


@dataclass(frozen=True)
class _Means:
    """Unbiased estimates, as exact numbers."""

    edges: Fraction
    edge_squares: Fraction
    wedges: Fraction
    triangles: Fraction
    shared_squares: Fraction
    along: Fraction


def _means(released: Shape, q: Fraction, s: Fraction) -> _Means:
    n, edges, squares = released.nodes, released.edges, released.degree_squares
    others = max(n - 2, 0)
    pairs, triples = comb(n, 2), comb(n, 3)
    keep = 1 - 2 * q
    m = (edges - q * pairs) / keep
    wedges = (released.wedges - 2 * q * others * edges + 3 * q * q * triples) / keep**2
    closed = released.triangles - q * released.wedges + q * q * others * edges - q**3 * triples
    # (1 - 2 q)^2 (B^2)_ij = a_ij - q c_ij + q^2 (n - 2), of the release; c_ij as at the head of the file.
    c_sum, c_squares = 2 * edges * others, (n - 6) * squares + 4 * edges * edges + 4 * edges
    a_times_c = released.shared_degrees - 6 * released.triangles
    level = q * q * others
    walks = (
        released.shared_squares
        + q * q * c_squares
        + level * level * pairs
        - 2 * q * a_times_c
        + 2 * level * released.wedges
        - 2 * q * level * c_sum
    )
    # sum of b_ij D_i D_j: over the edges, less q times over all pairs, with degrees less their mean noise.
    noise = q * (n - 1)
    ends = Fraction(released.shared_degrees + squares, 2)
    over_edges = ends - noise * squares + noise * noise * edges
    total, total_squares = 2 * edges - n * noise, squares - 4 * edges * noise + n * noise * noise
    along = (over_edges - q * (total * total - total_squares) / 2) / keep**3
    return _Means(
        edges=m,
        edge_squares=m * m - pairs * s,
        wedges=wedges,
        triangles=closed / keep**3,
        shared_squares=walks / keep**4 - 2 * s * m * others - 3 * s * s * triples,
        along=along - s * (2 * m * others + m + pairs),
    )


def _ratio(
    triangles: Fraction, wedges: Fraction, of_triangles: Fraction, of_wedges: Fraction, both: Fraction
) -> Estimate:
    """3 T / W. With fewer wedges than twice their error nothing can be said: the error is infinite."""
    if wedges <= 0 or wedges * wedges < 4 * of_wedges:
        guess = float(3 * triangles / wedges) if wedges > 0 else 0.0
        return Estimate(min(max(guess, 0.0), 1.0), inf, 0.0, 1.0)
    ratio = triangles / wedges
    variance = (of_triangles - 2 * ratio * both + ratio * ratio * of_wedges) / (wedges * wedges)
    return Estimate(float(3 * ratio), 3.0 * sqrt(max(variance, Fraction(0))), 0.0, 1.0)


def debiased_distribution(degrees: Integers, *, possible: int, flip: float) -> Floats:
    """The estimated share of nodes with degree 0 ... possible, from the degrees of the release."""
    values, error = node_degrees(np.asarray(degrees, dtype=np.int64), possible=possible, flip=flip)
    step = max(1, int(error / _STEPS))
    shares = np.zeros(possible + 1)
    far = values > _MOST_STEPS * step
    known = np.clip(np.rint(values[far]), 0, possible).astype(np.int64)
    np.add.at(shares, known, 1.0 / len(values))
    if far.all():
        return shares
    near = ~far
    highest = min(possible, int(np.ceil(values[near].max() + 3.0 * error)))
    grid = np.arange(0, max(highest, 0) + 1, step, dtype=np.int64)
    seen, many = np.unique(np.asarray(degrees)[near], return_counts=True)
    weights = _mixture(_laws(seen, grid, step, possible, flip), many.astype(np.float64))
    # A step of the grid stands for all its degrees alike.
    ends = np.minimum(np.append(grid[1:], highest + 1), possible + 1)
    spread = np.repeat(weights / (ends - grid), ends - grid)
    shares[: len(spread)] += spread * float(near.mean())
    return shares


def _laws(seen: Integers, grid: Integers, step: int, possible: int, flip: float) -> Floats:
    """[released degree, grid step]: the chance of the one given the other."""
    variance = possible * flip * (1.0 - flip)
    if variance >= _NORMAL:
        middles = np.minimum(grid + (step - 1) / 2.0, possible)
        centred = seen[:, None] - possible * flip - middles * (1.0 - 2.0 * flip)
        deviation = np.sqrt(variance)
        return np.asarray(ndtr((centred + 0.5) / deviation) - ndtr((centred - 0.5) / deviation))
    laws = np.zeros((len(seen), len(grid)))
    for at, degree in enumerate(grid.tolist()):
        gained = _binomial(possible - degree, flip)
        lost = _binomial(degree, flip)
        law = np.convolve(gained, lost[::-1])
        places = seen - (degree - len(lost) + 1)
        inside = (places >= 0) & (places < len(law))
        laws[inside, at] = law[places[inside]]
    return laws


def _binomial(size: int, chance: float) -> Floats:
    """The law of a binomial number, up to where almost nothing is left."""
    last = min(size, int(binom.isf(_TAIL, size, chance)) + 1) if size and chance else 0
    return np.asarray(binom.pmf(np.arange(last + 1), size, chance))


def _mixture(laws: Floats, many: Floats) -> Floats:
    """The proportions, by EM with smoothing. No law is so narrow that a released degree has no chance."""
    laws = np.maximum(laws, 1e-300)
    weights = np.full(laws.shape[1], 1.0 / laws.shape[1])
    smooth = _SMOOTHING if laws.shape[1] > 2 else 0.0
    for _ in range(_ROUNDS):
        weights = weights * (laws.T @ (many / (laws @ weights)))
        wide = np.concatenate([weights[:1], weights, weights[-1:]])
        weights = smooth * (wide[:-2] + wide[2:]) + (1.0 - 2.0 * smooth) * weights
        weights /= weights.sum()
    return weights
