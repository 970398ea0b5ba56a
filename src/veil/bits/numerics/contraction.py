"""How soon the past of a heat bath is forgotten, proved from the parameters.

The bounding chain keeps low <= b <= high for every bit, whatever the start, and sets the bits in order,
each from one uniform number u: low_i = [u < s(least pull)], high_i = [u < s(largest pull)], s(x) = 1 / (1 +
e^-x).

Influence. Let r_ij be the largest change of s(pull on i) that bit j can make: the largest s(x + a) - s(x)
with a = 2 |Pi_ij| over the x that can occur, lowest <= x <= highest - a. As a function of x it rises up to
-a/2 and falls beyond, so it is largest at the possible x that is closest to -a/2; at most tanh(|Pi_ij| /
2).

Claim. If v > 0 and (r v)_i <= rate v_i for all i, then after T sweeps some bit is still unknown with
probability at most n rate^T max(v) / min(v).

Proof. Let p_i be the probability that low_i < high_i. When i is set, given all else, it is left unknown
with probability s(largest pull) - s(least pull). Go from the one to the other by changing the unknown bits
one after the other: every step is a pull that can occur, and j contributes at most r_ij. So p_i becomes at
most sum_j r_ij p_j. If p <= m v before the update, then p_i <= m (r v)_i <= rate m v_i <= m v_i after it:
within a sweep the bound m v holds for all bits and rate m v for those already set. After T sweeps p_i <=
rate^T v_i / min(v), starting from p = 1 <= v / min(v). Add up over the bits. The same numbers read
backwards in time have the same law, so coupling from the past has that bound too.

For a common coupling and for independent rows all rows are alike, and v is taken the same for all of them.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from veil.bits.numerics.quadratic import Quadratic

Floats = NDArray[np.float64]
_ROUNDS = 200


@dataclass(frozen=True)
class Contraction:
    """rate: what a sweep leaves of the unknown, at most. sweeps: after them, P(any unknown) < 1/1000."""

    rate: float
    sweeps: float


def contraction(q: Quadratic) -> Contraction:
    """The best bound found by a power iteration; a rate of 1 or more says nothing."""
    influence = _influence(q)
    v = np.ones(influence.shape[0])
    best = Contraction(math.inf, math.inf)
    for _ in range(_ROUNDS):
        pulled = influence @ v
        rate = float((pulled / v).max())
        if rate == 0.0:
            return Contraction(0.0, 1.0)
        if rate < 1.0:
            spread = math.log(1000.0 * q.cells) + math.log(float(v.max() / v.min()))
            best = min(best, Contraction(rate, spread / -math.log(rate)), key=lambda found: found.sweeps)
        elif best.rate == math.inf or best.rate > rate:
            best = Contraction(rate, math.inf)
        # The mean keeps v positive where the influence splits into parts.
        v = pulled / pulled.max() + 0.01
    return best


def _influence(q: Quadratic) -> Any:
    theta = np.abs(q.theta)
    if q.pairs is None:
        common = q.common
        between = np.zeros_like(theta) if common is None else common
        lowest, highest = _reach(q.theta, [(between, q.rows - 1)])
        within = _largest_step(q.theta, lowest, highest)
        np.fill_diagonal(within, 0.0)
        return within + (q.rows - 1) * _largest_step(between, lowest, highest)
    from scipy.sparse import bsr_array

    data, indices, starts = [], [], [0]
    for row in range(q.rows):
        neighbours = q.neighbours(row)
        lowest, highest = _reach(q.theta, [(block, 1) for _, block in neighbours])
        within = _largest_step(q.theta, lowest, highest)
        np.fill_diagonal(within, 0.0)
        data += [within, *(_largest_step(block, lowest, highest) for _, block in neighbours)]
        indices += [row, *(partner for partner, _ in neighbours)]
        starts.append(len(indices))
    return bsr_array((np.array(data), np.array(indices), np.array(starts)), shape=(q.cells, q.cells))


def _reach(theta: Floats, others: list[tuple[Floats, int]]) -> tuple[Floats, Floats]:
    """The least and the largest pull on each cell of a row."""
    diagonal = theta.diagonal()
    beside = theta - np.diag(diagonal)
    lowest = diagonal + 2.0 * np.minimum(beside, 0.0).sum(axis=1)
    highest = diagonal + 2.0 * np.maximum(beside, 0.0).sum(axis=1)
    for block, times in others:
        lowest = lowest + 2.0 * times * np.minimum(block, 0.0).sum(axis=1)
        highest = highest + 2.0 * times * np.maximum(block, 0.0).sum(axis=1)
    return lowest, highest


def _largest_step(block: Floats, lowest: Floats, highest: Floats) -> Floats:
    step = 2.0 * np.abs(block)
    x = np.maximum(lowest[:, None], np.minimum(-step / 2.0, highest[:, None] - step))
    return np.asarray(_logistic(x + step) - _logistic(x))


def _logistic(x: Floats) -> Floats:
    return np.asarray((1.0 + np.tanh(x / 2.0)) / 2.0)
