"""Dominating pairs that are exponential tilts of each other (proofs: vectors/mechanisms/dirichlet.md)."""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction

import numpy as np
from scipy.special import betainc, betaincinv, expit, logit

from veil.core.numerics.rounding import float_above
from veil.core.numerics.stirling import log_rising, rising_excess
from veil.core.numerics.tilted import LogConcaveDensity, LogGamma, LogitBeta, StandardNormal, log_hockey_stick
from veil.core.privacy.profile import Floats, Kind, LogDelta, PrivacyProfile, order_of

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
        return self._forward, self._backward

    def _forward(self, epsilon: float) -> float:
        return self._one_sided(self.upper, self.zero_upper, epsilon, 1)

    def _backward(self, epsilon: float) -> float:
        return self._one_sided(self.lower, self.zero_lower, epsilon, -1)

    def _one_sided(self, density: LogConcaveDensity, zero: float, epsilon: float, side: int) -> float:
        step = epsilon / self.tilt
        return log_hockey_stick(
            density,
            tilt=self.tilt,
            start=zero + side * step,
            start_error=self.zero_error + 4.0 * _ULP * (abs(zero) + step),
            side=side,
        )


class SymmetricBetaPair(TiltedPair):
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

    def _log_delta(self, epsilon: float) -> float:
        return self._forward(epsilon)

    def log_deltas(self) -> tuple[LogDelta, LogDelta]:
        return self._forward, self._forward

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


class NormalPair(TiltedPair):
    """N(shift, 1) against N(0, 1)."""

    def __init__(self, shift: float, kind: Kind = "exact") -> None:
        half = 0.5 * shift
        super().__init__(StandardNormal(), StandardNormal(), shift, -half, half, 4.0 * _ULP * half, kind)

    def _log_delta(self, epsilon: float) -> float:
        return self._forward(epsilon)

    def log_deltas(self) -> tuple[LogDelta, LogDelta]:
        return self._forward, self._forward

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
