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
from veil.core.privacy.rigorous import Enclosure

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
        """What no x between left and right exceeds, in either direction."""
        return max(direction(epsilon) for direction in self._pair(left, right).log_deltas())

    def _pair(self, left: float, right: float) -> BetaPair:
        """A pair that dominates those of all x between left and right.

        The entry that holds x is lowered to left and the other one to what it is at right: the same
        transfer between smaller entries dominates. At left = right it is the pair at x itself. By the
        symmetry x -> 1 - x - d both directions at x cover both directions at its mirror.
        """
        # Smaller entries and a larger transfer dominate, so that is how the products are rounded.
        low, rest, moved = self._shapes(left, right)
        return BetaPair(float_below(low), float_below(rest), float_above(moved))

    def _shapes(self, left: float, right: float) -> tuple[Fraction, Fraction, Fraction]:
        # The floor holds for the other entry too, where 1 - right - mass is below it.
        k, mass = Fraction(self.k), Fraction(self.mass)
        rest = max(1 - Fraction(right) - mass, Fraction(self.floor))
        return k * Fraction(left), k * rest, k * mass

    def _certified(self, epsilon: float) -> float:
        ceiling = self._corner(epsilon) + self.tolerance
        left, right = self._cells(epsilon, ceiling)[-1]
        # Where the certificate failed, the bound for all that is left is safe, if not tight.
        return max(ceiling, self._bound(left, right, epsilon))

    def _cells(self, epsilon: float, ceiling: float) -> list[tuple[float, float]]:
        """Cells that cover all x. In each but perhaps the last one the bound is not above the ceiling."""
        x, end = self.floor, math.nextafter(0.5 * (1.0 - self.mass), math.inf)
        if x >= end:
            # There is no other place than the corner.
            return [(x, x)]
        width, cells = end - x, []
        for _ in range(_MOST_CELLS):
            right = min(x + width, end)
            if self._bound(x, right, epsilon) <= ceiling:
                cells.append((x, right))
                x, width = right, 2.0 * width
                if x >= end:
                    return cells
            elif width <= 1e-9 * end:
                break
            else:
                width *= 0.5
        return [*cells, (x, end)]

    def enclosure(self, epsilon: float) -> Enclosure:
        """From the corner, whose pair is one of those that may be, to the worst of the cells' bounds."""
        low, rest, moved = self._shapes(self.floor, self.floor)
        corner = BetaPair(float_above(low), float_above(rest), float_below(moved)).enclosure(epsilon)
        cells = self._cells(epsilon, self._corner(epsilon) + self.tolerance)
        return Enclosure(corner.low, max(self._pair(*cell).enclosure(epsilon).high for cell in cells))


def limit_as_k_vanishes(floor: float, mass: float, epsilon: float) -> float:
    """log of what delta(epsilon) tends to as k -> 0: mass / (2 floor + mass) exp(-epsilon floor / mass)."""
    return math.log(mass / (2.0 * floor + mass)) - epsilon * floor / mass
