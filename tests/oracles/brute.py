"""Brute-force figures on tiny cases: no one-dimensional reduction, no closed form for the sought quantity."""

import math
from collections.abc import Sequence
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray
from scipy import special

from .nodes import beta_nodes, logit_range, panel_nodes

Array = NDArray[np.float64]


def _log_sigmoid(u: Array) -> Array:
    return -np.logaddexp(0.0, -u)


def _level_roots(slope_up: float, slope_down: float, level: Array, low: float, high: float) -> Array:
    """Where slope_up log sigma(w) + slope_down log sigma(-w) = level in [low, high], for each level.

    The function has at most one turning point, so at most two roots; a missing root is put at an end.
    """
    turn = min(max(low, 0.0), high)
    if slope_up * slope_down > 0:
        turn = min(max(math.log(slope_up / slope_down), low), high)

    def above(w: Array) -> NDArray[np.bool_]:
        return slope_up * _log_sigmoid(w) + slope_down * _log_sigmoid(-w) > level

    roots = []
    for start, end in ((low, turn), (turn, high)):
        left, right = np.full_like(level, start), np.full_like(level, end)
        sign = above(left)
        for _ in range(60):
            middle = (left + right) / 2
            same = above(middle) == sign
            left, right = np.where(same, middle, left), np.where(same, right, middle)
        roots.append((left + right) / 2)
    return np.stack(roots)


def dirichlet_pair_delta(
    alpha: Sequence[float] | Array,
    beta: Sequence[float] | Array,
    epsilon: float,
    outer: int = 24,
    panels: int = 24,
) -> float:
    """E_epsilon(Dirichlet(alpha) || Dirichlet(beta)) for 3 entries: the integral over the simplex.

    Coordinates u = logit x_1 and w = logit(x_2 / (1 - x_1)): the densities have exponential tails for
    every positive shape.  For each u, Gauss-Legendre panels in w between the zeros of f - e^epsilon g, found
    by bisection, so that no panel has a kink.  The u axis is cut likewise where such a zero appears: in the
    interior (at the turning point of the log ratio in w) or at infinity.
    """
    f, g = np.asarray(alpha, dtype=float), np.asarray(beta, dtype=float)

    def constant(s: Array) -> float:
        return float(special.gammaln(s.sum()) - special.gammaln(s).sum())

    u_low, u_high = logit_range(f[0], f[1] + f[2])  # the integrand is at most f
    w_low, w_high = logit_range(f[1], f[2])
    gap = f - g
    offset = epsilon - constant(f) + constant(g)
    births = [0.0]
    if gap[1] * gap[2] > 0:
        share = gap[1] / (gap[1] + gap[2])
        births.append(gap[1] * math.log(share) + gap[2] * math.log1p(-share))
    cuts = _level_roots(gap[0], gap[1] + gap[2], offset - np.array(births), u_low, u_high)
    u_edges = np.sort(np.concatenate([[u_low, u_high], cuts.ravel()]))
    u, u_weight = (x.ravel() for x in panel_nodes(u_edges[:-1], u_edges[1:], outer, 10))
    level = offset - gap[0] * _log_sigmoid(u) - (gap[1] + gap[2]) * _log_sigmoid(-u)
    roots = _level_roots(gap[1], gap[2], level, w_low, w_high)
    edges = np.vstack([np.full_like(u, w_low), roots, np.full_like(u, w_high)])
    inner = np.zeros_like(u)
    for start, end in pairwise(edges):
        w, weight = panel_nodes(start, end, panels, 10)
        log_f = (
            constant(f)
            + (f[0] * _log_sigmoid(u) + (f[1] + f[2]) * _log_sigmoid(-u))[:, None]
            + f[1] * _log_sigmoid(w)
            + f[2] * _log_sigmoid(-w)
        )
        excess = gap[1] * _log_sigmoid(w) + gap[2] * _log_sigmoid(-w) - level[:, None]
        inner += np.sum(weight * np.exp(log_f) * -np.expm1(-np.maximum(excess, 0.0)), axis=1)
    return float(np.sum(inner * u_weight))


def random_adjacent_pair(floor: float, mass: float, rng: np.random.Generator) -> tuple[Array, Array]:
    """A random pair of floored 3-vectors that exchange at most ``mass`` between two entries.

    Every adjacent pair is a common part plus the moved mass; corners of the domain are drawn often.
    """
    i, j = rng.permutation(3)[:2]
    free = 1 - 3 * floor
    moved = min(mass, free) * (1.0 if rng.random() < 0.5 else rng.random())
    spread = rng.dirichlet(np.full(3, 0.1 if rng.random() < 0.5 else 1.0))
    common = floor + (free - moved) * spread
    return common + moved * np.eye(3)[i], common + moved * np.eye(3)[j]


def worst_delta_by_search(
    k: float, floor: float, mass: float, epsilon: float, rng: np.random.Generator, pairs: int
) -> float:
    """The largest delta of Dirichlet(k p) against Dirichlet(k q) over random adjacent pairs of size 3."""
    best = 0.0
    for _ in range(pairs):
        p, q = random_adjacent_pair(floor, mass, rng)
        best = max(best, dirichlet_pair_delta(k * p, k * q, epsilon))
    return best


