"""How often each state is entered and left, behind noisy counts of very many states.

Every state has noise, those too that nobody visits, and most have few visits. Clipped at zero, the noise of
these would be most of what is left. The answer is the posterior mean under the law of counts that makes the
noisy ones likeliest (empirical Bayes), learnt from how many noisy counts there are of each value.
"""

from __future__ import annotations

import numpy as np

from veil.core.arrays import Floats, Places
from veil.core.numerics.denoise import Noise

# Beyond so many deviations of the noise a count is what it is.
_CLEAR = 30.0
# Points of the law of counts for one deviation of the noise, and how far apart they are where it is small.
_FINE, _GROWTH = 4.0, 1.04
_ROUNDS = 300
# A state with nothing to its name is still a state.
_LEAST = 1e-3


def counts_behind(noisy: Places, noise: Noise) -> Floats:
    """The expected count of each state, positive."""
    values, places, often = np.unique(noisy, return_inverse=True, return_counts=True)
    clear = max(_CLEAR * noise.deviation, 4.0)
    known = values.astype(np.float64)
    doubtful = known <= clear
    if doubtful.any():
        grid = count_points(noise, clear + 8.0 * noise.deviation)
        chances = law_of(noise, known[doubtful][:, None] - grid)
        known[doubtful] = posterior_means(chances, often[doubtful].astype(np.float64), grid)
    return np.maximum(known, _LEAST)[places]


def count_points(noise: Noise, most: float) -> Floats:
    """Counts from 0 on, close where the noise is small and ever further apart."""
    step, points = max(1.0, noise.deviation / _FINE), [0.0]
    while points[-1] < most:
        points.append(points[-1] + max(step, np.floor(points[-1] * (_GROWTH - 1.0))))
    return np.array(points)


def law_of(noise: Noise, gaps: Floats) -> Floats:
    """The probability that the noise is each of these whole numbers; between them, interpolated."""
    return noise.weights(gaps) / float(noise.weights(np.arange(-_span(noise), _span(noise) + 1.0)).sum())


def _span(noise: Noise) -> int:
    return int(np.ceil(40.0 * max(noise.deviation, 1.0)))


def posterior_means(chances: Floats, often: Floats, grid: Floats) -> Floats:
    """Of each observation the mean count behind it, under the law of counts of highest likelihood.

    chances: [observation, count], of the observation given the count. often: how often it was made.
    """
    weights = learnt(chances, often)
    joint = chances * weights
    return np.asarray((joint @ grid) / joint.sum(axis=1))


def learnt(chances: Floats, often: Floats, start: Floats | None = None) -> Floats:
    """The weights of the counts under which what was observed is likeliest, by EM."""
    weights = np.full(chances.shape[1], 1.0 / chances.shape[1]) if start is None else start
    total = float(often.sum())
    for _ in range(_ROUNDS):
        before = weights
        weights = before * ((often / np.maximum(chances @ before, 1e-300)) @ chances) / total
        if np.abs(weights - before).max() < 1e-7:
            break
    return weights
