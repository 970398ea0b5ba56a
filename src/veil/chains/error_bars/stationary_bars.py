"""Error bars for the stationary distribution behind noisy counts (counted_chain_intervals.md, 3 and 4).

Plausible counts are drawn from the posterior of the released table, hidden again, and estimated again: how
far those estimates are from their counts says how long the bars must be. The noisy counts themselves say, to
first order and without a model, how wrong the estimate is; where they disagree with the repetitions, the bars
grow. Where hardly any noise was added, what single noises do says how long they must be at least. Coverage is
measured (tests), not proved. The proved limits bound all noise at once and are much wider.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.special import ndtri

from veil.chains.error_bars.counted_rows import NoisyRows, length_reach, sum_reach
from veil.chains.estimation.held_out_means import MOST_HELD_OUT
from veil.chains.estimation.linear_step import LinearStep, groups_by_share
from veil.chains.estimation.transition_table import TableEstimate
from veil.core.arrays import Floats
from veil.core.numerics.count_grid import Noise
from veil.matrices.chain import Chain

# States that are looked at in all repetitions together, and the repetitions that one table gets.
_STATES_IN_ALL, _FEWEST, _MOST = 800, 3, 12
# Of large tables, whose states are many and whose estimates are dear.
_FEWEST_OF_LARGE = 2
_SEED = 29
# Repetitions leave out that the posterior itself is estimated.
_LONGER = 1.15
# Errors farther than this, in standard deviations, are of states that hardly occur.
_FARTHEST = 5.0
# By so many standard deviations of pure chance the noisy counts may contradict the repetitions.
_CHANCE = 1.0
# Cells with fewer transitions than this part of the noise's variance hardly take part in a linear step; nor
# do rows whose total is lost in noise.
_HARDLY_ANY, _LEAST_TRUST = 0.005, 0.1
# Where bars of the busiest states are this part of their shares or more, first order says little of them.
_BUSIEST, _TELLS_NOTHING = 60, 0.75
_FALLS_APART = "by the release, the chain may fall into parts between which nothing moves"
_SLOW = (
    "the release says too little of them: the chain moves so slowly between its parts, or has so few "
    "transitions, that bars would be about as long as the shares of time themselves"
)
# With no more noises than this in a cell and in a whole table, errors are rare and large, which no normal law
# describes.
_RARE, _FEW_NOISES, _DRAWS = 0.05, 20.0, 4_000
# Of a noise that is rare, no value beyond this is ever seen.
_FARTHEST_NOISE = 50
_ROUNDS = 60
_UP = 1.0 + 2.0**-40


class _Repetition(NamedTuple):
    """Of an estimate from plausible counts, by state.

    error: in standard deviations by its own posterior. of_first: by that of the release. surprise: the square
    of how far its noisy counts would move it, by the variance of their noise.
    """

    error: Floats
    of_first: Floats
    surprise: Floats

    def square(self, group: NDArray[np.intp], confidence: float) -> float:
        """The variance of a normal law whose quantiles are not below those of the errors of these states."""
        errors = np.abs(np.concatenate([self.error[group], self.of_first[group]]))
        far, near = np.quantile(np.minimum(errors, _FARTHEST), [confidence, 0.6827])
        return float(max(far / -ndtri(0.5 * (1.0 - confidence)), near)) ** 2


class StationaryBars(NamedTuple):
    """low, high: by state, each on its own; 0 and 1 where there are none. why: then the reason."""

    low: Floats
    high: Floats
    why: str | None = None

    @classmethod
    def none(cls, states: int, why: str) -> StationaryBars:
        return cls(np.zeros(states), np.ones(states), why)


def stationary_bars(rows: NoisyRows, chain: Chain, confidence: float) -> StationaryBars:
    """Bars for the share of time in each state behind a released chain, or none, with the reason."""
    noise = _noise_of(rows)
    table = TableEstimate.of(rows.counts, noise)
    shares = chain.stationary()
    try:
        step = _step(chain.to_numpy(), rows.counts, table, noise)
        usual = step.spread(table.variance)
        repetitions = _repetitions(table, usual, noise)
    except np.linalg.LinAlgError:
        return StationaryBars.none(len(shares), _FALLS_APART)
    if not (np.isfinite(step.variances).all() and (step.variances > 0.0).all()):
        return StationaryBars.none(len(shares), _FALLS_APART)
    reach = np.empty(len(shares))
    for group in groups_by_share(shares):
        # The middle one: in a few, hardly any transition leaves some state, as in no table that is likely.
        square = float(np.median([one.square(group, confidence) for one in repetitions]))
        # What the noisy counts say beyond what they say of repetitions.
        surprise = float((step.moved[group] ** 2 / step.variances[group]).mean())
        expected = float(np.mean([one.surprise[group] for one in repetitions]))
        # Of a mean of squares, chance is a part of what is expected.
        chance = _CHANCE * min(1.0, step.chance(group)) * max(1.0, expected)
        excess = max(0.0, surprise - expected - chance)
        reach[group] = _LONGER * np.sqrt(square * usual[group] ** 2 + excess * step.variances[group])
    reach *= -float(ndtri(0.5 * (1.0 - confidence)))
    reach = np.maximum(reach, _of_single_noises(rows, table, shares, confidence))
    busiest = np.argsort(-shares)[:_BUSIEST]
    if reach[busiest].sum() > _TELLS_NOTHING * shares[busiest].sum():
        return StationaryBars.none(len(shares), _SLOW)
    return StationaryBars(shares - reach, shares + reach)


def _repetitions(table: TableEstimate, usual: Floats, noise: Noise) -> list[_Repetition]:
    rng = np.random.default_rng(_SEED)
    variance, mean = np.maximum(table.variance, 1e-12), table.mean
    fewest = _FEWEST_OF_LARGE if len(mean) > MOST_HELD_OUT else _FEWEST
    made = []
    for _ in range(int(np.clip(_STATES_IN_ALL // len(mean), fewest, _MOST))):
        counts = np.floor(rng.gamma(mean**2 / variance) * variance / mean + rng.random(mean.shape))
        noisy = counts + _drawn(noise, rng, counts.shape)
        again = TableEstimate.of(noisy, noise, rank=table.rank)
        # A row without any transition is as estimated.
        truth = counts + 1e-6 * table.counts
        found = _step(again.counts / again.counts.sum(axis=1, keepdims=True), noisy, again, noise)
        true = LinearStep.stationary(truth / truth.sum(axis=1, keepdims=True))
        error = found.shares - true
        own = found.spread(again.variance)
        made.append(_Repetition(error / own, error / usual, found.moved**2 / found.variances))
    return made


def _of_single_noises(rows: NoisyRows, table: TableEstimate, shares: Floats, confidence: float) -> Floats:
    """How far a table with hardly any noise may be off: what its noises do, and how far it is estimated away.

    The noisy counts have errors of the first order that their noise makes; its law is public, and drawn from.
    Zero where noises are many.
    """
    states, cells = len(shares), rows.counts.size
    sizes = np.arange(-_FARTHEST_NOISE, _FARTHEST_NOISE + 1)
    chances = rows.noise.weights(sizes.astype(np.float64))
    chances /= chances.sum()
    chances[_FARTHEST_NOISE] = 0.0
    each = float(chances.sum())
    expected = each * rows.times * cells
    if each * rows.times > _RARE or expected > _FEW_NOISES:
        return np.zeros(states)
    counts = np.maximum(rows.counts, 0.0) + 1e-6 * table.counts
    as_they_stand = counts / counts.sum(axis=1, keepdims=True)
    step = LinearStep.of(as_they_stand, rows.counts, table.mean.sum(axis=1), rows.noise.deviation)
    away = np.abs(step.shares - shares)
    rng = np.random.default_rng(_SEED)
    numbers = rng.poisson(expected, _DRAWS)
    draw = np.repeat(np.arange(_DRAWS), numbers)
    if not len(draw):
        return away
    origins, targets = rng.integers(0, states, (2, len(draw)))
    moved = step.weights[origins] * rng.choice(sizes, len(draw), p=chances / each)
    by_origin, by_target = (
        np.bincount(draw * states + at, moved, _DRAWS * states).reshape(_DRAWS, states)
        for at in (origins, targets)
    )
    errors = np.abs(by_target @ step.inverse - by_origin @ step.mean)
    return np.asarray(away + np.quantile(errors, confidence, axis=0))


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
