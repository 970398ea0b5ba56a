"""Divergences of large shapes as balls: an integral over a narrow peak.

E_eps(P || Q) is the integral over v > 0 of p(c + v) (1 - e^(-tilt v)), c where the loss is eps and p the
density of the log odds (or of the logarithm). Nothing is negative in it, so that whatever is left out makes a
lower bound. Around a point u the log density is

    log p(u + w) = log p(u) + slope w - n (k_2 w^2 / 2! + k_3 w^3 / 3! + ...),

of a beta variable with n = a + b and k_j the cumulants of a coin that shows heads with the probability
h = e^u / (1 + e^u), of a gamma variable with n = e^u and k_j = 1. In this form no digits cancel, and the
adaptive integration of python-flint encloses the integral quickly. The rest of the series from w^j on is
bounded, for |w| < 1, by

    coin    70 h (1 - h) |w|^j / (j (j - 1) (1 - |w|)):  the second derivative of log(1 + h (e^w - 1)) is
            h (1 - h) e^w / (1 + h (e^w - 1))^2, where the real part of the base is at least
            cos(1) / e > 0.198; so by Cauchy's estimate no coefficient of its series exceeds
            e / 0.198^2 < 70 times h (1 - h);
    gamma   e |w|^j / j!.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from itertools import pairwise
from math import factorial
from typing import Any

from flint import acb, arb

from tests.review.tails import Beta, Gamma

_DEGREE = 18
# The integral is cut where the integrand has fallen by e^-50.
_DROP = 50


@dataclass(frozen=True)
class Series:
    """log p(u + w) - log p(u), about one point u."""

    slope: arb
    coefficients: list[arb]
    rest: arb

    def at(self, w: Any) -> Any:
        """The sum for a complex ball w, what was left out as its error; not finite where |w| may be large."""
        size = abs(w)
        if not bool(size < 0.5):
            return acb(arb.nan())
        total = acb(0)
        for coefficient in reversed(self.coefficients):
            total = total * w + coefficient
        error = (self.rest * size ** (_DEGREE + 1)).upper()
        return self.slope * w - total * w * w + acb(arb(0, error), arb(0, error))


@cache
def _coin_cumulants() -> list[list[int]]:
    """k_j / (h (1 - h)) as polynomials in h, j = 2, 3, ..., by k_{j+1} = h (1 - h) dk_j/dh."""
    whole = [0, 1]
    found = []
    for _ in range(2, _DEGREE + 1):
        slope = [power * value for power, value in enumerate(whole)][1:]
        found.append(slope)
        whole = [0] * (len(slope) + 2)
        for power, value in enumerate(slope):
            whole[power + 1] += value
            whole[power + 2] -= value
    return found


def beta_series(law: Beta, u: arb) -> Series:
    heads, tails = 1 / (1 + (-u).exp()), 1 / (1 + u.exp())
    number = (law.a + law.b) * heads * tails
    coefficients = [
        number * sum((value * heads**power for power, value in enumerate(parts)), arb(0)) / factorial(j)
        for j, parts in enumerate(_coin_cumulants(), 2)
    ]
    j = _DEGREE + 1
    return Series(law.a * tails - law.b * heads, coefficients, number * 140 / (j * (j - 1)))


def gamma_series(law: Gamma, u: arb) -> Series:
    number = u.exp()
    coefficients = [number / factorial(j) for j in range(2, _DEGREE + 1)]
    return Series(law.a - number, coefficients, number * 3 / factorial(_DEGREE + 1))


def log_beta_density(law: Beta, u: arb) -> arb:
    return -law.a * (-u).exp().log1p() - law.b * u.exp().log1p() - law.log_constant


def log_gamma_density(law: Gamma, u: arb) -> arb:
    return law.a * u - u.exp() - law.log_constant


def beta_peak(law: Beta, start: arb, tilt: arb) -> arb:
    """E_eps(P || Q) for log odds: P is the law, and the loss passes eps at `start`, rising by `tilt`."""
    return _integral(
        lambda u: log_beta_density(law, u), lambda u: beta_series(law, u), start=start, tilt=tilt, side=1
    )


def gamma_peak(law: Gamma, start: arb, tilt: arb, side: int) -> arb:
    """The same for logarithms. side: 1 if the loss rises with u, -1 if it falls."""
    return _integral(
        lambda u: log_gamma_density(law, u), lambda u: gamma_series(law, u), start=start, tilt=tilt, side=side
    )


def _integral(
    log_density: Callable[[arb], arb], series: Callable[[arb], Series], *, start: arb, tilt: arb, side: int
) -> arb:
    def height(v: arb) -> arb:
        return log_density(start + side * v) + (-(-tilt * v).expm1()).log()

    top = _highest(lambda v: side * series(start + side * v).slope + tilt / (tilt * v).expm1(), 1 / tilt)
    peak = height(top).mid()

    def has_fallen(v: arb) -> bool:
        return bool(height(v) < peak - _DROP)

    width = top
    while has_fallen(top + width):
        width = width / 2
    while not has_fallen(top + width):
        width = width * 2
    if not bool(width < 0.4):
        return arb.nan()
    left = (top - width).max(arb(0)).mid()
    around, middle = series((start + side * top).mid()), log_density((start + side * top).mid()) - peak

    def integrand(w: Any, _: bool) -> Any:
        return (around.at(side * w) + middle).exp() * -(-tilt * (top + w)).expm1()

    ends = [(left - top).mid(), arb(0), width.mid()]
    goal = arb(2) ** -70
    limits: dict[str, Any] = {"rel_tol": goal, "abs_tol": goal * width, "eval_limit": 20_000}
    parts = [acb.integral(integrand, x, y, **limits) for x, y in pairwise(ends)]
    return sum((part.real for part in parts), arb(0)) * peak.exp()


def _highest(slope: Callable[[arb], arb], guess: arb) -> arb:
    """Near the zero of a falling function on v > 0; only how sharp the bound is hangs on it."""
    low = high = guess
    while bool(slope(low.mid()) < 0):
        low = low / 16
    while bool(slope(high.mid()) > 0):
        high = high * 16
    for _ in range(60):
        middle = (low * high).sqrt().mid()
        low, high = (middle, high) if bool(slope(middle) > 0) else (low, middle)
    return high.mid()


def bits_for(*shapes: float) -> int:
    """Working precision at which the height of a peak of such shapes has some 90 bits after the point."""
    return 192 + int(max(shapes)).bit_length()
