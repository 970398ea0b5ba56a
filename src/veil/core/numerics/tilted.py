"""Hockey-stick divergences of two densities on the line that are exponential tilts of each other.

If u has density f and another density is f(u) exp(s u - c), then the divergence is the integral of a
positive, log-concave, analytic function of u (proof: vectors/mechanisms/dirichlet.md, section 4).
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from veil.core.arrays import Floats
from veil.core.numerics.balls import Ball
from veil.core.numerics.densities import LogConcaveDensity
from veil.core.numerics.quadrature import log_integral_above
from veil.core.numerics.rounding import ULP

# Beyond a fall by so much (40, and the roughness of the peak) a log-concave function holds next to nothing.
_FALLEN, _ROUGHNESS = 44.0, 1.0
_BEYOND = 2.0**-56
# Panels around a place grow by this factor; those that are so much smaller than all hold nothing.
_RATIO, _LEAST_SHARE = 3.0, 2.0**-50
# A slope that only densities far below all floats have.
_CLIFF, _LARGEST = 1e100, 1e300


def log_hockey_stick(
    density: LogConcaveDensity, epsilon: float, *, tilt: float, zero: Ball, side: int
) -> float:
    """An upper bound, tight to about 1e-12, on the log of E[(1 - exp(-tilt |w - start|))+].

    The expectation is over w (the distance of u from the density's mode) on the given side (+1 above,
    -1 below) of start, which lies epsilon / tilt further on that side than zero. With zero the point where a
    log likelihood ratio tilt * u - c is zero, this is log delta(epsilon). The expectation falls as start
    moves on, so start is moved back by what it may be off.
    """
    return min(0.0, HalfLine.beyond(density, epsilon, tilt=tilt, zero=zero, side=side).log_integral())


@dataclass(frozen=True, slots=True)
class HalfLine:
    """(1 - exp(-tilt v)) f(side (start + v)) over v > 0: log-concave, and analytic around the real line."""

    density: LogConcaveDensity
    tilt: float
    start: float
    side: int

    @classmethod
    def beyond(
        cls, density: LogConcaveDensity, epsilon: float, *, tilt: float, zero: Ball, side: int
    ) -> HalfLine:
        """What `log_hockey_stick` integrates."""
        step = min(epsilon / tilt, _LARGEST)
        start = side * zero.value + step
        return cls(density, tilt, start - zero.error - 2.0 * ULP * (step + abs(start)), side)

    def log_integral(self) -> float:
        """Not below the log of the integral; 0 where floats cannot resolve its peak."""
        breaks = self.breaks()
        if breaks:
            # By concavity either tail is at most 1 / (e^fall - 1) of what lies between it and the peak.
            return log_integral_above(self._bounds, breaks) + _BEYOND
        # So steep that the whole tail, f / |slope|, is below f; or so narrow that nothing is known.
        log_density = self.density.log_above(np.array([self.side * self.start]))
        return float(log_density[0]) if self._is_cliff() else 0.0

    def _is_cliff(self) -> bool:
        return self.side * self.density.slope(self.side * self.start) < -_CLIFF

    def breaks(self) -> list[float]:
        """Where panels of v begin and end that hold all but the tails; none where floats cannot tell."""
        if self._is_cliff():
            return []
        # One over a tilt that floats hardly tell from 0 is infinite.
        mode, beyond = _around_peak(self._slope, min(1.0 / self.tilt, _LARGEST))
        if not self._slope(mode) * (beyond - mode) <= _ROUGHNESS:
            return []
        width = self._width(mode)
        left, right = self._fallen(mode, width, -1), self._fallen(mode, width, +1)
        return self._breaks(left, mode, right, width) if right < math.inf else []

    def _bounds(self, left: Floats, right: Floats, height: Floats) -> tuple[Floats, Floats]:
        """Of the integrand for complex v, in boxes (see `log_integral_above`)."""
        moved = 2.0 * ULP * (abs(self.start) + np.abs(right))
        low, high = self.start + left - moved, self.start + right + moved
        # The density is largest at the point that is nearest to its mode.
        nearest = np.minimum(np.maximum(low, 0.0), high)
        ends = (low, high) if self.side > 0 else (-high, -low)
        with np.errstate(over="ignore"):
            logs = self.density.log_above(self.side * nearest) + self.density.growth(*ends, height)
            # |1 - e^-z| <= |1 - e^-x| + 2 e^(-x/2) |sin(y/2)|, z = x + iy
            rise = np.maximum(np.abs(np.expm1(-self.tilt * left)), np.abs(np.expm1(-self.tilt * right)))
            turn = np.minimum(0.5 * self.tilt * height, 1.0)
            rise += 2.0 * np.exp(np.minimum(-0.5 * self.tilt * left, 700.0)) * turn
        return logs, rise + 1.0 / _LARGEST

    def _slope(self, v: float, toward_mode: float = 0.0) -> float:
        """The derivative of the logarithm of the integrand: it falls."""
        bent = self.tilt * v
        rise = 1.0 / v if bent < 1e-13 else self.tilt / math.expm1(bent) if bent < 700.0 else 0.0
        return rise + self.side * self.density.slope(self.side * (self.start + v - toward_mode))

    def _width(self, v: float) -> float:
        """Over which the logarithm would fall by a half, if it went on to bend as it does here."""
        half = min(0.5 * self.tilt * v, 300.0)
        rise = 0.5 * self.tilt / math.sinh(half) if half > 1e-13 else 1.0 / v
        bend = math.sqrt(self.density.curvature(self.side * (self.start + v)))
        return 1.0 / max(math.hypot(bend, rise), 1.0 / _LARGEST)

    def _fallen(self, mode: float, width: float, sign: int) -> float:
        """Where the logarithm has fallen from its peak by enough; 0 or infinity if floats do not tell."""
        away = width
        while away < (_LARGEST if sign > 0 else mode):
            # Concave: over the second half it falls by at least the slope in the middle times the distance.
            middle = mode + 0.5 * sign * away
            moved = 4.0 * ULP * (abs(self.start) + middle)
            if -sign * self._slope(middle, sign * moved) * 0.5 * away >= _FALLEN:
                return mode + sign * away
            away *= 1.5
        return 0.0 if sign < 0 else math.inf

    def _breaks(self, left: float, mode: float, right: float, width: float) -> list[float]:
        """Ends of panels: they grow with the distance from the peak, from v = 0 and from the bends."""
        least = _LEAST_SHARE * (right - left)
        rungs = [(mode, 2.0 * width, (-1, 1)), (0.0, max(6.0 / self.tilt, least), (1,))]
        rungs += [(self.side * bend - self.start, max(1.5, least), (-1, 1)) for bend in self.density.bends]
        found = {left, right}
        for place, away, signs in rungs:
            for sign in signs:
                distance = away
                while (sign > 0 and place + distance < right) or (sign < 0 and place - distance > left):
                    if left < place + sign * distance < right:
                        found.add(place + sign * distance)
                    distance *= _RATIO
        return sorted(found)


def _around_peak(slope: Callable[[float], float], guess: float) -> tuple[float, float]:
    """A point left of the peak and one right of it, near enough for a start."""
    low = high = guess
    while slope(low) < 0.0 and low > 1.0 / _LARGEST:
        low *= 0.125
    while slope(high) > 0.0 and high < _LARGEST:
        high *= 8.0
    while True:
        middle = math.sqrt(low) * math.sqrt(high) if high > 4.0 * low else 0.5 * (low + high)
        if not low < middle < high:
            return low, high
        if slope(middle) > 0.0:
            low = middle
        else:
            high = middle
        # Concave: what is gained between low and the peak is at most slope times distance.
        if slope(low) * (high - low) < 0.5 and high < 2.0 * low:
            return low, high
