"""What Renyi divergences say of delta, by ball arithmetic."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from fractions import Fraction

from veil.core.privacy.rigorous.enclosure import Enclosure, Number, exact, flint

# The divergence of an order, as a ball whose upper end is not below it.
Divergence = Callable[[float], Number]
_BITS = 256


def delta_below(divergence: Divergence, orders: Sequence[float], epsilon: float) -> Enclosure:
    """Between nothing and the least delta that one of the orders gives (Canonne, Kamath, Steinke 2020)."""
    with flint().ctx.workprec(_BITS):
        logs = []
        for order in orders:
            a, r = exact(order), divergence(order)
            logs.append((a - 1) * (r - exact(epsilon)) + a * (1 - 1 / a).log() - (a - 1).log())
        return Enclosure(0.0, min(Enclosure.around(log.exp()).high for log in logs))


def of_square(square: Fraction) -> Divergence:
    """order * square / 2: of a normal shift whose square is that."""
    return lambda order: exact(Fraction(order) * square / 2)


def of_gammas(prior: float, scale: float, added: int, removed: int) -> Divergence:
    """The worst way to spread records over cells, each Gamma(prior + scale count)."""

    def divergence(order: float) -> Number:
        library = flint()
        a, start, step = exact(order), exact(prior), exact(scale)

        def log_moment(tilted: Number, p: Number, q: Number) -> Number:
            return tilted.lgamma() - a * p.lgamma() + (a - 1) * q.lgamma()

        def spread(single: Callable[[Number], Number], records: int) -> Number:
            alone = [single(step * count) for count in range(1, records + 1)]
            worst = [library.arb(0)]
            for number in range(1, records + 1):
                ends = [(alone[of - 1] + worst[number - of]).upper() for of in range(1, number + 1)]
                worst.append(max(ends))
            return worst[-1]

        def more(shift: Number) -> Number:
            return log_moment(start + a * shift, start + shift, start)

        def less(shift: Number) -> Number:
            low = start - (a - 1) * shift
            return log_moment(low, start, start + shift) if low > 0 else library.arb(math.inf)

        one = spread(more, added) + spread(less, removed)
        other = spread(less, added) + spread(more, removed)
        return max(one.upper(), other.upper()) / (a - 1)

    return divergence


def together(several: Sequence[tuple[Divergence, int]]) -> Divergence:
    """Divergences add."""
    return lambda order: sum((times * one(order) for one, times in several), flint().arb(0))
