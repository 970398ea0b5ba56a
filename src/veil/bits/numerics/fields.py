"""The pull on a bit: how much the energy grows when it is set, given all others.

The pull on the cell (i, p) is theta_pp + 2 sum_q theta_pq b_iq (q != p) + 2 sum_{j, q} Lambda_ij[p, q] b_jq.
P(b_ip = 1 | the others) = 1 / (1 + exp(-pull)). With one coupling for all pairs the sum over the other rows
needs the numbers of ones in the columns only.

If of every bit only bounds low <= b <= high are known, then the pull lies between the two sums in which each
positive coefficient takes the low (high) bound and each negative one the high (low) bound.
"""

from __future__ import annotations

from fractions import Fraction
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from veil.bits.numerics.quadratic import Quadratic
from veil.core.arrays import Floats, Places
from veil.core.numerics.compiled import compiled

Cells = NDArray[np.uint8]


class Pulls(NamedTuple):
    """Arrays for compiled loops. `common` is 0 x 0 if there is none; row i owns blocks from starts[i] on."""

    theta: Floats
    common: Floats
    starts: Places
    partners: Places
    blocks: Floats

    @classmethod
    def of(cls, q: Quadratic) -> Pulls:
        lists = [q.neighbours(row) for row in range(q.rows)] if q.pairs is not None else [[]] * q.rows
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
    theta, common, starts = pulls.theta, pulls.common, pulls.starts
    total = 0.0
    for q in range(len(theta)):
        if q != column and bits[row, q]:
            total += theta[column, q]
    if len(common):
        for q in range(len(theta)):
            total += common[column, q] * (sums[q] - bits[row, q])
    for block in range(starts[row], starts[row + 1]):
        partner = pulls.partners[block]
        for q in range(len(theta)):
            if bits[partner, q]:
                total += pulls.blocks[block, column, q]
    strength: float = theta[column, column] + 2.0 * total
    return strength


@compiled
def pull_bounds(
    pulls: Pulls, low: Cells, high: Cells, low_sums: Places, high_sums: Places, row: int, column: int
) -> tuple[float, float]:
    """Bounds of the pull on a cell."""
    theta, common, starts = pulls.theta, pulls.common, pulls.starts
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
        partner = pulls.partners[block]
        for q in range(len(theta)):
            below, above = _between(pulls.blocks[block, column, q], low[partner, q], high[partner, q])
            least += below
            most += above
    return theta[column, column] + 2.0 * least, theta[column, column] + 2.0 * most


@compiled
def _between(value: float, low: int, high: int) -> tuple[float, float]:
    """The least and the most of value times a number between low and high."""
    return (value * low, value * high) if value > 0.0 else (value * high, value * low)
