"""How far a released chain can be from the true one (proofs in perturbation.md).

P is the true chain, Q the released one, row i of Q drawn from Dirichlet(k_i P_i) on n_i entries, the rows
independent. Distances are L1 distances, twice the total variation. What is computed from k and the sizes
alone holds for every true chain and is public.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import lru_cache
from typing import Any, NamedTuple

import numpy as np
from scipy.special import logsumexp

from veil.core.arrays import Floats
from veil.core.checks import choice, integer, positive, within
from veil.core.errors import InvalidArgument
from veil.matrices.chain import Chain
from veil.vectors.accuracy import largest_expected_entry_error, largest_expected_l1

# No two probability vectors are further apart.
FARTHEST = 2.0
_GRID = 160
_HALVINGS = 24
# The bounds are sums of a few rounded terms; this lifts them over the rounding.
_UP = 1.0 + 2.0**-40


class _Kinds(NamedTuple):
    """Rows of two entries and more: their different (k, n), and how many rows there are of each."""

    k: Floats
    size: Floats
    rows: Floats


# The stationary distribution, given how far the rows are


def stationary_bound(condition: float, row_distances: Any, *, weights: Any = None) -> float:
    """What |pi - pi'|_1 cannot exceed, from the distances of the rows of two chains (Theorem 1).

    condition: `Chain.condition` of either chain.
    weights: the stationary distribution of the *other* chain; without it the largest row counts in full.
        With the weights of the same chain the bound is false.
    """
    distances = _distances(row_distances)
    condition = within("condition", condition, 0.0, 1e300, expected="a number of at least 0")
    if weights is None:
        return min(FARTHEST, condition * float(distances.max()) * _UP)
    shares = np.asarray(weights, dtype=np.float64)
    if shares.shape != distances.shape:
        raise InvalidArgument("weights", expected="one for each row", found=f"shape {shares.shape}")
    return min(FARTHEST, condition * float(shares @ distances) * _UP)


def stationary_bound_from_kl(condition: float, divergence: float) -> float:
    """What |pi - pi'|_1 cannot exceed: condition(Q) sqrt(2 K), K = sum_i pi_i KL(P_i || Q_i)."""
    divergence = within("divergence", divergence, 0.0, 1e300, expected="a number of at least 0")
    return stationary_bound(condition, [math.sqrt(2.0 * divergence)])


def stationary_radius(released: Chain, radii: Any) -> float:
    """What |pi - pi'|_1 cannot exceed if no true row is farther than its radius (Theorem 2)."""
    return min(FARTHEST, released.condition() * _mean_radius(released, radii) * _UP)


def stationary_radii(released: Chain, radii: Any) -> Floats:
    """The same for each state: what |pi_j - pi'_j| cannot exceed."""
    spreads = 0.5 * np.ptp(released.group_inverse(), axis=0)
    limits: Floats = np.minimum(1.0, spreads * _mean_radius(released, radii) * _UP)
    return limits


def _mean_radius(released: Chain, radii: Any) -> float:
    """What sum_i pi_i |P_i - Q_i|_1 cannot exceed, though pi is unknown."""
    distances = _distances(radii)
    if len(distances) != len(released):
        expected = f"{len(released)}, one for each row"
        raise InvalidArgument("radii", expected=expected, found=f"{len(distances)}")
    largest, condition = float(distances.max()), released.condition()
    left = 1.0 - 0.5 * condition * float(np.ptp(distances))
    if left <= 0.0:
        return largest
    return min(largest, float(released.stationary() @ distances) / left)


# How far the rows are


@lru_cache(maxsize=4096)
def row_radius(k: float, size: int, failure: float) -> float:
    """A number that |P_i - Q_i|_1 exceeds with probability at most `failure`, whatever P_i is (Theorem 5)."""
    failure = within("failure", failure, 1e-300, 1.0, expected="a probability above 0")
    kinds = _kinds([positive("k", k)], [integer("size", size, least=1)])
    return _least(kinds, -math.log(failure)) if kinds.k.size else 0.0


