"""Neighbours of matrices, as their sentences say."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction

import numpy as np

from tests.neighbours.vectors import Vector, exchange, exchanges, move, moves, rounded
from tests.neighbours.written import Written
from veil.matrices import Rectangle, Rows
from veil.vectors import L1, Simplex, Transfer

Matrix = list[Vector]
RowEdit = Callable[[np.random.Generator, Vector, Simplex], Vector | None]


def row_edit(each: Transfer | L1) -> RowEdit:
    """ "two protected entries of a row exchanging at most MASS", or
    "such a row moving by an L1 distance of at most DISTANCE: some protected entries gain half of it together,
    others lose as much"."""
    if isinstance(each, Transfer):
        return lambda rng, row, domain: exchange(rng, row, each.mass, domain)
    return lambda rng, row, domain: move(rng, row, each.distance, domain)


def changed(
    rng: np.random.Generator, matrix: Matrix, rows: int | str, each: Transfer | L1, domains: list[Simplex]
) -> Matrix | None:
    """ "one row of the matrix may change", "at most ROWS rows of the matrix may change", or
    "every row of the matrix may change at once"; each of them as the rest of the sentence says."""
    most = len(matrix) if rows == "all" else min(int(rows), len(matrix))
    many = most if rng.random() < 0.7 else int(rng.integers(1, most + 1))
    edited = [list(row) for row in matrix]
    for place in rng.choice(len(matrix), many, replace=False).tolist():
        row = row_edit(each)(rng, edited[place], domains[place])
        if row is None:
            return None
        edited[place] = row
    return edited


def rectangle(rng: np.random.Generator, matrix: Matrix, mass: float) -> Matrix | None:
    """ "two rows of the matrix exchange at most MASS of probability between two columns".

    What the one row moves from a column to another, the other row moves back.
    """
    one, other = rng.choice(len(matrix), 2, replace=False).tolist()
    here, there = rng.choice(len(matrix[0]), 2, replace=False).tolist()
    real = [[Fraction(entry) for entry in row] for row in matrix]
    most = min(Fraction(mass), real[one][here], real[other][there])
    if most <= 0:
        return None
    moved = most if rng.random() < 0.5 else most * Fraction(rng.random())
    real[one][here] -= moved
    real[one][there] += moved
    real[other][there] -= moved
    real[other][here] += moved
    return [rounded(row) for row in real]


def balanced_exchange(
    rng: np.random.Generator, matrix: Matrix, rows: int | str, mass: float
) -> Matrix | None:
    """The same sentence as `changed`, where the columns must keep their sums.

    So many rows each exchange the same amount between two entries, and what columns lose in some rows they
    gain in others.
    """
    size = len(matrix)
    most = size if rows == "all" else min(int(rows), size)
    if most < 2:
        return None
    many = most if rng.random() < 0.7 else int(rng.integers(2, most + 1))
    chosen = rng.choice(size, many, replace=False).tolist()
    givers = rng.integers(size, size=many).tolist()
    takers = [givers[i] for i in rng.permutation(many).tolist()]
    if any(giver == taker for giver, taker in zip(givers, takers, strict=True)):
        return None
    real = [[Fraction(entry) for entry in row] for row in matrix]
    moved = min(Fraction(mass), *(real[row][giver] for row, giver in zip(chosen, givers, strict=True)))
    if moved <= 0:
        return None
    for row, giver, taker in zip(chosen, givers, takers, strict=True):
        real[row][giver] -= moved
        real[row][taker] += moved
    return [rounded(row) for row in real]


def doubly_stochastic(rng: np.random.Generator, size: int) -> Matrix:
    """A mixture of a few permutations, by weights that are whole 64ths: the sums are exact."""
    weights = rng.multinomial(64, rng.dirichlet(np.full(3, 0.5)))
    matrix = np.zeros((size, size), dtype=np.int64)
    for weight in weights.tolist():
        matrix[np.arange(size), rng.permutation(size)] += weight
    return [[entry / 64 for entry in row] for row in matrix.tolist()]


def _differing(first: Matrix, second: Matrix) -> list[tuple[Vector, Vector]]:
    return [(one, other) for one, other in zip(first, second, strict=True) if one != other]


def _is_rectangle(first: Matrix, second: Matrix, mass: float) -> bool:
    rows = _differing(first, second)
    columns = {j for one, other in rows for j in range(len(one)) if one[j] != other[j]}
    return len(rows) == len(columns) == 2 and all(exchanges(one, other, mass) for one, other in rows)


_ROW = Simplex(3, floor=0.05)
_MATRIX = [[0.3, 0.2, 0.5], [0.1, 0.6, 0.3], [0.6, 0.2, 0.2]]
_DOUBLY = [[0.5, 0.25, 0.25], [0.25, 0.5, 0.25], [0.25, 0.25, 0.5]]


def _rows(count: int | str, each: Transfer | L1, sentence: str) -> Written:
    most = 3 if count == "all" else int(count)

    def differs(first: Matrix, second: Matrix) -> bool:
        rows = _differing(first, second)
        if isinstance(each, Transfer):
            return len(rows) <= most and all(exchanges(one, other, each.mass) for one, other in rows)
        return len(rows) <= most and all(moves(one, other, each.distance) for one, other in rows)

    return Written(
        Rows(count, each),
        sentence,
        lambda rng, matrix: changed(rng, matrix, count, each, [_ROW] * 3),
        _MATRIX,
        differs,
    )


WRITTEN = (
    _rows(
        1,
        Transfer(0.05),
        "one row of the matrix may change, two protected entries of a row exchanging at most 0.05",
    ),
    _rows(
        2,
        Transfer(0.05),
        "at most 2 rows of the matrix may change, two protected entries of a row exchanging at most 0.05",
    ),
    _rows(
        "all",
        L1(0.1),
        "every row of the matrix may change at once, such a row moving by an L1 distance of at most 0.1: "
        "some protected entries gain half of it together, others lose as much",
    ),
    Written(
        Rectangle(0.1),
        "two rows of the matrix exchange at most 0.1 of probability between two columns",
        lambda rng, matrix: rectangle(rng, matrix, 0.1),
        _DOUBLY,
        lambda first, second: _is_rectangle(first, second, 0.1),
    ),
)
