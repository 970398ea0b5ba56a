"""The exact profile of discrete Gaussian noise on one or two counts."""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from veil.core.numerics.rounding import float_above
from veil.core.privacy.profile import Kind, LogDelta, PrivacyProfile, order_of

_REACH = 14.0


@dataclass(frozen=True)
class DiscreteGaussianShift(PrivacyProfile):
    """Discrete Gaussian noise on `cells` counts (one, or two that move apart), each moved by one.

    One cell: exp(-(z-1)^2/2s^2) against exp(-z^2/2s^2); the loss at z is (2z - 1)/2s^2. Two cells: the
    loss depends only on d = z1 - z2, whose weights are exp(-d^2/4s^2) sum_j exp(-(j - d/2)^2/s^2)
    against their shift by two; the sum depends on the parity of d alone, and the loss is (d - 1)/s^2.
    """

    sigma: float
    cells: int
    kind: Kind = "exact"

    def log_deltas(self) -> tuple[LogDelta, LogDelta]:
        return self._log_delta, self._log_delta

    def _log_delta(self, epsilon: float) -> float:
        # The loss at z is (z - middle) / variance. Where it passes epsilon is found exactly: one term
        # more or less there changes delta by orders of magnitude.
        variance, middle = Fraction(self.sigma) ** 2, Fraction(1, 2) if self.cells == 1 else Fraction(1)
        first = math.floor(variance * Fraction(epsilon) + middle) + 1
        if first > 2**53:
            return -math.inf
        least_gap = float_above((first - middle) / variance - Fraction(epsilon))
        spread = float(variance)
        steps = np.arange(math.ceil(_REACH * self.sigma * self.cells) + 2, dtype=np.float64)
        z, gaps = first + steps, least_gap + steps / spread
        if self.cells == 1:
            log_weights, log_total = -((z - 1.0) ** 2) / (2.0 * spread), _log_theta(spread, 0.0, 0.5)
        else:
            even_sum, odd_sum = _log_theta(spread, 0.0, 1.0), _log_theta(spread, 0.5, 1.0)
            parity = np.where(np.mod(z, 2.0) == 1.0, odd_sum, even_sum)
            log_weights = -((z - 2.0) ** 2) / (4.0 * spread) + parity
            log_total = 2.0 * _log_theta(spread, 0.0, 0.5)
        terms = log_weights + np.log(-np.expm1(-gaps))
        top = float(terms.max())
        value = top + math.log(float(np.exp(terms - top).sum())) - log_total
        return value + 1e-11 + 2.0**-50 * (abs(top) + epsilon + abs(log_total))

    def rdp(self, order: float) -> float:
        """The continuous Gaussian's, which bounds it (Canonne, Kamath, Steinke 2020, Theorem 4)."""
        return 0.5 * order_of(order) * self.cells / self.sigma**2

    def zcdp(self) -> float:
        return float_above(self.cells / Fraction(self.sigma) ** 2 / 2)


def _log_theta(variance: float, shift: float, rate: float) -> float:
    """log of sum_j exp(-rate (j - shift)^2 / variance) over all whole j."""
    reach = math.ceil(math.sqrt(800.0 * variance / rate)) + 2
    exponents = -rate * (np.arange(-reach, reach + 1, dtype=np.float64) - shift) ** 2 / variance
    top = float(exponents.max())
    return top + math.log(float(np.exp(exponents - top).sum()))