def simultaneous_row_radii(k: Any, sizes: Any, confidence: float) -> Floats:
    """A radius for each row; all true rows are within theirs with probability `confidence` or more."""
    k, sizes = _rows(k, sizes)
    confidence = within("confidence", confidence, 0.0, 1.0, expected="a number above 0 and below 1")
    if not 0.0 < confidence < 1.0:
        raise InvalidArgument("confidence", expected="a number above 0 and below 1", found=f"{confidence:g}")
    # The rows are independent, so that the confidences multiply.
    each = -math.expm1(math.log(confidence) / len(k))
    radius = {kind: row_radius(*kind, each) for kind in set(zip(k, sizes, strict=True))}
    return np.array([radius[kind] for kind in zip(k, sizes, strict=True)])


def expected_largest_row_distance(k: Any, sizes: Any) -> float:
    """At least E max_i |P_i - Q_i|_1, whatever P is: the least of three bounds (Theorem 4)."""
    kinds = _kinds(*_rows(k, sizes))
    if not kinds.k.size:
        return 0.0
    rows = float(kinds.rows.sum())
    means = _row_means(kinds.k, kinds.size)
    squares = (kinds.size - 1.0) / (kinds.k + 1.0)
    variances = np.minimum(np.minimum(1.0 / kinds.k, squares), 1.0)
    all_squares = math.sqrt(float(kinds.rows @ squares))
    aven = float(means.max()) + math.sqrt((rows - 1.0) / rows * float(kinds.rows @ variances))
    return min(FARTHEST, all_squares * _UP, aven * _UP, _least(kinds, 0.0))


def expected_weighted_row_distance(weights: Any, k: Any, sizes: Any) -> float:
    """At least E sum_i w_i |P_i - Q_i|_1 for fixed weights, such as the true stationary distribution."""
    k, sizes = _rows(k, sizes)
    each = [min(FARTHEST, largest_expected_l1(k_i, n_i)) for k_i, n_i in zip(k, sizes, strict=True)]
    return float(np.asarray(weights, dtype=np.float64) @ np.array(each)) * _UP


def expected_largest_column_distance(k: Any, sizes: Any) -> float:
    """At least E max_j sum_i |P_ij - Q_ij|, whatever P is: the least of two bounds (Theorem 6)."""
    kinds = _kinds(*_rows(k, sizes))
    if not kinds.k.size:
        return 0.0
    entries = np.array([largest_expected_entry_error(k_i) for k_i in kinds.k])
    squares = (1.0 - 1.0 / kinds.size) / (kinds.k + 1.0)
    aven = float(kinds.rows @ entries) + math.sqrt(float(kinds.rows @ squares))
    return min(aven, float(kinds.rows @ (0.5 * _row_means(kinds.k, kinds.size)))) * _UP


# What follows for the chain


def expected_stationary_change(condition: float, k: Any, sizes: Any) -> float:
    """At least E |pi - pi'|_1; condition: that of the *true* chain (perturbation.md).

    With the released chain's condition, which is random, this is false: take `stationary_radius`.
    """
    return stationary_bound(condition, [expected_largest_row_distance(k, sizes)])


def ergodicity_bound(one: Any, other: Any, *, norm: int | str = 1) -> float:
    """What the ergodicity coefficients of two chains cannot differ by (Theorem 3).

    norm=1: the largest row distance; norm="inf": the largest column sum of |P_ij - Q_ij|.
    """
    kind = choice("norm", str(norm), ("1", "inf"))
    difference = np.abs(np.asarray(one, dtype=np.float64) - np.asarray(other, dtype=np.float64))
    return float(difference.sum(axis=1 if kind == "1" else 0).max())


def expected_ergodicity_change(k: Any, sizes: Any, *, norm: int | str = "inf") -> float:
    """At least E |tau(P) - tau(Q)|, whatever P is (perturbation.md)."""
    if choice("norm", str(norm), ("1", "inf")) == "1":
        return min(1.0, expected_largest_row_distance(k, sizes))
    return expected_largest_column_distance(k, sizes)


# The exponential moments behind it all


