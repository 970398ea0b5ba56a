"""Tails of beta and gamma variables as balls: series of positive terms, the rest bounded by a geometric one.

With s = a + b and y = 1 - x,

    I_x(a, b) = x^a y^b / (a B(a, b)) * sum over m of x^m (s)_m / (a + 1)_m,
    P(a, x)   = x^a e^-x / Gamma(a + 1) * sum over m of x^m / (a + 1)_m.

Each ratio of two terms is a monotone function of m that tends to x, or to 0, so that from a term on the
largest one to come is this one or the limit. All numbers are balls of python-flint: that they hold the truth
is certain.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass

from flint import arb, ctx

MOST_TERMS = 30_000
# Smaller than any float.
NEGLIGIBLE = arb(2) ** -1100


@contextmanager
def precision(bits: int) -> Iterator[None]:
    """So many bits for the numbers made within."""
    before = ctx.prec
    ctx.prec = bits
    try:
        yield
    finally:
        ctx.prec = before


class TooLong(ArithmeticError):
    """The series has more terms than is worth waiting for."""


@dataclass(frozen=True)
class Beta:
    """t ~ Beta(a, b), by its log odds u."""

    a: arb
    b: arb

    @property
    def log_constant(self) -> arb:
        return self.a.lgamma() + self.b.lgamma() - (self.a + self.b).lgamma()

    def above(self, u: arb) -> arb:
        """P[log odds > u]."""
        return Beta(self.b, self.a).below(-u)

    def below(self, u: arb) -> arb:
        """P[log odds < u], by the shorter of the two series."""
        a, b = self.a, self.b
        x, y = 1 / (1 + (-u).exp()), 1 / (1 + u.exp())
        # log x and log y without cancellation, however small these are.
        log_x, log_y = -(-u).exp().log1p(), -u.exp().log1p()
        log_front = a * log_x + b * log_y - self.log_constant
        if _terms(x, y, a + b, a + 1) <= _terms(y, x, a + b, b + 1):
            return log_front.exp() / a * _sum_of_ratios(x, a + b, a + 1, x)
        return 1 - log_front.exp() / b * _sum_of_ratios(y, a + b, b + 1, y)


@dataclass(frozen=True)
class Gamma:
    """x ~ Gamma(a), by its logarithm u."""

    a: arb

    @property
    def log_constant(self) -> arb:
        return self.a.lgamma()

    def above(self, u: arb) -> arb:
        """P[log x > u].

        From 2 a on the density falls at least as fast as e^(-x/2), so that it is at most twice the density
        at x, and x is above 1: where that is below any float, it is enough.
        """
        x = u.exp()
        if bool(x > 2 * self.a + 1):
            most = 2 * (self.a * u - x - self.log_constant).exp()
            if bool(most < NEGLIGIBLE):
                return most.union(arb(0))
        return 1 - self.below(u)

    def below(self, u: arb) -> arb:
        """P[log x < u]."""
        x = u.exp()
        front = (self.a * u - x - (self.a + 1).lgamma()).exp()
        return front * _sum_of_ratios(x, None, self.a + 1, arb(0))


def _terms(x: arb, y: arb, numerator: arb, denominator: arb) -> float:
    """About how many terms count, y = 1 - x: until they fall, and until they have fallen by e^-prec."""
    peak = max(0.0, float((x * numerator - denominator) / y))
    bits, scale, root = float(ctx.prec), float(1 / y), float(denominator.sqrt())
    more: float = min(scale, bits + root + math.sqrt(peak))
    return peak + bits * more


def _sum_of_ratios(x: arb, numerator: arb | None, denominator: arb, limit: arb) -> arb:
    """1 + r_0 + r_0 r_1 + ... with r_m = x (numerator + m) / (denominator + m), or x / (denominator + m)."""
    term = total = arb(1)
    tiny = arb(2) ** -(ctx.prec + 8)
    for m in range(MOST_TERMS):
        above = x if numerator is None else x * (numerator + m)
        ratio = above / (denominator + m)
        term = term * ratio
        total = total + term
        if m % 8 == 7 or bool(term < tiny):
            largest = ratio.max(limit)
            if bool(largest < 1):
                rest = term * largest / (1 - largest)
                if bool(rest < tiny * total):
                    return total + rest.union(arb(0))
    raise TooLong(f"more than {MOST_TERMS} terms")
