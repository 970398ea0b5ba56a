"""Doubly stochastic matrices: the nearest one to noisy numbers, and noise whose rows sum to zero.

The nearest matrix is found by Newton's method on its dual, the noise is drawn exactly in whole numbers.
Both are explained in matrices/mechanisms/doubly_stochastic.md.
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from veil.core.arrays import Floats
from veil.core.random.streams import Rng
from veil.vectors.projection import project

Integers = NDArray[np.int64]

# So many numbers are worked on at a time, to keep the memory small.
_AT_A_TIME = 2**20
# Points that reach further than this are approached from a shrunken copy, ten times larger each time.
_NEAR, _FARTHER = 4.0, 10.0
_MOST_STEPS, _MOST_HALVINGS, _POLISHING_STEPS = 100, 40, 3
_SUM_ROUNDING = 1e-13


def project_birkhoff(points: Floats) -> Floats:
    """The nearest doubly stochastic matrix in Frobenius norm, along the last two axes."""
    size = points.shape[-1]
    stack = np.asarray(points, dtype=np.float64).reshape(-1, size, size)
    nearest = np.empty_like(stack)
    step = max(1, _AT_A_TIME // size**2)
    for start in range(0, len(stack), step):
        nearest[start : start + step] = _project(stack[start : start + step])
    return nearest.reshape(points.shape)


def _project(points: Floats) -> Floats:
    centred = centre(points)
    reach = np.abs(centred).max(axis=(1, 2))
    shrunken = np.minimum(1.0, _NEAR / np.maximum(reach, _NEAR))
    prices = np.zeros(points.shape[:2])
    while True:
        tolerance = np.where(shrunken < 1.0, 1e-3, 1e-14 * (1.0 + reach))
        prices = _best_prices(shrunken[:, None, None] * centred, prices, tolerance, _MOST_STEPS)
        if (shrunken == 1.0).all():
            break
        larger = np.minimum(1.0, _FARTHER * shrunken)
        prices *= (larger / shrunken)[:, None]
        shrunken = larger
    return _mended(_polished(project(centred + prices[:, None, :])))


def centre(points: Floats) -> Floats:
    """The nearest matrix whose rows and columns sum to one, whatever its signs."""
    size = points.shape[-1]
    rows, columns = points.mean(axis=-1, keepdims=True), points.mean(axis=-2, keepdims=True)
    centred: Floats = points - rows - columns + (points.mean(axis=(-1, -2), keepdims=True) + 1.0 / size)
    return centred


def _best_prices(points: Floats, prices: Floats, tolerance: Floats, most: int) -> Floats:
    """What to add to the columns so that projecting the rows makes the columns sum to one as well."""
    prices = prices.copy()
    busy = np.arange(len(points))
    for _ in range(most):
        matrices = project(points[busy] + prices[busy, None, :])
        excess = matrices.sum(axis=1) - 1.0
        off = np.abs(excess).max(axis=1)
        wrong = off > tolerance[busy]
        if not wrong.any():
            break
        busy, matrices, excess, off = busy[wrong], matrices[wrong], excess[wrong], off[wrong]
        direction = _newton_direction(matrices, excess, off)
        prices[busy] = _descend(points[busy], prices[busy], matrices, excess, direction)
    return prices


def _newton_direction(matrices: Floats, excess: Floats, off: Floats) -> Floats:
    """Solve (Hessian + damping) d = -excess; the damping shrinks with the excess, but never to nothing."""
    kept = (matrices > 0.0).astype(np.float64)
    hessian = -np.swapaxes(kept, 1, 2) @ (kept / kept.sum(axis=2, keepdims=True))
    diagonal = np.arange(matrices.shape[-1])
    hessian[:, diagonal, diagonal] += kept.sum(axis=1) + 0.1 * np.clip(off, 1e-9, 1.0)[:, None]
    direction: Floats = np.linalg.solve(hessian, -excess[:, :, None])[:, :, 0]
    return direction


def _descend(points: Floats, prices: Floats, matrices: Floats, excess: Floats, direction: Floats) -> Floats:
    """The prices after a step along the direction, short enough for the (convex) dual to fall."""
    slope = (excess * direction).sum(axis=1)
    height = _dual(points, prices, matrices, excess)
    length = np.ones(len(points))
    trial = prices + direction
    still = np.arange(len(points))
    for _ in range(_MOST_HALVINGS):
        tried = project(points[still] + trial[still, None, :])
        left = tried.sum(axis=1) - 1.0
        slope_there = (left * direction[still]).sum(axis=1)
        bound = height[still] + 1e-4 * length[still] * slope[still] + 1e-13 * np.abs(height[still])
        lower = _dual(points[still], trial[still], tried, left) <= bound
        # Where the slope still points down nothing was passed: the dual is convex.
        rejected = (slope_there > 0.0) & ~(lower & (slope_there <= -0.9 * slope[still]))
        if not rejected.any():
            break
        still, slope_there = still[rejected], slope_there[rejected]
        length[still] *= np.clip(slope[still] / (slope[still] - slope_there), 0.1, 0.6)
        trial[still] = prices[still] + length[still, None] * direction[still]
    return trial


def _dual(points: Floats, prices: Floats, matrices: Floats, excess: Floats) -> Floats:
    height: Floats = (prices * excess).sum(axis=1) - 0.5 * ((matrices - points) ** 2).sum(axis=(1, 2))
    return height


def _polished(matrices: Floats) -> Floats:
    """The columns' last rounding taken out, along the entries that are not zero; the zeros stay."""
    for _ in range(_POLISHING_STEPS):
        excess = matrices.sum(axis=1) - 1.0
        off = np.abs(excess).max(axis=1)
        if off.max() <= 1e-15:
            break
        change = _newton_direction(matrices, excess, off)[:, None, :]
        kept = matrices > 0.0
        level = np.where(kept, change, 0.0).sum(axis=2, keepdims=True) / kept.sum(axis=2, keepdims=True)
        matrices = np.where(kept, np.maximum(matrices + (change - level), 0.0), 0.0)
    return matrices


