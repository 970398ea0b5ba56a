"""Certified divergences of discrete pairs: sums over all outcomes, in balls."""

from __future__ import annotations

import math
from fractions import Fraction
from functools import lru_cache

from flint import arb, fmpz

from tests.review.divergences import Number, ball
from tests.review.tails import precision

_BITS = 256
# A Gaussian sum is cut where its terms have fallen by e^-200 from the largest; the rest is in the ball.
_DROP = 200


def responses_divergence(each: float, times: int, epsilon: float) -> arb:
    """E_epsilon of `times` answers that are right with the odds e^each, by the number of right ones."""
    loss, found = Fraction(each), arb(0)
    with precision(_BITS + 2 * times):
        e, right = ball(each), 1 / (1 + (-ball(each)).exp())
        wrong = 1 / (1 + e.exp())
        for j in range(times + 1):
            gap = (2 * j - times) * loss - Fraction(epsilon)
            if gap > 0:
                ways = arb(fmpz(math.comb(times, j)))
                found += ways * right**j * wrong ** (times - j) * -(-ball(gap)).expm1()
        return found


@lru_cache(maxsize=4096)
def gaussian_sum(variance: Fraction, centre: Fraction) -> arb:
    """The sum over all whole z of exp(-(z - centre)^2 / (2 variance)), centre between 0 and 1."""
    reach = math.isqrt(math.ceil(2 * _DROP * variance)) + 2
    with precision(_BITS):
        double = 2 * ball(variance)
        total = arb(0)
        for z in range(-reach, reach + 2):
            total += (-(ball(z - centre) ** 2) / double).exp()
        # Beyond, each term is less than the one before by at least the factor of the last step.
        last = (-(ball(Fraction(reach)) ** 2) / double).exp()
        factor = (-ball(Fraction(reach)) / ball(variance)).exp()
        return total + (2 * last * factor / (1 - factor)).union(arb(0))


def one_cell_divergence(sigma: Number, epsilon: Number) -> arb:
    """E_epsilon(1 + Z || Z), Z a discrete Gaussian: the sum over the outcomes of positive terms."""
    variance = Fraction(sigma) ** 2
    # P(y) / Q(y) = exp((2 y - 1) / (2 variance)).
    first = math.floor(variance * Fraction(epsilon) + Fraction(1, 2)) + 1
    with precision(_BITS):
        total = gaussian_sum(variance, Fraction(0))
        found, double = arb(0), 2 * ball(variance)
        for y in range(first, first + _reach(variance, first - 1)):
            gap = Fraction(2 * y - 1) / (2 * variance) - Fraction(epsilon)
            found += (-(arb(y - 1) ** 2) / double).exp() * -(-ball(gap)).expm1()
        return found / total


def two_cell_divergence(sigma: Number, epsilon: Number) -> arb:
    """E_epsilon((1, -1) + (Z, Z') || (Z, Z')), both discrete Gaussian.

    P(y, y') / Q(y, y') = exp((y - y' - 1) / variance). Of all outcomes with y - y' = d the probabilities
    under P add up to exp(-(d - 2)^2 / (4 variance)) times a Gaussian sum of half the variance around d / 2,
    which depends on whether d is even alone.
    """
    variance = Fraction(sigma) ** 2
    first = math.floor(variance * Fraction(epsilon)) + 2
    with precision(_BITS):
        total = gaussian_sum(variance, Fraction(0)) ** 2
        diagonals = [gaussian_sum(variance / 2, Fraction(parity, 2)) for parity in (0, 1)]
        found, four = arb(0), 4 * ball(variance)
        for d in range(first, first + _reach(2 * variance, first - 2)):
            gap = Fraction(d - 1) / variance - Fraction(epsilon)
            weight = (-(arb(d - 2) ** 2) / four).exp() * diagonals[d % 2]
            found += weight * -(-ball(gap)).expm1()
        return found / total


def two_cells_by_enumeration(sigma: Number, epsilon: Number, reach: int) -> arb:
    """The same by every outcome within the reach, for small sigma."""
    variance = Fraction(sigma) ** 2
    with precision(_BITS):
        weights = {z: (-(arb(z) ** 2) / (2 * ball(variance))).exp() for z in range(-reach - 1, reach + 2)}
        total, found = gaussian_sum(variance, Fraction(0)) ** 2, arb(0)
        for y in range(-reach, reach + 1):
            for other in range(-reach, reach + 1):
                gap = Fraction(y - other - 1) / variance - Fraction(epsilon)
                if gap > 0:
                    found += weights[y - 1] * weights[other + 1] * -(-ball(gap)).expm1()
        return found / total


def _reach(variance: Fraction, start: int) -> int:
    """So many outcomes from `start` on hold all but e^-60 of what is beyond it."""
    from_start = 60 * variance / max(start, 1)
    from_middle = math.isqrt(math.ceil(120 * variance)) + 2
    return min(from_middle + max(-start, 0), math.ceil(from_start) + 2 if start > 0 else 10**9)
