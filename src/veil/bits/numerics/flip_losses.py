"""How much a change of a few bits can change the energy b' Pi b: the worst privacy loss of XOR noise.

A release is Y = X + B modulo 2 with P(b) proportional to exp(E(b)), E(b) = b' Pi b. The constant does not
depend on X. So for neighbours X and X' that differ in the cells S the loss at Y is E(b) - E(b + 1_S), b =
X + Y, and b takes every value. `worst_loss` is the maximum of |E(b) - E(b + 1_S)| over all b and all allowed
S: up to `count` cells, anywhere or within one row. No smaller number bounds the loss. All is symmetric in b
and b + 1_S, so the absolute value may be dropped.

One flip. Let b_i = 0 and flip it: E grows by Pi_ii + 2 sum_{j != i} Pi_ij b_j, and the other bits are free.
The largest growth is Pi_ii + 2 S_i+, the largest fall is -Pi_ii + 2 S_i-.

A signed change d = b' - b of the cells S, d = +-1 on S and 0 elsewhere. With s = b + b': E(b') - E(b) =
d' Pi s. On S, s = 1 = |d|; elsewhere s = 2 b, and b is free there. So the largest change that d can make is

    d' Pi |d| + sum over q outside S of max(0, 2 (Pi d)_q),

reached by b_q = 1 exactly where (Pi d)_q > 0. Within one row i the cells q outside are those of the row and
of all others, for which (Pi d)_q comes from Lambda_ij' d. The maximum over all d is exact (`by signs`). If
one coupling holds for all pairs, k flips anywhere touch at most k rows, and it does not matter which.

The hypercube. Let E_0 = E and E_k(b) = max of E_{k-1} over b and its one-flip neighbours. Then E_k(b) is the
largest energy within k flips of b, and the worst loss is max_b E_k(b) - E(b) (`by filters`). If rows are
independent, one row is enough; flips in several rows add up, since each row can take its own best b: the
maximum over how the flips are spread over the rows is exact.

Columns with theta and Lambda diagonal. E is a sum over the columns of f(M) = (c - l) M + l M^2, M the number
of ones. j more ones change f by j (c + l (2 M + j - 1)), where 2 M + j - 1 runs from j - 1 to 2 N - j - 1,
around N - 1. So the largest change is h(j) = j (|c + l (N - 1)| + |l| (N - j)), up or down. It is concave in
j with h(0) = 0; the j-th flip in a column adds h(j) - h(j - 1) = |c + l (N - 1)| + |l| (N + 1 - 2 j), less
than the one before it. With up to k flips in a column every net change of at most k can be had. Columns take
their signs and their M independently, so the worst loss of `count` flips is the sum of the `count` largest
positive ones of all these additions: h is concave, so the first flips of a column come first. Within a row
it is one flip to a column: the largest |c + l (N - 1)| + |l| (N - 1) = max(|c|, |c + 2 l (N - 1)|).

Upper bounds, where none of these is affordable; the least of:
 1. the sum of the `count` largest losses of single flips: flip the cells one after the other;
 2. for the same reason m L(k) + L(r), count = m k + r, for a k whose L(k) is known exactly;
 3. the sum of |Pi_ij| over all (i, j) with i or j in the row (or at all), whatever the count: E is a sum of
    Pi_ij b_i b_j, and each product changes by at most 1;
 4. for a row: the loss of theta alone plus the `count` largest sums 2 |Lambda| over the rows of the blocks.

All values are rounded upwards: rationals where possible, else floats with the slack of exact_sums.py.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from veil.bits.numerics.enumerated_changes import (
    Others,
    gains_by_filters,
    gains_by_signs,
    signed_changes,
    spread,
)
from veil.bits.numerics.exact_sums import exact_sum
from veil.bits.numerics.quadratic import MOST_DENSE, Quadratic
from veil.bits.numerics.single_flips import CellLosses, cell_losses
from veil.core.errors import InvalidArgument
from veil.core.numerics.rounding import float_above

Floats = NDArray[np.float64]
Where = Literal["anywhere", "row"]
PLACES = ("anywhere", "row")

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
    if where not in PLACES:
        raise InvalidArgument("where", expected=" or ".join(map(repr, PLACES)), found=repr(where))
    if isinstance(count, bool) or not isinstance(count, (int, np.integer)) or count < 0:
        raise InvalidArgument("count", expected="a whole number of at least 0", found=repr(count))
    flips = min(int(count), q.columns if where == "row" else q.cells)
    if flips == 0:
        return Loss(0.0, True, "nothing changes")
    columns = _of_columns(q, flips, where)
    if columns is not None:
        return Loss(float_above(columns), True, "closed form: independent columns of alike rows")
    cells = cell_losses(q)
    if flips == 1:
        return Loss(float_above(max(row.largest(1) for row in cells)), True, "closed form: one flip")
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
        touched = max(_touched(q.theta, others) for others in _surroundings(q))
        bounds.append((touched, "all products that the row is in"))
    if flips == q.cells:
        bounds.append((_absolute(q), "all products"))
    if where == "row" and q.columns <= _MOST_BITS and not q.rows_independent:
        bounds.append((_apart(q, flips), "the row and its couplings apart"))
    value, how = min(bounds)
    return Loss(float_above(value), False, f"upper bound: {how}")


def _of_columns(q: Quadratic, flips: int, where: Where) -> Fraction | None:
    """The closed form for diagonal theta and Lambda."""
    form = q.column_form
    if form is None:
        return None
    alike: dict[tuple[float, float], int] = {}
    for pair in zip(form[0].tolist(), form[1].tolist(), strict=True):
        alike[pair] = alike.get(pair, 0) + 1
    deepest = 1 if where == "row" else min(q.rows, flips)
    if deepest * len(alike) > _MOST_SORTED:
        return None
    additions: list[tuple[Fraction, int]] = []
    for (diagonal, between), columns in alike.items():
        coupling = Fraction(between)
        middle = abs(Fraction(diagonal) + coupling * (q.rows - 1))
        additions += [(middle + abs(coupling) * (q.rows + 1 - 2 * j), columns) for j in range(1, deepest + 1)]
    total, left = Fraction(0), flips
    for gain, columns in sorted(additions, reverse=True):
        if gain <= 0 or left <= 0:
            break
        total += gain * min(columns, left)
        left -= columns
    return total


def _surroundings(q: Quadratic) -> list[Others]:
    """For every kind of row the blocks to other rows, and how many times each is there."""
    if q.pairs is None:
        common = q.common
        return [[] if common is None else [(common, q.rows - 1)]]
    found: list[Others] = [
        [(np.hstack([block for _, block in q.neighbours(row)]), 1)]
        for row in range(q.rows)
        if q.neighbours(row)
    ]
    return found if len(found) == q.rows else [*found, []]


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
        return _gains(q.theta, _surroundings(q), flips)
    if q.cells <= _MOST_BITS:
        return _gains(q.pi(), [[]], flips)
    if q.pairs is None:
        return _of_alike_rows(q, flips)
    return _gains(q.pi(), [[]], flips) if q.cells <= MOST_DENSE else None


def _of_alike_rows(q: Quadratic, flips: int) -> Floats | None:
    """Flips anywhere, one coupling for all pairs: k flips touch at most k rows, and all rows are alike."""
    common = q.common
    assert common is not None
    found = None
    for known in range(2, flips + 1):
        rows = min(known, q.rows)
        length = rows * q.columns
        if signed_changes(length, known) * (length + q.columns) > _AFFORDABLE:
            break
        found = known
    if found is None:
        return None
    rows = min(found, q.rows)
    touched = Quadratic(q.theta, common, rows=rows).pi()
    return gains_by_signs(touched, [(np.vstack([common] * rows), q.rows - rows)], found)


def _gains(matrix: Floats, surroundings: list[Others], flips: int) -> Floats | None:
    length = len(matrix)
    alone = surroundings == [[]]
    if alone and length <= _MOST_BITS and flips * length << length <= _AFFORDABLE:
        return gains_by_filters(matrix, flips)
    each = sum(length + sum(block.shape[1] for block, _ in others) for others in surroundings)
    known = 1
    while known < flips and signed_changes(length, known + 1) * each <= _AFFORDABLE:
        known += 1
    if known < 2:
        return None
    found = np.array([gains_by_signs(matrix, others, known) for others in surroundings])
    best: Floats = found.max(axis=0)
    return best


def _telescoped(cells: list[CellLosses], flips: int, where: Where) -> Fraction:
    if where == "row":
        return max(row.largest(flips) for row in cells)
    ranked = sorted(((loss, row.rows) for row in cells for loss in row.losses), reverse=True)
    total, left = Fraction(0), flips
    for loss, times in ranked:
        if left <= 0:
            break
        total += loss * min(times, left)
        left -= times
    return total


def _touched(theta: Floats, others: Others) -> Fraction:
    outside = sum((2 * times * exact_sum(np.abs(block).ravel()) for block, times in others), Fraction(0))
    return exact_sum(np.abs(theta).ravel()) + outside


def _absolute(q: Quadratic) -> Fraction:
    within = q.rows * exact_sum(np.abs(q.theta).ravel())
    if q.pairs is not None:
        return within + 2 * sum((exact_sum(np.abs(b).ravel()) for b in q.pairs.values()), Fraction(0))
    common = q.common
    if common is None:
        return within
    return within + q.rows * (q.rows - 1) * exact_sum(np.abs(common).ravel())


def _apart(q: Quadratic, flips: int) -> Fraction:
    """The loss of theta alone, and of the couplings alone."""
    pulls = []
    for others in _surroundings(q):
        sums = [
            sum((2 * times * exact_sum(np.abs(block[p])) for block, times in others), Fraction(0))
            for p in range(q.columns)
        ]
        pulls.append(sum(sorted(sums, reverse=True)[:flips], Fraction(0)))
    return Fraction(float(gains_by_filters(q.theta, flips)[flips])) + max(pulls)
