"""The pull on a bit: how much the energy grows when it is set, given all others.

The pull on the cell (i, p) is theta_pp + 2 sum_q theta_pq b_iq (q != p) + 2 sum_{j, q} Lambda_ij[p, q] b_jq.
P(b_ip = 1 | the others) = 1 / (1 + exp(-pull)). With one coupling for all pairs the sum over the other rows
needs the numbers of ones in the columns only.

If of every bit only bounds low <= b <= high are known, then the pull lies between the two sums in which each
positive coefficient takes the low (high) bound and each negative one the high (low) bound.

How soon the past of a heat bath is forgotten (`contraction`): the bounding chain keeps low <= b <= high for
every bit, whatever the start, and sets the bits in order, each from one uniform number u: low_i = [u < s(x)]
with the least pull x, high_i likewise with the largest, s(x) = 1 / (1 + e^-x).

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
from fractions import Fraction
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit

from veil.bits.numerics.quadratic import Quadratic
from veil.core.arrays import Floats, Places
from veil.core.numerics.compiled import compiled

Cells = NDArray[np.uint8]
_ROUNDS = 200


class Pulls(NamedTuple):
    """Arrays for compiled loops. `common` is 0 x 0 if there is none; row i owns blocks from starts[i] on."""

    theta: Floats
    common: Floats
    starts: Places
    partners: Places
    blocks: Floats

    @classmethod
    def of(cls, q: Quadratic) -> Pulls:
        lists = [q.neighbours[row] for row in range(q.rows)] if q.pairs is not None else [[]] * q.rows
        each = [pair for pairs in lists for pair in pairs]
        blocks = np.array([block for _, block in each]).reshape(len(each), q.columns, q.columns)
        return cls(
            q.theta.copy(),
            np.zeros((0, 0)) if q.common is None else q.common.copy(),
            np.cumsum([0, *map(len, lists)]),
            np.array([row for row, _ in each], dtype=np.int64),
            blocks,
        )

    def rounding(self) -> Floats:
        """For every cell a bound of the error of its pull in floats, added up in whatever order.

        With t terms, each a product of a float and a whole number, and a sum A of their absolute values the
        error is below (t + 2) 2^-53 A; this is more than twice as much.
        """
        rows, columns = len(self.starts) - 1, len(self.theta)
        size = np.tile(2.0 * np.abs(self.theta).sum(axis=1), (rows, 1))
        terms = np.full((rows, 1), 2.0 * columns + 8.0)
        if len(self.common):
            size += 2.0 * rows * np.abs(self.common).sum(axis=1)
        pulls = 2.0 * np.abs(self.blocks).sum(axis=2)
        owner = np.repeat(np.arange(rows), np.diff(self.starts))
        np.add.at(size, owner, pulls)
        np.add.at(terms, owner, float(columns))
        return np.asarray(terms * 2.0**-51 * size)

    def exact(self, low: Cells, high: Cells, row: int, column: int) -> Fraction:
        """The lower bound of the pull, nothing rounded; with low and high exchanged, the upper one."""
        total = Fraction(float(self.theta[column, column]))

        def add(coefficients: Floats, lows: Places, highs: Places) -> None:
            nonlocal total
            for value, least, most in zip(coefficients.tolist(), lows.tolist(), highs.tolist(), strict=True):
                total += 2 * Fraction(value) * (least if value > 0.0 else most)

        own = self.theta[column].copy()
        own[column] = 0.0
        add(own, low[row].astype(np.int64), high[row].astype(np.int64))
        if len(self.common):
            others = [side.sum(axis=0, dtype=np.int64) - side[row] for side in (low, high)]
            add(self.common[column], others[0], others[1])
        for block in range(self.starts[row], self.starts[row + 1]):
            partner = self.partners[block]
            add(self.blocks[block, column], low[partner].astype(np.int64), high[partner].astype(np.int64))
        return total


@compiled
def pull(pulls: Pulls, bits: Cells, sums: Places, row: int, column: int) -> float:
    """The pull on a cell. sums: the ones in every column, if there is a common coupling."""
    theta, common, starts, partners, blocks = pulls
    total = 0.0
    for q in range(len(theta)):
        if q != column and bits[row, q]:
            total += theta[column, q]
    if len(common):
        for q in range(len(theta)):
            total += common[column, q] * (sums[q] - bits[row, q])
    for block in range(starts[row], starts[row + 1]):
        partner = partners[block]
        for q in range(len(theta)):
            if bits[partner, q]:
                total += blocks[block, column, q]
    strength: float = theta[column, column] + 2.0 * total
    return strength


@compiled
def pull_bounds(
    pulls: Pulls, low: Cells, high: Cells, low_sums: Places, high_sums: Places, row: int, column: int
) -> tuple[float, float]:
    """Bounds of the pull on a cell."""
    theta, common, starts, partners, blocks = pulls
    least, most = 0.0, 0.0
    for q in range(len(theta)):
        if q != column:
            below, above = _between(theta[column, q], low[row, q], high[row, q])
            least += below
            most += above
    if len(common):
        for q in range(len(theta)):
            lower, upper = low_sums[q] - low[row, q], high_sums[q] - high[row, q]
            below, above = _between(common[column, q], lower, upper)
            least += below
            most += above
    for block in range(starts[row], starts[row + 1]):
        partner = partners[block]
        for q in range(len(theta)):
            below, above = _between(blocks[block, column, q], low[partner, q], high[partner, q])
            least += below
            most += above
    return theta[column, column] + 2.0 * least, theta[column, column] + 2.0 * most


@compiled
def _between(value: float, low: int, high: int) -> tuple[float, float]:
    """The least and the most of value times a number between low and high."""
    return (value * low, value * high) if value > 0.0 else (value * high, value * low)


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
    if q.pairs is None:
        between = np.zeros_like(q.theta) if q.common is None else q.common
        within, outside = _largest_steps(q.theta, [between], q.rows - 1)
        return within + (q.rows - 1) * outside
    from scipy.sparse import bsr_array

    data: list[Floats] = []
    indices, starts = [], [0]
    for row in range(q.rows):
        neighbours = q.neighbours[row]
        data += list(_largest_steps(q.theta, [block for _, block in neighbours], 1))
        indices += [row, *(partner for partner, _ in neighbours)]
        starts.append(len(indices))
    return bsr_array((np.array(data), np.array(indices), np.array(starts)), shape=(q.cells, q.cells))


def _largest_steps(theta: Floats, others: list[Floats], times: int) -> Floats:
    """The influence on the cells of a row: of the row itself, and of other rows with each block so often."""
    diagonal = theta.diagonal()
    blocks = np.array([theta - np.diag(diagonal), *others])
    count = np.array([1.0] + [float(times)] * len(others))[:, None, None]
    lowest, highest = (
        diagonal + 2.0 * (count * side(blocks, 0.0)).sum(axis=(0, 2)) for side in (np.minimum, np.maximum)
    )
    step = 2.0 * np.abs(blocks)
    x = np.maximum(lowest[:, None], np.minimum(-step / 2.0, highest[:, None] - step))
    return np.asarray(expit(x + step) - expit(x))
