"""Made-up neighbours among matrices."""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Any

import numpy as np

from veil.core.arrays import Floats
from veil.core.audit.subject import AuditPair
from veil.matrices.adjacency import Rectangle, Rows
from veil.matrices.birkhoff import Birkhoff
from veil.matrices.mechanisms.bordered_rows import BorderedRows, inside
from veil.vectors.auditing import neighbouring_vectors
from veil.vectors.counts import Integers

# Where the zeros of a matrix are its support, an entry at the border is not zero.
_SMALL = 1e-3


def matrix_pairs(mechanism: Any, relation: Rows) -> list[AuditPair]:
    """So many rows change at once as may: the first ones, the last ones; between the ends of each row."""
    domain = mechanism.domain
    each = list(domain.each())
    rows = domain.rows or max(3, 0 if isinstance(relation.changed, str) else relation.changed)
    simplices = [each[row % len(each)][0] for row in range(rows)]
    able = [row for row in range(rows) if simplices[row] is not None]
    changed = min(relation.among(rows), len(able))
    smooth = getattr(mechanism, "smooth", False)
    width = domain.columns or max(simplex.size for simplex in simplices if simplex is not None)

    def matrix(which: list[int], kind: str, turned: bool) -> tuple[Floats, Floats]:
        one, other = np.zeros((rows, width)), np.zeros((rows, width))
        for row, simplex in enumerate(simplices):
            columns = list(domain.support[row]) if domain.support is not None else None
            if simplex is None:
                one[row, columns[0] if columns else 0] = other[row, columns[0] if columns else 0] = 1.0
                continue
            columns = columns or list(range(simplex.size))
            floor = 0.0 if smooth else simplex.floor
            if domain.reads_support:
                floor = max(floor, _SMALL / simplex.size)
            guarded = list(range(simplex.size)) if simplex.protected is None else list(simplex.protected)
            ends = (guarded[-1], guarded[0]) if turned else (guarded[0], guarded[-1])
            mass = relation.each.mass
            if domain.reads_support:
                mass = min(mass, 1.0 - 2.0 * floor * simplex.size)
            values = neighbouring_vectors(simplex, floor, mass, ends, kind)
            one[row, columns] = values[0]
            other[row, columns] = values[1] if row in which else values[0]
        return one, other

    ends = {"the first": able[:changed], "the last": able[len(able) - changed :]}
    found = []
    for name, which in ends.items():
        what = _rows(name, changed)
        found.append(AuditPair(f"{what}, at the floor", *matrix(which, "floor", name == "the last")))
    which = ends["the first"]
    found.append(AuditPair(f"{_rows('the first', changed)}, at a corner", *matrix(which, "corner", False)))
    return found


def _rows(which: str, changed: int) -> str:
    return f"{which} {changed} rows" if changed > 1 else f"{which} row"


def doubly_pairs(domain: Birkhoff, relation: Rectangle | Rows) -> list[AuditPair]:
    """Two rows exchange mass, or as many pairs of rows as may change: in the identity, and in all alike."""
    n = domain.size
    mass, rows = (
        (relation.mass, 2) if isinstance(relation, Rectangle) else (relation.each.mass, relation.among(n))
    )
    if rows < 2:
        return []
    evenly = np.full((n, n), 1.0 / n)

    def exchanged(start: Floats, most: float, first: int) -> Floats:
        matrix = start.copy()
        step = min(mass, most)
        for k in range(rows // 2):
            i, j = (first + 2 * k) % n, (first + 2 * k + 1) % n
            matrix[i, i] -= step
            matrix[i, j] += step
            matrix[j, i] += step
            matrix[j, j] -= step
        return matrix

    last = max(0, n - 2 * (rows // 2))
    return [
        AuditPair("the identity, its first rows", np.eye(n), exchanged(np.eye(n), 1.0, 0)),
        AuditPair("the identity, its last rows", np.eye(n), exchanged(np.eye(n), 1.0, last)),
        AuditPair("all entries alike", evenly, exchanged(evenly, 1.0 / n, 0)),
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

    found = []
    for name, row in (("the first row", able[0]), ("the last row", able[-1])) if able else ():
        found.append(AuditPair(f"{name}, at the floor", table(row, 0), table(row, size - 1)))
    return found
