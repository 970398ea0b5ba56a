"""How much a change of a few bits can change the energy b' Pi b: the worst privacy loss of XOR noise.

`worst_loss` is the maximum of |E(b) - E(b + 1_S)|, E(b) = b' Pi b, over all b and all allowed S: up to
`count` cells, anywhere or within one row. Its cases are proved in mechanisms/bits.md, "The worst loss". All
values are rounded upwards: rationals where possible, otherwise floats with `rounding_slack`.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from fractions import Fraction
from typing import Literal

import numpy as np

from veil.bits.numerics.enumerated_changes import (
    Others,
    exact_sum,
    gains_by_filters,
    gains_by_signs,
    signed_changes,
    spread,
)
from veil.bits.numerics.quadratic import MOST_DENSE, Quadratic
from veil.core.arrays import Floats
from veil.core.checks import choice, integer
from veil.core.numerics.rounding import float_above

Where = Literal["anywhere", "row"]
# Losses of single flips, each with the number of cells that have it.
Losses = list[tuple[Fraction, int]]

# Numbers that an enumeration may look at: a few seconds.
_AFFORDABLE = 2**31
# A hypercube of more bits does not fit into memory comfortably.
_MOST_BITS = 20
_MOST_SORTED = 2**18
_MOST_SPREAD = 2**12


@dataclass(frozen=True)
class Loss:
    """value is at least the worst loss; if exact, it is the worst loss rounded upwards."""

    value: float
    exact: bool
    how: str


def worst_loss(q: Quadratic, count: int, where: Where) -> Loss:
    """The most that `count` changed bits can change the energy by."""
    choice("where", where, ("anywhere", "row"))
    flips = min(integer("count", count, least=0), q.columns if where == "row" else q.cells)
    if flips == 0:
        return Loss(0.0, True, "nothing changes")
    columns = _of_columns(q, flips, where)
    if columns is not None:
        return Loss(float_above(columns), True, "closed form: independent columns of alike rows")
    cells = _cell_losses(q)
    if flips == 1:
        return Loss(float_above(_telescoped(cells, 1, "row")), True, "closed form: one flip")
    known = _largest_enumerable(q, flips, where)
    if known is not None and len(known) > flips:
        return Loss(float(known[flips]), True, "enumeration")
    bounds = [(_telescoped(cells, flips, where), "flips one after the other")]
    if known is not None:
        step = len(known) - 1
        times, rest = divmod(flips, step)
        blocks = times * Fraction(float(known[step])) + Fraction(float(known[rest]))
        bounds.append((blocks, f"{step} flips at a time"))
    if flips == q.columns and where == "row":
        twice = ([(block, 2 * times) for block, times in others] for others, _ in _kinds_of_rows(q))
        touched = max(_absolute([(q.theta, 1), *others]) for others in twice)
        bounds.append((touched, "all products that the row is in"))
    if flips == q.cells:
        each = (rows * _absolute([(q.theta, 1), *others]) for others, rows in _kinds_of_rows(q))
        bounds.append((sum(each, Fraction(0)), "all products"))
    if where == "row" and q.columns <= _MOST_BITS and not q.rows_independent:
        bounds.append((_apart(q, flips), "the row and its couplings apart"))
    value, how = min(bounds)
    return Loss(float_above(value), False, f"upper bound: {how}")


def _alike_columns(q: Quadratic) -> Counter[tuple[float, float]] | None:
    """How many columns there are with each diagonal entry of theta and of Lambda, if both are diagonal."""
    return (
        None
        if q.column_form is None
        else Counter(zip(*(part.tolist() for part in q.column_form), strict=True))
    )


def _of_columns(q: Quadratic, flips: int, where: Where) -> Fraction | None:
    """The closed form for diagonal theta and Lambda."""
    alike = _alike_columns(q)
    deepest = 1 if where == "row" else min(q.rows, flips)
    if alike is None or deepest * len(alike) > _MOST_SORTED:
        return None
    additions: Losses = []
    for (diagonal, between), columns in alike.items():
        coupling = Fraction(between)
        middle = abs(Fraction(diagonal) + coupling * (q.rows - 1))
        additions += [(middle + abs(coupling) * (q.rows + 1 - 2 * j), columns) for j in range(1, deepest + 1)]
    return _largest_sum(additions, flips)


def _largest_sum(values: Iterable[tuple[Fraction, int]], count: int) -> Fraction:
    """The sum of the `count` largest positive values, of which each is there so many times."""
    total, left = Fraction(0), count
    for value, times in sorted(values, reverse=True):
        if value <= 0 or left <= 0:
            break
        total += value * min(times, left)
        left -= times
    return total


def _kinds_of_rows(q: Quadratic) -> list[tuple[Others, int]]:
    """For every kind of row the blocks to other rows with their numbers, and how many such rows there are."""
    if q.pairs is None:
        return [([] if q.common is None else [(q.common, q.rows - 1)], q.rows)]
    neighbours = [[block for _, block in q.neighbours[row]] for row in range(q.rows)]
    kinds: list[tuple[Others, int]] = [([(np.hstack(blocks), 1)], 1) for blocks in neighbours if blocks]
    return kinds if len(kinds) == q.rows else [*kinds, ([], q.rows - len(kinds))]


def _cell_losses(q: Quadratic) -> list[tuple[Losses, int]]:
    """The losses of the cells of every kind of row, and how many rows are of the kind.

    max(Pi_ii + 2 S+, -Pi_ii + 2 S-) for the cell i, S+ and S- the sums of the positive and of the absolute
    negative entries beside the diagonal.
    """
    alike = _alike_columns(q)
    if alike is None:
        return [(_row_losses(q.theta, others), rows) for others, rows in _kinds_of_rows(q)]
    losses = []
    for (diagonal, coupling), columns in alike.items():
        between = Fraction(coupling) * (q.rows - 1)
        losses.append((abs(Fraction(diagonal) + between) + abs(between), columns))
    return [(losses, q.rows)]


def _row_losses(theta: Floats, others: Others) -> Losses:
    losses = []
    for column, entries in enumerate(theta):
        own = Fraction(float(entries[column]))
        beside = [(np.delete(entries, column), 1), *((block[column], times) for block, times in others)]
        up = sum((times * exact_sum(part[part > 0.0]) for part, times in beside), Fraction(0))
        down = sum((times * exact_sum(-part[part < 0.0]) for part, times in beside), Fraction(0))
        losses.append((max(own + 2 * up, 2 * down - own), 1))
    return losses


def _largest_enumerable(q: Quadratic, flips: int, where: Where) -> Floats | None:
    """The exact gains of up to `flips` flips, or as many as are affordable."""
    if q.rows_independent:
        within = min(flips, q.columns)
        gains = _gains(q.theta, [[]], within)
        if gains is None or where == "row":
            return gains
        is_whole = len(gains) > within and flips <= _MOST_SPREAD
        return spread(gains, q.rows, flips if is_whole else len(gains) - 1)
    if where == "row":
        return _gains(q.theta, [others for others, _ in _kinds_of_rows(q)], flips)
    if q.pairs is None and q.cells > _MOST_BITS:
        return _of_alike_rows(q, flips)
    return _gains(q.pi(), [[]], flips) if q.cells <= max(_MOST_BITS, MOST_DENSE) else None


def _of_alike_rows(q: Quadratic, flips: int) -> Floats | None:
    """Flips anywhere, one coupling for all pairs: k flips touch at most k rows, and all rows are alike."""
    common = q.common
    assert common is not None

    def cost(known: int) -> int:
        length = min(known, q.rows) * q.columns
        return signed_changes(length, known) * (length + q.columns)

    known = _affordable(flips, cost)
    if known < 2:
        return None
    rows = min(known, q.rows)
    touched = Quadratic(q.theta, common, rows=rows).pi()
    return gains_by_signs(touched, [(np.vstack([common] * rows), q.rows - rows)], known)


def _affordable(flips: int, cost: Callable[[int], int]) -> int:
    """Up to how many flips an enumeration is affordable; at least 1, for which none is needed."""
    known = 1
    while known < flips and cost(known + 1) <= _AFFORDABLE:
        known += 1
    return known


def _gains(matrix: Floats, surroundings: list[Others], flips: int) -> Floats | None:
    length = len(matrix)
    alone = surroundings == [[]]
    if alone and length <= _MOST_BITS and flips * length << length <= _AFFORDABLE:
        return gains_by_filters(matrix, flips)
    each = sum(length + sum(block.shape[1] for block, _ in others) for others in surroundings)
    known = _affordable(flips, lambda count: signed_changes(length, count) * each)
    if known < 2:
        return None
    gains: Floats = np.array([gains_by_signs(matrix, others, known) for others in surroundings]).max(axis=0)
    return gains


def _telescoped(cells: list[tuple[Losses, int]], flips: int, where: Where) -> Fraction:
    if where == "row":
        return max(_largest_sum(losses, flips) for losses, _ in cells)
    return _largest_sum([(loss, times * rows) for losses, rows in cells for loss, times in losses], flips)


def _absolute(blocks: Others) -> Fraction:
    """The sum of the absolute entries of blocks, of which each is there so many times."""
    return sum((times * exact_sum(np.abs(block).ravel()) for block, times in blocks), Fraction(0))


def _apart(q: Quadratic, flips: int) -> Fraction:
    """The loss of theta alone, and of the couplings alone."""
    pulls = []
    for others, _ in _kinds_of_rows(q):
        by_cell = [[(block[p], times) for block, times in others] for p in range(q.columns)]
        pulls.append(_largest_sum([(2 * _absolute(cell), 1) for cell in by_cell], flips))
    return Fraction(float(gains_by_filters(q.theta, flips)[flips])) + max(pulls)
