"""Rows of Dirichlet vectors that floats cannot round, decided by intervals (core/random/ideal.md).

They are computed from the same random words, and from more bits of the same uniform numbers.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from decimal import Decimal
from fractions import Fraction
from math import inf, ldexp

import numpy as np

from veil.core.arrays import Floats
from veil.core.numerics.intervals import Arithmetic
from veil.core.random.ideal import log_gamma, settle
from veil.core.random.streams import Rng, Words
from veil.core.random.uniform import Uniform

# Significant bits of an entry, and the exponent below which an entry counts as zero.
BITS, LEAST_EXPONENT = 28, -900
_TINY = Decimal("1e-300")
# An entry is left out of a sum at first if it is surely less than this part of another: by a fall of e^-100,
# which is below 10^-43, and sizes of which one is at most 10^6 times the other.
_NEGLIGIBLE = Decimal("1e-37")
_FALL, _SIZES = 100.0, 1e6


@dataclass(frozen=True)
class Gammas:
    """Gamma variables that are being drawn, e^boost times size each, with bounds on their errors.

    first, boosting: the words that they were made of. known: uniform numbers of which more than a word is
    known. boosts are logarithms and so have absolute errors; sizes have relative ones.
    """

    size: Floats
    size_error: Floats
    boost: Floats
    boost_error: Floats
    first: Words
    boosting: Words
    known: dict[tuple[int, int], Uniform] = field(default_factory=dict)

    @classmethod
    def none(cls, count: int) -> Gammas:
        size, size_error, boost, boost_error = np.zeros((4, count))
        first, boosting = np.zeros((2, count), dtype=np.uint64)
        return cls(size, size_error, boost, boost_error, first, boosting)

    def uniform(self, place: int, which: int) -> Uniform:
        """The uniform number behind an entry: 0 for the proposal's, 1 for the boost's."""
        words = self.boosting if which else self.first
        return self.known.setdefault((place, which), Uniform(int(words[place])))


def rounded_rational(x: Fraction) -> float:
    """The nearest number of BITS bits, halves up; zero below 2^LEAST_EXPONENT."""
    if x < Fraction(2) ** LEAST_EXPONENT:
        return 0.0
    # x = m 2^e, 1/2 <= m < 1.
    e = x.numerator.bit_length() - x.denominator.bit_length()
    e += x >= Fraction(2) ** e
    return ldexp(int(x * Fraction(2) ** (BITS - e) + Fraction(1, 2)), e - BITS)


def _negligible(gammas: Gammas, places: list[int]) -> list[int]:
    """The places of variables that are surely less than _NEGLIGIBLE of the one with the largest boost."""
    size, error = gammas.size[places], gammas.size_error[places]
    boost, boost_error = gammas.boost[places], gammas.boost_error[places]
    # Nothing is known of a variable whose errors have no end, and too little of one with large errors.
    known = (size > 0.0) & (error < 0.5) & (boost_error < 1.0)
    if not known.any():
        return []
    largest = int(np.argmax(np.where(known, boost, -inf)))
    fall = boost[largest] - boost
    small = known & (fall > _FALL + 2.0 + 1e-6 * fall) & (3.0 * size < _SIZES * size[largest])
    return [place for place, is_small in zip(places, small.tolist(), strict=True) if is_small]


def settled_row(
    rng: Rng,
    gammas: Gammas,
    places: list[int],
    asked: list[int],
    shapes: Floats,
    exact: Callable[[int], Fraction],
) -> list[float]:
    """The rounded entries at the places that are asked, of a row that floats cannot tell.

    places: of all variables of the row. Those that are surely nothing beside the largest are computed only if
    the answer is not clear without them.
    """
    small = set(_negligible(gammas, places)) - set(asked)
    behind = {
        place: (
            exact(place),
            gammas.uniform(place, 0),
            gammas.uniform(place, 1) if shapes[place] < 1.0 else None,
        )
        for place in places
    }
    wanted = set(asked)
    uniforms = [uniform for _, *both in behind.values() for uniform in both if uniform is not None]

    def ask(a: Arithmetic) -> list[float] | None:
        left_out = Decimal(len(small)) * _NEGLIGIBLE
        looked_at = [place for place in places if place not in small]
        small.clear()
        parts = [log_gamma(a, *behind[place]) for place in looked_at]
        # Nothing is too small if the largest logarithm is taken out first.
        largest = max(range(len(parts)), key=lambda i: parts[i][1][0])
        top = parts[largest][1]
        falls = [a.number(0) if i == largest else a.subtract(part[1], top) for i, part in enumerate(parts)]
        if any(high > 1 for _, high in falls):
            # Which one is the largest is not known yet; powers of such numbers may be too large to write.
            return None
        scaled = [a.multiply(part[0], a.exp(fall)) for part, fall in zip(parts, falls, strict=True)]
        total = scaled[0]
        for part in scaled[1:]:
            total = a.add(total, part)
        # Each that is left out is less than so much of one that is not.
        total = a.add(total, a.multiply(total, (Decimal(0), left_out)))
        rounded = []
        for place, part in zip(looked_at, scaled, strict=True):
            if place not in wanted:
                continue
            # As rationals, numbers far below the least one would have more digits than there is memory for.
            ends = (max(end, _TINY) for end in a.divide(part, total))
            low, high = (rounded_rational(Fraction(end)) for end in ends)
            if low != high:
                return None
            rounded.append(low)
        return rounded

    return settle(rng, uniforms, ask)
