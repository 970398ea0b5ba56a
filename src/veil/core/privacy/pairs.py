"""Profiles of dominating pairs that have a closed form.

Exponential tilts of each other (proofs: vectors/mechanisms/dirichlet.md), randomised responses, and discrete
Gaussian noise on one or two counts (vectors/mechanisms/noisy_counts.md). Every number that is returned is
raised by a bound on its own rounding.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from functools import partial

import numpy as np
from scipy.special import betainc, betaincinv, expit, logit

from veil.core.arrays import Floats
from veil.core.numerics.balls import Ball
from veil.core.numerics.densities import LogConcaveDensity, LogGamma, LogitBeta, StandardNormal
from veil.core.numerics.log_gamma import rising_excess
from veil.core.numerics.rounding import FUNCTION_ERROR, ULP, charged_together, float_above, float_below
from veil.core.numerics.tilted import HalfLine, log_hockey_stick
from veil.core.privacy.profile import Kind, LogDelta, PrivacyProfile, SymmetricProfile, order_of
from veil.core.privacy.rigorous import Enclosure, sums, tilts

# Below it a beta variable is so often smaller than any float that the closed form underflows.
_SMALL_SHAPE = 0.1
# More than what products of tiny numbers lose where they underflow.
_TINY = 2.0**-1000


@dataclass(frozen=True)
class TiltedPair(PrivacyProfile):
    """P and Q on the line with log dP/dQ linear in u with slope `tilt`, both log-concave in u.

    upper is the density of u under P, lower the one under Q, each around its own mode. zero_upper and
    zero_lower are the point where the loss is zero, as distances from these modes: the modes themselves may
    be huge and would round away what matters.
    """

    upper: LogConcaveDensity
    lower: LogConcaveDensity
    tilt: float
    zero_upper: Ball
    zero_lower: Ball
    kind: Kind = "exact"

    def log_deltas(self) -> tuple[LogDelta, LogDelta]:
        forward = partial(log_hockey_stick, self.upper, tilt=self.tilt, zero=self.zero_upper, side=1)
        backward = partial(log_hockey_stick, self.lower, tilt=self.tilt, zero=self.zero_lower, side=-1)
        return forward, backward

    def _half_lines(self, epsilon: float) -> list[HalfLine]:
        """What the two directions integrate over."""
        sides = (self.upper, self.zero_upper, 1), (self.lower, self.zero_lower, -1)
        return [
            HalfLine.beyond(density, epsilon, tilt=self.tilt, zero=zero, side=side)
            for density, zero, side in sides
        ]


class _SymmetricPair(TiltedPair):
    """A pair whose two curves are the same."""

    def _half_lines(self, epsilon: float) -> list[HalfLine]:
        return super()._half_lines(epsilon)[:1]

    def log_deltas(self) -> tuple[LogDelta, LogDelta]:
        forward, _ = super().log_deltas()
        return forward, forward


class BetaPair(TiltedPair):
    """Beta(low + tilt, rest) against Beta(low, rest + tilt)."""

    def __init__(self, low: float, rest: float, tilt: float, kind: Kind = "exact") -> None:
        # The loss is tilt * logit t - (log_rising(low, tilt) - log_rising(rest, tilt)); the modes are the
        # logits of the means. What remains of their difference is of order one.
        excess = rising_excess(low, tilt) - rising_excess(rest, tilt)
        upper, lower = LogitBeta(low + tilt, rest), LogitBeta(low, rest + tilt)
        super().__init__(
            upper, lower, tilt, excess - _log_ratio(tilt, rest), excess + _log_ratio(tilt, low), kind
        )

    def enclosure(self, epsilon: float) -> Enclosure:
        return _beta_enclosure(self, epsilon)


class SymmetricBetaPair(_SymmetricPair):
    """Beta(a + s, a) against Beta(a, a + s): the worst pair of the Dirichlet mechanism."""

    def __init__(self, a: float, s: float, kind: Kind = "exact") -> None:
        # The loss is s * logit t, zero at logit t = 0; the mode of P is log((a + s) / a).
        mode = _log_ratio(s, a)
        super().__init__(LogitBeta(a + s, a), LogitBeta(a, a + s), s, -mode, mode, kind)

    @property
    def shape(self) -> float:
        """The a of Beta(a + s, a): the smaller, the more the pair differs."""
        assert isinstance(self.lower, LogitBeta)
        return self.lower.a

    def enclosure(self, epsilon: float) -> Enclosure:
        return _beta_enclosure(self, epsilon)

    def likely_deltas(self, epsilons: Floats) -> tuple[Floats, Floats]:
        a, s = self.shape, self.tilt
        if a < _SMALL_SHAPE:
            return super().likely_deltas(epsilons)
        tail = expit(-epsilons / s)
        with np.errstate(over="ignore", invalid="ignore"):
            deltas = betainc(a, a + s, tail) - np.exp(epsilons) * betainc(a + s, a, tail)
        return (np.nan_to_num(np.maximum(deltas, 0.0)),) * 2

    def reach(self, tail: float) -> float:
        # P[loss > s l] = P[Beta(a, a + s) < 1/(1 + e^l)]
        point = float(betaincinv(self.shape, self.shape + self.tilt, tail))
        return -self.tilt * float(logit(point)) if 1e-290 < point < 0.5 else super().reach(tail)

    def rdp(self, order: float) -> float:
        a, s = self.shape, self.tilt
        moved, less = _tilted(a, s, order)
        if less <= 0.0:
            return math.inf
        # E_Q[(dP/dQ)^order] = B(a + order s, a + s - order s) / B(a, a + s)
        more = rising_excess(_sum_above(a, s), moved) - rising_excess(less, moved)
        return max(0.0, ((_log_ratio(s + moved, a) + more) * Ball.rounded(s)).above)


class GammaPair(TiltedPair):
    """Gamma(a + s) against Gamma(a): one record more in a cell."""

    def __init__(self, a: float, s: float, kind: Kind = "exact") -> None:
        # The loss is s * u - log_rising(a, s); the modes are log(a + s) and log a.
        zero = rising_excess(a, s)
        super().__init__(LogGamma(a + s), LogGamma(a), s, zero, zero + _log_ratio(s, a), kind)

    def enclosure(self, epsilon: float) -> Enclosure:
        assert isinstance(self.lower, LogGamma)
        both = partial(tilts.gamma, shape=self.lower.shape, tilt=self.tilt, epsilon=epsilon)
        return tilts.of_tilts(both, self._half_lines(epsilon))

    def rdp(self, order: float) -> float:
        assert isinstance(self.lower, LogGamma)
        a, s = self.lower.shape, self.tilt
        moved, low = _tilted(a, s, order)
        if low <= 0.0:
            return math.inf
        once = rising_excess(a, s)
        # E_Q[(dP/dQ)^order] = Gamma(a + order s) / Gamma(a) * (Gamma(a) / Gamma(a + s))^order
        more = _log_ratio(moved, float_below(Fraction(a) + Fraction(s)))
        more += rising_excess(_sum_above(a, s), moved) - once
        # E_P[(dQ/dP)^order] = Gamma(low) / Gamma(a) * (Gamma(a + s) / Gamma(a))^(order - 1)
        less = _log_ratio(s, a) + once - rising_excess(low, moved)
        return max(0.0, (more * Ball.rounded(s)).above, (less * Ball.rounded(s)).above)


class NormalPair(_SymmetricPair):
    """N(shift, 1) against N(0, 1)."""

    def __init__(self, shift: float, kind: Kind = "exact") -> None:
        half = 0.5 * shift
        super().__init__(StandardNormal(), StandardNormal(), shift, Ball(-half), Ball(half), kind)

    def enclosure(self, epsilon: float) -> Enclosure:
        both = partial(tilts.normal, shift=self.tilt, epsilon=epsilon)
        return tilts.of_tilts(both, self._half_lines(epsilon))

    def rdp(self, order: float) -> float:
        return float_above(Fraction(order_of(order)) * Fraction(self.tilt) ** 2 / 2)

    def zcdp(self) -> float:
        # The shift may have been rounded.
        return float_above(Fraction(self.tilt) ** 2 / 2 * (1 + Fraction(1, 2**50)))


def _beta_enclosure(pair: TiltedPair, epsilon: float) -> Enclosure:
    assert isinstance(pair.lower, LogitBeta)
    assert isinstance(pair.upper, LogitBeta)
    both = partial(tilts.beta, low=pair.lower.a, rest=pair.upper.b, tilt=pair.tilt, epsilon=epsilon)
    return tilts.of_tilts(both, pair._half_lines(epsilon))


def _log_ratio(step: float, x: float) -> Ball:
    """log((x + step) / x); the step may be a rounded sum."""
    return Ball(step / x, 2.0 * ULP * (step / x)).log1p()


def _sum_above(a: float, s: float) -> float:
    return float_above(Fraction(a) + Fraction(s))


def _tilted(a: float, s: float, order: float) -> tuple[float, float]:
    """(order - 1) s, rounded up, and what of a is left without it, rounded down.

    That is a slightly larger order, and the log moments grow with the order.
    """
    moved = float_above((Fraction(order_of(order)) - 1) * Fraction(s))
    return moved, float_below(Fraction(a) - Fraction(moved))


@dataclass(frozen=True)
class RandomizedResponses(SymmetricProfile):
    """The composition of `times` randomised responses of parameter `each`.

    Every pair of distributions with a loss of at most `each` is a garbling of one randomised response
    (Kairouz, Oh, Viswanath 2015), so this bounds any `times` pure mechanisms together, and is exact
    where each loss takes only its two extreme values.
    """

    each: float
    times: int = 1
    kind: Kind = "exact"

    def __post_init__(self) -> None:
        object.__setattr__(self, "pure_epsilon", charged_together([(self.each, self.times)]))

    def _log_delta(self, epsilon: float) -> float:
        # j answers point one way: the loss is (2j - times) each, and the probability is
        # C(times, j) e^((j - times) each) / (1 + e^-each)^times
        each, times = Fraction(self.each), self.times
        first = math.floor((Fraction(epsilon) / each + times) / 2) + 1 if self.each else times + 1
        log_total = times * math.log1p(math.exp(-self.each))
        ways, terms = math.comb(times, min(first, times)), []
        for j in range(first, times + 1):
            # Exactly: next to a loss, rounding would hide all of it.
            gap = float_above((2 * j - times) * each - Fraction(epsilon))
            parts, gain = (math.log(ways), (times - j) * self.each, log_total), math.log(-math.expm1(-gap))
            rounding = 2.0 * FUNCTION_ERROR * (sum(parts) + abs(gain) + 1.0)
            terms.append(parts[0] - parts[1] - parts[2] + gain + rounding)
            ways = ways * (times - j) // (j + 1)
        if not terms:
            return -math.inf
        top = max(terms)
        total = math.fsum(math.exp(term - top) for term in terms)
        return min(0.0, top + math.log(total) + 2.0 * FUNCTION_ERROR + 4.0 * ULP * abs(top))

    def enclosure(self, epsilon: float) -> Enclosure:
        return sums.responses(self.each, self.times, epsilon)

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
            # The relative error of sinh(x) is that of x times x coth x, which is below 1 + x.
            relative = 4.0 * FUNCTION_ERROR + 4.0 * ULP * order * self.each
            rounding = FUNCTION_ERROR * one + relative * more / (1.0 + more)
        else:
            # Both cosines by their exponentials: log1p(e^-x) is what the other one adds.
            far, near = (2.0 * order - 1.0) * self.each, self.each
            one = (order - 1.0) * self.each + math.log1p(math.exp(-far)) - math.log1p(math.exp(-near))
            rounding = 4.0 * FUNCTION_ERROR * (one + 1.0)
        return self.times * (one + rounding + _TINY) / (order - 1.0) * (1.0 + 4.0 * ULP)


# How many standard deviations beyond the threshold are summed one by one.
_REACH = 14.0


@dataclass(frozen=True)
class DiscreteGaussianShift(SymmetricProfile):
    """Discrete Gaussian noise on `cells` counts (one, or two that move apart), each moved by one.

    One cell: exp(-(z-1)^2/2s^2) against exp(-z^2/2s^2); the loss at z is (2z - 1)/2s^2. Two cells: the
    loss depends only on d = z1 - z2, whose weights are exp(-d^2/4s^2) sum_j exp(-(j - d/2)^2/s^2)
    against their shift by two; the sum depends on the parity of d alone, and the loss is (d - 1)/s^2.
    """

    sigma: float
    cells: int
    kind: Kind = "exact"

    def _log_delta(self, epsilon: float) -> float:
        # The loss at z is (z - middle) / variance. Where it passes epsilon is found exactly: one term
        # more or less there changes delta by orders of magnitude.
        variance, middle = Fraction(self.sigma) ** 2, Fraction(self.cells, 2)
        first = math.floor(variance * Fraction(epsilon) + middle) + 1
        if first > 2**53:
            return -math.inf
        least_gap, spread = float_above((first - middle) / variance - Fraction(epsilon)), float(variance)
        steps = np.arange(math.ceil(_REACH * self.sigma * self.cells) + 3, dtype=np.float64)
        moved = first - self.cells + steps
        # The last weight stands for all that follow: they fall at least as fast as a geometric series.
        falls = (2.0 * moved[-1] + 1.0) / (2.0 * self.cells * spread)
        gains = -np.expm1(-(least_gap + steps / spread) * (1.0 + 4.0 * ULP))
        gains[-1] = -1.0 / math.expm1(-falls)
        logs = -(moved**2) / (2.0 * self.cells * spread) * (1.0 - 8.0 * ULP)
        log_total = self.cells * _log_theta(0.5, spread, 0.0, sign=-1)
        if self.cells == 2:
            even, odd = (_log_theta(1.0, spread, shift, sign=+1) for shift in (0.0, 0.5))
            logs[:-1] += np.where(np.mod(moved[:-1], 2.0) == 1.0, odd, even)
            logs[-1] += max(even, odd)
        top = float(logs.max())
        # The differences are moved up by more than their rounding, too.
        total = float(gains @ np.exp((logs - top) * (1.0 - 4.0 * ULP)))
        total *= 1.0 + 4.0 * FUNCTION_ERROR + ULP * len(steps)
        return min(0.0, top + math.log(total) - log_total + 8.0 * ULP * (abs(top) + abs(log_total) + 8.0))

    def enclosure(self, epsilon: float) -> Enclosure:
        return sums.discrete_gaussian(self.sigma, self.cells, epsilon)

    def rdp(self, order: float) -> float:
        """The continuous Gaussian's, which bounds it (Canonne, Kamath, Steinke 2020, Theorem 4)."""
        return float_above(Fraction(order_of(order)) * self.cells / Fraction(self.sigma) ** 2 / 2)

    def zcdp(self) -> float:
        return float_above(self.cells / Fraction(self.sigma) ** 2 / 2)


def _log_theta(rate: float, variance: float, shift: float, *, sign: int) -> float:
    """log of sum_j exp(-rate (j - shift)^2 / variance) over all whole j, rounded up (sign 1) or down (-1)."""
    spread = variance / rate
    if spread > 4.0:
        # Poisson: sqrt(pi spread) sum_k cos(2 pi k shift) exp(-pi^2 k^2 spread), of which one term is e^-39.
        rounding = 2.0**-50 + FUNCTION_ERROR * (4.0 + math.log(spread))
        return 0.5 * math.log(math.pi * spread) + sign * rounding
    # Beyond 64 the terms are below e^-1000.
    exponents = -((np.arange(-64.0, 65.0) - shift) ** 2) / spread
    top = float(exponents.max())
    total = float(np.exp((exponents - top) * (1.0 - sign * 8.0 * ULP)).sum())
    return top + math.log(total) + sign * (16.0 * FUNCTION_ERROR + 8.0 * ULP * abs(top) + 1e-100)
