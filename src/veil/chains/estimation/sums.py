"""Sums of estimated counts that agree with what noisy counts say of them (estimates.md, section 2).

The stationary distribution is a function of sums. Two things are known of them beyond what single cells
say: how many transitions there are in all cells together that hold few, and that about as many lead to a
state as away from it. How far the two differ is learnt from the noisy sums.
"""

from __future__ import annotations

import numpy as np

from veil.core.arrays import Floats

# How wrong the model may be about all small cells together, as a part of them.
_UNSURE_OF_SMALL = 0.5
# No sum or cell is changed by more than these factors.
_LEAST_FACTOR, _MOST_FACTOR = 0.2, 2.0
# How unequal departures and arrivals of a state may be: relative to both, and as a part of pure chance.
_RELATIVE = (0.0, 0.003, 0.01, 0.03, 0.06, 0.1, 0.2, 0.4, 0.8, 1.6, 3.2)
_OF_CHANCE = (0.0, 0.03, 0.1, 0.3, 1.0)
_TINY = 1e-9


def few_in_small_cells(counts: Floats, means: Floats, noisy: Floats, deviation: float) -> Floats:
    """Posterior means whose sum, over all cells that are small by their prior means, is near the noisy one.

    A law that is learnt for counts that cannot be negative puts a little too much into every cell, and there
    are many of them. The diagonal is left as it is.
    """
    small = means < deviation
    np.fill_diagonal(small, False)
    held, seen = float(counts[small].sum()), float(noisy[small].sum())
    unsure = (_UNSURE_OF_SMALL * held) ** 2
    wanted = (seen - held) * unsure / (unsure + deviation**2 * small.sum() + _TINY)
    parts = np.where(small, np.minimum(counts, deviation), 0.0)
    factor = np.clip(1.0 + wanted / max(float(parts.sum()), _TINY), _LEAST_FACTOR, _MOST_FACTOR)
    return np.asarray(counts + (factor - 1.0) * parts)


def balanced(counts: Floats, variances: Floats, noisy: Floats, deviation: float) -> Floats:
    """Posterior means given that departures and arrivals of each state are about equal, as far as they are.

    Conditioning normal cells of these means and variances on normal differences of their sums.
    """
    moving, unsure = _off_diagonal(counts), _off_diagonal(variances)
    usual = np.maximum(0.5 * (moving.sum(axis=1) + moving.sum(axis=0)), 1e-3)
    spread = _imbalance(noisy.sum(axis=1) - noisy.sum(axis=0), usual, deviation)
    system = np.diag(unsure.sum(axis=1) + unsure.sum(axis=0) + spread + _TINY * (1.0 + unsure.sum()))
    prices = np.linalg.solve(system - unsure - unsure.T, moving.sum(axis=1) - moving.sum(axis=0))
    moved = moving - unsure * (prices[:, None] - prices)
    return np.asarray(np.maximum(moved, _LEAST_FACTOR * moving) + np.diag(np.diag(counts)))


def _imbalance(differences: Floats, usual: Floats, deviation: float) -> Floats:
    """The variance of departures less arrivals of each state: the mean of what its likelihood allows."""
    noise = 2.0 * (len(usual) - 1) * deviation**2
    spreads = np.array([(r * usual) ** 2 + 2.0 * c * usual for r in _RELATIVE for c in _OF_CHANCE])
    variances = spreads + noise + _TINY
    scores = -0.5 * (np.log(variances) + differences**2 / variances).sum(axis=1)
    weights = np.exp(scores - scores.max())
    return np.asarray(weights @ spreads / weights.sum())


def _off_diagonal(table: Floats) -> Floats:
    return np.asarray(np.where(np.eye(len(table), dtype=bool), 0.0, table))
