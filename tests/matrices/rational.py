"""Markov chains in rational numbers: slow, exact, and written down straight from the definitions."""

from collections.abc import Sequence
from fractions import Fraction
from itertools import product
from typing import Any

import numpy as np
from numpy.typing import NDArray

Rationals = list[list[Fraction]]


def rational(rows: Sequence[Sequence[Any]]) -> Rationals:
    return [[Fraction(entry) for entry in row] for row in rows]


def floats(rows: Rationals) -> NDArray[np.float64]:
    return np.array([[float(entry) for entry in row] for row in rows])


def times(left: Rationals, right: Rationals) -> Rationals:
    columns = list(zip(*right, strict=True))
    return [[sum((a * b for a, b in zip(row, c, strict=True)), Fraction(0)) for c in columns] for row in left]


def plus(left: Rationals, right: Rationals, *, factor: int = 1) -> Rationals:
    return [
        [a + factor * b for a, b in zip(one, other, strict=True)]
        for one, other in zip(left, right, strict=True)
    ]


def identity(size: int) -> Rationals:
    return [[Fraction(int(i == j)) for j in range(size)] for i in range(size)]


def inverse(matrix: Rationals) -> Rationals:
    """By Gauss and Jordan."""
    size = len(matrix)
    rows = [list(row) + one for row, one in zip(matrix, identity(size), strict=True)]
    for k in range(size):
        pivot = next(i for i in range(k, size) if rows[i][k])
        rows[k], rows[pivot] = rows[pivot], rows[k]
        rows[k] = [x / rows[k][k] for x in rows[k]]
        for i in range(size):
            if i != k and rows[i][k]:
                rows[i] = [x - rows[i][k] * y for x, y in zip(rows[i], rows[k], strict=True)]
    return [row[size:] for row in rows]


def stationary(chain: Rationals) -> list[Fraction]:
    """pi (I - P + 1 1') = 1', since pi P = pi and pi 1 = 1."""
    size = len(chain)
    ones = [[Fraction(1)] * size for _ in range(size)]
    system = plus(plus(identity(size), chain, factor=-1), ones)
    return times([[Fraction(1)] * size], inverse(system))[0]


def fundamental(chain: Rationals) -> Rationals:
    """(I - P + 1 pi')^-1."""
    long_run = [stationary(chain)] * len(chain)
    return inverse(plus(plus(identity(len(chain)), chain, factor=-1), long_run))


def group_inverse(chain: Rationals) -> Rationals:
    return plus(fundamental(chain), [stationary(chain)] * len(chain), factor=-1)


def row_spread(matrix: Rationals) -> Fraction:
    """Half the largest L1 distance of two rows."""
    return max(
        sum((abs(a - b) for a, b in zip(one, other, strict=True)), Fraction(0)) / 2
        for one in matrix
        for other in matrix
    )


def column_spread(matrix: Rationals) -> Fraction:
    """max |P'z|_inf over |z|_inf <= 1 with sum z = 0: every vertex of that set has entries -1, 0, 1."""
    best = Fraction(0)
    for z in product((-1, 0, 1), repeat=len(matrix)):
        if sum(z) == 0:
            for column in zip(*matrix, strict=True):
                best = max(best, sum((a * b for a, b in zip(z, column, strict=True)), Fraction(0)))
    return best


def mixing_time(chain: Rationals, distance: Fraction, *, most: int = 200) -> int:
    """The first t at which all rows of P^t are within the distance of pi in total variation."""
    long_run, power = stationary(chain), identity(len(chain))
    for t in range(most):
        gaps = [sum(abs(a - b) for a, b in zip(row, long_run, strict=True)) / 2 for row in power]
        if max(gaps) <= distance:
            return t
        power = times(power, chain)
    raise AssertionError("not mixed")


def hitting_times(chain: Rationals, target: int) -> list[Fraction]:
    """h_i = 1 + sum_j P_ij h_j away from the target, and 0 there."""
    others = [i for i in range(len(chain)) if i != target]
    system = [[Fraction(int(i == j)) - chain[i][j] for j in others] for i in others]
    times_there = [sum(row, Fraction(0)) for row in inverse(system)] if others else []
    return [Fraction(0) if i == target else times_there[others.index(i)] for i in range(len(chain))]
