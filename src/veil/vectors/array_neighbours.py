"""Made-up neighbours among probability vectors, matrices and rows of counts."""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Any

import numpy as np

from veil.chains.contributions import Contributions
from veil.chains.mechanisms.bordered_rows import BorderedRows, inside
from veil.core.audit.pair import AuditPair
from veil.core.intake import Floats
from veil.matrices.birkhoff import Birkhoff
from veil.matrices.rectangle import Rectangle
from veil.vectors.adjacency import Records, Rows, Transfer
from veil.vectors.counts import Integers
from veil.vectors.simplex import Simplex

# What a large cell holds, beside which the noise is small.
_LARGE = 1_000
# Where the zeros of a matrix are its support, an entry at the border is not zero.
_SMALL = 1e-3
KINDS = {"floor": "at the floor", "corner": "at a corner", "middle": "all others alike"}


def vector_pairs(mechanism: Any, relation: Transfer) -> list[AuditPair]:
    """Two entries exchange as much as they may: at the floor, at a corner, in the middle, at either end."""
    domain: Simplex = mechanism.domain
    floor = 0.0 if getattr(mechanism, "smooth", False) else domain.floor
    guarded = list(range(domain.size)) if domain.protected is None else list(domain.protected)
    first, last, middle = guarded[0], guarded[-1], guarded[len(guarded) // 2]
    places = dict.fromkeys([(first, last), (last, first), (first, middle), (middle, last)])
    found = []
    for i, j in [(i, j) for i, j in places if i != j]:
        for kind, where in KINDS.items() if (i, j) == (first, last) else (("floor", KINDS["floor"]),):
            one, other = _vectors(domain, floor, relation.mass, (i, j), kind)
            found.append(AuditPair(f"entries {i + 1} and {j + 1}, {where}", one, other))
    return found


def _vectors(
    domain: Simplex, floor: float, mass: float, places: tuple[int, int], kind: str
) -> tuple[Floats, Floats]:
    """Entry i has the mass more than the floor, or entry j; the rest lies elsewhere, at i, or all over."""
    i, j = places
    guarded = range(domain.size) if domain.protected is None else domain.protected
    open_entries = [k for k in range(domain.size) if k not in set(guarded)]
    base = np.zeros(domain.size)
    base[list(guarded)] = floor
    slack = domain.slack or 0.0
    spare = max(0.0, 1.0 - float(base.sum()) - slack)
    moved = min(mass, spare)
    spare = spare - moved
    if open_entries:
        base[open_entries] += slack / len(open_entries)
    others = [k for k in guarded if k not in places]
    if kind == "middle":
        base[list(guarded)] += spare / len(guarded)
    elif kind == "floor" and open_entries:
        base[open_entries] += spare / len(open_entries)
    elif kind == "floor" and others:
        base[others[-1]] += spare
    else:
        base[i] += spare
    one, other = base.copy(), base.copy()
    one[i] += moved
    other[j] += moved
    return one, other


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
            values = _vectors(simplex, floor, mass, ends, kind)
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


def count_pairs(mechanism: Any, relation: Records | Contributions) -> list[AuditPair]:
    """Records in the first cell, in the last, in empty cells and in large ones."""
    if isinstance(mechanism, BorderedRows):
        return bordered_pairs(mechanism)
    size = mechanism.size
    if isinstance(relation, Records):
        relation = Contributions(1, 1 if relation.change == "replace" else 0)
    come, gone = relation.added, relation.removed

    def pair(name: str, base: int, into: int, out_of: int) -> AuditPair:
        value = np.full(size, base, dtype=np.int64)
        value[[into, out_of]] = 0 if base == _LARGE else base
        value[out_of] += gone
        neighbour = value.copy()
        neighbour[into] += come
        neighbour[out_of] -= gone
        return AuditPair(name, neighbour, value)

    one = "into an empty {} cell" if gone == 0 else "from the {} cell to the {}"
    places = {("first", "last"): (size - 1, 0), ("last", "first"): (0, size - 1)}
    found = []
    for (start, end), (into, out_of) in places.items():
        name = one.format(end) if gone == 0 else one.format(start, end)
        found.append(pair(f"{name}, among large ones", _LARGE, into, out_of))
    found.append(pair("no other records", 0, 0, size - 1))
    found.append(pair("in cells of some hundreds", 300, 0, size - 1))
    if come + gone > 1 and size > 2 and come > 1:
        spread = np.bincount(np.arange(come) % (size - 1), minlength=size)
        value = np.full(size, _LARGE, dtype=np.int64)
        left = value.copy()
        left[-1] -= gone
        found.append(AuditPair("spread over the cells", left + spread, value))
    return found


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
