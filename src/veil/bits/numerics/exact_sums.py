"""Sums of floats without rounding, and bounds of the rounding where floats add up."""

from __future__ import annotations

import math
from collections.abc import Iterable
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
_DIGITS = 53


def exact_sum(values: Floats) -> Fraction:
    """The sum of floats, nothing rounded.

    fsum is correctly rounded. What it rounded off is again a sum of floats, and at most 2^-53 of it.
    """
    terms = values.tolist()
    total = Fraction(0)
    while True:
        rounded = math.fsum(terms)
        if not rounded:
            return total
        total += Fraction(rounded)
        terms.append(-rounded)


def rounding_slack(entries: Iterable[Floats], size: float, terms: int) -> float:
    """How far a float can be from the sum that it stands for: `terms` entries, each times a whole number.

    `size` bounds the sum of the absolute terms. If all entries are multiples of a unit and `size` is below
    2^51 units, then every partial sum is a float and nothing is rounded. Else, in whatever order they are
    added, and products included, the error is below (terms + 8) 2^-52 size: twice the usual bound.
    """
    if size == 0.0:
        return 0.0
    unit = 2.0 ** (math.frexp(size)[1] + 2 - _DIGITS)
    if all(np.array_equal(part / unit, np.rint(part / unit)) for part in entries):
        return 0.0
    return (terms + 8) * 2.0 ** (1 - _DIGITS) * size
