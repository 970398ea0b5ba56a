"""Log-concave densities on the line whose likelihood ratios are exponential tilts, bounded from above.

The logit of a beta variable and the logarithm of a gamma variable are of that kind, and the normal variable.
Each is given around its own mode: w is the distance from it, where the huge parts of the logarithms have
cancelled on paper. Every bound holds for the density whose shapes are the given floats, or numbers that round
to them (proofs: vectors/mechanisms/dirichlet.md, section 4).
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import Protocol

import numpy as np

from veil.core.arrays import Floats
from veil.core.numerics.balls import Ball
from veil.core.numerics.log_gamma import HALF_LOG_TWO_PI, stirling_error
from veil.core.numerics.rounding import FUNCTION_ERROR, ULP

# Below this size of a shape the plain forms lose less than 1e-13 near the peak.
_PLAIN = 64.0
_NEAR = 0.25
# exp(w) beyond it is not needed: the densities only fall.
_LARGEST = 600.0
# 1/2, 1/6, 1/24, ... of e^w - 1 - w, and 2/3, 2/5, ... of log(1 + x).
_EXPONENTIAL = tuple(1.0 / math.factorial(j + 2) for j in range(12))
_LOGARITHM = tuple(2.0 / (2 * j + 3) for j in range(7))
# Of the two sums near w = 0 for a beta variable, relative to their difference; of the one for a gamma.
_BETA_NEAR, _GAMMA_NEAR = 16.0 * FUNCTION_ERROR, 2.0 * FUNCTION_ERROR


class LogConcaveDensity(Protocol):
    """A log-concave density in the coordinate w, the distance from its own mode."""

    @property
    def bends(self) -> tuple[float, ...]:
        """Where it turns on a scale of one, if anywhere; only speed depends on it."""

    def log_above(self, w: Floats) -> Floats:
        """Not below the log density, and above it by little more than rounding."""

    def slope(self, w: float) -> float:
        """The derivative of the log density, to a relative error of 1e-9."""

    def curvature(self, w: float) -> float:
        """What the slope falls by for each unit of w; only speed depends on it."""

    def growth(self, left: Floats, right: Floats, height: Floats) -> Floats:
        """Not below log |f(x + iy)| - log f(x), for x between left and right and y up to height.

        Infinite where f is not analytic there.
        """


@dataclass(frozen=True, slots=True)
class LogitBeta:
    """u = logit t for t ~ Beta(a, b): log f = -(a+b) [log(1 + p (e^w - 1)) - p w] + constant, p = a/(a+b)."""

    a: float
    b: float
    bends: tuple[float, ...] = field(init=False, repr=False, compare=False)
    _middle: float = field(init=False, repr=False, compare=False)
    _peak: float = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        total = self.a + self.b
        halves = (_half_log(self.a) + _half_log(self.b)) - _half_log(total)
        peak = halves + stirling_error(total) - stirling_error(self.a) - stirling_error(self.b)
        middle = math.log(self.b) - math.log(self.a)
        # Where t or 1 - t is as large as one over its shape, or a half.
        bends = middle - math.log(max(self.b, 1.0)), middle + math.log(max(self.a, 1.0))
        object.__setattr__(self, "_peak", (peak - HALF_LOG_TWO_PI).above + 2.0 * ULP)
        object.__setattr__(self, "_middle", middle)
        object.__setattr__(self, "bends", bends)

    def log_above(self, w: Floats) -> Floats:
        # The smaller of the two shapes carries p, so that less cancels.
        small, total = min(self.a, self.b), self.a + self.b
        w = -w if self.a > self.b else w
        share = small / total
        x = share * np.expm1(np.minimum(w, _LARGEST))
        logs = total * np.log1p(x)
        far = w > _LARGEST
        if far.any():
            # log(1 + x) = log p + w + log(1 + (1/p - 1) e^-w)
            if share < 1e-130:
                return np.zeros_like(w)
            beyond = math.log(share) + np.log1p((1.0 / share - 1.0) * np.exp(-w[far]))
            logs[far] = total * (w[far] + beyond)
        linear = small * w
        fallen = logs - linear - FUNCTION_ERROR * (4.0 * np.abs(logs) + np.abs(linear))
        if small > _PLAIN:
            near = np.abs(w) < _NEAR
            fallen[near] = total * _bernoulli(w[near], x[near], share) * (1.0 - _BETA_NEAR)
        return self._peak - fallen

    def slope(self, w: float) -> float:
        total = self.a + self.b
        p, q = self.a / total, self.b / total
        # d/dw: a - (a+b) p e^w / (q + p e^w) = -(a+b) p q (e^w - 1) / (q + p e^w)
        if w > 0.0:
            return -total * p * q * -math.expm1(-w) / (q * math.exp(-w) + p)
        return -total * p * q * math.expm1(w) / (q + p * math.exp(w))

    def curvature(self, w: float) -> float:
        decay = math.exp(-abs(w - self._middle))
        return (self.a + self.b) * decay / (1.0 + decay) ** 2

    def growth(self, left: Floats, right: Floats, height: Floats) -> Floats:
        # |1 + e^(u + iy)|^2 = (1 + e^u)^2 (1 - 4 t (1 - t) sin^2(y/2)), where t (1 - t) falls from u = 0 on.
        slack = 1e-12 * (1.0 + abs(self._middle))
        away = np.maximum(np.maximum(left - self._middle, self._middle - right) - slack, 0.0)
        decay = np.exp(-away)
        lost = (4.0 + slack) * decay / (1.0 + decay) ** 2 * np.sin(0.5 * np.minimum(height, math.pi)) ** 2
        with np.errstate(divide="ignore"):
            return np.asarray(-0.5 * (self.a + self.b) * np.log1p(-np.minimum(lost, 1.0)))


@dataclass(frozen=True, slots=True)
class LogGamma:
    """u = log g for g ~ Gamma(shape): log f = -shape (e^w - 1 - w) + constant."""

    shape: float
    bends: tuple[float, ...] = field(init=False, repr=False, compare=False)
    _peak: float = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        peak = _half_log(self.shape) - stirling_error(self.shape) - HALF_LOG_TWO_PI
        object.__setattr__(self, "_peak", peak.above + 2.0 * ULP)
        object.__setattr__(self, "bends", (max(0.0, -math.log(self.shape)),))

    def log_above(self, w: Floats) -> Floats:
        w = np.minimum(w, _LARGEST)
        x = np.expm1(w)
        fallen = self.shape * (x - w - FUNCTION_ERROR * (2.0 * np.abs(x) + np.abs(w)))
        if self.shape > _PLAIN:
            near = np.abs(w) < _NEAR
            fallen[near] = self.shape * _exponential(w[near]) * (1.0 - _GAMMA_NEAR)
        return self._peak - fallen

    def slope(self, w: float) -> float:
        return -self.shape * math.expm1(w) if w < 700.0 else -math.inf

    def curvature(self, w: float) -> float:
        return self.shape * math.exp(min(w, 700.0))

    def growth(self, left: Floats, right: Floats, height: Floats) -> Floats:
        # |exp(-e^(u + iy))| = exp(-e^u cos y), and 1 - cos y = 2 sin^2(y/2).
        turned = np.sin(0.5 * np.minimum(height, math.pi)) ** 2
        growth = 2.0 * self.shape * np.exp(np.minimum(right, _LARGEST)) * turned
        return np.where((right > _LARGEST) & (height > 0.0), np.inf, growth)


@dataclass(frozen=True, slots=True)
class StandardNormal:
    """u ~ N(any mean, 1)."""

    @property
    def bends(self) -> tuple[float, ...]:
        return ()

    def log_above(self, w: Floats) -> Floats:
        with np.errstate(over="ignore"):
            return (-HALF_LOG_TWO_PI + ULP) - (0.5 - ULP) * (w * w)

    def slope(self, w: float) -> float:
        return -w

    def curvature(self, w: float) -> float:
        return 1.0

    def growth(self, left: Floats, right: Floats, height: Floats) -> Floats:
        return np.asarray(0.5 * height * height)


def _half_log(shape: float) -> Ball:
    """Of a number that may have been rounded once."""
    return Ball.rounded(shape).log() * 0.5


def _exponential(w: Floats) -> Floats:
    """e^w - 1 - w for |w| < 1/4: what the sum leaves out is below 1e-17 of it."""
    total = np.full_like(w, _EXPONENTIAL[-1])
    for coefficient in _EXPONENTIAL[-2::-1]:
        total = total * w + coefficient
    return total * w * w


def _bernoulli(w: Floats, x: Floats, share: float) -> Floats:
    """log(1 + x) - p w with x = p (e^w - 1), for |w| < 1/4: p (e^w - 1 - w) less x - log(1 + x)."""
    y = x / (2.0 + x)
    square = y * y
    total = np.full_like(w, _LOGARITHM[-1])
    for coefficient in _LOGARITHM[-2::-1]:
        total = total * square + coefficient
    return share * _exponential(w) - y * (x - square * total)
