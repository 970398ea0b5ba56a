"""The proposals of ideal.py in floats, with a bound on their error: what nearly always decides (ideal.md).

Words of 64 bits are the first bits of uniform real numbers. Where the bound leaves a decision open, the
caller settles it by intervals, from the same words and more bits of the same numbers.
"""

from __future__ import annotations

import math

import numpy as np

from veil.core.numerics.compiled import strictly_compiled
from veil.core.numerics.elementary import EXCESS, EXP, LOG, UNIT, exp_and_excess, log

TAKEN, LEFT, OPEN = 1, 0, -1
# Below this a word says too little about the logarithm of its number.
_FEW = 2**12
_TO_UNIT = 2.0**-64
_LOG_4 = math.log(4.0)
_ROOT_2 = math.sqrt(2.0)


@strictly_compiled
def log_of_word(word: np.uint64) -> tuple[float, float]:
    """The logarithm of the uniform number that begins with this word, and a bound on its error."""
    whole = np.float64(word)
    value = log(whole * _TO_UNIT)
    return value, LOG * abs(value) + 2.0 * UNIT + 1.01 / whole


@strictly_compiled
def logistic(word: np.uint64, other: np.uint64) -> tuple[float, float, float, float]:
    """log(U / (1 - U)), its error, -log(4 U (1 - U) V), its error. Errors are infinite for extreme words."""
    rest = ~word
    if min(word, rest, other) < np.uint64(_FEW):
        return 0.0, np.inf, 0.0, np.inf
    log_u, error_u = log_of_word(word)
    log_rest, error_rest = log_of_word(rest)
    log_v, error_v = log_of_word(other)
    size = abs(log_u) + abs(log_rest)
    error = error_u + error_rest
    return (
        log_u - log_rest,
        error + UNIT * size,
        -(((log_u + log_rest) + log_v) + _LOG_4),
        error + error_v + 4.0 * UNIT * (size + abs(log_v) + 2.0),
    )


@strictly_compiled
def gamma_proposal(
    shape: float, shape_error: float, word: np.uint64, other: np.uint64, widen: float
) -> tuple[int, float, float]:
    """Whether a proposal for Gamma(shape) is taken, the variable, and a bound on its relative error.

    shape: at least 1. shape_error: a bound on its own relative error. widen: by how much the error bounds are
    widened; 1 unless the intervals are to be tested.
    """
    spread, spread_error, room, room_error = logistic(word, other)
    root = math.sqrt(2.0 * shape - 1.0)
    y = spread / root
    # 2 a - 1 >= a: twice the relative error of the shape and two roundings, of which the root takes half.
    error = (spread_error / root + abs(y) * (shape_error + 4.0 * UNIT)) * widen
    if not error < 1e-3:
        return OPEN, 0.0, np.inf
    power, excess = exp_and_excess(y)
    needed = shape * excess
    needed_error = (
        needed * (shape_error + EXCESS + 2.0 * UNIT) * widen
        + shape * (abs(y + excess) + 2.0 * power * error) * error
    )
    doubt = 1.001 * (room_error * widen + needed_error)
    if abs(room - needed) <= doubt:
        return OPEN, 0.0, np.inf
    if room < needed:
        return LEFT, 0.0, np.inf
    return TAKEN, shape * power, 1.001 * ((shape_error + EXP + UNIT) * widen + error)


@strictly_compiled
def normal_proposal(word: np.uint64, other: np.uint64, widen: float) -> tuple[int, float, float]:
    """Whether a proposal for a standard normal variable is taken, the variable, and a bound on its error."""
    spread, spread_error, room, room_error = logistic(word, other)
    y = spread / _ROOT_2
    error = (spread_error + 3.0 * UNIT * abs(y)) * widen
    if not error < 1e-3:
        return OPEN, 0.0, np.inf
    needed = 0.5 * y * y
    doubt = 1.001 * (room_error * widen + (abs(y) + error) * error + 2.0 * UNIT * needed)
    if abs(room - needed) <= doubt:
        return OPEN, 0.0, np.inf
    return (TAKEN if room > needed else LEFT), y, error
