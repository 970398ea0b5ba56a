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
    if x < _SERIES_FROM and step < 1e3:
        if step < 1e-3 * x or step < 1e-9:
            return _log_rising_by_series(x, step)
        return math.lgamma(x + step) - math.lgamma(x)
    top = x + step
    return (
        step * (math.log(top) - 1.0)
        + (x - 0.5) * math.log1p(step / x)
        + stirling_error(top)
        - stirling_error(x)
    )


def _log_rising_by_series(x: float, step: float) -> float:
    """The same for a step far below x < 10: move x above 10 by Gamma's recurrence, term by term."""
    shift = 0.0
    while x < _SERIES_FROM:
        # Gamma(x + step) / Gamma(x) = x / (x + step) * Gamma(x + 1 + step) / Gamma(x + 1)
        shift -= math.log1p(step / x)
        x += 1.0
    return shift + log_rising(x, step)
