"""Integrals of log-concave functions on a half line, in logs, to about twelve digits."""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np
from numpy.polynomial.legendre import leggauss
from numpy.typing import NDArray

Floats = NDArray[np.float64]

_NODES, _WEIGHTS = leggauss(16)
# Past this drop in the logarithm a concave integrand holds less than 1e-25 of its integral.
_NEGLIGIBLE_DROP = 64.0
_LOCAL_STEPS = np.array(
    [0.0, 0.25, 0.5, 0.75, 1, 1.5, 2, 2.5, 3, 4, 5, 6, 8, 10, 12, 16, 20, 24, 32, 40, 48, 64, 96, 128]
)


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

    def drop(v: float) -> float:
        return peak - float(log_value(np.array([v]))[0])

    right_width = _first_drop_of_one(drop, mode, +1.0)
    left_width = _first_drop_of_one(drop, mode, -1.0)
    end = mode + right_width
    while drop(end) < _NEGLIGIBLE_DROP:
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


def _first_drop_of_one(drop: Callable[[float], float], mode: float, side: float) -> float:
    """A distance from the mode at which the logarithm has fallen by between about 1/2 and 2."""
    width, least = 0.5 * mode, 2.0 * math.ulp(mode)
    if side < 0.0 and drop(mode - width) < 1.0:
        return mode
    while drop(mode + side * width) > 1.0:
        width *= 0.5
        if width < least:
            # A cliff: steeper than floating point can follow.
            return least
    while drop(mode + side * 2.0 * width) < 1.0:
        width *= 2.0
        if side < 0.0 and 2.0 * width >= mode:
            return width
    return width
