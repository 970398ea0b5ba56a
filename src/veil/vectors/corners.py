"""The probability that some entries of a Dirichlet vector fall below a threshold.

With A the sum of all shapes and Q the regularised upper incomplete gamma function,

    P[some x_j < g] = Gamma(A)/(2 pi i) * integral of e^z z^-A (1 - prod_j Q(A_j, g z)) dz

over a contour from below to above the negative real axis (Laplace transform of truncated gamma
densities, at total 1). The complement is integrated directly, so a probability of 1e-12 keeps its
digits, and the contour through the saddle point turns it into a sum of a few hundred terms whatever
the number of entries is.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray
from scipy.special import betainc, gammaincc

from veil.core.numerics.rounding import least_point

Complex = NDArray[np.complex128]

_ACCURACY = 1e-9
_MOST_NODES = 40_000
# Beyond this the series are long; the entries are then so concentrated that the union bound is used.
_LARGEST_TOTAL = 2e5
# The contour runs until the integrand has fallen by e^-60; near the largest possible threshold that is
# far out, for a probability close to one, and the series there would overflow.
_REACH, _FURTHEST = 60.0, 300.0
_MOST_TERMS = 20_000


def some_entry_below(groups: Sequence[tuple[float, int]], rest: float, threshold: float) -> float:
    """P[some x_j < threshold] over the entries of the groups, not below the truth.

    groups: (shape, how many entries have it); rest: the total shape of all other entries.
    Relative accuracy about 1e-9, or the union bound (which is safe) where the sum does not settle.
    """
    entries = sum(count for _, count in groups)
    total = rest + sum(shape * count for shape, count in groups)
    if threshold <= 0.0:
        return 0.0
    if entries * threshold >= 1.0:
        return 1.0
    each = (count * betainc(shape, total - shape, threshold) for shape, count in groups if total > shape)
    union = min(1.0, float(sum(each)))
    furthest = _REACH * threshold / (1.0 - entries * threshold)
    if union < 1e-250 or total > _LARGEST_TOTAL or furthest > _FURTHEST:
        return max(min(union * (1.0 + 1e-9), 1.0), math.ulp(0.0))
    saddle = _saddle(groups, total, threshold)
    previous = math.nan
    step = 0.25 / math.sqrt(max(saddle, 1.0)) if saddle > 1.0 else 0.25
    for _ in range(8):
        value = _contour_sum(groups, total, threshold, saddle, step)
        if abs(value - previous) <= _ACCURACY * abs(value):
            return float(min(union * (1.0 + 1e-9), 1.0, value * (1.0 + 20.0 * _ACCURACY)))
        previous, step = value, 0.5 * step
    return union


def _log_failure(groups: Sequence[tuple[float, int]], point: float) -> float:
    """log(1 - prod Q(A_j, point)) on the real axis, finite also where 1 - Q underflows."""
    log_kept, log_union = 0.0, -math.inf
    for shape, count in groups:
        if point > shape + 40.0 * math.sqrt(shape) + 40.0:
            return 0.0
        log_lower = float(_log_lower_gamma(shape, np.array([complex(point)]))[0].real)
        log_union = np.logaddexp(log_union, math.log(count) + log_lower)
        upper = float(gammaincc(shape, point))
        log_kept += count * (math.log1p(-math.exp(log_lower)) if log_lower < -0.7 else _log(upper))
    # Where each part is tiny, the union bound and the failure agree to every digit.
    return float(log_union) if log_union < -40.0 else _log(-math.expm1(log_kept))


def _log(x: float) -> float:
    return math.log(x) if x > 0.0 else -math.inf


def _saddle(groups: Sequence[tuple[float, int]], total: float, threshold: float) -> float:
    """The positive z at which the integrand is least; the vertical line through it is steepest descent."""

    def log_integrand(log_z: float) -> float:
        z = math.exp(log_z)
        return z - total * log_z + _log_failure(groups, threshold * z)

    low, high = math.log(1e-3 * min(total, 1.0)), math.log(4.0 * total + 4.0)
    log_z, _ = least_point(log_integrand, low, high, steps=40)
    return max(math.exp(log_z), 0.5)


def _contour_sum(
    groups: Sequence[tuple[float, int]], total: float, threshold: float, saddle: float, step: float
) -> float:
    """The trapezoidal rule along the parabola z = saddle (1 + i t)^2, folded by symmetry."""
    entries = sum(count for _, count in groups)
    decay = 1.0 - entries * threshold
    reach = math.sqrt(_REACH / (saddle * decay))
    nodes = min(int(reach / step) + 2, _MOST_NODES)
    t = step * np.arange(nodes)
    root = 1.0 + 1j * t
    z: Complex = saddle * root * root
    logs = [_log_lower_gamma(shape, threshold * z) for shape, _ in groups]
    log_kept = sum(
        (count * _log_one_minus_exp(log) for (_, count), log in zip(groups, logs, strict=True)),
        np.zeros(nodes, dtype=np.complex128),
    )
    # Where every part is tiny the failure is their sum, which keeps its logarithm when it underflows.
    tops = np.array([log.real for log in logs]).max(axis=0)
    union = sum(count * np.exp(log - tops) for (_, count), log in zip(groups, logs, strict=True))
    log_failed = np.where(tops < -40.0, tops + np.log(union), _log_one_minus_exp(log_kept))
    log_weight = z - total * np.log(z) + math.lgamma(total)
    # dz/dt = 2 i saddle (1 + i t), and the factor 1/(2 pi i) leaves saddle (1 + i t) / pi
    terms = np.real(np.exp(log_weight + log_failed) * root)
    terms[0] *= 0.5
    return float(2.0 * saddle * step / math.pi * terms.sum())


def _log_one_minus_exp(x: Complex) -> Complex:
    """log(1 - e^x) without overflow for large x and without cancellation for x near 0 or far below."""
    answer = np.empty_like(x)
    large = x.real > 1.0
    near = ~large & (np.abs(x) < 0.5)
    other = ~(large | near)
    answer[large] = x[large] + 1j * math.pi + _log1p(-np.exp(-x[large]))
    # What underflows to nothing at all is given the least number instead, and adds as little.
    failed = -np.expm1(x[near])
    answer[near] = np.log(np.where(failed == 0.0, math.ulp(0.0), failed))
    answer[other] = _log1p(-np.exp(x[other]))
    return answer


def _log1p(z: Complex) -> Complex:
    """log(1 + z) that keeps the digits of a tiny z (NumPy's complex log1p does not)."""
    # A z of -1 is a kept probability that rounds to nothing: any tiny number serves as well.
    size = np.maximum(z.real * (2.0 + z.real) + z.imag * z.imag, -1.0 + 2.0**-53)
    return 0.5 * np.log1p(size) + 1j * np.arctan2(z.imag, 1.0 + z.real)


def _log_lower_gamma(shape: float, z: Complex) -> Complex:
    """log of the regularised lower incomplete gamma function of complex z, by series.

    To the right of the imaginary axis z^a e^-z sum z^n / Gamma(a + n + 1), to its left
    z^a / Gamma(a) sum (-z)^n / (n! (a + n)): each where its terms do not cancel.
    """
    answer = np.empty_like(z)
    right = z.real >= 0.0
    near, far = z[right], z[~right]
    answer[right] = shape * np.log(near) - near - math.lgamma(shape + 1.0) + _log_series(shape, near, True)
    answer[~right] = shape * np.log(far) - math.lgamma(shape) + _log_series(shape, far, False)
    return answer


def _log_series(shape: float, z: Complex, right: bool) -> Complex:
    """The logarithm of either sum; of the right one times Gamma(a + 1)."""
    power: Complex = np.ones_like(z)
    total = np.full_like(z, 1.0 if right else 1.0 / shape)
    for n in range(1, _MOST_TERMS):
        power = power * z / (shape + n) if right else power * -z / n
        term = power if right else power * (1.0 / (shape + n))
        total += term
        if (np.abs(term) <= 1e-17 * np.abs(total)).all():
            break
    return np.log(total)
