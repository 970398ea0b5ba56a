"""How audits attack mechanisms on matrices, and the made-up neighbours that they are run on."""

from __future__ import annotations

import math
from dataclasses import replace
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from veil.core.adjacency import Adjacency
from veil.core.arrays import Floats
from veil.core.audit.subject import AuditPair, Example
from veil.core.errors import InvalidArgument
from veil.matrices.adjacency import Rectangle, Rows
from veil.matrices.mechanisms.bordered_rows import BorderedRows, inside
from veil.matrices.mechanisms.doubly_stochastic import Birkhoff, DoublyStochastic
from veil.matrices.mechanisms.matrix_dirichlet import MatrixDirichlet
from veil.matrices.mechanisms.row_by_row import RowByRow
from veil.vectors.auditing import ArrayAudit, neighbouring_vectors, spread_vectors
from veil.vectors.counts import Integers, Records
from veil.vectors.l1 import L1
from veil.vectors.mechanisms.additive import Laplace
from veil.vectors.simplex import Simplex, Transfer

# Where the zeros of a matrix are its support, an entry at the border is not zero.
_SMALL = 1e-3
_OTHERS = ": what is released of the other rows"


def matrix_pairs(mechanism: Any, relation: Rows) -> list[AuditPair]:
    """So many rows change at once as may: the first ones, the last ones; between the ends of each row."""
    domain = mechanism.domain
    each = domain.simplices
    rows = domain.rows or max(3, 0 if isinstance(relation.changed, str) else relation.changed)
    simplices = [each[row % len(each)] for row in range(rows)]
    able = [row for row in range(rows) if simplices[row] is not None]
    changed = min(relation.among(rows), len(able))
    smooth = getattr(mechanism, "smooth", False)
    width = domain.columns or max(simplex.size for simplex in simplices if simplex is not None)

    def pair(which: str, where: str, changed: int = changed, beside: bool = False) -> AuditPair:
        some = able[:changed] if which == "first" else able[len(able) - changed :]
        one = np.zeros((rows, width))
        other = one.copy()
        for row, simplex in enumerate(simplices):
            size = 1 if simplex is None else simplex.size
            columns = list(range(size) if domain.support is None else domain.support[row])
            if simplex is None:
                one[row, columns] = other[row, columns] = 1.0
                continue
            floor, mass = 0.0 if smooth else simplex.floor, relation.each.mass
            if domain.reads_support:
                floor = max(floor, _SMALL / size)
                mass = min(mass, 1.0 - 2.0 * floor * size)
            guarded = range(size) if simplex.protected is None else simplex.protected
            ends = (guarded[0], guarded[-1]) if which == "first" else (guarded[-1], guarded[0])
            if where == "one entry against all others":
                values = spread_vectors(simplex, floor, mass)
            else:
                values = neighbouring_vectors(simplex, floor, mass, ends, where.split()[-1])
            one[row, columns] = values[0]
            other[row, columns] = values[1] if row in some else values[0]
        what = f"{changed} rows" if changed > 1 else "row"
        seen = _OTHERS if beside else ""
        return AuditPair(f"the {which} {what}, at {where}{seen}", one, other, beside=beside)

    places = [("first", "the floor"), ("last", "the floor"), ("first", "a corner")]
    if relation.entries(width) > 2:
        places += [("first", "one entry against all others"), ("last", "one entry against all others")]
    pairs = [pair(which, where) for which, where in places]
    return [*pairs, pair("first", "a corner", 1, True)] if rows > 1 and able else pairs


