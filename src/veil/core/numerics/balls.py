"""Numbers that know how far off they may be: for closed forms whose rounding must be bounded."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

from veil.core.numerics.rounding import FUNCTION_ERROR, ULP

# Bounds are computed in floats too: more than their own rounding.
_ROOM = 1.0 + 2.0**-40
_TINY = 2.0**-1000


@dataclass(frozen=True, slots=True)
class Ball:
    """A float and a bound on its distance from the number that it stands for.

    Every operation adds its own rounding to what its arguments bring along, so a formula written with balls
    bounds its own error.

    >>> third = Ball(1.0) / 3.0
    >>> third.below < 1 / 3 < third.above
    True
    """

    value: float
    error: float = 0.0

    @classmethod
    def rounded(cls, value: float) -> Ball:
        """The result of one operation on exact floats."""
        return cls(value, ULP * abs(value) + _TINY)

    @property
    def above(self) -> float:
        """Not below the number."""
        return math.nextafter(self.value + self.error, math.inf)

    @property
    def below(self) -> float:
        """Not above the number."""
        return math.nextafter(self.value - self.error, -math.inf)

    def __add__(self, other: Ball | float) -> Ball:
        value, error = _parts(other)
        return _grown(self.value + value, self.error + error)

    __radd__ = __add__

    def __neg__(self) -> Ball:
        return Ball(-self.value, self.error)

    def __sub__(self, other: Ball | float) -> Ball:
        value, error = _parts(other)
        return _grown(self.value - value, self.error + error)

    def __rsub__(self, other: float) -> Ball:
        return -self + other

    def __mul__(self, other: Ball | float) -> Ball:
        value, error = _parts(other)
        spread = abs(self.value) * error + (abs(value) + error) * self.error
        return _grown(self.value * value, spread)

    __rmul__ = __mul__

    def __truediv__(self, other: Ball | float) -> Ball:
        value, error = _parts(other)
        least = abs(value) - error
        if not least > 0.0:
            return Ball(math.nan, math.inf)
        quotient = self.value / value
        return _grown(quotient, (self.error + abs(quotient) * error) / least)

    def __rtruediv__(self, other: float) -> Ball:
        return Ball(other) / self

    def log(self) -> Ball:
        """The natural logarithm; of a positive number."""
        return _logarithm(math.log, self, least=self.value - self.error)

    def log1p(self) -> Ball:
        """The natural logarithm of one more; of a number above -1/2."""
        return _logarithm(math.log1p, self, least=1.0 + self.value - self.error)


def _parts(other: Ball | float) -> tuple[float, float]:
    return (other.value, other.error) if isinstance(other, Ball) else (other, 0.0)


def _grown(value: float, error: float) -> Ball:
    return Ball(value, (error + ULP * abs(value)) * _ROOM + _TINY)


def _logarithm(function: Callable[[float], float], of: Ball, *, least: float) -> Ball:
    """A function whose derivative is at most 1 / least wherever its argument may be."""
    if not least > 0.0:
        return Ball(math.nan, math.inf)
    value = function(of.value)
    return Ball(value, (of.error / least + FUNCTION_ERROR * abs(value)) * _ROOM + _TINY)
