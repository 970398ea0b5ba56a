"""Two floats around the true delta, and the library that computes them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cache
from typing import Any

from veil.core.errors import MissingExtra
from veil.core.numerics.rounding import SMALLEST_POSITIVE, float_above, float_below

# Of a number of Arb; its stubs are not always there.
Number = Any


@dataclass(frozen=True)
class Enclosure:
    """low <= delta <= high; both are floats, rounded outwards."""

    low: float
    high: float

    @property
    def is_narrow(self) -> bool:
        """Whether it says more than a few digits."""
        return self.high <= self.low * (1.0 + 1e-9) or self.high <= 1e-300

    @classmethod
    def largest(cls, several: Sequence[Enclosure]) -> Enclosure:
        """Of the largest of several numbers."""
        return cls(max(one.low for one in several), max(one.high for one in several))

    @classmethod
    def around(cls, number: Number) -> Enclosure:
        """Around a ball of Arb that holds a probability."""
        if not number.is_finite():
            return cls(0.0, 1.0)
        low, high = (_fraction(end) for end in (number.lower(), number.upper()))
        low_float = 0.0 if low is None or low <= 0 else float_below(min(low, Fraction(1)))
        high_float = (
            SMALLEST_POSITIVE if high is None else float_above(max(min(high, Fraction(1)), Fraction()))
        )
        return cls(low_float, max(high_float, low_float))


NOTHING = Enclosure(0.0, 0.0)


@cache
def flint() -> Any:
    """python-flint."""
    try:
        import flint
    except ImportError:
        raise MissingExtra("python-flint", "rigorous") from None
    return flint


def exact(number: Fraction | float) -> Number:
    """The number for Arb, to the precision of the moment where it has no finite binary form."""
    library = flint()
    if isinstance(number, float):
        return library.arb(number)
    return library.arb(library.fmpq(number.numerator, number.denominator))


def from_nothing_to(number: Number) -> Number:
    """A ball around all that is not negative and not above the number."""
    return flint().arb(0).union(number.upper())


def _fraction(end: Number) -> Fraction | None:
    """The rational that an exact number of Arb is; None where it is far below all floats, 2 from there on."""
    mantissa, exponent = (int(part) for part in end.man_exp())
    if mantissa.bit_length() + exponent > 2:
        return Fraction(2 if mantissa > 0 else -2)
    if mantissa and mantissa.bit_length() + exponent < -1100:
        return None
    return Fraction(mantissa) * Fraction(2) ** exponent
