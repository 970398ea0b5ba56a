"""The errors of what is read off a private table of bits, from public numbers alone.

Shares. The unbiased share of ones of a column has the standard deviation s = sqrt((1 / kappa_1^2 - 1) / 4n)
(numerics/moments.py), nearly normal, and is cut to 0 to 1 where it is shown. With f(b) = E min(s |Z|, b),
b the room on one side, the mean error at the share p is (f(p) + f(1 - p)) / 2: by how much the noise can
move it on either side. f(b) = s sqrt(2 / pi) (1 - exp(-b^2 / 2 s^2)) + b erfc(b / (s sqrt(2))).

Pairs of columns. The 2 x 2 table of a pair is drawn as it is released: of n records, those of each true cell
go to the four released cells with probabilities (1 + kappa_1 (u + v) + kappa_2 u v) / 4, where u = -1 if the
first bit flips and v = -1 if the second does. The estimate is cut to what is possible and scaled to sum to 1.
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray
from scipy.special import erfc

from veil.bits.numerics.moments import BitSignals
from veil.core.arrays import Floats

_SEED = 61
# Draws of a 2 x 2 table, over all typical ones.
_DRAWS = 4_000
# The values of two bits in a row: neither, the second, the first, both.
_SIGNS = np.array([[1.0, 1.0], [1.0, -1.0], [-1.0, 1.0], [-1.0, -1.0]])


def share_deviation(signal: float, rows: int) -> float:
    """The standard deviation of the unbiased share of ones of a column. signal: kappa_1."""
    if signal == 0.0:
        return math.inf
    return math.sqrt(max(signal**-2 - 1.0, 0.0) / (4.0 * rows))


def share_error(signal: float, rows: int, shares: Floats) -> float:
    """The mean absolute error of a column's share, cut to 0 to 1, over these true shares."""
    deviation = share_deviation(signal, rows)
    if deviation == 0.0:
        return 0.0
    sides = np.stack([shares, 1.0 - shares])
    if math.isinf(deviation):
        return float(sides.mean())
    inside = deviation * math.sqrt(2.0 / math.pi) * -np.expm1(-0.5 * (sides / deviation) ** 2)
    return float((inside + sides * erfc(sides / (deviation * math.sqrt(2.0)))).mean())


def pair_error(signals: BitSignals, rows: int, tables: Floats) -> float:
    """The mean total variation of the estimated 2 x 2 table of a pair of columns, over these true ones.

    tables: [table, value of the first, value of the second], each with sum 1.
    """
    k1, k2 = signals.needed(1), signals.needed(2)
    rng = np.random.default_rng(_SEED)
    flips = np.maximum((1.0 + k1 * _SIGNS.sum(axis=1) + k2 * _SIGNS.prod(axis=1)) / 4.0, 0.0)
    # released[c, d]: from the true cell c, with flips d, to the cell c XOR d.
    errors = []
    for truth in tables.reshape(-1, 4):
        counts = _whole(truth, rows)
        released = np.zeros((max(1, _DRAWS // len(tables)), 4))
        for cell, count in enumerate(counts):
            moved = rng.multinomial(count, flips / flips.sum(), size=len(released))
            for flip in range(4):
                released[:, cell ^ flip] += moved[:, flip]
        first, second, both = (released @ sign for sign in (*_SIGNS.T, _SIGNS.prod(axis=1)))
        told = rows + (np.outer(first, _SIGNS[:, 0]) + np.outer(second, _SIGNS[:, 1])) / k1
        told = np.maximum(told + np.outer(both, _SIGNS.prod(axis=1)) / k2, 0.0)
        told /= told.sum(axis=1, keepdims=True)
        errors.append(0.5 * np.abs(told - counts / rows).sum(axis=1).mean())
    return float(np.mean(errors))


def curator_error(columns: int, rows: int, epsilon: float) -> float:
    """The mean absolute error of the shares where a trusted curator adds noise to the counts of ones.

    Two-sided geometric noise: one record changes at most so many counts (`columns`) by 1, so each has the
    scale columns / epsilon. E|noise| = 1 / sinh(epsilon / columns). Cut to 0 to 1, it is at most a half.
    """
    step = epsilon / columns
    return min(0.5, (1.0 / math.sinh(step) if step < 700.0 else 0.0) / rows)


def _whole(truth: Floats, rows: int) -> NDArray[np.int64]:
    """Whole numbers of records with these shares, as near as can be."""
    exact = truth * rows
    counts = np.floor(exact).astype(np.int64)
    counts[np.argsort(counts - exact, kind="stable")[: rows - int(counts.sum())]] += 1
    return np.asarray(counts)
