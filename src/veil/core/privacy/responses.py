"""Randomised responses, and every pure mechanism by way of them."""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction

from veil.core.numerics.rounding import float_above
from veil.core.privacy.profile import Kind, LogDelta, PrivacyProfile, order_of


@dataclass(frozen=True)
class RandomizedResponses(PrivacyProfile):
    """The composition of `times` randomised responses of parameter `each`.

    Every pair of distributions with a loss of at most `each` is a garbling of one randomised response
    (Kairouz, Oh, Viswanath 2015), so this bounds any `times` pure mechanisms together, and is exact
    where each loss takes only its two extreme values.
    """

    each: float
    times: int = 1
    kind: Kind = "exact"

    @property
    def pure_epsilon(self) -> float:
        return float_above(Fraction(self.each) * self.times)

    def log_deltas(self) -> tuple[LogDelta, LogDelta]:
        return self._log_delta, self._log_delta

    def _log_delta(self, epsilon: float) -> float:
        # j answers point one way: the loss is (2j - times) each,
        # the probability C(times, j) e^(j each) / (1 + e^each)^times
        log_total = self.times * (self.each + math.log1p(math.exp(-self.each)))
        terms = []
        for j in range(self.times + 1):
            # Exactly: next to a loss, rounding would hide all of it.
            gap = float_above((2 * j - self.times) * Fraction(self.each) - Fraction(epsilon))
            if gap > 0.0:
                log_mass = math.log(math.comb(self.times, j)) + j * self.each - log_total
                terms.append(log_mass + math.log(-math.expm1(-gap)))
        if not terms:
            return -math.inf
        top = max(terms)
        return top + math.log(sum(math.exp(term - top) for term in terms)) + 1e-13 * (1.0 + log_total)

    def zcdp(self) -> float:
        return float_above(Fraction(self.each) ** 2 / 2 * self.times)

    def rdp(self, order: float) -> float:
        order = order_of(order)
        # The moment is cosh((order - 1/2) each) / cosh(each/2); less 1, without cancellation, it is
        # 2 sinh(order each/2) sinh((order - 1) each/2) / cosh(each/2).
        half = 0.5 * self.each
        if order * half < 300.0:
            more = 2.0 * math.sinh(order * half) * math.sinh((order - 1.0) * half) / math.cosh(half)
            one = math.log1p(more)
        else:
            # Both cosines by their exponentials: log1p(e^-x) is what the other one adds.
            far, near = (2.0 * order - 1.0) * self.each, self.each
            one = (order - 1.0) * self.each + math.log1p(math.exp(-far)) - math.log1p(math.exp(-near))
        return self.times * one / (order - 1.0)
