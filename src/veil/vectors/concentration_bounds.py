"""How rarely the Dirichlet mechanism errs by much (proofs: mechanisms/dirichlet.md, Accuracy)."""

from __future__ import annotations

import math

import numpy as np
from scipy.special import betainc, betaincc

from veil.core.arrays import Floats
from veil.core.checks import integer, positive, within


def _rate(theta: float) -> float:
    return within("theta", theta, 1e-300, 1.0, expected="a probability above 0")


def published_concentration(mu: float, theta: float) -> float:
    """k = -log(theta) / (2 mu^2) - 1 (Dirichlet simplex paper, Theorem 4). False: see `concentration`."""
    return -math.log(_rate(theta)) / (2.0 * positive("mu", mu) ** 2) - 1.0


def concentration(size: int, mu: float, theta: float) -> float:
    """The k at which every entry is within mu of the truth with probability at least 1 - theta."""
    entries = integer("size", size, least=2)
    return math.log(2.0 * entries / _rate(theta)) / (2.0 * positive("mu", mu) ** 2) - 1.0


def largest_entry_failure(size: int, k: float, mu: float) -> float:
    """2 n exp(-2 (k+1) mu^2), at least P[some entry is off by more than mu]."""
    return min(1.0, 2.0 * size * math.exp(-2.0 * (k + 1.0) * mu * mu))


def total_variation_failure(size: int, k: float, distance: float) -> float:
    """(2^n - 2) exp(-2 (k+1) t^2), at least P[total variation > t]: one beta tail for each event."""
    log_events = math.log(2.0**size - 2.0) if size < 1000 else size * math.log(2.0)
    return min(1.0, math.exp(min(0.0, log_events - 2.0 * (k + 1.0) * distance * distance)))


def largest_entry_quantile(shapes: Floats, truth: Floats, theta: float) -> float:
    """A mu that the largest entry error exceeds with probability at most theta: exact beta tails, added."""
    theta = _rate(theta)
    others = shapes.sum() - shapes
    kept = (shapes > 0.0) & (others > 0.0)
    a, b, p = shapes[kept], others[kept], truth[kept]

    def failure(mu: float) -> float:
        above = betaincc(a, b, np.minimum(p + mu, 1.0))
        below = betainc(a, b, np.maximum(p - mu, 0.0))
        return float((above + below).sum())

    low, high = 0.0, 1.0
    for _ in range(60):
        middle = 0.5 * (low + high)
        low, high = (low, middle) if failure(middle) <= theta else (middle, high)
    return high