def _missed(protected: Sequence[float], rest: float | None, g: Array) -> Array:
    """P[some protected entry < g] for Dirichlet(protected..., rest), for each g: a sum of positive terms.

    The first entry x_1 is below g; or above 1 - m g, which leaves too little for the m others; or between,
    and then the others, which are Dirichlet given x_1, fail at g / (1 - x_1).
    """
    count = len(protected)
    head, tail = protected[0], sum(protected[1:]) + (rest or 0.0)
    if tail == 0:
        return np.where(g > 1, 1.0, 0.0)
    small = np.minimum(g, 1.0)
    if count == 1:
        return np.where(g >= 1, 1.0, special.betainc(head, tail, small))
    if count == 2 and rest is None:
        both = special.betainc(head, tail, small) + special.betainc(tail, head, small)
        return np.where(g * 2 >= 1, 1.0, both)
    others = count - 1
    result = np.ones_like(g)
    live = g * count < 1 - 1e-14
    h = g[live]
    start, end = special.logit(h), -special.logit(others * h)
    panels = 8 + math.ceil(float(np.max(end - start, initial=0.0)) * math.sqrt(head + tail) / 4)
    u, weight = panel_nodes(start, end, min(panels, 160), 10, graded=16)
    density = np.exp(head * _log_sigmoid(u) + tail * _log_sigmoid(-u) - special.betaln(head, tail))
    left = h[:, None] / special.expit(-u)
    conditional = _missed(protected[1:], rest, left.ravel()).reshape(left.shape)
    middle = np.sum(weight * density * conditional, axis=1)
    result[live] = special.betainc(head, tail, h) + special.betainc(tail, head, others * h) + middle
    return result


def published_delta_by_quadrature(shapes: Sequence[float | None], gamma: float) -> float:
    """1 - P[x_j >= gamma for every protected j], x ~ Dirichlet(shapes), up to 3 protected entries.

    ``shapes`` ends with the shape of the unprotected rest, or with None when every entry is protected.
    The complement itself is integrated, so a tiny figure keeps its relative accuracy.
    """
    *protected, rest = shapes
    known = [float(s) for s in protected if s is not None]
    if len(known) != len(protected) or not 1 <= len(known) <= 3:
        raise ValueError("one to three protected shapes, then the rest or None")
    return float(_missed(known, rest, np.array([gamma], dtype=float))[0])


def published_delta_by_monte_carlo(
    shapes: Sequence[float | None], gamma: float, samples: int, rng: np.random.Generator
) -> tuple[float, float]:
    """The same probability as a frequency over ``samples`` draws, and its standard error."""
    present = [float(s) for s in shapes if s is not None]
    x = rng.dirichlet(present, size=samples)
    frequency = float(np.mean(np.any(x[:, : len(shapes) - 1] < gamma, axis=1)))
    return frequency, math.sqrt(frequency * (1 - frequency) / samples)


def _lattice_delta(log_pmfs: list[tuple[Array, Array]], epsilon: float) -> float:
    """Sum of max(0, P - e^epsilon Q) over a product lattice, from the log pmfs of P and Q on each axis."""
    log_p, log_q = log_pmfs[0]
    if len(log_pmfs) == 2:
        log_p = log_p[:, None] + log_pmfs[1][0][None, :]
        log_q = log_q[:, None] + log_pmfs[1][1][None, :]
    elif len(log_pmfs) != 1:
        raise ValueError("one or two counts")
    loss = log_p - log_q - epsilon
    return float(np.sum(np.exp(log_p) * -np.expm1(-np.maximum(loss, 0.0))))


def discrete_gaussian_delta(sigma: float, shifts: Sequence[int], epsilon: float) -> float:
    """delta(epsilon) of discrete Gaussian noise on one or two counts that move by ``shifts``."""
    axes = []
    for shift in shifts:
        reach = math.ceil(37 * sigma) + abs(shift) + 1
        y = np.arange(-reach, reach + 1, dtype=float)
        normaliser = math.log(math.fsum(np.exp(-(y**2) / (2 * sigma**2))))
        moved, plain = -((y - shift) ** 2) / (2 * sigma**2), -(y**2) / (2 * sigma**2)
        axes.append((moved - normaliser, plain - normaliser))
    return _lattice_delta(axes, epsilon)


def geometric_delta(scale: float, shifts: Sequence[int], epsilon: float) -> float:
    """delta(epsilon) of noise with pmf proportional to exp(-|z| / scale) on one or two counts."""
    axes = []
    for shift in shifts:
        reach = math.ceil(45 * scale) + abs(shift) + 1
        y = np.arange(-reach, reach + 1, dtype=float)
        normaliser = math.log(math.fsum(np.exp(-np.abs(y) / scale)))
        axes.append((-np.abs(y - shift) / scale - normaliser, -np.abs(y) / scale - normaliser))
    return _lattice_delta(axes, epsilon)


def expected_absolute_deviation(a: float, b: float, centre: float) -> float:
    """E|X - centre| for X ~ Beta(a, b), by quadrature on both sides of the centre.

    The relative error is about 1e-16 (1 + a + b).
    """
    u, probability = beta_nodes(a, b, centre)
    x = special.expit(u)
    deviation = np.where(x > 0.5, np.abs((1 - centre) - special.expit(-u)), np.abs(x - centre))
    return float(np.sum(probability * deviation))


def expected_kl(p: Sequence[float], shapes: Sequence[float]) -> float:
    """E of sum_i p_i log(p_i / x_i) for x ~ Dirichlet(shapes), by quadrature over each beta marginal.

    The absolute error is about 1e-16 (1 + total shape): meant for totals up to 1e5.
    """
    total = math.fsum(shapes)
    terms = []
    for weight, shape in zip(p, shapes, strict=True):
        if weight > 0:
            u, probability = beta_nodes(shape, total - shape)
            terms.append(weight * float(np.sum(probability * (math.log(weight) - _log_sigmoid(u)))))
    return math.fsum(terms)
