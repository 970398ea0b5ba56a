"""Logarithms and exponentials in floats with proved error bounds, for samplers that must know their error.

How good the functions of a mathematical library are is a promise of that library. These use additions,
multiplications and divisions only, which IEEE 754 rounds correctly: with u = 2^-53 the result of each is
wrong by at most u of itself. They are compiled as they are written, without reordering.

`log`. x = m 2^e with m in [sqrt(1/2), sqrt(2)), s = (m - 1) / (m + 1), z = s^2 <= 0.02944. Then
log m = 2 s (1 + z/3 + z^2/5 + ...). m - 1 is exact (Sterbenz), m + 1 and the division round once each, and so
do the two products at the end; the series stops at z^10 / 21, and what is left is below z^11 / 22 < 1e-18 of
the sum. The polynomial is 1 plus at most 0.0101, so its own rounding is below 1.1 u. Together less than 6 u
of log m. e log 2 is wrong by at most 2.1 u of itself. If e = 0 that is all; otherwise |log x| is at least
|e| log 2 / 2 and at least |log m|, and the error is below (2 * 2.1 + 6 + 1) u = 11.2 u of log x.

`exp_small` is the polynomial of e^r to the degree 14 for |r| <= 0.36: what is left is below 0.36^15 / 15! <
2e-19, and Horner's rule costs at most 2.1 u of the sum of the absolute terms, e^0.36, hence less than
4.4 u of e^r >= e^-0.36. `exp` takes r = y - k log 2 with log 2 in two parts, k |high part| exact: for
|y| <= 708 the error of r is below 2 u, and so that of e^y is below 8 u of itself (the power of two is exact,
as results below 2^-1022 are not asked for).

`exp_and_excess`: e^y - 1 - y is y^2 (1/2 + y/6 + ... + y^15/17!) for |y| <= 1/2, where the absolute terms
add up to at most 1.4 times the sum and the error is below 8 u of it; e^y is then 1 + (y + excess), whose
three errors are below 8 * 0.15 u, 0.65 u and 1.65 u, together less than 6 u of e^y >= 0.6. Beyond 1/2 it is
e^y less 1 and y, with an error below 12 u (e^y + 1 + |y|), at most 256 u of the result.

The bounds that are used are LOG, EXP and EXCESS: those above, rounded up.
"""

from __future__ import annotations

import math

from veil.core.numerics.compiled import strictly_compiled

UNIT = 2.0**-53
# Relative errors.
LOG, EXP, EXCESS = 12.0 * UNIT, 8.0 * UNIT, 256.0 * UNIT
_ROOT_HALF = math.sqrt(0.5)
_LOG_2 = math.log(2.0)
# The high part has 42 bits, so that its product with a whole number of 11 bits is exact.
_LOG_2_HIGH = math.floor(_LOG_2 * 2.0**42) / 2.0**42
# log 2 - _LOG_2_HIGH, from the decimals of log 2.
_LOG_2_LOW = 5.497923018708371e-14
_INVERSE_LOG_2 = 1.0 / _LOG_2
_SERIES_BELOW = 0.5


@strictly_compiled
def log(x: float) -> float:
    """The logarithm of a positive and normal float, wrong by at most LOG of itself."""
    m, e = math.frexp(x)
    if m < _ROOT_HALF:
        m = 2.0 * m
        e -= 1
    s = (m - 1.0) / (m + 1.0)
    z = s * s
    p = 1.0 / 19.0 + z * (1.0 / 21.0)
    p = 1.0 / 17.0 + z * p
    p = 1.0 / 15.0 + z * p
    p = 1.0 / 13.0 + z * p
    p = 1.0 / 11.0 + z * p
    p = 1.0 / 9.0 + z * p
    p = 1.0 / 7.0 + z * p
    p = 1.0 / 5.0 + z * p
    p = 1.0 / 3.0 + z * p
    p = 1.0 + z * p
    return e * _LOG_2 + 2.0 * s * p


@strictly_compiled
def exp(y: float) -> float:
    """e^y for |y| <= 708, wrong by at most EXP of itself."""
    k = math.floor(y * _INVERSE_LOG_2 + 0.5)
    r = (y - k * _LOG_2_HIGH) - k * _LOG_2_LOW
    return math.ldexp(exp_small(r), int(k))


@strictly_compiled
def exp_small(r: float) -> float:
    """e^r for |r| <= 0.36."""
    p = 1.0 / 6227020800.0 + r * (1.0 / 87178291200.0)
    p = 1.0 / 479001600.0 + r * p
    p = 1.0 / 39916800.0 + r * p
    p = 1.0 / 3628800.0 + r * p
    p = 1.0 / 362880.0 + r * p
    p = 1.0 / 40320.0 + r * p
    p = 1.0 / 5040.0 + r * p
    p = 1.0 / 720.0 + r * p
    p = 1.0 / 120.0 + r * p
    p = 1.0 / 24.0 + r * p
    p = 1.0 / 6.0 + r * p
    p = 0.5 + r * p
    p = 1.0 + r * p
    return 1.0 + r * p


@strictly_compiled
def exp_and_excess(y: float) -> tuple[float, float]:
    """e^y, wrong by at most EXP of itself, and e^y - 1 - y, by at most EXCESS; for |y| <= 708."""
    if abs(y) > _SERIES_BELOW:
        power = exp(y)
        return power, (power - 1.0) - y
    p = 1.0 / 20922789888000.0 + y * (1.0 / 355687428096000.0)
    p = 1.0 / 1307674368000.0 + y * p
    p = 1.0 / 87178291200.0 + y * p
    p = 1.0 / 6227020800.0 + y * p
    p = 1.0 / 479001600.0 + y * p
    p = 1.0 / 39916800.0 + y * p
    p = 1.0 / 3628800.0 + y * p
    p = 1.0 / 362880.0 + y * p
    p = 1.0 / 40320.0 + y * p
    p = 1.0 / 5040.0 + y * p
    p = 1.0 / 720.0 + y * p
    p = 1.0 / 120.0 + y * p
    p = 1.0 / 24.0 + y * p
    p = 1.0 / 6.0 + y * p
    p = 0.5 + y * p
    excess = y * y * p
    return 1.0 + (y + excess), excess
