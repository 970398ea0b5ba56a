"""Dominating pairs that are exponential tilts of each other (proofs: mechanisms/dirichlet.md)."""

from __future__ import annotations

import math
from dataclasses import dataclass

from veil.domains.checks import real
from veil.errors import InvalidArgument
from veil.numerics.stirling import log_rising
from veil.numerics.tilted import LogConcaveDensity, LogGamma, LogitBeta, StandardNormal, log_hockey_stick
from veil.privacy.profile import Kind, LogDelta, PrivacyProfile


@dataclass(frozen=True)
class TiltedPair(PrivacyProfile):
    """P and Q on the line with log dP/dQ = tilt * u - offset, both log-concave in u.

    upper is the density of u under P, lower the one under Q.
    """

    upper: LogConcaveDensity
    lower: LogConcaveDensity
    tilt: float
    offset: float
    kind: Kind = "exact"

    def log_deltas(self) -> tuple[LogDelta, LogDelta]:
        return self._forward, self._backward

    def _forward(self, epsilon: float) -> float:
        threshold = (epsilon + self.offset) / self.tilt
        return log_hockey_stick(self.upper, tilt=self.tilt, threshold=threshold, side=1)

    def _backward(self, epsilon: float) -> float:
        threshold = (self.offset - epsilon) / self.tilt
        return log_hockey_stick(self.lower, tilt=self.tilt, threshold=threshold, side=-1)


class SymmetricBetaPair(TiltedPair):
    """Beta(a + s, a) against Beta(a, a + s): the worst pair of the Dirichlet mechanism."""

    def __init__(self, a: float, s: float, kind: Kind = "exact") -> None:
        super().__init__(LogitBeta(a + s, a), LogitBeta(a, a + s), tilt=s, offset=0.0, kind=kind)

    def _log_delta(self, epsilon: float) -> float:
        return self._forward(epsilon)

    def log_deltas(self) -> tuple[LogDelta, LogDelta]:
        return self._forward, self._forward

    def rdp(self, order: float) -> float:
        a, s = _shapes(self.lower)[0], self.tilt
        order = _order(order)
        rest = a - (order - 1.0) * s
        if rest <= 0.0:
            return math.inf
        # E_Q[(dP/dQ)^order] = B(a + order s, a + s - order s) / B(a, a + s)
        return (log_rising(a + s, (order - 1.0) * s) - log_rising(rest, (order - 1.0) * s)) / (order - 1.0)


class GammaPair(TiltedPair):
    """Gamma(a + s) against Gamma(a): one record more in a cell."""

    def __init__(self, a: float, s: float, kind: Kind = "exact") -> None:
        super().__init__(LogGamma(a + s), LogGamma(a), tilt=s, offset=log_rising(a, s), kind=kind)

    def rdp(self, order: float) -> float:
        order = _order(order)
        a, s = self.lower.shape, self.tilt  # type: ignore[attr-defined]
        more = log_rising(a + s, (order - 1.0) * s) - (order - 1.0) * log_rising(a, s)
        low = a - (order - 1.0) * s
        if low <= 0.0:
            return math.inf
        # E_P[(dQ/dP)^order] = Gamma(a + s - order s) / Gamma(a + s) * (Gamma(a + s) / Gamma(a))^order
        less = order * log_rising(a, s) - log_rising(low, order * s)
        return max(more, less) / (order - 1.0)


class NormalPair(TiltedPair):
    """N(shift, 1) against N(0, 1)."""

    def __init__(self, shift: float, kind: Kind = "exact") -> None:
        super().__init__(
            StandardNormal(shift), StandardNormal(0.0), tilt=shift, offset=0.5 * shift * shift, kind=kind
        )

    def _log_delta(self, epsilon: float) -> float:
        return self._forward(epsilon)

    def log_deltas(self) -> tuple[LogDelta, LogDelta]:
        return self._forward, self._forward

    def rdp(self, order: float) -> float:
        return 0.5 * _order(order) * self.tilt**2


def _shapes(density: LogConcaveDensity) -> tuple[float, float]:
    assert isinstance(density, LogitBeta)
    return density.a, density.b


def _order(order: float) -> float:
    order = real("order", order)
    if order <= 1.0:
        raise InvalidArgument("order", expected="a number above 1", found=f"{order:g}")
    return order
