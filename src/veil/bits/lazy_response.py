"""A randomised response that is mostly silent: the loss takes three values only."""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction

from veil.core.numerics.rounding import float_above
from veil.core.privacy.profile import Kind, LogDelta, PrivacyProfile, order_of


@dataclass(frozen=True)
class LazyResponse(PrivacyProfile):
    """The loss is `each` with probability `chance`, -each with chance e^-each, and 0 otherwise.

    delta(epsilon) = chance (1 - e^(epsilon - each)), and both directions are alike. A larger chance only
    raises the curve, so one that is rounded up is safe.
    """

    each: float
    chance: float
    kind: Kind = "exact"

    @property
    def pure_epsilon(self) -> float:
        return self.each

    def log_deltas(self) -> tuple[LogDelta, LogDelta]:
        return self._log_delta, self._log_delta

    def _log_delta(self, epsilon: float) -> float:
        # Exactly: next to the loss, rounding would hide all of it.
        gap = float_above(Fraction(self.each) - Fraction(epsilon))
        if gap <= 0.0 or self.chance <= 0.0:
            return -math.inf
        return math.log(self.chance) + math.log(-math.expm1(-gap)) + 1e-13

    def rdp(self, order: float) -> float:
        order = order_of(order)
        up, down = (order - 1.0) * self.each, -order * self.each
        # chance (e^up - 1 + e^-each (e^-up - 1)) is what the two outcomes add to 1.
        if up > 700.0:
            # At most chance e^up + 1; what e^-up adds is below the slack.
            log = math.log(self.chance) + up if self.chance > 0.0 else -math.inf
            return (max(log, 0.0) + math.log1p(math.exp(-abs(log)))) / (order - 1.0) + 1e-12
        more = self.chance * (math.expm1(up) + math.exp(down) - math.exp(-self.each))
        return math.log1p(max(more, 0.0)) / (order - 1.0) + 1e-13
