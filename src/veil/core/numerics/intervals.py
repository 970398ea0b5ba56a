"""Intervals that surely hold a real number, as closely as asked: what decides where floats cannot.

The sums, products, quotients and roots of Decimal are rounded to the chosen side, its exponentials and
logarithms to the nearest number, beyond which one more step is taken.
"""

from __future__ import annotations

from decimal import MAX_EMAX, MIN_EMIN, ROUND_CEILING, ROUND_FLOOR, Context, Decimal
from fractions import Fraction

Interval = tuple[Decimal, Decimal]


class Arithmetic:
    """Operations on intervals, to so many decimal digits."""

    def __init__(self, digits: int) -> None:
        self.digits = digits
        self._down = Context(prec=digits, rounding=ROUND_FLOOR, Emax=MAX_EMAX, Emin=MIN_EMIN)
        self._up = Context(prec=digits, rounding=ROUND_CEILING, Emax=MAX_EMAX, Emin=MIN_EMIN)

    def between(self, low: Fraction, high: Fraction) -> Interval:
        """From one rational to another."""
        down = self._down.divide(Decimal(low.numerator), Decimal(low.denominator))
        return down, self._up.divide(Decimal(high.numerator), Decimal(high.denominator))

    def number(self, value: Fraction | int) -> Interval:
        """A rational number."""
        return self.between(Fraction(value), Fraction(value))

    def add(self, a: Interval, b: Interval) -> Interval:
        return self._down.add(a[0], b[0]), self._up.add(a[1], b[1])

    def subtract(self, a: Interval, b: Interval) -> Interval:
        return self._down.subtract(a[0], b[1]), self._up.subtract(a[1], b[0])

    def negate(self, a: Interval) -> Interval:
        """-a. The minus sign of Decimal would round to 28 digits."""
        return a[1].copy_negate(), a[0].copy_negate()

    def multiply(self, a: Interval, b: Interval) -> Interval:
        pairs = [(x, y) for x in a for y in b]
        return min(self._down.multiply(*pair) for pair in pairs), max(
            self._up.multiply(*pair) for pair in pairs
        )

    def divide(self, a: Interval, b: Interval) -> Interval:
        """The quotient, for a positive divisor."""
        pairs = [(x, y) for x in a for y in b]
        return min(self._down.divide(*pair) for pair in pairs), max(self._up.divide(*pair) for pair in pairs)

    def root(self, a: Interval) -> Interval:
        """The square root of what is positive. Decimal rounds it to the nearest number."""
        return self._down.next_minus(self._down.sqrt(a[0])), self._up.next_plus(self._up.sqrt(a[1]))

    def exp(self, a: Interval) -> Interval:
        """e^x: at the lower end, and from there to the upper one by e^w <= 1 + w + w^2 for w <= 1."""
        low = max(self._down.next_minus(self._down.exp(a[0])), Decimal(0))
        width = self._up.subtract(a[1], a[0])
        if width > 1:
            return low, self._up.next_plus(self._up.exp(a[1]))
        near = self._up.next_plus(self._up.exp(a[0]))
        return low, self._up.fma(near, self._up.fma(width, width, width), near)

    def log(self, a: Interval) -> Interval:
        """The logarithm of what is positive: at the lower end, and log(1 + r) <= r to the upper one."""
        near = self._down.ln(a[0])
        further = self._up.divide(self._up.subtract(a[1], a[0]), a[0])
        return self._down.next_minus(near), self._up.add(self._up.next_plus(near), further)
