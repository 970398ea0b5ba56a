"""What the way back says of the way there (estimates.md, section 1).

Where many go from one state to another, many come back: on most tables a cell is more like the cell across
the diagonal than any model of few dimensions says. How much more is learnt, by regression.
"""

from __future__ import annotations

import numpy as np

from veil.core.arrays import Booleans, Floats

_STEPS, _LONGEST_STEP, _SETTLED = 40, 0.3, 1e-4
# Of a count around its mean, beyond Poisson's variance, as a multiple of the mean squared.
_SPREAD = 0.5
# Farther than this, as a logarithm, no cell is from its mean.
_FARTHEST = 20.0
_MOST_LOG = 20.0


def reverse_means(noisy: Floats, used: Booleans, means: Floats, counts: Floats, deviation: float) -> Floats:
    """Means of all cells by the means of a model, and by how far the cells across exceed theirs.

    counts: estimates by that model. A cell's own noisy count is in its new mean only through the model.
    """
    logs = np.log(means)
    excess = np.clip(np.log(counts / means), -_FARTHEST, _FARTHEST).T
    features = np.stack([np.ones_like(logs), logs, excess, excess * logs, np.maximum(excess, 0.0)])
    start = np.array([0.0, 1.0, 0.0, 0.0, 0.0])
    slopes = log_linear_slopes(features[:, used].T, noisy[used], deviation, start)
    return np.asarray(np.exp(np.clip(np.tensordot(slopes, features, 1), -_MOST_LOG, _MOST_LOG)))


def log_linear_slopes(features: Floats, noisy: Floats, deviation: float, start: Floats) -> Floats:
    """Slopes of the logarithms of means: damped Newton steps on a quasi-likelihood, near the start."""
    slopes = start
    for _ in range(_STEPS):
        means = np.exp(np.clip(features @ slopes, -_MOST_LOG, _MOST_LOG))
        weights = means / (deviation**2 + means + _SPREAD * means**2 + 1e-9)
        pull = features.T @ ((noisy - means) * weights) - (slopes - start)
        curvature = (features * (means * weights)[:, None]).T @ features + np.eye(len(start))
        step = np.linalg.solve(curvature, pull)
        step *= min(1.0, _LONGEST_STEP / max(float(np.abs(step).max()), 1e-12))
        slopes = slopes + step
        if np.abs(step).max() < _SETTLED:
            break
    return np.asarray(slopes)
