"""What the flip of one bit can change the energy by, exactly: the cells of a table and their losses."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from veil.bits.numerics.exact_sums import exact_sum
from veil.bits.numerics.quadratic import Quadratic

Floats = NDArray[np.float64]


@dataclass(frozen=True)
class CellLosses:
    """The losses of the cells of a row, and how many rows there are like it."""

    losses: tuple[Fraction, ...]
    rows: int

    def largest(self, count: int) -> Fraction:
        """The sum of the so many largest losses within one such row."""
        return sum(sorted(self.losses, reverse=True)[:count], Fraction(0))


def cell_losses(q: Quadratic) -> list[CellLosses]:
    """max(Pi_ii + 2 S+, -Pi_ii + 2 S-) of every cell i, S+ and S- the sums of the positive and of the
    absolute negative entries beside the diagonal. Rows that are alike are listed once."""
    form = q.column_form
    if form is not None:
        alike = {}
        for pair in set(zip(form[0].tolist(), form[1].tolist(), strict=True)):
            diagonal, between = Fraction(pair[0]), Fraction(pair[1]) * (q.rows - 1)
            alike[pair] = abs(diagonal + between) + abs(between)
        losses = [alike[pair] for pair in zip(form[0].tolist(), form[1].tolist(), strict=True)]
        return [CellLosses(tuple(losses), q.rows)]
    if q.pairs is None:
        common = q.common
        others = [] if common is None else [(common, q.rows - 1)]
        return [CellLosses(tuple(_row(q.theta, others)), q.rows)]
    coupled = [row for row in range(q.rows) if q.neighbours(row)]
    found = [
        CellLosses(tuple(_row(q.theta, [(block, 1) for _, block in q.neighbours(row)])), 1) for row in coupled
    ]
    if len(coupled) < q.rows:
        found.append(CellLosses(tuple(_row(q.theta, [])), q.rows - len(coupled)))
    return found


def _row(theta: Floats, others: Iterable[tuple[Floats, int]]) -> list[Fraction]:
    blocks = list(others)
    losses = []
    for column, entries in enumerate(theta):
        own = Fraction(float(entries[column]))
        beside = [(np.delete(entries, column), 1), *((block[column], times) for block, times in blocks)]
        up = sum((times * exact_sum(part[part > 0.0]) for part, times in beside), Fraction(0))
        down = sum((times * exact_sum(-part[part < 0.0]) for part, times in beside), Fraction(0))
        losses.append(max(own + 2 * up, 2 * down - own))
    return losses
