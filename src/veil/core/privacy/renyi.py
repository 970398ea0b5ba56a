"""A profile from Renyi divergences: for changes whose worst case has no closed form."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from functools import cached_property

import numpy as np

from veil.core.numerics.rounding import float_above
from veil.core.privacy.profile import Floats, Kind, LogDelta, PrivacyProfile, order_of

# From near 1 (large delta) to far beyond any use (tiny epsilon).
_ORDERS = 1.0 + np.geomspace(1e-2, 1e6, 161)


@dataclass(frozen=True, eq=False)
class RenyiProfile(PrivacyProfile):
    """delta(epsilon) from bounds on the Renyi divergences of every pair of neighbours, in both directions.

    divergence: orders -> bounds, infinite where there is none. rho: they are at most rho times the order.
    log delta <= (order - 1)(divergence - epsilon) + order log(1 - 1/order) - log(order - 1), for every
    order (Canonne, Kamath, Steinke 2020, Proposition 12); the least one is taken.
    """

    divergence: Callable[[Floats], Floats]
    rho: float | None = None
    kind: Kind = field(default="upper bound", init=False)

    @classmethod
    def together(cls, parts: Sequence[tuple[RenyiProfile, int]]) -> RenyiProfile:
        """Several releases: their divergences add."""

        def divergence(orders: Floats) -> Floats:
            each = [times * part.divergence(orders) for part, times in parts]
            return np.asarray(np.sum(each, axis=0) * (1.0 + 2.0**-50 * len(each)), dtype=np.float64)

        rhos = [None if part.rho is None else times * Fraction(part.rho) for part, times in parts]
        known = [rho for rho in rhos if rho is not None]
        return cls(divergence, float_above(sum(known, Fraction())) if len(known) == len(rhos) else None)

    @cached_property
    def _bounds(self) -> tuple[Floats, Floats]:
        bounds = np.asarray(self.divergence(_ORDERS), dtype=np.float64)
        known = np.isfinite(bounds)
        return _ORDERS[known], bounds[known]

    def log_deltas(self) -> tuple[LogDelta, LogDelta]:
        return self._log_delta, self._log_delta

    def _log_delta(self, epsilon: float) -> float:
        orders, bounds = self._bounds
        if not len(orders):
            return 0.0
        less = orders - 1.0
        logs = less * (bounds - epsilon) + orders * np.log1p(-1.0 / orders) - np.log(less)
        rounding = 2.0**-48 * (less * (bounds + epsilon) + 32.0)
        return min(0.0, float((logs + rounding).min()))

    def rdp(self, order: float) -> float:
        return float(self.divergence(np.array([order_of(order)]))[0])

    def zcdp(self) -> float:
        return super().zcdp() if self.rho is None else self.rho

    def reach(self, tail: float) -> float:
        orders, bounds = self._bounds
        if not len(orders):
            return math.inf
        return float((bounds - math.log(tail) / (orders - 1.0)).min())
