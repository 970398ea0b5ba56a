"""The exact profile of discrete Gaussian noise on one or two counts."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from veil.errors import InvalidArgument
from veil.privacy.profile import Kind, LogDelta, PrivacyProfile

_REACH = 45.0
_LARGEST_SIGMA = 1e6


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

    def __post_init__(self) -> None:
        if self.sigma > _LARGEST_SIGMA:
            raise InvalidArgument("sigma", expected=f"at most {_LARGEST_SIGMA:g}", found=f"{self.sigma:g}")

    def log_deltas(self) -> tuple[LogDelta, LogDelta]:
        return self._log_delta, self._log_delta

    def _log_delta(self, epsilon: float) -> float:
        variance = self.sigma**2
        # Loss at z: (2 z - 1) / (2 variance) for one cell, (d - 1) / variance for two.
        first = math.floor(variance * epsilon + (0.5 if self.cells == 1 else 1.0)) + 1
        step = math.ceil(_REACH * self.sigma * self.cells) + 2
        z = np.arange(first, first + step, dtype=np.float64)
        if self.cells == 1:
            losses, log_weights = (2.0 * z - 1.0) / (2.0 * variance), -((z - 1.0) ** 2) / (2.0 * variance)
            log_total = _log_theta(variance, 0.0, 0.5)
        else:
            losses = (z - 1.0) / variance
            odd = np.mod(z, 2.0) == 1.0
            even_sum, odd_sum = _log_theta(variance, 0.0, 1.0), _log_theta(variance, 0.5, 1.0)
            log_weights = -((z - 2.0) ** 2) / (4.0 * variance) + np.where(odd, odd_sum, even_sum)
            log_total = 2.0 * _log_theta(variance, 0.0, 0.5)
        with np.errstate(divide="ignore"):
            terms = log_weights + np.log(-np.expm1(np.minimum(epsilon - losses, 0.0)))
        top = float(terms.max())
        if top == -math.inf:
            return -math.inf
        value = top + math.log(float(np.exp(terms - top).sum())) - log_total
        return value + 1e-11 + 2.0**-50 * (abs(top) + epsilon + abs(log_total))

    def rdp(self, order: float) -> float:
        """The continuous Gaussian's, which bounds it (Canonne, Kamath, Steinke 2020, Theorem 4)."""
        return 0.5 * order * self.cells / self.sigma**2


def _log_theta(variance: float, shift: float, rate: float) -> float:
    """log of sum_j exp(-rate (j - shift)^2 / variance) over all whole j."""
    reach = math.ceil(math.sqrt(800.0 * variance / rate)) + 2
    j = np.arange(-reach, reach + 1, dtype=np.float64) - shift
    return math.log(float(np.exp(-rate * j * j / variance).sum()))
