"""One-parameter densities on the line whose likelihood ratios are exponential tilts.

If u has density f and another density is f(u) exp(s u - c), then everything that privacy asks of the
two - hockey-stick divergences above all - is an integral of a log-concave function of u. The logit of
a beta variable and the logarithm of a gamma variable are of that kind. Gamma functions of huge and of tiny
arguments are evaluated here without losing the small differences between them.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Protocol

import numpy as np
from numpy.polynomial.legendre import leggauss

from veil.core.arrays import Floats

_ULP = 2.0**-52
# What the quadrature and the elementary functions may add to the relative error; observed: 1e-13.
_EVALUATION_ERROR = 1e-11
_NODES, _WEIGHTS = leggauss(16)
# Past this drop in the logarithm a concave integrand holds less than 1e-25 of its integral.
_NEGLIGIBLE_DROP = 64.0
_LOCAL_STEPS = np.array(
    [0.0, 0.25, 0.5, 0.75, 1, 1.5, 2, 2.5, 3, 4, 5, 6, 8, 10, 12, 16, 20, 24, 32, 40, 48, 64, 96, 128]
)
HALF_LOG_TWO_PI = 0.5 * math.log(2.0 * math.pi)

# Coefficients B_{2j} / (2j (2j-1)) of Stirling's series for log Gamma.
_SERIES = (1 / 12, -1 / 360, 1 / 1260, -1 / 1680, 1 / 1188, -691 / 360360, 1 / 156)
_SERIES_FROM = 10.0


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
    knee: float = field(init=False, repr=False, compare=False)
    _log_peak: float = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        total = self.a + self.b
        log_peak = 0.5 * (math.log(self.a) + math.log(self.b) - math.log(total)) - HALF_LOG_TWO_PI
        log_peak = log_peak + stirling_error(total) - stirling_error(self.a) - stirling_error(self.b)
        object.__setattr__(self, "knee", math.log(self.b) - math.log(self.a))
        object.__setattr__(self, "_log_peak", log_peak)

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
    knee: float = field(init=False, repr=False, compare=False)
    _log_peak: float = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        log_peak = 0.5 * math.log(self.shape) - HALF_LOG_TWO_PI - stirling_error(self.shape)
        object.__setattr__(self, "knee", -math.log(self.shape))
        object.__setattr__(self, "_log_peak", log_peak)

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
    density: LogConcaveDensity, epsilon: float, *, tilt: float, zero: float, zero_error: float, side: int
) -> float:
    """An upper bound, tight to about 1e-11, on the log of E[(1 - exp(-tilt |w - start|))+].

    The expectation is over w (the distance of u from the density's mode) on the given side (+1 above,
    -1 below) of start, which lies epsilon / tilt further on that side than zero. With zero the point where a
    log likelihood ratio tilt * u - c is zero, this is log delta(epsilon). zero_error bounds the rounding of
    zero. Every source of rounding is bounded and added, so the result is not below the truth.
    """
    step = epsilon / tilt
    start, start_error = zero + side * step, zero_error + 4.0 * _ULP * (abs(zero) + step)

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
        # Floating point cannot resolve the integral. Beyond the mode the tail of a log-concave density is at
        # most f(start) / |slope of log f|. Elsewhere the log of a probability is at most 0.
        steep = abs(density.slope(start))
        if side * start <= 0.0 or steep == 0.0:
            return 0.0
        height = float(density.log_density(np.array([start]))[0])
        if steep == math.inf or height == -math.inf:
            return -math.inf
        return min(0.0, height - math.log(steep) + 4.0 * (density.rounding(start) + start_error * steep))
    # The largest rounding within a factor e of the peak; further out the mass falls faster than it grows.
    places = [start + side * v for v in mass]
    rounding = max(density.rounding(w) for w in places)
    displaced = start_error * max(min(abs(density.slope(w)), 1e300) for w in places)
    return value + _EVALUATION_ERROR + 4.0 * (rounding + displaced)


def log_integral_of_log_concave(
    log_value: Callable[[Floats], Floats],
    slope: Callable[[float], float],
    *,
    guess: float,
    knee: float,
) -> tuple[float, tuple[float, float, float]]:
    """log of the integral of exp(log_value(v)) over v > 0, for concave log_value, and where its mass is.

    Infinite where floating point cannot resolve the peak.

    slope: the derivative of log_value, decreasing from +inf at 0 to below zero.
    guess: a positive v of the right order of magnitude; only speed depends on it.
    knee: where log_value turns on a scale of one; may lie outside the half line.

    The panels refine around three places: the left end (scale free), the peak (on the scale of its
    own width) and the knee (on the scale of one). The integrand is analytic at a distance from each
    panel that is at least comparable with the panel's width, so sixteen Gauss-Legendre points a
    panel leave an error below 1e-12.
    """
    mode = _peak(slope, guess)
    peak = float(log_value(np.array([mode]))[0])
    if peak == -math.inf:
        return -math.inf, (mode, mode, mode)
    right_width = _first_drop_of_one(log_value, mode, peak, +1.0)
    left_width = _first_drop_of_one(log_value, mode, peak, -1.0)
    end = mode + right_width
    while peak - log_value(np.array([end])) < _NEGLIGIBLE_DROP:
        end += max(end - mode, right_width)

    smallest = min(mode, 1.0) * 2.0**-6
    doublings = np.arange(math.ceil(math.log2(end / smallest)) + 1)
    around_knee = 0.25 * 2.0 ** np.arange(0.0, max(1.0, math.log2(8.0 * (end + abs(knee) + 1.0))))
    breaks = np.concatenate(
        [
            [0.0, mode, end],
            smallest * 2.0**doublings,
            mode + right_width * _LOCAL_STEPS,
            mode - left_width * _LOCAL_STEPS,
            [knee],
            knee + around_knee,
            knee - around_knee,
        ]
    )
    breaks = np.unique(breaks[(breaks >= 0.0) & (breaks <= end)])
    half = 0.5 * np.diff(breaks)
    middle = breaks[:-1] + half
    points = middle[:, None] + half[:, None] * _NODES
    heights = log_value(points.ravel()) - peak
    if heights.max() > 1.0:
        # The peak is narrower than the floats around it: nothing can be said of the integral.
        return math.inf, (mode, mode, mode)
    values = np.exp(heights).reshape(points.shape)
    value = peak + math.log(float(half @ (values @ _WEIGHTS)))
    return value, (max(mode - left_width, 0.0), mode, mode + right_width)


def _peak(slope: Callable[[float], float], guess: float) -> float:
    """A point left of the peak from which the logarithm rises by less than a tenth."""
    low = high = guess
    while slope(low) < 0.0 and low > 1e-300:
        low *= 0.25
    while slope(high) > 0.0 and high < 1e300:
        high *= 4.0
    while True:
        middle = math.sqrt(low) * math.sqrt(high) if high > 4.0 * low else 0.5 * (low + high)
        if not low < middle < high:
            return low
        if slope(middle) > 0.0:
            low = middle
        else:
            high = middle
        # Concave: what is gained between low and the peak is at most slope times distance.
        if slope(low) * (high - low) < 0.1 and high < 1.1 * low:
            return low


def _first_drop_of_one(log_value: Callable[[Floats], Floats], mode: float, peak: float, side: float) -> float:
    """A distance from the mode at which the logarithm has fallen from its peak by between about 1/2 and 2."""
    width, least = 0.5 * mode, 2.0 * math.ulp(mode)
    if side < 0.0 and peak - log_value(np.array([mode - width])) < 1.0:
        return mode
    while peak - log_value(np.array([mode + side * width])) > 1.0:
        width *= 0.5
        if width < least:
            # A cliff: steeper than floating point can follow.
            return least
    while peak - log_value(np.array([mode + side * 2.0 * width])) < 1.0:
        width *= 2.0
        if side < 0.0 and 2.0 * width >= mode:
            return width
    return width


def stirling_error(x: float) -> float:
    """log Gamma(x) minus Stirling's main term (x - 1/2) log x - x + log(2 pi)/2, for x > 0."""
    if x < _SERIES_FROM:
        return math.lgamma(x) - (x - 0.5) * math.log(x) + x - HALF_LOG_TWO_PI
    inverse_square = 1.0 / (x * x)
    total = 0.0
    for coefficient in reversed(_SERIES):
        total = total * inverse_square + coefficient
    return total / x


def log_rising(x: float, step: float) -> float:
    """log Gamma(x + step) - log Gamma(x), for x > 0 and step >= 0.

    The plain difference of two log gammas loses all digits once x is much larger than the step;
    here the large parts cancel on paper.
    """
    if step == 0.0:
        return 0.0
    return step * (math.log(x + step) + rising_excess(x, step))


def rising_excess(x: float, step: float) -> float:
    """log_rising(x, step) / step - log(x + step): a number of order one, without its large part.

    For x of at least 10 by Stirling's series, term by term; below, x is first moved up by
    Gamma(x + step) / Gamma(x) = x / (x + step) * Gamma(x + 1 + step) / Gamma(x + 1).
    """
    start, shift = x, 0.0
    while x < _SERIES_FROM:
        shift -= math.log1p(step / x)
        x += 1.0
    ratio = math.log1p(step / x)
    # stirling_error(x + step) - stirling_error(x), however small the difference is.
    difference, power = 0.0, 1.0 / x
    for index, coefficient in enumerate(_SERIES):
        difference += coefficient * power * math.expm1(-(2 * index + 1) * ratio)
        power /= x * x
    excess = ((x - 0.5) * ratio - step + difference + shift) / step
    return excess + math.log1p((x - start) / (start + step))
