"""Hockey-stick divergences that are sums, by ball arithmetic. The parameters are the exact numbers that the
floats are."""

from __future__ import annotations

import math
from fractions import Fraction

from veil.core.privacy.rigorous.enclosure import NOTHING, Enclosure, Number, exact, flint, from_nothing_to

_BITS = 128
# Beyond so many standard deviations a sum is bounded by a geometric series.
_REACH = 14.0


def responses(each: float, times: int, epsilon: float) -> Enclosure:
    """Of randomised responses: the sum over the answers whose loss is above epsilon."""
    library = flint()
    loss, limit = Fraction(each), Fraction(epsilon)
    if times * loss <= limit:
        return NOTHING
    first = max(0, math.floor((limit / loss + times) / 2) + 1)
    ways = math.comb(times, first)
    with library.ctx.workprec(_BITS + 2 * times.bit_length() + _bits(times * each)):
        # Relative to the answer that points one way always: nothing is larger than its weight.
        decay, total = (-exact(each)).exp(), library.arb(0)
        for j in range(first, times + 1):
            gap = exact((2 * j - times) * loss - limit)
            total += library.fmpz(ways) * decay ** (times - j) * -(-gap).expm1()
            ways = ways * (times - j) // (j + 1)
        return Enclosure.around(total / (1 + decay) ** times)


def lazy_response(each: float, chance: float, epsilon: float) -> Enclosure:
    """Of a loss of `each` with this chance, or else not above 0: chance (1 - e^(epsilon - each))."""
    gap = Fraction(each) - Fraction(epsilon)
    if gap <= 0:
        return NOTHING
    with flint().ctx.workprec(_BITS):
        return Enclosure.around(exact(chance) * -(-exact(gap)).expm1())


def discrete_gaussian(sigma: float, cells: int, epsilon: float) -> Enclosure:
    """The sum over the noise of one cell, or of two whose difference decides, as it is defined.

    The weight of z is exp(-rate (z - cells)^2 / sigma^2), and of two cells also depends on the parity of z.
    """
    library = flint()
    variance, limit = Fraction(sigma) ** 2, Fraction(epsilon)
    middle, rate = Fraction(cells, 2), Fraction(1, 2 * cells) / variance
    first = math.floor(variance * limit + middle) + 1
    steps = math.ceil(_REACH * sigma * cells) + 3
    # The losses of the products below, each of which may cost a bit; and of the gaps between losses.
    room = 4 * steps.bit_length() + 2 * _bits(sigma)
    with library.ctx.workprec(_BITS + room + _bits(float(min(rate * first**2, Fraction(10) ** 300)))):
        total = _theta(Fraction(0), Fraction(1, 2) / variance, sigma) ** cells
        parity = [library.arb(1)] * 2
        if cells == 2:
            parity = [_theta(Fraction(half, 2), 1 / variance, sigma) for half in (0, 1)]
        gap = (first - middle) / variance - limit
        rise, left, fall = -(-exact(gap)).expm1(), (-exact(gap)).exp(), (-exact(1 / variance)).exp()
        weights = _Weights(first - cells, rate)
        found = library.arb(0)
        for step in range(steps):
            found += weights.value * parity[(first + step) % 2] * rise
            weights.advance()
            left *= fall
            rise = 1 - left
        found += weights.beyond() * (parity[0] + parity[1])
        return Enclosure.around(found / total)


class _Weights:
    """exp(-rate z^2) for one whole (or shifted) z after the other: the ratio falls by the same factor."""

    def __init__(self, at: Fraction | int, rate: Fraction) -> None:
        self.value = (-exact(rate * at**2)).exp()
        self._ratio = (-exact(rate * (2 * at + 1))).exp()
        self._fall = (-exact(2 * rate)).exp()

    def advance(self) -> None:
        self.value *= self._ratio
        self._ratio *= self._fall

    def beyond(self) -> Number:
        """All from here on: between nothing and a geometric series. Only where z is not negative."""
        return from_nothing_to(self.value / (1 - self._ratio))


def _theta(shift: Fraction, rate: Fraction, sigma: float) -> Number:
    """The sum of exp(-rate (j - shift)^2) over all whole j."""
    steps = math.ceil(_REACH * sigma) + 3
    found = flint().arb(0)
    for start in (-shift, 1 + shift):
        # To the right from 0, and to the left from -1, whose mirror begins at 1 + shift.
        weights = _Weights(start, rate)
        for _ in range(steps):
            found += weights.value
            weights.advance()
        found += weights.beyond()
    return found


def _bits(size: float) -> int:
    return max(0, math.frexp(min(size, 1e300))[1])
