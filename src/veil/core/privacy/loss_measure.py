"""Measures of privacy losses on a grid, whose rounding is always upwards (proofs: losses.md)."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, Protocol, Self, TypeVar

import numpy as np

from veil.core.arrays import Floats
from veil.core.numerics.rounding import FUNCTION_ERROR, ULP

# What is moved to a larger loss at either end after a convolution: it adds that much to delta at most.
TAIL = 1e-24
# A product of measures with more cells is put on a grid of twice the step.
MOST_CELLS = 2**14
# More than all that can underflow in a convolution of so many cells.
_UNDERFLOW = 2.0**-1000


class OnGrid(Protocol):
    """A measure of losses on a grid, in whatever numbers."""

    @property
    def interval(self) -> Any: ...

    def coarser(self) -> Self: ...

    def together(self, other: Self) -> Self: ...


M = TypeVar("M", bound=OnGrid)


def on_one_grid(one: M, two: M) -> tuple[M, M]:
    """The same two measures with equal steps, those of the coarser grid."""
    while one.interval < two.interval:
        one = one.coarser()
    while two.interval < one.interval:
        two = two.coarser()
    return one, two


def repeated(one: M, times: int) -> M:
    """The measure of so many equal pairs."""
    product = one
    for bit in f"{times:b}"[1:]:
        product = product.together(product)
        if bit == "1":
            product = product.together(one)
    return product


@dataclass(frozen=True, eq=False)
class LossMeasure:
    """Masses at the losses interval * (first + i), and the mass of an infinite loss.

    delta(epsilon) = certain + sum of masses * (1 - e^(epsilon - loss))+. A measure stands for a pair of
    distributions if this is nowhere below the pair's delta, for negative epsilons too. The masses may add up
    to a little more than one.
    """

    interval: float
    first: int
    masses: Floats
    certain: float

    @classmethod
    def of_curves(cls, forward: Floats, backward: Floats, interval: float) -> LossMeasure:
        """The measure whose curve goes through the given points, in one direction of a pair (P, Q).

        forward, backward: delta at 0, interval, 2 interval, ... of (P, Q) and of (Q, P), not below the truth.
        interval: a power of two.
        """
        # The true curves fall; where rounding made a step up, the points before it are raised.
        ahead, behind = (np.maximum.accumulate(curve[::-1])[::-1] for curve in (forward, backward))
        ahead[0] = behind[0] = max(ahead[0], behind[0])
        top, decay, rise = len(ahead) - 1, math.exp(-interval), -math.expm1(-interval)
        # Between two points the curve is a line in e^epsilon. Its slope there, times -e^epsilon at the end:
        above = (ahead[:-1] - ahead[1:]) / rise * (1.0 + 2.0 * FUNCTION_ERROR)
        # For negative epsilons, where delta = 1 - e^epsilon (1 - delta backwards):
        gained = behind[:-1] - decay * behind[1:] - 2.0 * FUNCTION_ERROR * behind[:-1]
        below = 1.0 + 2.0 * ULP - np.maximum(gained, 0.0) / rise * (1.0 - 2.0 * FUNCTION_ERROR)
        shrunk = np.exp(-interval * np.arange(top + 1)) * (1.0 + 2.0 * FUNCTION_ERROR) + _UNDERFLOW
        least = max(0.0, 1.0 - float(behind[-1])) * shrunk[-1]
        slopes = np.concatenate([[least], (np.maximum(below, 0.0) * shrunk[:-1])[::-1], above])
        # At each point the slope bends by the mass there; it cannot bend the other way.
        slopes[:-1] -= slopes[1:] * (decay * (1.0 - 2.0 * FUNCTION_ERROR))
        masses = np.maximum(slopes, 0.0) * (1.0 + 2.0 * ULP)
        return cls(interval, -top, masses, float(ahead[-1]))

    @property
    def total(self) -> float:
        """Not below all of its mass."""
        return (float(self.masses.sum()) + self.certain) * (1.0 + ULP * (len(self.masses) + 2))

    def delta(self, epsilon: float) -> float:
        """Not below the delta of the pair that it stands for."""
        # Losses are exact: a power of two times a whole number.
        losses = self.interval * (self.first + np.arange(len(self.masses), dtype=np.float64))
        start = int(np.searchsorted(losses, epsilon, side="right"))
        gains = -np.expm1(epsilon - losses[start:])
        found = float(self.masses[start:] @ gains) + self.certain + _UNDERFLOW
        return min(1.0, found * (1.0 + 2.0 * FUNCTION_ERROR + ULP * (len(gains) + 2)))

    def together(self, other: LossMeasure) -> LossMeasure:
        """Of the product of the two pairs: losses add."""
        one, two = on_one_grid(self, other)
        # Terms are positive: however they are added up, a sum loses at most a unit for each of them.
        terms = min(len(one.masses), len(two.masses))
        masses = np.convolve(one.masses, two.masses) * (1.0 + ULP * (terms + 2))
        certain = (one.certain * two.total + two.certain * one.total) * (1.0 + 4.0 * ULP) + _UNDERFLOW
        return LossMeasure(one.interval, one.first + two.first, masses, certain).trimmed()

    def trimmed(self) -> LossMeasure:
        """With fewer cells: the ends are moved to a larger loss, and a fine grid is made coarser."""
        rising = np.cumsum(self.masses)
        falling = np.cumsum(self.masses[::-1])
        low = int(np.searchsorted(rising, TAIL))
        high = len(self.masses) - int(np.searchsorted(falling, TAIL))
        if low >= high:
            low, high = 0, len(self.masses)
        room = 1.0 + ULP * len(self.masses)
        masses, certain = self.masses[low:high].copy(), self.certain
        if low > 0:
            masses[0] += float(rising[low - 1]) * room
        if high < len(self.masses):
            certain += float(falling[len(self.masses) - high - 1]) * room
        masses[0] *= 1.0 + 2.0 * ULP
        kept = LossMeasure(self.interval, self.first + low, masses, certain * (1.0 + 2.0 * ULP))
        return kept.coarser() if len(masses) > MOST_CELLS else kept

    def coarser(self) -> LossMeasure:
        """On a grid of twice the step; a mass between two points is shared by them, the curve there is kept.

        The share 1 / (1 + e^interval) goes down and the rest goes up.
        """
        first, masses = self.first, self.masses
        if first % 2:
            first, masses = first - 1, np.concatenate([[0.0], masses])
        if len(masses) % 2 == 0:
            masses = np.append(masses, 0.0)
        between, kept = masses[1::2] * (1.0 + 4.0 * FUNCTION_ERROR), masses[::2].copy()
        kept[:-1] += between / (1.0 + math.exp(min(self.interval, 700.0)))
        kept[1:] += between / (1.0 + math.exp(-self.interval))
        return LossMeasure(2.0 * self.interval, first // 2, kept * (1.0 + 2.0 * ULP), self.certain)
