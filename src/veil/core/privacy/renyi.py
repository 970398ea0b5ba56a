"""Renyi divergences: the profile that they give, and how much of them an (epsilon, delta) has room for.

A divergence of at most r at one order a gives delta <= exp((a - 1)(r - epsilon)) (1 - 1/a)^a / (a - 1)
(Canonne, Kamath, Steinke 2020, Proposition 12). Solved for r, with log delta known:

    r(a) = epsilon + (log delta + log(a - 1) - a log(1 - 1/a)) / (a - 1).

zCDP with rho means r <= rho a at every order, so any a may be fixed beforehand: rho = max over a of r(a) / a.
What is returned is lowered by a bound on the rounding of these few operations (balls.py).
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from functools import cached_property

import numpy as np

from veil.core.arrays import Floats
from veil.core.checks import delta_of, positive
from veil.core.errors import InvalidArgument
from veil.core.numerics.balls import Ball
from veil.core.numerics.rounding import FUNCTION_ERROR, ULP, float_above, float_below
from veil.core.privacy.profile import Kind, SymmetricProfile, order_of
from veil.core.privacy.rigorous import Enclosure, divergences
from veil.core.privacy.rigorous.divergences import Divergence

# From near 1 (large delta) to far beyond any use (tiny epsilon).
_ORDERS = 1.0 + np.geomspace(1e-2, 1e6, 161)


@dataclass(frozen=True, eq=False)
class RenyiProfile(SymmetricProfile):
    """delta(epsilon) from bounds on the Renyi divergences of every pair of neighbours, in both directions.

    divergence: orders -> bounds, infinite where there is none. rho: they are at most rho times the order.
    certified: the same bounds by ball arithmetic, one order at a time, for `enclosure`.
    Of the deltas that the orders give, the least one is taken: for worst cases without a closed form.
    """

    divergence: Callable[[Floats], Floats]
    rho: float | None = None
    certified: Divergence | None = None
    kind: Kind = field(default="upper bound", init=False)

    @classmethod
    def together(cls, parts: Sequence[tuple[RenyiProfile, int]]) -> RenyiProfile:
        """Several releases: their divergences add."""

        def divergence(orders: Floats) -> Floats:
            each = [times * part.divergence(orders) for part, times in parts]
            return np.asarray(np.sum(each, axis=0) * (1.0 + ULP * (len(each) + 1)), dtype=np.float64)

        rhos = [None if part.rho is None else times * Fraction(part.rho) for part, times in parts]
        known = [rho for rho in rhos if rho is not None]
        rho = float_above(sum(known, Fraction())) if len(known) == len(rhos) else None
        certified = [(part.certified, times) for part, times in parts if part.certified is not None]
        return cls(divergence, rho, divergences.together(certified) if len(certified) == len(parts) else None)

    @cached_property
    def _bounds(self) -> tuple[Floats, Floats]:
        bounds = np.asarray(self.divergence(_ORDERS), dtype=np.float64)
        known = np.isfinite(bounds)
        return _ORDERS[known], bounds[known]

    def enclosure(self, epsilon: float) -> Enclosure | None:
        """What the best of the orders gives; how much less it is cannot be said from divergences."""
        orders, _ = self._bounds
        if self.certified is None or not len(orders):
            return super().enclosure(epsilon)
        best = int(np.argmin(self._log_deltas(epsilon)))
        return divergences.delta_below(self.certified, orders[best : best + 1].tolist(), epsilon)

    def _log_delta(self, epsilon: float) -> float:
        return float(np.min(self._log_deltas(epsilon), initial=0.0))

    def _log_deltas(self, epsilon: float) -> Floats:
        """log delta by each of the orders."""
        orders, bounds = self._bounds
        # Exact: the orders lie between 1 and 2^53. 1/order is off by ULP/2, which log1p magnifies by at most
        # 1 / less <= 100, so order log1p(-1/order) (at most 5 in size) is off by 102 ULP at most, and the
        # logarithm (at most 14) by 14 FUNCTION_ERROR.
        less = orders - 1.0
        logs = less * (bounds - epsilon) + orders * np.log1p(-1.0 / orders) - np.log(less)
        rounding = 4.0 * ULP * less * (bounds + epsilon) + 32.0 * FUNCTION_ERROR + 128.0 * ULP
        return np.asarray(logs + rounding)

    def rdp(self, order: float) -> float:
        return float(self.divergence(np.array([order_of(order)]))[0])

    def zcdp(self) -> float:
        return super().zcdp() if self.rho is None else self.rho

    def reach(self, tail: float) -> float:
        orders, bounds = self._bounds
        if not len(orders):
            return math.inf
        return float((bounds - math.log(tail) / (orders - 1.0)).min())


def divergence_within(epsilon: float, delta: float, order: float) -> float:
    """The divergence of this order that is surely within (epsilon, delta); 0 if there is no room for any."""
    epsilon, delta, order = positive("epsilon", epsilon), delta_of(delta), order_of(order)
    if delta == 0.0:
        raise InvalidArgument("delta", expected="a number above 0", found="0")
    if delta == 1.0:
        return math.inf
    less = Ball(order) - 1.0
    extra = Ball(delta).log() + less.log() - (less / order).log() * order
    return max(0.0, (extra / less + epsilon).below)


def rho_within(epsilon: float, delta: float) -> float:
    """The zCDP parameter that is surely within (epsilon, delta)."""
    if divergence_within(epsilon, delta, 2.0) == math.inf:
        return math.inf
    # Any order will do, so the best one is looked for in plain floats; what is returned is proved for it.
    orders = 1.0 + np.geomspace(1e-3, 1e7, 2_001)
    for _ in range(2):
        less = orders - 1.0
        extra = math.log(delta) + np.log(less) - orders * (np.log(less) - np.log(orders))
        best = int(np.argmax((epsilon + extra / less) / orders))
        ends = orders[max(best - 1, 0)], orders[min(best + 1, len(orders) - 1)]
        order, orders = float(orders[best]), np.linspace(*ends, 201)
    return float_below(Fraction(divergence_within(epsilon, delta, order)) / Fraction(order))
