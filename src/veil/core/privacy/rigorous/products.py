"""Compositions in whole numbers: the measures of losses.md, with masses in units of 2^-320, rounded up."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import pairwise

from veil.core.privacy.loss_measure import MOST_CELLS, TAIL, on_one_grid, repeated
from veil.core.privacy.rigorous.enclosure import Enclosure, Number, exact, flint

_BITS = 320
_ONE = 1 << _BITS
_TAIL = math.floor(Fraction(TAIL) * _ONE)


@dataclass(frozen=True)
class Grid:
    """Upper bounds of delta in both directions at 0, interval, 2 interval, ..., and how often it counts."""

    interval: float
    deltas: Sequence[float]
    times: int


def delta_above(grids: Sequence[Grid], epsilon: float) -> float:
    """A float that is certainly not below the delta of all of them together."""
    with flint().ctx.workprec(_BITS + 64):
        product: _Measure | None = None
        for grid in sorted(grids, key=lambda one: one.interval):
            power = repeated(_Measure.of(grid), grid.times)
            product = power if product is None else product.together(power)
        assert product is not None
        return Enclosure.around(product.delta(epsilon)).high


@dataclass(frozen=True)
class _Measure:
    interval: Fraction
    first: int
    masses: list[int]
    certain: int

    @classmethod
    def of(cls, grid: Grid) -> _Measure:
        """The measure of section 2 of losses.md."""
        step, top = Fraction(grid.interval), len(grid.deltas) - 1
        deltas = [math.ceil(Fraction(delta) * _ONE) for delta in grid.deltas]
        decay, rise = (-exact(step)).exp(), -(-exact(step)).expm1()
        above = [_up(exact(Fraction(d - e, _ONE)) / rise) for d, e in pairwise(deltas)]
        below = [
            _up((1 - (exact(Fraction(d, _ONE)) - decay * exact(Fraction(e, _ONE))) / rise) * decay**m)
            for m, (d, e) in enumerate(pairwise(deltas))
        ]
        least = _up((1 - exact(Fraction(deltas[-1], _ONE))) * decay**top)
        slopes = [least, *reversed(below), *above]
        falls = _down(decay)
        following = [*slopes[1:], 0]
        masses = [
            max(0, slope - (max(0, next_) * falls >> _BITS))
            for slope, next_ in zip(slopes, following, strict=True)
        ]
        return cls(step, -top, masses, deltas[-1])

    def together(self, other: _Measure) -> _Measure:
        one, two = on_one_grid(self, other)
        polynomial = flint().fmpz_poly
        product = polynomial(one.masses) * polynomial(two.masses)
        masses = [_ceiling(int(product[index])) for index in range(len(one.masses) + len(two.masses) - 1)]
        totals = [sum(measure.masses) + measure.certain for measure in (one, two)]
        certain = _ceiling(one.certain * totals[1] + two.certain * totals[0])
        return _Measure(one.interval, one.first + two.first, masses, certain).trimmed()

    def trimmed(self) -> _Measure:
        """Ends that hold next to nothing move to larger losses, and a fine grid is made coarser."""
        low, high, lower, upper = 0, len(self.masses), 0, 0
        while low < high - 1 and lower + self.masses[low] < _TAIL:
            lower += self.masses[low]
            low += 1
        while high > low + 1 and upper + self.masses[high - 1] < _TAIL:
            upper += self.masses[high - 1]
            high -= 1
        masses = self.masses[low:high]
        masses[0] += lower
        kept = _Measure(self.interval, self.first + low, masses, self.certain + upper)
        return kept.coarser() if len(masses) > MOST_CELLS else kept

    def coarser(self) -> _Measure:
        """On the grid of twice the step."""
        down = _up(1 / (1 + exact(self.interval).exp()))
        up = _up(1 / (1 + (-exact(self.interval)).exp()))
        start = math.floor(Fraction(self.first, 2))
        kept = [0] * (math.ceil(Fraction(self.first + len(self.masses) - 1, 2)) - start + 1)
        for index, mass in enumerate(self.masses, self.first):
            place, is_between = index // 2 - start, index % 2
            kept[place] += _ceiling(mass * down) if is_between else mass
            if is_between:
                kept[place + 1] += _ceiling(mass * up)
        return _Measure(2 * self.interval, start, kept, self.certain)

    def delta(self, epsilon: float) -> Number:
        limit = Fraction(epsilon)
        start = max(self.first, math.floor(limit / self.interval) + 1)
        total = exact(Fraction(self.certain, _ONE))
        left, fall = (exact(limit - start * self.interval)).exp(), (-exact(self.interval)).exp()
        for mass in self.masses[start - self.first :]:
            total += exact(Fraction(mass, _ONE)) * (1 - left)
            left *= fall
        return total


def _ceiling(product: int) -> int:
    """The product of two masses, as a mass, rounded up."""
    return -(-product >> _BITS)


def _up(number: Number) -> int:
    """A ball as a mass that is not below it."""
    return max(0, int((number * _ONE).upper().ceil().unique_fmpz()))


def _down(number: Number) -> int:
    return int((number * _ONE).lower().floor().unique_fmpz())