def doubly_pairs(domain: Birkhoff, relation: Rectangle | Rows) -> list[AuditPair]:
    """Two rows exchange mass, or as many pairs of rows as may change: in the identity, and in all alike."""
    n = domain.size
    mass, rows = relation.exchange(n)
    if rows < 2:
        return []

    def pair(name: str, start: Floats, first: int = 0) -> AuditPair:
        matrix = start.copy()
        step = min(mass, float(start[0, 0]))
        for k in range(first, first + rows // 2 * 2, 2):
            i, j = k % n, (k + 1) % n
            matrix[[i, j], [i, j]] -= step
            matrix[[i, j], [j, i]] += step
        return AuditPair(name, start, matrix)

    return [
        pair("the identity, its first rows", np.eye(n)),
        pair("the identity, its last rows", np.eye(n), max(0, n - rows // 2 * 2)),
        pair("all entries alike", np.full((n, n), 1.0 / n)),
    ]


def bordered_pairs(mechanism: BorderedRows) -> list[AuditPair]:
    """One record gets another category in the first row, or in the last, of those that have room."""
    lows = [
        math.ceil(Fraction(inside(floor)) * records)
        for floor, records in zip(mechanism.floor, mechanism.records, strict=True)
    ]
    size = mechanism.size
    able = [row for row, low in enumerate(lows) if mechanism.records[row] > size * low]

    def table(changed: int, place: int) -> Integers:
        counts = np.empty((len(lows), size), dtype=np.int64)
        for row, low in enumerate(lows):
            counts[row] = low
            left = mechanism.records[row] - size * low
            if row == changed:
                counts[row, place] += 1
                left -= 1
            counts[row, size // 2 if size > 2 else 0] += left
        return counts

    return (
        [
            AuditPair(f"{name}, at the floor", table(row, 0), table(row, size - 1))
            for name, row in (("the first row", able[0]), ("the last row", able[-1]))
        ]
        if able
        else []
    )


class MatrixAudit(ArrayAudit):
    """Audits of mechanisms on matrices."""

    def examples(self) -> list[Example]:
        row, transfer = Simplex(3, floor=0.08), Transfer(0.05)
        return [
            (MatrixDirichlet((20.0, 40.0), [row] * 2), Rows(1, transfer)),
            (RowByRow(Laplace(0.2, Simplex(3)), rows=3), Rows("all", transfer)),
            (MatrixDirichlet((5.0, 40.0), [row] * 2), Rows(1, L1(0.1))),
            (DoublyStochastic(0.2, 3), Rectangle(0.1)),
            (DoublyStochastic(0.2, 3, noise="gaussian"), Rectangle(0.1)),
            (BorderedRows([30.0] * 2, [0.1] * 2, [40, 60], size=3), Records("replace")),
        ]

    def pairs(self, mechanism: Any, adjacency: Any) -> list[AuditPair]:
        if isinstance(mechanism, BorderedRows):
            pairs = bordered_pairs(mechanism)
            one = pairs[: len(mechanism.k) - 1][:1]
            return [*pairs, *(replace(pair, name=f"{pair.name}{_OTHERS}", beside=True) for pair in one)]
        if isinstance(mechanism.domain, Birkhoff):
            return doubly_pairs(mechanism.domain, adjacency)
        return matrix_pairs(mechanism, adjacency)

    def relation_of_change(self, mechanism: Any, change: NDArray[Any]) -> Adjacency:
        if mechanism.item_axes(change) < 2 or isinstance(mechanism, BorderedRows):
            return super().relation_of_change(mechanism, change)
        table = change.reshape(-1, change.shape[-1])
        moved = (table != 0.0).sum(axis=1)
        # What smoothing or scaling of the rows left behind is no change.
        moved = np.where(np.abs(table).max(axis=1) < 1e-15, 0, moved)
        rows = int(np.count_nonzero(moved))
        mass = min(1.0, float(np.abs(table).sum(axis=1).max()) / 2.0 * (1.0 + 1e-12))
        if isinstance(mechanism.domain, Birkhoff) and rows == 2 and sorted(moved)[-2:] == [2, 2]:
            return Rectangle(mass)
        if rows > 0 and moved.max() >= 2:
            return Rows(rows, Transfer(mass) if moved.max() == 2 else L1(min(2.0, 2.0 * mass)))
        expected = "a matrix in which entries of a row exchange mass, in one row or more"
        raise InvalidArgument("neighbour", expected=expected, found=f"{rows} rows that differ in another way")
