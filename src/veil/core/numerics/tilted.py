"""One-parameter densities on the line whose likelihood ratios are exponential tilts.

If u has density f and another density is f(u) exp(s u - c), then everything that privacy asks of the
two - hockey-stick divergences above all - is an integral of a log-concave function of u. The logit of
a beta variable and the logarithm of a gamma variable are of that kind.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Protocol

import numpy as np

from veil.core.numerics.quadrature import Floats, log_integral_of_log_concave
from veil.core.numerics.stirling import HALF_LOG_TWO_PI, stirling_error

_ULP = 2.0**-52
# What the quadrature and the elementary functions may add to the relative error; observed: 1e-13.
_EVALUATION_ERROR = 1e-11


class LogConcaveDensity(Protocol):
    """A log-concave density in the coordinate w, the distance from its own mode."""

    @property
    def knee(self) -> float:
        """The w at which it bends on a scale of one."""

    def log_density(self, w: Floats) -> Floats: ...

    def slope(self, w: float) -> float: ...

    def rounding(self, w: float) -> float:
        """A bound on the rounding error of log_density near w."""


@dataclass(frozen=True, slots=True)
class LogitBeta:
    """u = logit t for t ~ Beta(a, b): log f = -(a+b) [log(1 + p (e^w - 1)) - p w] + constant."""

    a: float
    b: float

    @property
    def knee(self) -> float:
        return math.log(self.b) - math.log(self.a)

    @property
    def _log_peak(self) -> float:
        total = self.a + self.b
        return (
            0.5 * (math.log(self.a) + math.log(self.b) - math.log(total))
            - HALF_LOG_TWO_PI
            + stirling_error(total)
            - stirling_error(self.a)
            - stirling_error(self.b)
        )

    def log_density(self, w: Floats) -> Floats:
        # The smaller of the two shapes carries the product p w, so that less cancels.
        if self.a > self.b:
            small, large, w = self.b, self.a, -w
        else:
            small, large = self.a, self.b
        total = small + large
        share = small / total
        with np.errstate(over="ignore"):
            near = np.log1p(share * np.expm1(np.minimum(w, 1.0))) - share * w
        # Beyond e the form log(p e^w (1 + ...)) = log p + w + ... neither overflows nor cancels.
        far = math.log(share) + (large / total) * w + np.log1p((large / small) * np.exp(-np.maximum(w, 1.0)))
        return self._log_peak - total * np.where(w > 1.0, far, near)

    def slope(self, w: float) -> float:
        total = self.a + self.b
        p, q = self.a / total, self.b / total
        # d/dw: a - (a+b) p e^w / (q + p e^w) = -(a+b) p q (e^w - 1) / (q + p e^w)
        if w > 0.0:
            return -total * p * q * -math.expm1(-w) / (q * math.exp(-w) + p)
        return -total * p * q * math.expm1(w) / (q + p * math.exp(w))

    def rounding(self, w: float) -> float:
        small = min(self.a, self.b)
        return _ULP * (8.0 * small * abs(w) + 8.0 * abs(self._log_peak) + 64.0)


@dataclass(frozen=True, slots=True)
class LogGamma:
    """u = log g for g ~ Gamma(shape): log f = -shape (e^w - 1 - w) + constant."""

    shape: float

    @property
    def knee(self) -> float:
        return -math.log(self.shape)

    @property
    def _log_peak(self) -> float:
        return 0.5 * math.log(self.shape) - HALF_LOG_TWO_PI - stirling_error(self.shape)

    def log_density(self, w: Floats) -> Floats:
        with np.errstate(over="ignore"):
            return self._log_peak - self.shape * (np.expm1(w) - w)

    def slope(self, w: float) -> float:
        return -self.shape * math.expm1(w) if w < 700.0 else -math.inf

    def rounding(self, w: float) -> float:
        size = abs(w) + abs(math.expm1(min(w, 700.0)))
        return _ULP * (8.0 * self.shape * size + 8.0 * abs(self._log_peak) + 64.0)


@dataclass(frozen=True, slots=True)
class StandardNormal:
    """u ~ N(any mean, 1)."""

    @property
    def knee(self) -> float:
        return 0.0

    def log_density(self, w: Floats) -> Floats:
        with np.errstate(over="ignore"):
            return -0.5 * w * w - HALF_LOG_TWO_PI

    def slope(self, w: float) -> float:
        return -w

    def rounding(self, w: float) -> float:
        return _ULP * (4.0 * w * w + 8.0)


def log_hockey_stick(
    density: LogConcaveDensity, *, tilt: float, start: float, start_error: float, side: int
) -> float:
    """An upper bound, tight to about 1e-11, on the log of E[(1 - exp(-tilt |w - start|))+].

    The expectation is over w (the distance of u from the density's mode) on the given side (+1 above,
    -1 below) of start. With start the point where a log likelihood ratio tilt * u - c equals epsilon,
    this is log delta(epsilon). start_error bounds the rounding of start. Every source of rounding is
    bounded and added, so the result is not below the truth.
    """

    def log_value(v: Floats) -> Floats:
        with np.errstate(divide="ignore", over="ignore", under="ignore"):
            rise = np.log(-np.expm1(-tilt * v))
            if tilt * v.min() < 1e-13:
                # There 1 - exp(-tilt * v) is tilt * v, which may underflow.
                near = math.log(tilt) + np.log(v)
                rise = np.where(near < -30.0, near, rise)
        return rise + density.log_density(start + side * v)

    def slope(v: float) -> float:
        bent = tilt * v
        rise = 1.0 / v if bent < 1e-13 else tilt / math.expm1(bent) if bent < 700.0 else 0.0
        return rise + side * density.slope(start + side * v)

    value, mass = log_integral_of_log_concave(
        log_value, slope, guess=1.0 / tilt, knee=side * (density.knee - start)
    )
    if not math.isfinite(value):
        return _tail_bound(density, start, start_error, side)
    # The largest rounding within a factor e of the peak; further out the mass falls faster than it grows.
    places = [start + side * v for v in mass]
    rounding = max(density.rounding(w) for w in places)
    displaced = start_error * max(min(abs(density.slope(w)), 1e300) for w in places)
    return value + _EVALUATION_ERROR + 4.0 * (rounding + displaced)


def _tail_bound(density: LogConcaveDensity, start: float, start_error: float, side: int) -> float:
    """A bound where floating point cannot resolve the integral: the tail of a log-concave density.

    Beyond the mode the tail is at most f(start) / |slope of log f|. Elsewhere nothing is known, and the
    log of a probability is at most 0.
    """
    slope = abs(density.slope(start))
    if side * start <= 0.0 or slope == 0.0:
        return 0.0
    if slope == math.inf:
        return -math.inf
    value = float(density.log_density(np.array([start]))[0])
    if value == -math.inf:
        return -math.inf
    return min(0.0, value - math.log(slope) + 4.0 * (density.rounding(start) + start_error * slope))
