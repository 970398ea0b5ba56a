"""Certified hockey-stick divergences E_eps(P || Q) of pairs of beta, gamma and normal variables.

For every threshold c, P[u > c] - e^eps Q[u > c] is a lower bound of the divergence, and the largest one where
the loss passes eps at c. So an enclosure of this difference at a point next to that one never says more than
the truth, and says all of it but for the ball's radius.
"""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction

from flint import arb, fmpq

from tests.review.peaks import beta_peak, bits_for, gamma_peak
from tests.review.tails import NEGLIGIBLE, Beta, Gamma, TooLong, precision

Number = float | Fraction
_PRECISIONS = (128, 192, 320, 640, 1280)
# A divergence is known if so many of its bits are; a float has 53.
_ENOUGH = 56


def ball(number: Number) -> arb:
    """The number itself, not the float next to it."""
    exact = Fraction(number)
    return arb(fmpq(exact.numerator, exact.denominator))


def is_known(value: arb) -> bool:
    """Whether the enclosure says something: it is sharp, or smaller than any float."""
    if bool(value > 0) and value.rel_accuracy_bits() >= _ENOUGH:
        return True
    return bool(abs(value) <= 2 * NEGLIGIBLE)


def _sharp(attempt: Callable[[], arb], peak: Callable[[], arb], *shapes: Number) -> arb:
    value = arb.nan()
    try:
        for bits in _PRECISIONS:
            with precision(bits):
                value = attempt()
            if is_known(value):
                return value
    except TooLong:
        pass
    with precision(bits_for(*(float(shape) for shape in shapes))):
        by_peak = peak()
    return by_peak if is_known(by_peak) else value


def beta_divergence(low: Number, rest: Number, tilt: Number, epsilon: Number) -> arb:
    """E_epsilon(Beta(low + tilt, rest) || Beta(low, rest + tilt)), the tilt positive."""

    def laws() -> tuple[Beta, Beta, arb, arb]:
        a, b, s, e = (ball(number) for number in (low, rest, tilt, epsilon))
        first, second = Beta(a + s, b), Beta(a, b + s)
        return first, second, ((e + first.log_constant - second.log_constant) / s).mid(), e

    def difference() -> arb:
        first, second, start, e = laws()
        return first.above(start) - e.exp() * second.above(start)

    def peak() -> arb:
        first, _, start, _ = laws()
        return beta_peak(first, start, ball(tilt))

    return _sharp(difference, peak, low, rest, tilt)


def gamma_divergence(shape: Number, tilt: Number, epsilon: Number, *, more: bool) -> arb:
    """E_epsilon(Gamma(shape + tilt) || Gamma(shape)), or of the two exchanged if not `more`."""

    def laws() -> tuple[Gamma, Gamma, arb, arb]:
        a, s, e = (ball(number) for number in (shape, tilt, epsilon))
        larger, smaller = Gamma(a + s), Gamma(a)
        loss = e if more else -e
        return larger, smaller, ((loss + larger.log_constant - smaller.log_constant) / s).mid(), e

    def difference() -> arb:
        larger, smaller, start, e = laws()
        if more:
            return larger.above(start) - e.exp() * smaller.above(start)
        return smaller.below(start) - e.exp() * larger.below(start)

    def peak() -> arb:
        larger, smaller, start, _ = laws()
        return gamma_peak(larger if more else smaller, start, ball(tilt), 1 if more else -1)

    return _sharp(difference, peak, shape, tilt)


def added_divergence(cell: Number, others: Number, more: Number, epsilon: Number, *, gained: bool) -> arb:
    """E_epsilon(Beta(cell + more, others) || Beta(cell, others)), or exchanged if not `gained`.

    The loss is more * log t but for a constant, so that it passes epsilon at one t, if below 1.
    """

    def difference() -> arb:
        a, b, s, e = (ball(number) for number in (cell, others, more, epsilon))
        larger, smaller = Beta(a + s, b), Beta(a, b)
        loss = e if gained else -e
        log_t = ((loss + larger.log_constant - smaller.log_constant) / s).mid()
        if bool(log_t >= 0):
            # No t is as large: the loss never exceeds epsilon, or always does.
            return arb(0) if gained else -e.expm1().nonnegative_part()
        odds = (log_t - (-log_t.expm1()).log()).mid()
        if gained:
            return larger.above(odds) - e.exp() * smaller.above(odds)
        return smaller.below(odds) - e.exp() * larger.below(odds)

    return _sharp(difference, arb.nan, cell, others, more)


def shifted_bound(first: tuple[Number, Number], second: tuple[Number, Number], epsilon: Number) -> arb:
    """A lower bound of E_epsilon(Beta(*first) || Beta(*second)), whatever the shapes are.

    By one threshold on the log odds. Exact where both have the same total; next to exact where nearly so.
    """
    a1, b1, a2, b2 = (Fraction(shape) for shape in (*first, *second))
    tilt = (a1 - a2 + b2 - b1) / 2

    def difference() -> arb:
        p, q, e = Beta(ball(a1), ball(b1)), Beta(ball(a2), ball(b2)), ball(epsilon)
        start = ((e + p.log_constant - q.log_constant) / ball(tilt)).mid()
        if tilt > 0:
            return p.above(start) - e.exp() * q.above(start)
        return p.below(start) - e.exp() * q.below(start)

    return arb(0) if tilt == 0 else _sharp(difference, arb.nan, a1, b1, a2, b2)


def normal_divergence(shift: Number, epsilon: Number) -> arb:
    """E_epsilon(N(shift, 1) || N(0, 1))."""

    def difference() -> arb:
        t, e = ball(shift), ball(epsilon)
        start, root = (e / t + t / 2).mid(), arb(2).sqrt()
        return (((start - t) / root).erfc() - e.exp() * (start / root).erfc()) / 2

    value = arb.nan()
    for bits in (*_PRECISIONS, 4096):
        with precision(bits):
            value = difference()
        if is_known(value):
            break
    return value


def is_below(claim: float, truth: arb) -> bool:
    """Whether a claimed delta is surely below the truth."""
    return bool(arb(claim) < truth) if claim < 1.0 else False


def is_log_below(log_claim: float, truth: arb) -> bool:
    """The same for the logarithm of a claim, which may be too small for a float."""
    if log_claim >= 0.0:
        return False
    with precision(256):
        return bool(truth > 0) and bool(arb(log_claim) < truth.log())


def shown(truth: arb) -> str:
    return str(truth.str(20))
