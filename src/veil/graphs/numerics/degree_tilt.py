"""Making the probabilities of pairs agree with noisy degrees.

Let the pairs be independent with log-odds x_ij given the release, and let z_i = sum_j a_ij + noise of
standard deviation s be a separate, noisy answer for each node's degree. The likeliest correction adds a tilt
to every pair of a node, x_ij + t_i + t_j, with

    t_i = (1 + tau V_i) (z_i - D_i) / s^2,     D_i = sum_j p_ij,  V_i = sum_j p_ij (1 - p_ij)

(Lagrange: a tilt is the price of the degree that is missing). tau is how uncertain the log-odds of all of
a node's pairs are together, as a variance: without it the tilt would trust the x_ij as if each were known by
itself. The equations are solved by damped Newton steps, all nodes at once. The noise is taken as normal.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from veil.core.numerics.compiled import compiled

Singles = NDArray[np.float32]
Doubles = NDArray[np.float64]

SHARED_VARIANCE = 0.5
_ROUNDS = 12
_DAMPING = 0.6
_LONGEST = 1.0


@compiled
def _sums(odds: Singles, tilt: Doubles, total: Doubles, variance: Doubles) -> None:
    """D and V of every node; pairs that do not exist have the log-odds -inf."""
    for i in range(odds.shape[0]):
        degree = spread = 0.0
        for j in range(odds.shape[1]):
            p = 1.0 / (1.0 + np.exp(-(odds[i, j] + tilt[i] + tilt[j])))
            degree += p
            spread += p * (1.0 - p)
        total[i] = degree
        variance[i] = spread


def degree_tilt(odds: Singles, degrees: Doubles, deviation: float) -> Doubles:
    """The tilt of every node of an undirected graph."""
    tilt = np.zeros(len(odds))
    total, variance = np.empty_like(tilt), np.empty_like(tilt)
    noise = deviation**2
    for _ in range(_ROUNDS):
        _sums(odds, tilt, total, variance)
        trust = (1.0 + SHARED_VARIANCE * variance) / noise
        missing = trust * (degrees - total) - tilt
        step = missing / (1.0 + trust * variance)
        tilt += _DAMPING * np.clip(step, -_LONGEST, _LONGEST)
    return tilt
