"""Means of noisy counts by regression on what is known of each cell without its own count (estimates.md).

    log mean = offset + level + slopes . standardised predictors

Damped Newton steps on a quasi-likelihood of variance (noise + mean + spread mean^2), with normal priors of
the slopes. The spread is learnt: where counts are scattered widely around any mean, single cells pull less.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple, Self

import numpy as np
from numpy.typing import NDArray

from veil.core.arrays import Floats

MOST_LOG = 20.0
# Cells of a fit: more cost time and hardly change it. Half of them are those of the largest offsets.
_MOST_CELLS, _SEED = 30_000, 0
_STEPS, _SETTLED = 40, 2e-3
# No slope moves by more at a time, nor do the means, on average by their weights, as logarithms.
_LONGEST_SLOPE, _LONGEST_LOG = 1.0, 0.5
_SPREADS, _FIRST_SPREAD, _LEAST_SPREAD, _MOST_SPREAD, _SAME_SPREAD = 3, 0.5, 0.1, 30.0, 0.1
_LEVEL_PRIOR = 1e-3
_TINY = 1e-9


class LogLinear(NamedTuple):
    """A fitted regression. middles, scales: of the predictors. slopes: the level first."""

    middles: Floats
    scales: Floats
    slopes: Floats

    @classmethod
    def fitted(
        cls, offsets: Floats, predictors: Sequence[NDArray[np.floating[Any]]], noisy: Floats, deviation: float
    ) -> Self:
        """Of cells, each with an offset and a noisy count. deviation: of the noise on every cell."""
        some = _cells(offsets)
        chosen = np.stack([predictor[some] for predictor in predictors], axis=1).astype(np.float64)
        middles, scales = chosen.mean(axis=0), chosen.std(axis=0) + _TINY
        features = np.hstack([np.ones((len(some), 1)), (chosen - middles) / scales])
        slopes, spread = np.zeros(features.shape[1]), _FIRST_SPREAD
        for _ in range(_SPREADS):
            slopes = _newton(slopes, features, offsets[some], noisy[some], deviation, spread)
            means = _exp(offsets[some] + features @ slopes)
            found = _spread(means, noisy[some], deviation, spread)
            if abs(np.log(found / spread)) < _SAME_SPREAD:
                break
            spread = found
        return cls(middles, scales, slopes)

    def means(self, offsets: Floats, predictors: Sequence[NDArray[np.floating[Any]]]) -> Floats:
        """Means of cells with these offsets and predictors."""
        steps = self.slopes[1:] / self.scales
        logs = offsets + (self.slopes[0] - self.middles @ steps)
        for step, predictor in zip(steps, predictors, strict=True):
            logs += step * predictor
        return _exp(logs)


def _cells(offsets: Floats) -> NDArray[np.intp]:
    """Which cells are fitted: chosen without a look at their counts."""
    if len(offsets) <= _MOST_CELLS:
        return np.arange(len(offsets))
    order, half = np.argsort(-offsets, kind="stable"), _MOST_CELLS // 2
    rest = np.random.default_rng(_SEED).choice(order[half:], _MOST_CELLS - half, replace=False)
    return np.sort(np.concatenate([order[:half], rest]))


def _newton(
    slopes: Floats, features: Floats, offsets: Floats, noisy: Floats, deviation: float, spread: float
) -> Floats:
    prior = np.ones(len(slopes))
    prior[0] = _LEVEL_PRIOR
    for _ in range(_STEPS):
        means = _exp(offsets + features @ slopes)
        pulls = means / (deviation**2 + means + spread * means**2 + _TINY)
        weights = means * pulls
        pull = features.T @ ((noisy - means) * pulls) - prior * slopes
        curvature = (features * weights[:, None]).T @ features
        step = np.linalg.solve(curvature + np.diag(prior), pull)
        moved = np.sqrt(max(float(step @ curvature @ step), 0.0) / max(float(weights.sum()), _TINY))
        farthest = max(float(np.abs(step).max()), _TINY)
        step = step * min(1.0, _LONGEST_LOG / max(moved, _TINY), _LONGEST_SLOPE / farthest)
        slopes = slopes + step
        if np.abs(step).max() < _SETTLED:
            break
    return slopes


def _spread(means: Floats, noisy: Floats, deviation: float, before: float) -> float:
    """By the squares of what is left: the variance of a count around its mean, by the mean squared."""
    weights = (means / (deviation**2 + means + before * means**2 + _TINY)) ** 2
    excess = float((weights * ((noisy - means) ** 2 - deviation**2 - means)).sum())
    return float(np.clip(excess / max(float((weights * means**2).sum()), _TINY), _LEAST_SPREAD, _MOST_SPREAD))


def _exp(logs: Floats) -> Floats:
    return np.asarray(np.exp(np.clip(logs, -MOST_LOG, MOST_LOG)))
