"""Error bars for the true chain behind a release of counted transitions (counted_chain_intervals.md).

Truth is the chain P of the relative frequencies of the counted transitions, pi its stationary distribution.
Intervals for transitions need no model of the counts. Those for the stationary distribution have a coverage
that is measured (tests), not proved; the proved ones bound all noise at once, and are much wider.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.special import ndtri

from veil.chains.error_bars.counted_rows import (
    NoisyRows,
    SmoothedRows,
    noisy_rows,
    share_quantiles,
    smoothed_rows,
)
from veil.chains.error_bars.stationary_bars import proved_reach, stationary_bars
from veil.chains.mechanisms.private_chain import PrivateChain, Tables
from veil.chains.sequence_model import mechanism_of
from veil.core.arrays import Floats
from veil.core.checks import integer, within
from veil.core.errors import InvalidArgument
from veil.core.record import Release
from veil.matrices.chain import Chain
from veil.matrices.error_bars import ChainIntervals, matrix_chain_intervals
from veil.matrices.mechanisms.bordered_rows import BorderedRows
from veil.matrices.mechanisms.matrix_dirichlet import MatrixDirichlet
from veil.matrices.perturbation import FARTHEST, simultaneous_row_radii, stationary_radii
from veil.vectors.error_bars import beta_mean_limits, near_beta_mean_limits
from veil.vectors.simplex import Simplex

# Of what may fail, the part that is spent on not knowing how many records a Dirichlet row has.
FOR_SIZES = 0.1
# From so many entries on, exact beta quantiles would take seconds.
_MANY = 1_000
# The first step leaves out what is of second order: the tails are taken a little lighter than asked for.
_LIGHTER = 0.75
# What the smoothing of a row may have been holds but so often. The errors of all rows are added up as if they
# went the same way, which makes up for it.
_UNLIKELY = 0.2
_COARSE = 0.1
_UP = 1.0 + 2.0**-40


def intervals(
    release: Release[Any],
    *,
    confidence: float = 0.95,
    records: int | None = None,
    draws: int | None = None,
) -> ChainIntervals:
    """Error bars for the true transitions and the true stationary distribution behind a released chain.

    What is true: the relative frequencies of the counted transitions. Each interval covers on its own
    (counted_chain_intervals.md).

    records: the public number of transitions, where the release does not state it. draws: how many plausible
    matrices are drawn for the published form; the others need none.

    >>> from veil import chains
    >>> counts = chains.TransitionCounts([[800, 200], [100, 400]], ["home", "work"])
    >>> bars = chains.intervals(chains.release(counts, epsilon=1.0, rng=1))
    >>> bars.transitions.shape, bars.stationary.shape
    ((2, 2, 2), (2, 2))
    """
    mechanism, chain = mechanism_of(release), release.value
    least, most = np.nextafter([0.0, 1.0], 0.5).tolist()
    confidence = within("confidence", confidence, least, most, expected="a number above 0 and below 1")
    if mechanism.strata:
        raise InvalidArgument(
            "release",
            expected="a chain of one table of transitions",
            found="one of several strata of users",
            hint="What their chain estimates depends on the lengths too; there are no error bars for it yet.",
        )
    part = mechanism.first["transitions"]
    if isinstance(part.mechanism, BorderedRows):
        # Without smoothing and with public k, its rows are those of a released matrix.
        matrix = MatrixDirichlet(
            part.mechanism.k, Simplex(part.mechanism.size, floor=min(part.mechanism.floor))
        )
        return matrix_chain_intervals(matrix, chain, confidence=confidence, draws=draws)
    why = None
    if part.noise is None:
        estimate, bars, proved = _smoothed_rows_bars(mechanism, release, confidence)
    else:
        estimate = chain
        noisy, rho = noisy_rows(mechanism, release.tables), chain.stationary()
        reach = proved_reach(noisy, chain, confidence)
        found = stationary_bars(noisy, chain, confidence)
        bars, why = (found.low, found.high), found.why
        proved = rho - reach, rho + reach
    known = release.records if records is None else integer("records", records, least=1)
    transitions = counted_transitions(mechanism, release.tables, confidence, records=known)
    guess = estimate.to_numpy()
    return ChainIntervals(
        estimate=estimate,
        # Stretched where they miss the estimate, which borrows from other cells.
        transitions=np.stack(
            [np.minimum(transitions[..., 0], guess), np.maximum(transitions[..., 1], guess)], axis=-1
        ),
        stationary=np.clip(np.stack(bars, axis=-1), 0.0, 1.0),
        proved_stationary=np.clip(np.stack(proved, axis=-1), 0.0, 1.0),
        confidence=confidence,
        no_stationary=why,
    )


# Transitions


def counted_transitions(
    mechanism: PrivateChain, tables: Tables, confidence: float, *, records: int | None = None
) -> Floats:
    """[i, j] -> (low, high) for the share of j among the counted transitions from i, each on its own."""
    part, failure = mechanism.first["transitions"], 1.0 - confidence
    if part.is_noisy_counts:
        ends = _noisy_limits(noisy_rows(mechanism, tables), 0.5 * failure)
    elif isinstance(part.mechanism, BorderedRows):
        rows = np.asarray(tables[part.key], dtype=np.float64)
        ends = beta_mean_limits(np.array(part.mechanism.k)[:, None], rows, 0.5 * failure)
    else:
        smoothed = smoothed_rows(mechanism, tables, FOR_SIZES * failure, records)
        ends = _smoothed_limits(smoothed, 0.5 * (1.0 - FOR_SIZES) * failure)
    return np.asarray(np.clip(np.stack(ends, axis=-1), 0.0, 1.0), dtype=np.float64)


def _noisy_limits(rows: NoisyRows, tail: float) -> tuple[Floats, Floats]:
    quantiles = share_quantiles(rows.noise, rows.counts.shape[1], rows.times, tail)
    shares, reach = quantiles.shares, quantiles.reach
    low, high = np.empty(rows.counts.shape), np.empty(rows.counts.shape)
    places = np.arange(rows.counts.shape[1])
    for row, counts in enumerate(rows.counts):
        total = float(counts.sum())
        # A count is at least 0 and at most the row's: a noisy one outside is no reason for a shorter bar.
        # Low: the first p at which counts - p total is not above its quantile.
        excess = np.minimum(counts, total)[:, None] - shares * total - reach
        # High: the last p at which it is not below minus its quantile. What goes elsewhere has the share
        # 1 - p, and its noise the same law read from the other end.
        lack = shares * total - np.maximum(counts, 0.0)[:, None] - reach
        for limits, over, grid in ((low, excess, shares), (high, lack[:, ::-1], shares[::-1])):
            # Where each count first is not over its quantile, along the grid; linear in between.
            at = np.argmax(over <= 0.0, axis=1)
            before = np.maximum(at - 1, 0)
            above, below = over[places, before], over[places, at]
            part = np.divide(above, above - below, out=np.ones_like(above), where=at > 0)
            limits[row] = grid[before] + part * (grid[at] - grid[before])
    return low, high


# Dirichlet rows of counts


def _smoothed_rows_bars(
    mechanism: PrivateChain, release: Release[Any], confidence: float
) -> tuple[Chain, tuple[Floats, Floats], tuple[Floats, Floats]]:
    """The best guess of the true chain, and two kinds of intervals for its stationary distribution."""
    chain = release.value
    rows = smoothed_rows(mechanism, release.tables, _UNLIKELY, release.records)
    near = Chain(_unsmoothed(rows), states=chain.states)
    # Without the sizes of the rows nobody knows how much smoothing there is to undo.
    estimate = near if rows.sizes_known else chain
    low, high = _smoothed_bars(rows, near, confidence)
    guess, rho = estimate.stationary(), chain.stationary()
    failure = FOR_SIZES * (1.0 - confidence) / len(chain)
    sure = smoothed_rows(mechanism, release.tables, failure, release.records)
    reach = stationary_radii(chain, _smoothed_radii(sure, confidence))
    # Stretched where they miss the best guess.
    bars = np.minimum(low, guess), np.maximum(high, guess)
    return estimate, bars, (rho - reach, rho + reach)


def _smoothed_limits(rows: SmoothedRows, tail: float) -> tuple[Floats, Floats]:
    even = 1.0 / rows.rows.shape[1]
    quick = rows.rows.size > _MANY and rows.prior >= 1.0
    limits = near_beta_mean_limits if quick else beta_mean_limits
    low, high = limits(rows.least[:, None], rows.rows, tail)
    farthest, nearest = rows.stretch(rows.least)[:, None], rows.stretch(rows.most)[:, None]
    # Bars of the smoothed entry are longest at the least k; how far it was drawn in is known within bounds.
    low, high = low - even, high - even
    return (
        even + low * np.where(low < 0.0, farthest, nearest),
        even + high * np.where(high > 0.0, farthest, nearest),
    )


def _unsmoothed(rows: SmoothedRows) -> Floats:
    """The rows with the smoothing undone: by what it was, or else by half of what is possible."""
    even = 1.0 / rows.rows.shape[1]
    stretch = 0.5 * (rows.stretch(rows.least) + rows.stretch(rows.most))
    if rows.sizes_known:
        stretch = rows.stretch(0.5 * (rows.least + rows.most))
    # Beyond the point where an entry is 0, noise speaks. In long rows some entry gets there early.
    first = even / np.maximum(even - rows.rows.min(axis=1), 1e-300)
    plain = even + (rows.rows - even) * np.minimum(stretch, np.maximum(1.0, 2.0 * first))[:, None]
    plain = np.maximum(plain, 1e-12)
    return np.asarray(plain / plain.sum(axis=1, keepdims=True), dtype=np.float64)


def _smoothed_bars(rows: SmoothedRows, estimate: Chain, confidence: float) -> tuple[Floats, Floats]:
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
    reach = -float(ndtri(0.5 * (1.0 - confidence) * _LIGHTER)) * np.sqrt(spread)
    return rho + low - reach, rho + high + reach


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
