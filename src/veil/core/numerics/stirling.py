"""Gamma functions of huge and of tiny arguments without losing the small differences between them."""

from __future__ import annotations

import math

HALF_LOG_TWO_PI = 0.5 * math.log(2.0 * math.pi)

# Coefficients B_{2j} / (2j (2j-1)) of Stirling's series for log Gamma.
_SERIES = (
    1.0 / 12.0,
    -1.0 / 360.0,
    1.0 / 1260.0,
    -1.0 / 1680.0,
    1.0 / 1188.0,
    -691.0 / 360360.0,
    1.0 / 156.0,
)
_SERIES_FROM = 10.0


def stirling_error(x: float) -> float:
    """log Gamma(x) minus Stirling's main term (x - 1/2) log x - x + log(2 pi)/2, for x > 0."""
    if x < _SERIES_FROM:
        return math.lgamma(x) - (x - 0.5) * math.log(x) + x - HALF_LOG_TWO_PI
    inverse_square = 1.0 / (x * x)
    total = 0.0
    for coefficient in reversed(_SERIES):
        total = total * inverse_square + coefficient
    return total / x


def log_rising(x: float, step: float) -> float:
    """log Gamma(x + step) - log Gamma(x), for x > 0 and step >= 0.

    The plain difference of two log gammas loses all digits once x is much larger than the step;
    here the large parts cancel on paper.
    """
    if step == 0.0:
        return 0.0
    return step * (math.log(x + step) + rising_excess(x, step))


def rising_excess(x: float, step: float) -> float:
    """log_rising(x, step) / step - log(x + step): a number of order one, without its large part.

    For x of at least 10 by Stirling's series, term by term; below, x is first moved up by
    Gamma(x + step) / Gamma(x) = x / (x + step) * Gamma(x + 1 + step) / Gamma(x + 1).
    """
    start, shift = x, 0.0
    while x < _SERIES_FROM:
        shift -= math.log1p(step / x)
        x += 1.0
    ratio = math.log1p(step / x)
    excess = ((x - 0.5) * ratio - step + _stirling_difference(x, ratio) + shift) / step
    return excess + math.log1p((x - start) / (start + step))


def _stirling_difference(x: float, log_ratio: float) -> float:
    """stirling_error(x e^log_ratio) - stirling_error(x) for x >= 10, however small the difference is."""
    total, power = 0.0, 1.0 / x
    for index, coefficient in enumerate(_SERIES):
        total += coefficient * power * math.expm1(-(2 * index + 1) * log_ratio)
        power /= x * x
    return total
