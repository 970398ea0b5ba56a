"""Error bars for the stationary distribution behind noisy counts (counted_chain_intervals.md, 3 and 4).

Plausible counts are drawn from the posterior of the released table, hidden again, and estimated again: how
far those estimates are from their counts says how long the bars must be. The noisy counts themselves say, to
first order and without a model, how wrong the estimate is; where they disagree with the repetitions, the bars
grow. Coverage is measured (tests), not proved. The proved limits bound all noise at once and are much wider.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.special import ndtri

from veil.chains.error_bars.counted_rows import NoisyRows, length_reach, sum_reach
from veil.chains.estimation.flow_correction import LinearStep, groups_by_share
from veil.chains.estimation.transition_table import TableEstimate
from veil.core.arrays import Floats
from veil.core.numerics.count_grid import Noise
from veil.matrices.chain import Chain

# States that are looked at in all repetitions together, and the repetitions that one table gets.
_STATES_IN_ALL, _FEWEST, _MOST = 600, 1, 12
_SEED = 29
# Repetitions leave out that the posterior itself is estimated.
_LONGER, _LONGER_UNBIASED = 1.15, 1.1
# Errors farther than this, in standard deviations of the noise, are of states that hardly occur.
_FARTHEST = 5.0
# No bar is shorter than the square root of this part of the noise of one linear step.
_LEAST_SQUARE = 0.1
# How much of the chance in what the noisy counts say is added.
_CAUTION = 0.5
# Cells with fewer transitions than this part of the noise's variance hardly take part in a linear step; nor
# do rows whose total is lost in noise.
_HARDLY_ANY, _LEAST_TRUST = 0.005, 0.1
_ROUNDS = 60
_UP = 1.0 + 2.0**-40


class _Repetition(NamedTuple):
    """Errors by state of an estimate from plausible counts, in standard deviations of its noise.

    error: of the estimate. of_first: the same, by the deviations at the release. unbiased: after one linear
    step.
    """

    error: Floats
    of_first: Floats
    unbiased: Floats


def stationary_bars(rows: NoisyRows, chain: Chain, confidence: float) -> tuple[Floats, Floats]:
    """(low, high) by state, each on its own; 0 and 1 if the noisy counts allow no linear step."""
    noise = _noise_of(rows)
    table = TableEstimate.of(rows.counts, noise)
    shares = chain.stationary()
    nothing_known = np.zeros(len(shares)), np.ones(len(shares))
    try:
        step = _step(chain.to_numpy(), rows.counts, table, noise)
        repetitions = _repetitions(table, step, noise)
    except np.linalg.LinAlgError:
        return nothing_known
    if not (np.isfinite(step.variances).all() and (step.variances > 0.0).all()):
        return nothing_known
    deviations = np.sqrt(step.variances)
    middle, reach = shares.copy(), np.empty(len(shares))
    for group in groups_by_share(shares):
        times, is_unbiased = _half_width(step, group, repetitions, confidence)
        reach[group] = times * deviations[group]
        if is_unbiased:
            middle[group] += step.moved[group]
    # Stretched where they miss the estimate.
    return np.minimum(middle - reach, shares), np.maximum(middle + reach, shares)


def _half_width(
    step: LinearStep, group: NDArray[np.intp], repetitions: list[_Repetition], confidence: float
) -> tuple[float, bool]:
    """In standard deviations of a linear step; and whether the bar is around that step instead."""
    usual = -float(ndtri(0.5 * (1.0 - confidence)))
    error, of_first, unbiased = (
        np.clip(np.stack(parts)[:, group], -_FARTHEST, _FARTHEST) for parts in zip(*repetitions, strict=True)
    )
    square = max(_square(np.abs(errors), confidence, usual) for errors in (error, of_first))
    seen = float((step.moved[group] ** 2 / step.variances[group]).mean())
    chance = min(1.0, step.chance(group))
    # E moved^2 = E error^2 + E unbiased^2 - 2 E error * unbiased, and the unbiased one has variance 1.
    sure = seen - 1.0 + 2.0 * float((error * unbiased).mean()) + _CAUTION * chance
    around_estimate = usual * _LONGER * float(np.sqrt(max(square, sure, _LEAST_SQUARE)))
    around_step = _LONGER_UNBIASED * max(usual, float(np.quantile(np.abs(unbiased), confidence)))
    return min(around_estimate, around_step), around_estimate > around_step


def _square(sizes: Floats, confidence: float, usual: float) -> float:
    """The variance of a normal law whose quantiles are not below those of these errors."""
    far, near = np.quantile(sizes, [confidence, 0.6827])
    return float(max(far / usual, near)) ** 2


def _repetitions(table: TableEstimate, step: LinearStep, noise: Noise) -> list[_Repetition]:
    rng = np.random.default_rng(_SEED)
    variance, mean = np.maximum(table.variance, 1e-12), table.mean
    deviations, made = np.sqrt(step.variances), []
    for _ in range(int(np.clip(_STATES_IN_ALL // len(mean), _FEWEST, _MOST))):
        counts = np.floor(rng.gamma(mean**2 / variance) * variance / mean + rng.random(mean.shape))
        noisy = counts + _drawn(noise, rng, counts.shape)
        again = TableEstimate.of(noisy, noise, rank=table.rank)
        # A row without any transition is as estimated.
        truth = counts + 1e-6 * table.counts
        found = _step(again.counts / again.counts.sum(axis=1, keepdims=True), noisy, again, noise)
        true = LinearStep.stationary(truth / truth.sum(axis=1, keepdims=True))
        error, own = found.shares - true, np.sqrt(np.maximum(found.variances, 1e-300))
        made.append(_Repetition(error / own, error / deviations, (error + found.moved) / own))
    return made


def _step(rows: Floats, noisy: Floats, table: TableEstimate, noise: Noise) -> LinearStep:
    sizes, variance = table.mean.sum(axis=1), noise.deviation**2
    rows_known = sizes**2 / (sizes**2 + len(sizes) * variance)
    cells_known = table.mean / (table.mean + _HARDLY_ANY * variance)
    trust = np.maximum(rows_known[:, None] * cells_known, _LEAST_TRUST)
    return LinearStep.of(rows, noisy, sizes, noise.deviation, trust)


def _noise_of(rows: NoisyRows) -> Noise:
    if rows.times == 1:
        return rows.noise
    return Noise("gaussian", rows.noise.deviation * float(np.sqrt(rows.times)))


def _drawn(noise: Noise, rng: np.random.Generator, shape: tuple[int, ...]) -> Floats:
    """Noise for repetitions, in floating point: nothing secret is hidden by it."""
    if noise.kind == "gaussian":
        return np.asarray(np.rint(rng.normal(0.0, noise.scale, shape)))
    each = -np.expm1(-1.0 / noise.scale)
    return np.asarray(rng.geometric(each, shape) - rng.geometric(each, shape), dtype=np.float64)


def proved_reach(rows: NoisyRows, chain: Chain, confidence: float) -> Floats:
    """What no |pi_j - rho_j| exceeds, if in no row the noise is longer, or its sum larger, than it may be."""
    rho, size = chain.stationary(), len(chain)
    inverse = chain.group_inverse()
    mean = chain.to_numpy() @ inverse
    # [i, j]: Y_i u_ij, and the sum over k of the squares of u_ij, around the middle of each column.
    known = rows.counts @ inverse - rows.counts.sum(axis=1)[:, None] * mean
    middle = inverse.mean(axis=0)
    squares = ((inverse - middle) ** 2).sum(axis=0) + size * (mean - middle) ** 2
    each = 0.5 * (1.0 - confidence) / size
    length = length_reach(rows.noise, size, each, times=rows.times)
    fewest = rows.counts.sum(axis=1) - sum_reach(rows.noise, size * rows.times, each)
    # A frequency needs a record.
    fewest = np.maximum(fewest, 1.0)[:, None]
    # No P_i a_j is outside the range of a_j, whatever the noise.
    farthest = np.maximum(inverse.max(axis=0) - mean, mean - inverse.min(axis=0))
    moved = np.minimum((np.abs(known) + length * np.sqrt(squares)) / fewest, farthest) * _UP
    limits = np.minimum(1.0, moved.max(axis=0))
    for _ in range(_ROUNDS):
        # pi_i is at most rho_i plus its own limit: every round is a bound, and none is worse.
        better = np.minimum(limits, (rho + limits) @ moved * _UP)
        if (better > 0.999 * limits).all():
            break
        limits = better
    return np.asarray(limits, dtype=np.float64)
