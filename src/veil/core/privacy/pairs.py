"""Profiles of dominating pairs that have a closed form.

Exponential tilts of each other (proofs: vectors/mechanisms/dirichlet.md), randomised responses, and discrete
Gaussian noise on one or two counts.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from functools import partial

import numpy as np
from scipy.special import betainc, betaincinv, expit, logit

from veil.core.arrays import Floats
from veil.core.numerics.rounding import float_above
from veil.core.numerics.tilted import (
    LogConcaveDensity,
    LogGamma,
    LogitBeta,
    StandardNormal,
    log_hockey_stick,
    log_rising,
    rising_excess,
)
from veil.core.privacy.profile import Kind, LogDelta, PrivacyProfile, SymmetricProfile, order_of

_ULP = 2.0**-52
# Below it a beta variable is so often smaller than any float that the closed form underflows.
_SMALL_SHAPE = 0.1


@dataclass(frozen=True)
class TiltedPair(PrivacyProfile):
    """P and Q on the line with log dP/dQ linear in u with slope `tilt`, both log-concave in u.

    upper is the density of u under P, lower the one under Q, each around its own mode. zero_upper and
    zero_lower are the point where the loss is zero, as distances from these modes, and zero_error
    bounds their rounding: the modes themselves may be huge and would round away what matters.
    """

    upper: LogConcaveDensity
    lower: LogConcaveDensity
    tilt: float
    zero_upper: float
    zero_lower: float
    zero_error: float
    kind: Kind = "exact"

    def log_deltas(self) -> tuple[LogDelta, LogDelta]:
        given = {"tilt": self.tilt, "zero_error": self.zero_error}
        forward = partial(log_hockey_stick, self.upper, zero=self.zero_upper, side=1, **given)
        backward = partial(log_hockey_stick, self.lower, zero=self.zero_lower, side=-1, **given)
        return forward, backward


class _SymmetricPair(TiltedPair):
    """A pair whose two curves are the same."""

    def log_deltas(self) -> tuple[LogDelta, LogDelta]:
        forward, _ = super().log_deltas()
        return forward, forward


class SymmetricBetaPair(_SymmetricPair):
    """Beta(a + s, a) against Beta(a, a + s): the worst pair of the Dirichlet mechanism."""

    def __init__(self, a: float, s: float, kind: Kind = "exact") -> None:
        # The loss is s * logit t, zero at logit t = 0; the mode of P is log((a + s) / a).
        mode = math.log1p(s / a)
        super().__init__(LogitBeta(a + s, a), LogitBeta(a, a + s), s, -mode, mode, 4.0 * _ULP * mode, kind)

    @property
    def shape(self) -> float:
        """The a of Beta(a + s, a): the smaller, the more the pair differs."""
        assert isinstance(self.lower, LogitBeta)
        return self.lower.a

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
        order = order_of(order)
        rest = a - (order - 1.0) * s
        if rest <= 0.0:
            return math.inf
        # E_Q[(dP/dQ)^order] = B(a + order s, a + s - order s) / B(a, a + s)
        return (log_rising(a + s, (order - 1.0) * s) - log_rising(rest, (order - 1.0) * s)) / (order - 1.0)


class GammaPair(TiltedPair):
    """Gamma(a + s) against Gamma(a): one record more in a cell."""

    def __init__(self, a: float, s: float, kind: Kind = "exact") -> None:
        # The loss is s * u - log_rising(a, s); the modes are log(a + s) and log a.
        zero = rising_excess(a, s)
        error = 16.0 * _ULP * (1.0 + abs(zero))
        super().__init__(LogGamma(a + s), LogGamma(a), s, zero, zero + math.log1p(s / a), error, kind)

    def rdp(self, order: float) -> float:
        order = order_of(order)
        assert isinstance(self.lower, LogGamma)
        a, s = self.lower.shape, self.tilt
        more = log_rising(a + s, (order - 1.0) * s) - (order - 1.0) * log_rising(a, s)
        low = a - (order - 1.0) * s
        if low <= 0.0:
            return math.inf
        # E_P[(dQ/dP)^order] = Gamma(low) / Gamma(a) * (Gamma(a + s) / Gamma(a))^(order - 1)
        less = (order - 1.0) * log_rising(a, s) - log_rising(low, (order - 1.0) * s)
        return max(more, less) / (order - 1.0)


class NormalPair(_SymmetricPair):
    """N(shift, 1) against N(0, 1)."""

    def __init__(self, shift: float, kind: Kind = "exact") -> None:
        half = 0.5 * shift
        super().__init__(StandardNormal(), StandardNormal(), shift, -half, half, 4.0 * _ULP * half, kind)

    def rdp(self, order: float) -> float:
        return 0.5 * order_of(order) * self.tilt**2

    def zcdp(self) -> float:
        # The shift may have been rounded.
        return float_above(Fraction(self.tilt) ** 2 / 2 * (1 + Fraction(1, 2**50)))


def beta_pair(low: float, rest: float, tilt: float) -> TiltedPair:
    """Beta(low + tilt, rest) against Beta(low, rest + tilt)."""
    excess = rising_excess(low, tilt) - rising_excess(rest, tilt)
    # The loss is tilt * logit t - (log_rising(low, tilt) - log_rising(rest, tilt)); the modes are the
    # logits of the means. What remains of their difference is of order one.
    shift_upper, shift_lower = -math.log1p(tilt / rest), math.log1p(tilt / low)
    error = 16.0 * _ULP * (2.0 + abs(excess) + abs(shift_upper) + abs(shift_lower))
    return TiltedPair(
        LogitBeta(low + tilt, rest),
        LogitBeta(low, rest + tilt),
        tilt,
        excess + shift_upper,
        excess + shift_lower,
        error,
    )


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
        object.__setattr__(self, "pure_epsilon", float_above(Fraction(self.each) * self.times))

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
        variance, middle = Fraction(self.sigma) ** 2, Fraction(1, 2) if self.cells == 1 else Fraction(1)
        first = math.floor(variance * Fraction(epsilon) + middle) + 1
        if first > 2**53:
            return -math.inf
        least_gap = float_above((first - middle) / variance - Fraction(epsilon))
        spread = float(variance)
        steps = np.arange(math.ceil(_REACH * self.sigma * self.cells) + 2, dtype=np.float64)
        z, gaps = first + steps, least_gap + steps / spread
        if self.cells == 1:
            log_weights, log_total = -((z - 1.0) ** 2) / (2.0 * spread), _log_theta(spread, 0.0, 0.5)
        else:
            even_sum, odd_sum = _log_theta(spread, 0.0, 1.0), _log_theta(spread, 0.5, 1.0)
            parity = np.where(np.mod(z, 2.0) == 1.0, odd_sum, even_sum)
            log_weights = -((z - 2.0) ** 2) / (4.0 * spread) + parity
            log_total = 2.0 * _log_theta(spread, 0.0, 0.5)
        terms = log_weights + np.log(-np.expm1(-gaps))
        top = float(terms.max())
        value = top + math.log(float(np.exp(terms - top).sum())) - log_total
        return value + 1e-11 + 2.0**-50 * (abs(top) + epsilon + abs(log_total))

    def rdp(self, order: float) -> float:
        """The continuous Gaussian's, which bounds it (Canonne, Kamath, Steinke 2020, Theorem 4)."""
        return 0.5 * order_of(order) * self.cells / self.sigma**2

    def zcdp(self) -> float:
        return float_above(self.cells / Fraction(self.sigma) ** 2 / 2)


def _log_theta(variance: float, shift: float, rate: float) -> float:
    """log of sum_j exp(-rate (j - shift)^2 / variance) over all whole j."""
    reach = math.ceil(math.sqrt(800.0 * variance / rate)) + 2
    exponents = -rate * (np.arange(-reach, reach + 1, dtype=np.float64) - shift) ** 2 / variance
    top = float(exponents.max())
    return top + math.log(float(np.exp(exponents - top).sum()))
