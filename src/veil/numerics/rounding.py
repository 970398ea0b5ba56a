"""Rounding to a chosen side."""

from __future__ import annotations

import math
from fractions import Fraction

SMALLEST_POSITIVE = math.ulp(0.0)
_LOG_SMALLEST = math.log(SMALLEST_POSITIVE)


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
