"""Rounding to a chosen side."""

from __future__ import annotations

import math
from decimal import Context, Decimal
from fractions import Fraction

SMALLEST_POSITIVE = math.ulp(0.0)
_LOG_SMALLEST = math.log(SMALLEST_POSITIVE)
# The exponential of a Decimal is correctly rounded; the next number above it is surely not below it.
_DIGITS = Context(prec=60)


def probability_above(log_probability: float) -> float:
    """The least convenient float: not below exp(log_probability), not above 1, never 0."""
    if log_probability >= 0.0:
        return 1.0
    if log_probability <= _LOG_SMALLEST:
        return SMALLEST_POSITIVE
    # exp is good to one unit in the last place; its argument's own rounding scales with its size.
    slack = 2.0**-51 + 2.0**-52 * abs(log_probability)
    return min(1.0, math.nextafter(math.exp(log_probability) * (1.0 + slack), math.inf))


def float_below(exact: Fraction) -> float:
    """The largest float that is not above the rational."""
    nearest = float(exact)
    return nearest if Fraction(nearest) <= exact else math.nextafter(nearest, -math.inf)


def float_above(exact: Fraction) -> float:
    """The smallest float that is not below the rational."""
    nearest = float(exact)
    return nearest if Fraction(nearest) >= exact else math.nextafter(nearest, math.inf)


def stated(number: float) -> Fraction:
    """What a float was written as, or the float itself where that is less.

    0.1 is a float a little above a tenth. Who asks for an epsilon of 0.1 is charged a tenth, so what is built
    for it must not reveal more than a tenth.
    """
    return min(Fraction(number), Fraction(repr(number)))


def charge_above(exact: Fraction) -> float:
    """The smallest float that is not below the rational, nor is the decimal that it is written as.

    What is charged is that decimal.
    """
    found = float_above(exact)
    return found if stated(found) >= exact else math.nextafter(found, math.inf)


def decay_above(rate: float) -> float:
    """The least float that is surely not below exp(-rate); it stands for exactly that number."""
    if rate >= -_LOG_SMALLEST:
        return SMALLEST_POSITIVE
    above = _DIGITS.next_plus(_DIGITS.exp(_DIGITS.minus(Decimal(rate))))
    return min(1.0, float_above(Fraction(above)))


def rate_above(decay: float) -> float:
    """The least float that is surely not below -log(decay)."""
    if decay == 1.0:
        return 0.0
    return float_above(Fraction(_DIGITS.next_plus(_DIGITS.minus(_DIGITS.ln(Decimal(decay))))))


def times_above(loss: float, times: int) -> float:
    """The product, not rounded down."""
    return float_above(Fraction(loss) * times)
