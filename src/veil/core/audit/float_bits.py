"""The last bits of floats, where rounding leaves traces of how a number was computed.

A float is a whole number of 53 bits times a power of two. A sum keeps to the coarser of the lattices of its
parts, so that the last bit that is set tells how large they were; a quotient or a reciprocal does not reach
every float.
"""

from __future__ import annotations

import numpy as np

from veil.core.arrays import Booleans, Floats, Places

# Bits of a float's whole number.
DIGITS = 53
# Bits from 2^-126 to 2^0 have numbers from 0 to 126: what is looked at are fractions. Zero has the last one.
BITS = 128
_FIRST = -126
# Exponents that are told apart, those of numbers from 2^-24 to 2^8.
EXPONENTS = 32
_LEAST_EXPONENT = -24


def parts(numbers: Floats) -> tuple[Places, Places]:
    """Whole numbers of 53 bits and powers of two whose products the numbers are, but for the sign."""
    significands, exponents = np.frexp(np.abs(numbers))
    return np.ldexp(significands, DIGITS).astype(np.int64), exponents.astype(np.int64) - DIGITS


def lowest_bit(numbers: Floats) -> Places:
    """The number of the last bit that is set."""
    whole, exponents = parts(numbers)
    # A single bit is a power of two, which a float holds exactly.
    last = np.frexp((whole & -whole).astype(np.float64))[1] - 1 + exponents
    return np.where(whole == 0, BITS - 1, np.clip(last - _FIRST, 0, BITS - 2))


def finest_bit(numbers: Floats) -> Places:
    """The number of the last bit that a float of this size can have."""
    exponents = np.frexp(numbers)[1].astype(np.int64) - DIGITS
    return np.where(numbers == 0.0, BITS - 1, np.clip(exponents - _FIRST, 0, BITS - 2))


def exponent(numbers: Floats) -> Places:
    """How large they are, by powers of two: from 0 to EXPONENTS - 1."""
    return np.clip(np.frexp(numbers)[1].astype(np.int64) - _LEAST_EXPONENT, 0, EXPONENTS - 1)


def remainder(numbers: Floats, divisor: int) -> Places:
    """What is left of the whole number of 53 bits after division."""
    return parts(numbers)[0] % divisor


def is_reciprocal(numbers: Floats) -> Booleans:
    """Whether it is the rounded reciprocal of some float; near 1 and below it half of all floats are not.

    Where one is divided by a sum, nothing else can come out.
    """
    with np.errstate(divide="ignore", over="ignore", invalid="ignore"):
        near = 1.0 / numbers
        tried = (near, np.nextafter(near, 0.0), np.nextafter(near, np.inf))
        return np.asarray(np.logical_or.reduce([1.0 / one == numbers for one in tried]))


def is_reached(numbers: Floats, start: float) -> Booleans:
    """Whether the rounded sum of `start` and a float can be the number (Mironov, 2012)."""
    return np.asarray(start + (numbers - start) == numbers)
