"""Intervals for the true relative frequencies of counted transitions (counted_chain_intervals.md)."""

from __future__ import annotations

import numpy as np

from veil.chains.error_bars.counted_rows import (
    NoisyRows,
    SmoothedRows,
    Tables,
    noisy_rows,
    smoothed_rows,
    transitions_part,
)
from veil.chains.error_bars.noise_quantiles import Quantiles, share_quantiles
from veil.chains.mechanisms.private_chain import PrivateChain
from veil.core.arrays import Floats
from veil.matrices.mechanisms.bordered_rows import BorderedRows
from veil.vectors.error_bars import beta_mean_limits, near_beta_mean_limits

# Of what may fail, the part that is spent on not knowing how many records a Dirichlet row has.
FOR_SIZES = 0.1
# From so many entries on, exact beta quantiles would take seconds.
_MANY = 1_000


def counted_transitions(
    mechanism: PrivateChain, tables: Tables, confidence: float, *, records: int | None = None
) -> Floats:
    """[i, j] -> (low, high) for the share of j among the counted transitions from i, each on its own."""
    part = transitions_part(mechanism)
    failure = 1.0 - confidence
    if part.is_noisy_counts:
        low, high = _noisy_limits(noisy_rows(mechanism, tables), 0.5 * failure)
    elif isinstance(part.mechanism, BorderedRows):
        rows = np.asarray(tables[part.key], dtype=np.float64)
        low, high = beta_mean_limits(np.array(part.mechanism.k)[:, None], rows, 0.5 * failure)
    else:
        smoothed = smoothed_rows(mechanism, tables, FOR_SIZES * failure, records)
        low, high = _smoothed_limits(smoothed, 0.5 * (1.0 - FOR_SIZES) * failure)
    return np.asarray(np.clip(np.stack([low, high], axis=-1), 0.0, 1.0), dtype=np.float64)


def _noisy_limits(rows: NoisyRows, tail: float) -> tuple[Floats, Floats]:
    quantiles = share_quantiles(rows.noise, rows.counts.shape[1], rows.times, tail)
    low, high = np.empty(rows.counts.shape), np.empty(rows.counts.shape)
    for row, counts in enumerate(rows.counts):
        total = float(counts.sum())
        # A count is at least 0 and at most the row's: a noisy one outside is no reason for a shorter bar.
        low[row] = _least_share(np.minimum(counts, total), total, quantiles)
        # What goes elsewhere has the share 1 - p, and its noise the same law read from the other end.
        high[row] = _largest_share(np.maximum(counts, 0.0), total, quantiles)
    return low, high


def _least_share(counts: Floats, total: float, quantiles: Quantiles) -> Floats:
    """The first p at which counts - p total is not above its quantile."""
    excess = counts[:, None] - quantiles.shares * total - quantiles.reach
    return _crossing(excess, quantiles.shares)


def _largest_share(counts: Floats, total: float, quantiles: Quantiles) -> Floats:
    """The last p at which counts - p total is not below minus its quantile."""
    lack = quantiles.shares * total - counts[:, None] - quantiles.reach
    return _crossing(lack[:, ::-1], quantiles.shares[::-1])


def _crossing(excess: Floats, shares: Floats) -> Floats:
    """Where each row of excess first is 0 or less, along the shares; linear in between."""
    at = np.argmax(excess <= 0.0, axis=1)
    before = np.maximum(at - 1, 0)
    rows = np.arange(len(excess))
    above, below = excess[rows, before], excess[rows, at]
    part = np.divide(above, above - below, out=np.ones_like(above), where=at > 0)
    return np.asarray(shares[before] + part * (shares[at] - shares[before]), dtype=np.float64)


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