def _mended(matrices: Floats) -> Floats:
    """Doubly stochastic up to rounding, from nearly so (Altschuler, Weed and Rigollet 2017, Algorithm 2).

    Rows, then columns, are scaled down to sum to at most one; what is missing is filled in by a product.
    """
    rows, columns = matrices.sum(axis=2), matrices.sum(axis=1)
    off = np.maximum(np.abs(rows - 1.0).max(axis=1), np.abs(columns - 1.0).max(axis=1)) > _SUM_ROUNDING
    if off.any():
        scaled = matrices[off] / np.maximum(rows[off], 1.0)[:, :, None]
        scaled /= np.maximum(scaled.sum(axis=1), 1.0)[:, None, :]
        row_gaps = np.maximum(1.0 - scaled.sum(axis=2), 0.0)
        column_gaps = np.maximum(1.0 - scaled.sum(axis=1), 0.0)
        total = np.maximum(row_gaps.sum(axis=1), np.finfo(np.float64).tiny)
        matrices = matrices.copy()
        matrices[off] = scaled + row_gaps[:, :, None] * (column_gaps / total[:, None])[:, None, :]
    return matrices


def sample_zero_sum_rows(rng: Rng, *, scale: int, shape: tuple[int, ...]) -> Integers:
    """Draw rows of whole numbers that sum to zero, P(z) proportional to exp(-sum |z_j| / scale), exactly.

    scale: an even whole number, far above the length of a row (the last axis) for speed.
    """
    *leading, size = shape
    rows = math.prod(leading)
    step = max(1, _AT_A_TIME // (2 * size))
    drawn = np.empty((rows, size), dtype=np.int64)
    for start in range(0, rows, step):
        part = drawn[start : start + step]
        totals = _row_totals(rng, scale, size, len(part))
        part[:] = _compositions(rng, totals, size) - _compositions(rng, totals, size)
    return drawn.reshape(shape)


def _row_totals(rng: Rng, scale: int, size: int, count: int) -> Integers:
    """Draw s with P(s) proportional to C(s + size - 1, size - 1)^2 exp(-2 s / scale).

    A sum of 2 size - 1 geometric variables, accepted with the product of (s + k)/(s + size - 1 + k) over
    k = 1 .. size - 1: one uniform whole number for each factor.
    """
    totals = np.empty(count, dtype=np.int64)
    missing = np.arange(count)
    factors = np.arange(1, size)
    while missing.size:
        tried = (
            _geometric(rng, scale // 2, missing.size * (2 * size - 1)).reshape(missing.size, -1).sum(axis=1)
        )
        tops = tried[:, None] + factors
        accepted = (rng.integers(0, tops + (size - 1)) < tops).all(axis=1)
        totals[missing[accepted]] = tried[accepted]
        missing = missing[~accepted]
    return totals


def _compositions(rng: Rng, totals: Integers, parts: int) -> Integers:
    """Draw each total cut into parts of at least zero, all ways equally likely: bars among places."""
    places = totals[:, None] + (parts - 1)
    bars = np.empty((len(totals), parts - 1), dtype=np.int64)
    missing = np.arange(len(totals))
    while missing.size:
        tried = np.sort(rng.integers(0, places[missing], size=(missing.size, parts - 1)), axis=1)
        distinct = (np.diff(tried, axis=1) > 0).all(axis=1)
        bars[missing[distinct]] = tried[distinct]
        missing = missing[~distinct]
    ends = np.concatenate([np.full_like(places, -1), bars, places], axis=1)
    cut: Integers = np.diff(ends, axis=1) - 1
    return cut


def _geometric(rng: Rng, scale: int, count: int) -> Integers:
    """Draw g >= 0 with P(g) proportional to exp(-g / scale): the remainder first, then the quotient."""
    drawn = np.empty(count, dtype=np.int64)
    missing = np.arange(count)
    while missing.size:
        remainders = rng.integers(0, scale, size=missing.size)
        accepted = _happens(rng, remainders, scale)
        drawn[missing[accepted]] = remainders[accepted]
        missing = missing[~accepted]
    alive = np.arange(count)
    while alive.size:
        alive = alive[_happens(rng, np.ones(alive.size, dtype=np.int64), 1)]
        drawn[alive] += scale
    return drawn


def _happens(rng: Rng, tops: Integers, bottom: int) -> NDArray[np.bool_]:
    """True with probability exp(-top / bottom), top <= bottom: von Neumann's alternating series."""
    odd = np.empty(len(tops), dtype=np.bool_)
    alive, k = np.arange(len(tops)), 1
    while alive.size:
        on = rng.integers(0, bottom * k, size=alive.size) < tops[alive]
        odd[alive[~on]] = k % 2 == 1
        alive, k = alive[on], k + 1
    return odd