def log_moment(rate: float, k: Floats, size: Floats) -> Floats:
    """At least log E exp(rate |x - p|_1) for x ~ Dirichlet(k p) on n entries, whatever p is (Lemma 3).

    The less of the union over the 2^n - 2 events and of the exponential moment that the Poincare
    inequality gives.
    """
    union = _log_events(size) + 0.5 * rate * rate / (k + 1.0)
    share = rate * rate / k
    inside = share < 4.0
    poincare = rate * _row_means(k, size) + _poincare_exponent(np.where(inside, share, 0.0))
    smaller: Floats = np.minimum(union, np.where(inside, poincare, math.inf))
    return np.minimum(smaller, FARTHEST * rate)


def _poincare_exponent(square: Floats) -> Floats:
    """- sum_j 2^j log(1 - square/4^(j+1)), its end rounded up; for square < 4."""
    total = np.zeros_like(square)
    for j in range(_HALVINGS):
        total -= 2.0**j * np.log1p(-square / 4.0 ** (j + 1))
    last = square / 4.0 ** (_HALVINGS + 1)
    return np.asarray(total + square * 2.0 ** (-_HALVINGS - 1) / (1.0 - last))


def _log_events(size: Floats) -> Floats:
    return np.asarray(size * math.log(2.0) + np.log1p(-(2.0 ** (1.0 - size))))


def _row_means(k: Floats, size: Floats) -> Floats:
    """At least E |x - p|_1."""
    return np.minimum(np.sqrt((size - 1.0) / (k + 1.0)), 2.0 * (1.0 - 1.0 / size))


def _least(kinds: _Kinds, extra: float) -> float:
    """The least over rate > 0 of (log sum of the rows' moments + extra) / rate. Every rate is valid."""

    def bound(log_rate: float) -> float:
        rate = math.exp(log_rate)
        total = float(logsumexp(log_moment(rate, kinds.k, kinds.size), b=kinds.rows))
        return (total + extra) / rate

    events = float(_log_events(kinds.size).max()) + math.log(float(kinds.rows.sum()))
    least = 1e-4 * math.sqrt(kinds.k.min())
    most = 2.0 * math.sqrt(2.0 * (events + extra + 1.0) * (kinds.k.max() + 1.0))
    grid = np.linspace(math.log(least), math.log(most), _GRID)
    values = [bound(point) for point in grid]
    place = int(np.argmin(values))
    low, top = grid[max(0, place - 1)], grid[min(_GRID - 1, place + 1)]
    best = values[place]
    for _ in range(40):
        left, right = low + 0.382 * (top - low), low + 0.618 * (top - low)
        at_left, at_right = bound(left), bound(right)
        best = min(best, at_left, at_right)
        low, top = (low, right) if at_left < at_right else (left, top)
    return min(FARTHEST, best * _UP)


def _distances(values: Any) -> Floats:
    distances = np.asarray(values, dtype=np.float64)
    if distances.ndim != 1 or not distances.size or not (distances >= 0.0).all():
        expected = "numbers of at least 0, one for each row"
        raise InvalidArgument("row_distances", expected=expected, found="others")
    return distances


def _rows(k: Any, sizes: Any) -> tuple[tuple[float, ...], tuple[int, ...]]:
    """k and the size of each row; one number stands for all rows."""
    ks, widths = (list(each) if isinstance(each, (Sequence, np.ndarray)) else [each] for each in (k, sizes))
    rows = max(len(ks), len(widths))
    if not ks or not widths or {len(ks), len(widths)} - {1, rows}:
        expected = f"one number, or one for each k ({len(ks)})"
        raise InvalidArgument("sizes", expected=expected, found=f"{len(widths)}")
    checked_k = tuple(positive("k", value) for value in ks)
    checked_sizes = tuple(integer("sizes", value, least=1) for value in widths)
    return checked_k * (rows // len(ks)), checked_sizes * (rows // len(widths))


def _kinds(k: Sequence[float], sizes: Sequence[int]) -> _Kinds:
    pairs = np.array([k, sizes], dtype=np.float64).T
    # A row with a single possible entry is what everyone knows it is.
    different, count = np.unique(pairs[pairs[:, 1] > 1.0], axis=0, return_counts=True)
    return _Kinds(different[:, 0], different[:, 1], count.astype(np.float64))
