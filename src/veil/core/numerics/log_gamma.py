"""Log gammas of tiny and of huge arguments, and the small differences between them, with their errors.

Stirling: log Gamma(x) = (x - 1/2) log x - x + log(2 pi)/2 + S(x), where S(x) is the sum of c_j / x^(2j - 1),
off by less than the first term that is left out, and so is the derivative of the sum. Besides, for all x > 0,

    S(x) - S(x + 1) = (x + 1/2) log(1 + 1/x) - 1    and    -1/(2x) < S'(x) < 0.
"""

from __future__ import annotations

import math

import numpy as np

from veil.core.arrays import Floats
from veil.core.numerics.balls import Ball
from veil.core.numerics.rounding import FUNCTION_ERROR, ULP

HALF_LOG_TWO_PI = 0.5 * math.log(2.0 * math.pi)

# c_j = B_{2j} / (2j (2j - 1)), and the size of the first one that is left out.
_SERIES = (1 / 12, -1 / 360, 1 / 1260, -1 / 1680, 1 / 1188, -691 / 360360, 1 / 156)
_OMITTED = 3617 / 122400
_SERIES_FROM = 16.0
# 2/3, 2/5, ...: log(1 + r) = 2y + (2/3) y^3 + (2/5) y^5 + ..., y = r / (2 + r).
_ODD = tuple(2.0 / (2 * j + 3) for j in range(16))


def stirling_error(x: float) -> Ball:
    """S(x), for x > 0; the error also covers every number that rounds to x."""
    moves = math.ceil(max(0.0, _SERIES_FROM - x))
    at = x + moves
    value, inverse_square = 0.0, 1.0 / at / at
    for coefficient in reversed(_SERIES):
        value = value * inverse_square + coefficient
    value, error = value / at, ULP + _OMITTED * inverse_square**7 / at
    # The small terms first. S' > -1/(2x): the rounding of x + move moves S by less than half of it.
    for move in reversed(range(moves)):
        main = (x + move + 0.5) * math.log1p(1.0 / (x + move))
        value += main - 1.0
        error += (FUNCTION_ERROR + 4.0 * ULP) * main + ULP * (1.0 + abs(value))
    return Ball(value, error + 2.0 * ULP)


def log_excess(r: Ball) -> Ball:
    """r - log(1 + r), for r >= 0, to nearly all digits of a small difference."""
    at = r.value
    if at < 0.5:
        # y = r / (2 + r) is below 1/5, so what is left out is below 1e-23 of the sum.
        y, tail = at / (2.0 + at), 0.0
        for coefficient in reversed(_ODD):
            tail = tail * y * y + coefficient
        value = y * (at - y * y * tail)
        error = 16.0 * ULP * value
    else:
        value = at - math.log1p(at)
        error = ULP * at + FUNCTION_ERROR * (at - value)
    # The derivative r / (1 + r) is below r and below 1.
    return Ball(value, error + r.error * min(1.0, at + r.error) + ULP * value)


def log_gammas(x: Floats) -> tuple[Floats, Floats]:
    """log Gamma of positive numbers, and how far each may be off.

    The bounds also cover arguments that were rounded twice: |x psi(x)| is at most x |log x| + x + 2.
    """
    at, shift, lost = x, np.zeros_like(x), np.zeros_like(x)
    small = x < _SERIES_FROM
    if small.any():
        # log Gamma(x) = log Gamma(x + 16) - log x - log((x + 1) ... (x + 15))
        near = x[small]
        product = np.prod([near + move for move in range(1, int(_SERIES_FROM))], axis=0)
        logs = np.log(near), np.log(product)
        shift[small], lost[small] = logs[0] + logs[1], np.abs(logs[0]) + logs[1]
        at = np.where(small, x + _SERIES_FROM, x)
    inverse, log = 1.0 / at, np.log(at)
    series = np.zeros_like(x)
    for coefficient in reversed(_SERIES):
        series = series * inverse * inverse + coefficient
    value = (at - 0.5) * log - at + HALF_LOG_TWO_PI + series * inverse - shift
    # At most four rounded parts of each size, a rounded logarithm, and a product of fifteen rounded sums.
    error = 2.0 * FUNCTION_ERROR * (at * log + at + lost + 2.0) + _OMITTED * inverse**15
    error[small] += 20.0 * ULP * (lost[small] + 1.0)
    return value, error + 2.0 * ULP * (x * np.abs(np.log(x)) + x + 2.0)


def log_rising(x: float, step: float) -> Ball:
    """log Gamma(x + step) - log Gamma(x), for x > 0 and step >= 0.

    The plain difference of two log gammas loses all digits once x is much larger than the step;
    here the large parts cancel on paper.
    """
    if step == 0.0:
        return Ball(0.0)
    return (Ball.rounded(x + step).log() + rising_excess(x, step)) * step


def rising_excess(x: float, step: float) -> Ball:
    """log_rising(x, step) / step - log(x + step): a number without its large part. It grows with x.

    From 16 on by Stirling's series; all three parts are negative, so nothing cancels. Below, x is first moved
    up by Gamma(x + step) / Gamma(x) = x / (x + step) * Gamma(x + 1 + step) / Gamma(x + 1).
    """
    moves = math.ceil(max(0.0, _SERIES_FROM - x))
    shift = Ball(0.0)
    for move in range(moves):
        # The relative rounding of x + move moves the logarithm by no more than itself.
        shift -= Ball(step / (x + move), 2.0 * ULP * (step / (x + move))).log1p()
    at = Ball.rounded(x + moves)
    ratio = step / at
    logarithm = ratio.log1p()
    parts = _difference_of_errors(at, step, logarithm) - at * log_excess(ratio) - 0.5 * logarithm
    excess = (parts + shift) / step
    return excess + (moves / Ball.rounded(x + step)).log1p() if moves else excess


def _difference_of_errors(x: Ball, step: float, logarithm: Ball) -> Ball:
    """S(x + step) - S(x), however small, for x of at least 16; logarithm: log(1 + step / x)."""
    value = size = 0.0
    power = 1.0 / x.value
    for index, coefficient in enumerate(_SERIES):
        term = coefficient * power * math.expm1(-(2 * index + 1) * logarithm.value)
        value, size, power = value + term, size + abs(term), power / x.value / x.value
    relative = FUNCTION_ERROR + logarithm.error / logarithm.value + 32.0 * ULP
    # The series of the derivative, too, is off by less than the first term that is left out.
    omitted = _OMITTED * x.value**-15.0 * min(2.0, 15.0 * step / x.value)
    return Ball(value, size * relative + 2.0 * omitted)
