"""Means of a table of transitions in which some states prefer each other (estimates.md, section 1).

    log mean[i, j] = log independent[i, j] + a_i + b_j + u_i . v_j

The vectors u and v are places in a space of few dimensions: neighbourhoods, blocks and directions of travel
all show as products. Rows and columns are fitted in turn, by damped Newton steps on a quasi-likelihood whose
variance is that of the noise and of the counts together, so that noise needs no removal first. Effects have
normal priors whose variances are learnt; what is left unknown of one side widens the fit of the other.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from veil.core.arrays import Booleans, Floats

# Variance of a count around its mean, beyond Poisson's, as a multiple of the mean squared.
_SPREAD = 0.5
_ROUNDS, _LEARNT_FROM = 15, 3
# No step of an effect is longer than this: means change by a factor of 2 at most.
_LONGEST_STEP = 0.7
_MOST_LOG = 25.0
_LEAST_VARIANCE, _LEAST_MARGIN_VARIANCE = 1e-4, 0.01
_POWER_ROUNDS = 12
_TINY = 1e-9


class _Side(NamedTuple):
    """Effects of the rows, or of the columns: [state, 1 + rank], the margin first, and their uncertainty."""

    effects: Floats
    covariances: Floats
    variances: Floats

    @classmethod
    def start(cls, directions: Floats) -> _Side:
        states, rank = directions.shape
        effects = np.hstack([np.zeros((states, 1)), 0.5 * np.sqrt(states) * directions])
        return cls(effects, np.zeros((states, rank + 1, rank + 1)), np.ones(rank + 1))

    def scaled(self, factors: Floats) -> _Side:
        """The effects in other units."""
        covariances = self.covariances * factors[:, None] * factors
        return _Side(self.effects * factors, covariances, self.variances * factors**2)


def bilinear_means(noisy: Floats, used: Booleans, independent: Floats, deviation: float, rank: int) -> Floats:
    """Positive means of all cells, from the noisy counts of the cells that are used.

    independent: the means if rows and columns were independent. deviation: of the noise on every cell.
    """
    base = np.log(np.maximum(independent, _TINY))
    variance = deviation**2 + _TINY
    usual = np.sqrt(variance + independent + _SPREAD * independent**2)
    left, right = _directions(np.where(used, (noisy - independent) / usual, 0.0), rank)
    rows, columns = _Side.start(left), _Side.start(right)
    for turn in range(_ROUNDS):
        learning = turn >= _LEARNT_FROM
        rows = _fitted(rows, columns, base, noisy, used, variance, learning=learning)
        columns = _fitted(columns, rows, base.T, noisy.T, used.T, variance, learning=learning)
        # Only the products matter: both sides get the same units.
        ratio = (columns.variances / rows.variances) ** 0.25
        ratio[0] = 1.0
        rows, columns = rows.scaled(ratio), columns.scaled(1.0 / ratio)
    logs = base + rows.effects[:, :1] + columns.effects[:, 0] + rows.effects[:, 1:] @ columns.effects[:, 1:].T
    return np.asarray(np.exp(np.clip(logs, -_MOST_LOG, _MOST_LOG)))


def _fitted(
    side: _Side,
    other: _Side,
    base: Floats,
    noisy: Floats,
    used: Booleans,
    variance: float,
    *,
    learning: bool,
) -> _Side:
    """One Newton step for every row, given the columns."""
    size = side.effects.shape[1]
    features = other.effects.copy()
    features[:, 0] = 1.0
    unsure = other.covariances.copy()
    unsure[:, 0, :] = unsure[:, :, 0] = 0.0
    logs = base + other.effects[:, 0] + side.effects @ features.T
    means = np.exp(np.clip(logs, -_MOST_LOG, _MOST_LOG)) * used
    slopes = means / (variance + means + _SPREAD * means**2)
    weights = means * slopes
    outer = (features[:, :, None] * features[:, None, :]).reshape(len(features), -1)
    widened = (weights @ unsure.reshape(len(features), -1)).reshape(-1, size, size)
    prior = np.diag(1.0 / side.variances)
    curvature = (weights @ outer).reshape(-1, size, size) + widened + prior
    pull = ((noisy - means) * slopes) @ features - side.effects @ prior
    pull -= np.einsum("ikl,il->ik", widened, side.effects)
    covariances = np.asarray(np.linalg.inv(curvature), dtype=np.float64)
    steps = np.einsum("ikl,il->ik", covariances, pull)
    longest = np.abs(steps).max(axis=1, keepdims=True)
    effects = side.effects + steps * np.minimum(1.0, _LONGEST_STEP / np.maximum(longest, _TINY))
    variances = side.variances
    if learning:
        spread = (effects**2).mean(axis=0) + covariances.diagonal(axis1=1, axis2=2).mean(axis=0)
        variances = np.maximum(spread, _LEAST_VARIANCE)
        variances[0] = max(variances[0], _LEAST_MARGIN_VARIANCE)
    return _Side(effects, covariances, variances)


def _directions(residuals: Floats, rank: int) -> tuple[Floats, Floats]:
    """The leading singular vectors, by power iteration from a fixed start."""
    right = np.random.default_rng(0).standard_normal((residuals.shape[1], rank))
    for _ in range(_POWER_ROUNDS):
        left, _ = np.linalg.qr(residuals @ right)
        right, _ = np.linalg.qr(residuals.T @ left)
    small_left, _, small_right = np.linalg.svd(left.T @ residuals @ right)
    return left @ small_left, right @ small_right.T
