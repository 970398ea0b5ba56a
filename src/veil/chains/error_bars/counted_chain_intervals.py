"""Intervals for the true stationary distribution behind counted transitions (counted_chain_intervals.md).

Truth is the chain P of the relative frequencies of the counted transitions, pi its stationary distribution.
With Q any chain near it, rho its stationary distribution and A the group inverse of I - Q, exactly

    pi_j - rho_j = sum_i pi_i (P_i - Q_i) a_j,          a_j the j-th column of A.

For noisy counts Y = C + Z take for Q the released chain. With u_ij = a_j - (Q_i a_j) 1,

    pi_j - rho_j = sum_i (pi_i / N_i) (Y_i - Z_i) u_ij.

Y u is known: it undoes, to first order, whatever the removal of noise did to Q. Z u is noise of a known law.
Only the weights pi_i / N_i are estimated. So one step from Q gives an interval that needs no model of the
counts. It is wide where noise drowns a row, as it must be. Coverage is measured (tests), not proved. The
proved intervals bound all noise at once, and are much wider.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from scipy.special import ndtri

from veil.chains.error_bars.counted_rows import (
    NoisyRows,
    SmoothedRows,
    noisy_rows,
    smoothed_rows,
    transitions_part,
)
from veil.chains.error_bars.counted_transitions import FOR_SIZES
from veil.chains.error_bars.noise_reach import length_reach, sum_reach
from veil.chains.mechanisms.private_chain import PrivateChain
from veil.core.arrays import Floats
from veil.core.errors import InvalidArgument
from veil.core.numerics.denoise import Noise, independent_means
from veil.core.record import Release
from veil.matrices.chain import Chain
from veil.matrices.perturbation import FARTHEST, simultaneous_row_radii, stationary_radii
from veil.vectors.mechanisms.dirichlet_counts import DirichletCounts

# The first step leaves out what is of second order: the tails are taken a little lighter than asked for.
_LIGHTER = 0.75
# What the smoothing of a row may have been holds but so often. The errors of all rows are added up as if they
# went the same way, which makes up for it.
_UNLIKELY = 0.2
_MOST_EXCESS = 6.0
_ROUNDS = 60
_COARSE = 0.1
_UP = 1.0 + 2.0**-40


class CountedBars(NamedTuple):
    """The best guess of the true chain, and two kinds of intervals for its stationary distribution."""

    estimate: Chain
    stationary: Floats
    proved: Floats


def counted_bars(release: Release[Any], confidence: float) -> CountedBars:
    """Intervals for the stationary distribution of a chain released with noisy counts or Dirichlet rows."""
    mechanism = release.mechanism
    assert isinstance(mechanism, PrivateChain)
    if not 0.0 < confidence < 1.0:
        raise InvalidArgument("confidence", expected="a number above 0 and below 1", found=f"{confidence:g}")
    chain = release.value
    if isinstance(transitions_part(mechanism).mechanism, DirichletCounts):
        failure = FOR_SIZES * (1.0 - confidence) / len(chain)
        rows = smoothed_rows(mechanism, release.tables, _UNLIKELY, release.records)
        near = Chain(_unsmoothed(rows), states=chain.states)
        # Without the sizes of the rows nobody knows how much smoothing there is to undo.
        estimate = near if rows.sizes_known else chain
        sure = smoothed_rows(mechanism, release.tables, failure, release.records)
        return CountedBars(
            estimate,
            _holding(_smoothed_bars(rows, near, confidence), estimate.stationary()),
            _around(chain.stationary(), stationary_radii(chain, _smoothed_radii(sure, confidence))),
        )
    noisy = noisy_rows(mechanism, release.tables)
    return CountedBars(
        chain,
        _noisy_bars(noisy, chain, confidence),
        _around(chain.stationary(), _sure(noisy, chain, confidence)),
    )


def _around(middle: Floats, reach: Floats) -> Floats:
    ends = np.stack([middle - reach, middle + reach], axis=-1)
    return np.asarray(np.clip(ends, 0.0, 1.0), dtype=np.float64)


def _holding(bars: Floats, guess: Floats) -> Floats:
    """The bars, stretched where they miss the best guess."""
    low, high = np.minimum(bars[:, 0], guess), np.maximum(bars[:, 1], guess)
    return np.asarray(np.stack([low, high], axis=-1), dtype=np.float64)


def _reach(confidence: float, excess: Floats | float) -> Floats:
    """The quantile in standard deviations, of a law a little heavier than normal (Cornish and Fisher)."""
    z = -float(ndtri(0.5 * (1.0 - confidence) * _LIGHTER))
    more = max(0.0, z**3 - 3.0 * z) / 24.0
    return np.asarray(z + more * np.minimum(excess, _MOST_EXCESS), dtype=np.float64)


# Noisy counts


class _Steps(NamedTuple):
    """[i, j]: known = Y_i u_ij, and the sums over k of the squares and fourth powers of u_ij."""

    known: Floats
    squares: Floats
    fourths: Floats


def _steps(rows: NoisyRows, chain: Chain) -> _Steps:
    inverse, matrix = chain.group_inverse(), chain.to_numpy()
    size = len(matrix)
    mean = matrix @ inverse
    known = rows.counts @ inverse - rows.counts.sum(axis=1)[:, None] * mean
    # Power sums of the columns around their middle, so that nothing large cancels.
    middle = inverse.mean(axis=0)
    first, (two, three, four) = mean - middle, (((inverse - middle) ** k).sum(axis=0) for k in (2, 3, 4))
    squares = two + size * first**2
    fourths = four - 4.0 * first * three + 6.0 * first**2 * two + size * first**4
    return _Steps(known, np.maximum(squares, 0.0), np.maximum(fourths, 0.0))


def _noisy_bars(rows: NoisyRows, chain: Chain, confidence: float) -> Floats:
    steps, rho, size = _steps(rows, chain), chain.stationary(), len(chain)
    whole = np.ones(rows.counts.shape, dtype=bool)
    sums = independent_means(rows.counts, whole, Noise("gaussian", rows.deviation)).sum(axis=1)
    weights, variance = rho / sums, rows.deviation**2
    spread = variance * (weights**2 @ steps.squares)
    excess = _excess(rows) * variance**2 * (weights**4 @ steps.fourths)
    excess = np.divide(excess, spread**2, out=np.zeros(size), where=spread**2 > 0.0)
    # The weights pi_i / N_i are not known either: neither the row's size nor its share of time.
    unknown = weights**2 * variance * size / sums**2 + spread / sums**2
    # In a chain of long paths all weights are 1 / sum N. The cap is a choice; coverage was measured with it.
    unknown = np.minimum(unknown, 2.0 * np.maximum(weights, 1.0 / sums.sum()) ** 2)
    spread = spread + unknown @ np.maximum(variance * steps.squares, steps.known**2)
    middle = rho + weights @ steps.known
    return _holding(_around(middle, _reach(confidence, excess) * np.sqrt(spread)), rho)


def _excess(rows: NoisyRows) -> float:
    """The excess kurtosis of the noise of a count."""
    if rows.noise.kind == "gaussian":
        return 0.0
    variance = max(rows.noise.deviation**2, 1e-300)
    return (3.0 + 1.0 / variance) / rows.times


def _sure(rows: NoisyRows, chain: Chain, confidence: float) -> Floats:
    """What no |pi_j - rho_j| exceeds, if in no row the noise is longer, or its sum larger, than it may be."""
    steps, rho, size = _steps(rows, chain), chain.stationary(), len(chain)
    each = 0.5 * (1.0 - confidence) / size
    length = length_reach(rows.noise, size, each, times=rows.times)
    fewest = rows.counts.sum(axis=1) - sum_reach(rows.noise, size * rows.times, each)
    # A frequency needs a record.
    fewest = np.maximum(fewest, 1.0)[:, None]
    inverse = chain.group_inverse()
    mean = chain.to_numpy() @ inverse
    # No P_i a_j is outside the range of a_j, whatever the noise.
    farthest = np.maximum(inverse.max(axis=0) - mean, mean - inverse.min(axis=0))
    moved = np.minimum((np.abs(steps.known) + length * np.sqrt(steps.squares)) / fewest, farthest) * _UP
    limits = np.minimum(1.0, moved.max(axis=0))
    for _ in range(_ROUNDS):
        # pi_i is at most rho_i plus its own limit: every round is a bound, and none is worse.
        better = np.minimum(limits, (rho + limits) @ moved * _UP)
        if (better > 0.999 * limits).all():
            break
        limits = better
    return np.asarray(limits, dtype=np.float64)


# Dirichlet rows of counts


def _unsmoothed(rows: SmoothedRows) -> Floats:
    """The rows with the smoothing undone: by what it was, or else by half of what is possible."""
    even = 1.0 / rows.rows.shape[1]
    stretch = 0.5 * (rows.stretch(rows.least) + rows.stretch(rows.most))
    if rows.sizes_known:
        stretch = rows.stretch(0.5 * (rows.least + rows.most))
    # Beyond the point where an entry is nought, noise speaks. In long rows some entry gets there early.
    first = even / np.maximum(even - rows.rows.min(axis=1), 1e-300)
    plain = even + (rows.rows - even) * np.minimum(stretch, np.maximum(1.0, 2.0 * first))[:, None]
    plain = np.maximum(plain, 1e-12)
    return np.asarray(plain / plain.sum(axis=1, keepdims=True), dtype=np.float64)


def _smoothed_bars(rows: SmoothedRows, estimate: Chain, confidence: float) -> Floats:
    inverse, rho = estimate.group_inverse(), estimate.stationary()
    from_even = rows.rows @ inverse - inverse.mean(axis=0)
    # P_i a_j, if the row were without noise, at the two ends of what the smoothing may have been; as an
    # average of a_j it is in its range, whatever the noise.
    ends = [inverse.mean(axis=0) + from_even * rows.stretch(k)[:, None] for k in (rows.least, rows.most)]
    ends = [np.clip(end, inverse.min(axis=0), inverse.max(axis=0)) for end in ends]
    moved = np.stack(ends) - estimate.to_numpy() @ inverse
    low, high = rho @ moved.min(axis=0), rho @ moved.max(axis=0)
    # Around the middle of each column, so that nothing large cancels.
    shifted = inverse - inverse.mean(axis=0)
    squares = np.maximum(rows.rows @ shifted**2 - (rows.rows @ shifted) ** 2, 0.0)
    noise = squares * (rows.stretch(rows.least) ** 2 / (rows.least + 1.0))[:, None]
    noise = np.minimum(noise, (0.5 * np.ptp(inverse, axis=0)) ** 2)
    spread = rho**2 @ noise
    # The true pi weighs the rows, not rho.
    away = spread + np.maximum(np.abs(low), np.abs(high)) ** 2
    spread = spread + away @ (noise + np.abs(moved).max(axis=0) ** 2)
    reach = _reach(confidence, 0.0) * np.sqrt(spread)
    bars = np.clip(np.stack([rho + low - reach, rho + high + reach], axis=-1), 0.0, 1.0)
    return np.asarray(bars, dtype=np.float64)


def _smoothed_radii(rows: SmoothedRows, confidence: float) -> Floats:
    """How far each true row can be from the released one: noise, then smoothing."""
    size = rows.rows.shape[1]
    left = 1.0 - (1.0 - FOR_SIZES) * (1.0 - confidence)
    # A smaller k is on the safe side; rounded down there are few different ones.
    rounded = np.exp(np.floor(np.log(rows.least) / _COARSE) * _COARSE)
    noise = np.array(simultaneous_row_radii(rounded, [size] * len(rows.rows), left))
    share = 1.0 - 1.0 / rows.stretch(rows.least)
    from_even = np.abs(rows.rows - 1.0 / size).sum(axis=1) + noise
    smoothing = np.minimum(from_even * (rows.stretch(rows.least) - 1.0), share * 2.0 * (1.0 - 1.0 / size))
    return np.asarray(np.minimum(FARTHEST, (noise + smoothing) * _UP), dtype=np.float64)
