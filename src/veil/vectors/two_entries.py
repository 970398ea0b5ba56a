"""The Dirichlet mechanism on two entries: the exact worst case, certified (mechanisms/dirichlet.md)."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from fractions import Fraction

import numpy as np

from veil.core.arrays import Floats
from veil.core.numerics.rounding import float_above, float_below
from veil.core.privacy.pairs import BetaPair
from veil.core.privacy.profile import Kind, LogDelta, PrivacyProfile

_MOST_CELLS = 1_000


@dataclass(frozen=True)
class TwoEntries(PrivacyProfile):
    """Beta(k(x+d), k(1-x-d)) against Beta(kx, k(1-x)), the worst x in [floor, 1 - floor - d].

    The worst x seems always to be a corner. That is not proved in general, so each number that is
    printed carries its own proof: the range of x is cut into cells, and in every cell a pair that
    dominates all pairs of the cell is shown to be no worse than the corner, but for `tolerance` of it.
    """

    k: float
    floor: float
    mass: float
    kind: Kind = "exact"
    # The certificate proves that no x beats the corner by more than this relative amount.
    tolerance: float = 1e-6
    _known: dict[float, float] = field(default_factory=dict, repr=False, compare=False)

    @property
    def grid_points(self) -> int:
        # Every point needs its own certificate.
        return 200

    def log_deltas(self) -> tuple[LogDelta, LogDelta]:
        return self._log_delta, self._log_delta

    def _log_delta(self, epsilon: float) -> float:
        if epsilon not in self._known:
            self._known[epsilon] = self._certified(epsilon)
        return self._known[epsilon]

    def likely_log_delta(self, epsilon: float) -> float:
        return self._corner(epsilon) + self.tolerance

    def likely_deltas(self, epsilons: Floats) -> tuple[Floats, Floats]:
        deltas = np.array([math.exp(min(0.0, self.likely_log_delta(float(epsilon)))) for epsilon in epsilons])
        return deltas, deltas

    def _corner(self, epsilon: float) -> float:
        return self._bound(self.floor, self.floor, epsilon)

    def _bound(self, left: float, right: float, epsilon: float) -> float:
        """What no x between left and right exceeds, in either direction.

        The entry that holds x is lowered to left and the other one to what it is at right: the same
        transfer between smaller entries dominates. At left = right it is the pair at x itself. By the
        symmetry x -> 1 - x - d both directions at x cover both directions at its mirror.
        """
        # The floor holds for the other entry too, where 1 - right - mass is below it. Smaller entries and a
        # larger transfer dominate, so that is how the products are rounded.
        k, mass = Fraction(self.k), Fraction(self.mass)
        rest = max(1 - Fraction(right) - mass, Fraction(self.floor))
        pair = BetaPair(float_below(k * Fraction(left)), float_below(k * rest), float_above(k * mass))
        return max(direction(epsilon) for direction in pair.log_deltas())

    def _certified(self, epsilon: float) -> float:
        ceiling = self._corner(epsilon) + self.tolerance
        x, end = self.floor, math.nextafter(0.5 * (1.0 - self.mass), math.inf)
        width = end - x
        for _ in range(_MOST_CELLS):
            if x >= end:
                return ceiling
            right = min(x + width, end)
            if self._bound(x, right, epsilon) <= ceiling:
                x, width = right, 2.0 * width
            elif width <= 1e-9 * end:
                break
            else:
                width *= 0.5
        # The certificate failed: the bound for all that is left is safe, if not tight.
        return max(ceiling, self._bound(x, end, epsilon))


def limit_as_k_vanishes(floor: float, mass: float, epsilon: float) -> float:
    """log of what delta(epsilon) tends to as k -> 0: mass / (2 floor + mass) exp(-epsilon floor / mass)."""
    return math.log(mass / (2.0 * floor + mass)) - epsilon * floor / mass
