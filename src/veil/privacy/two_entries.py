"""The Dirichlet mechanism on two entries: the exact worst case, certified (mechanisms/dirichlet.md)."""

from __future__ import annotations

import math
from dataclasses import dataclass, field

from veil.numerics.stirling import log_rising
from veil.numerics.tilted import LogitBeta
from veil.privacy.pairs import SymmetricBetaPair, TiltedPair
from veil.privacy.profile import Kind, LogDelta, PrivacyProfile

# The certificate proves that no x beats the corner by more than this relative amount.
_TOLERANCE = 1e-6
_MOST_CELLS = 20_000


@dataclass(frozen=True)
class TwoEntries(PrivacyProfile):
    """Beta(k(x+d), k(1-x-d)) against Beta(kx, k(1-x)), the worst x in [floor, 1 - floor - d].

    The worst x seems always to be a corner. That is not proved in general, so each number that is
    printed carries its own proof: the range of x is cut into cells, and in every cell a pair that
    dominates all pairs of the cell is shown to be no worse than the corner, but for 1e-6.
    """

    k: float
    floor: float
    mass: float
    kind: Kind = "exact"
    _known: dict[float, float] = field(default_factory=dict, repr=False, compare=False)

    def log_deltas(self) -> tuple[LogDelta, LogDelta]:
        return self._log_delta, self._log_delta

    def _log_delta(self, epsilon: float) -> float:
        if epsilon not in self._known:
            self._known[epsilon] = self._certified(epsilon)
        return self._known[epsilon]

    def likely_log_delta(self, epsilon: float) -> float:
        return self._corner(epsilon) + _TOLERANCE

    def _corner(self, epsilon: float) -> float:
        return self._wide(self.floor, self.floor, epsilon)

    def _wide(self, left: float, right: float, epsilon: float) -> float:
        """A bound for every x between left and right: the pair (left, right + d) dominates them.

        By the symmetry x -> 1 - x - d both directions at x cover both directions at its mirror.
        """
        low, high = self.k * left, self.k * (right + self.mass)
        pair = TiltedPair(
            LogitBeta(high, self.k - high),
            LogitBeta(low, self.k - low),
            tilt=high - low,
            offset=log_rising(low, high - low) - log_rising(self.k - high, high - low),
        )
        return max(direction(epsilon) for direction in pair.log_deltas())

    def _certified(self, epsilon: float) -> float:
        ceiling = self._corner(epsilon) + _TOLERANCE
        end = 0.5 * (1.0 - self.mass)
        x, width = self.floor, max(_TOLERANCE * (end - self.floor), 0.0)
        for _ in range(_MOST_CELLS):
            if x >= end or width == 0.0:
                return ceiling
            # From here on both entries are at least x: the pair of three or more entries bounds the rest.
            rest = SymmetricBetaPair(self.k * x, self.k * self.mass)._forward(epsilon)
            if rest <= ceiling:
                return ceiling
            bound = self._wide(x, min(x + width, end), epsilon)
            if bound <= ceiling:
                x, width = min(x + width, end), 2.0 * width
            elif width < 1e-13 * x:
                ceiling = max(ceiling, bound)
            else:
                width *= 0.5
        # Too many cells: the bound for all that is left is safe, if not tight.
        return max(ceiling, SymmetricBetaPair(self.k * x, self.k * self.mass)._forward(epsilon))


def limit_as_k_vanishes(floor: float, mass: float, epsilon: float) -> float:
    """log of what delta(epsilon) tends to as k -> 0: mass / (2 floor + mass) exp(-epsilon floor / mass)."""
    return math.log(mass / (2.0 * floor + mass)) - epsilon * floor / mass
