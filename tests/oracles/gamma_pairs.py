"""Gamma pairs by brute force: E_epsilon of products of Gamma(x + c) against Gamma(x), or of the reverse."""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import cache

import numpy as np
from numpy.polynomial.legendre import leggauss
from numpy.typing import NDArray
from scipy.special import gammainc, gammaincc, gammaln

Floats = NDArray[np.float64]
_nodes = cache(leggauss)


def one(x: float, c: float, epsilon: Floats | float, *, rises: bool = True) -> Floats:
    """Gamma(x + c) against Gamma(x), or the reverse, at real epsilons: closed forms that cancel to 1e-15."""
    points = np.asarray(epsilon, dtype=np.float64)
    constant = gammaln(x + c) - gammaln(x)
    with np.errstate(over="ignore", invalid="ignore"):
        if rises:
            edge = np.exp((points + constant) / c)
            delta = gammaincc(x + c, edge) - np.exp(points) * gammaincc(x, edge)
        else:
            edge = np.exp((constant - points) / c)
            delta = gammainc(x, edge) - np.exp(points) * gammainc(x + c, edge)
    return np.asarray(np.nan_to_num(np.maximum(delta, 0.0)), dtype=np.float64)


def two(x: float, shifts: tuple[float, float], epsilon: float, *, rises: bool = True) -> float:
    """Two such pairs together: the one's curve, averaged over the loss of the other by quadrature."""
    nodes, weights = _nodes(1500)
    first, second = shifts
    shape = x + second if rises else x
    low, high = max(-40.0 / shape - 3.0, -3000.0), math.log(shape + 60.0 + 12.0 * math.sqrt(shape + 1.0))
    u = low + (high - low) * (nodes + 1.0) / 2.0
    density = np.exp(shape * u - np.exp(u) - gammaln(shape))
    loss = second * u - (gammaln(x + second) - gammaln(x))
    rest = one(x, first, epsilon - (loss if rises else -loss), rises=rises)
    return float((weights * (high - low) / 2.0 * density * rest).sum())


def drawn(
    x: float, gains: Sequence[float], losses: Sequence[float], epsilon: float, *, samples: int, seed: int
) -> tuple[float, float]:
    """Any number of entries that gain, and of others that lose, by Monte Carlo: the mean and its error.

    E_epsilon is the mean of 1 - e^(epsilon - loss), where that is positive, over draws of P.
    """
    rng = np.random.default_rng(seed)
    loss = np.zeros(samples)
    for c, rises in [*((c, True) for c in gains), *((c, False) for c in losses)]:
        shape = x + c if rises else x
        # The log of a gamma variable, also where the variable itself is below all floats.
        logs = np.log(rng.gamma(shape + 1.0, size=samples)) + np.log(rng.random(samples)) / shape
        one_loss = c * logs - (gammaln(x + c) - gammaln(x))
        loss += one_loss if rises else -one_loss
    excess = np.maximum(0.0, -np.expm1(np.minimum(0.0, epsilon - loss)))
    return float(excess.mean()), float(excess.std() / math.sqrt(samples))
