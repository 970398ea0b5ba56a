"""What is searched of mechanisms on matrices."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from functools import partial
from typing import Any

import numpy as np
from flint import arb

from tests.neighbours import dirichlets
from tests.neighbours.cells import beta_cells, both
from tests.neighbours.counts import Counts, counted, records_of
from tests.neighbours.matrices import Matrix, balanced_exchange, changed, doubly_stochastic, rectangle
from tests.neighbours.study import Study
from tests.neighbours.vector_studies import (
    laplace_loss,
    laplace_rough,
    laplace_truths,
    normal_rough,
    normal_truths,
)
from tests.neighbours.vectors import near_vector, vector_in
from veil.matrices import BorderedRows, DoublyStochastic, MatrixDirichlet, Rectangle, RowByRow, Rows
from veil.vectors import L1, Gaussian, Laplace, Records, Simplex, Transfer

ROWS = "the claim of several rows is a composition on a grid, or one response for each row"
PROJECTED = "the claim is that of the noisy matrix before it is projected, and of responses that dominate it"
SPREAD = "where k floor is below 1, the claim is an upper bound for moves of many entries"
Shapes = list[list[Fraction]]


def dirichlet_truths(first: Shapes, second: Shapes, epsilon: float) -> list[arb]:
    """Rows are independent: one that differs alone is known exactly, several by the cells of each."""
    rows = [(a, b) for a, b in zip(first, second, strict=True) if a != b]
    if len(rows) == 1:
        return dirichlets.divergences(*rows[0], epsilon)
    pairs = [pair for row in rows for pair in dirichlets.coordinates(*row)]
    return both([beta_cells(*pair, dirichlets.CELLS[len(pairs)]) for pair in pairs], epsilon)


def dirichlet_rough(first: Shapes, second: Shapes, epsilon: float) -> float:
    """The rows one by one: for searches only."""
    rows = [(a, b) for a, b in zip(first, second, strict=True) if a != b]
    return sum(dirichlets.rough(*row, epsilon) for row in rows)


def shapes(ks: Sequence[float], matrix: Matrix) -> Shapes:
    return [[Fraction(k) * Fraction(entry) for entry in row] for k, row in zip(ks, matrix, strict=True)]


def _near(rng: np.random.Generator, matrix: Matrix, domains: list[Simplex]) -> Matrix:
    place = int(rng.integers(len(matrix)))
    near = [list(row) for row in matrix]
    near[place] = near_vector(rng, near[place], domains[place])
    return near


def one_row(rng: np.random.Generator, pair: tuple[Any, Any], other: tuple[Any, Any]) -> tuple[Any, Any]:
    """The pair with one row of both its matrices from the other pair: where every row may change, that may
    be."""
    place = int(rng.integers(len(pair[0])))
    first, second = ([list(row) for row in matrix] for matrix in pair)
    first[place], second[place] = other[0][place], other[1][place]
    return first, second


def _stochastic(mechanism: Any, adjacency: Rows, domains: list[Simplex], **rest: Any) -> Study:
    each: Any = adjacency.each
    return Study(
        mechanism=mechanism,
        adjacency=adjacency,
        value=lambda rng: [vector_in(rng, domain) for domain in domains],
        near=lambda rng, matrix: _near(rng, matrix, domains),
        edit=lambda rng, matrix: changed(rng, matrix, adjacency.changed, each, domains),
        **rest,
    )


def matrix_dirichlet_study(
    mechanism: MatrixDirichlet, adjacency: Rows, domains: list[Simplex], **rest: Any
) -> Study:
    return _stochastic(
        mechanism,
        adjacency,
        domains,
        rough=lambda a, b, at: dirichlet_rough(shapes(mechanism.k, a), shapes(mechanism.k, b), at),
        truths=lambda a, b, at: dirichlet_truths(shapes(mechanism.k, a), shapes(mechanism.k, b), at),
        **rest,
    )


def _row_by_row(mechanism: RowByRow, adjacency: Rows, **rest: Any) -> Study:
    noise = mechanism.mechanism
    laws: dict[str, Any]
    if isinstance(noise, Laplace):
        laws = {
            "rough": laplace_rough,
            "truths": partial(laplace_truths, scale=noise.scale),
            "loss": partial(laplace_loss, scale=noise.scale),
        }
    else:
        laws = {
            "rough": partial(normal_rough, sigma=noise.sigma),
            "truths": partial(normal_truths, sigma=noise.sigma),
        }
    return _stochastic(mechanism, adjacency, [noise.domain] * (mechanism.rows or 1), **laws, **rest)


# Doubly stochastic


def steps_of(matrix: Matrix, step: Fraction) -> list[list[int]]:
    """Whole steps, to the nearest; the last column takes what its row is short of one."""
    rows = []
    for row in matrix:
        steps = [round(Fraction(entry) / step) for entry in row[:-1]]
        rows.append([*steps, round(1 / step) - sum(steps)])
    return rows


def zero_sum_loss(first: Matrix, second: Matrix, *, mechanism: DoublyStochastic) -> Fraction:
    """Noise with P(z) ~ exp(-|z| / scale) in whole steps, rows of sum zero.

    Rows in steps have the same sum, so that the one may come out where the other is: the loss is their
    distance.
    """
    one, other = (steps_of(matrix, Fraction(mechanism.step)) for matrix in (first, second))
    apart = sum(
        abs(a - b) for row, near in zip(one, other, strict=True) for a, b in zip(row, near, strict=True)
    )
    return Fraction(apart, mechanism.scale_in_steps)


def _doubly(mechanism: DoublyStochastic, adjacency: Rectangle | Rows, **rest: Any) -> Study:
    def near(rng: np.random.Generator, matrix: Matrix) -> Matrix:
        return rectangle(rng, matrix, 1.0) or matrix

    def edit(rng: np.random.Generator, matrix: Matrix) -> Matrix | None:
        if isinstance(adjacency, Rectangle):
            return rectangle(rng, matrix, adjacency.mass)
        return balanced_exchange(rng, matrix, adjacency.changed, adjacency.each.mass)

    laws: dict[str, Any]
    if mechanism.noise == "gaussian":
        laws = {
            "rough": partial(normal_rough, sigma=mechanism.scale),
            "truths": partial(normal_truths, sigma=mechanism.scale),
        }
    else:
        # Of the curve below the largest loss nothing is compared: rows of sum zero have no closed form.
        laws = {
            "rough": laplace_rough,
            "truths": lambda a, b, at: [],
            "loss": partial(zero_sum_loss, mechanism=mechanism),
        }
    return Study(
        mechanism=mechanism,
        adjacency=adjacency,
        value=lambda rng: doubly_stochastic(rng, mechanism.size),
        near=near,
        edit=edit,
        **laws,
        **rest,
    )


# Rows of counts


def _bordered(mechanism: BorderedRows, **rest: Any) -> Study:
    """ "one record is replaced by another; the number of records stays and is public", in rows of counts."""

    def value(rng: np.random.Generator) -> list[Counts]:
        table = []
        for floor, records in zip(mechanism.floor, mechanism.records, strict=True):
            least = -(-Fraction(floor).limit_denominator(1000) * records // 1)
            free = rng.multinomial(
                records - mechanism.size * int(least), rng.dirichlet([0.3] * mechanism.size)
            )
            table.append([int(least) + int(n) for n in free])
        return table

    def edit(rng: np.random.Generator, table: list[Counts]) -> list[Counts]:
        edited = [list(row) for row in table]
        place = int(rng.integers(len(table)))
        records = records_of(edited[place])
        records[int(rng.integers(len(records)))] = int(rng.integers(mechanism.size))
        edited[place] = counted(records, mechanism.size)
        return edited

    def laws(table: list[Counts]) -> Shapes:
        numbers = zip(table, mechanism.k, mechanism.records, strict=True)
        return [[Fraction(k) * count / records for count in row] for row, k, records in numbers]

    return Study(
        mechanism=mechanism,
        adjacency=Records("replace"),
        value=value,
        near=edit,
        edit=edit,
        rough=lambda a, b, at: dirichlet_rough(laws(a), laws(b), at),
        truths=lambda a, b, at: dirichlet_truths(laws(a), laws(b), at),
        **rest,
    )


_FLOORED, _FREE, _EXCHANGE = [Simplex(3, floor=0.08)] * 2, Simplex(3), Transfer(0.05)

MATRICES = (
    matrix_dirichlet_study(
        MatrixDirichlet((20.0, 40.0), _FLOORED),
        Rows(1, _EXCHANGE),
        _FLOORED,
        name="MatrixDirichlet, one row",
        epsilons=(0.0, 0.5, 2.0),
    ),
    matrix_dirichlet_study(
        MatrixDirichlet((20.0, 40.0), _FLOORED),
        Rows("all", _EXCHANGE),
        _FLOORED,
        name="MatrixDirichlet, all rows",
        epsilons=(0.5, 2.0),
        mix=one_row,
        reach=0.9,
        why=ROWS,
    ),
    matrix_dirichlet_study(
        MatrixDirichlet((5.0, 40.0), _FLOORED),
        Rows(1, L1(0.1)),
        _FLOORED,
        name="MatrixDirichlet, L1 of one row",
        epsilons=(0.0, 0.5, 2.0),
        reach=0.9,
        why=SPREAD,
    ),
    _row_by_row(
        RowByRow(Laplace(0.2, _FREE), rows=2),
        Rows("all", _EXCHANGE),
        name="RowByRow with Laplace noise",
        epsilons=(0.0, 0.5),
        reach=0.6,
        why=ROWS,
    ),
    _row_by_row(
        RowByRow(Gaussian(0.1, _FREE), rows=3),
        Rows(2, _EXCHANGE),
        name="RowByRow with Gaussian noise",
        epsilons=(0.0, 0.5, 2.0),
    ),
    _doubly(DoublyStochastic(0.2, 3), Rectangle(0.1), name="DoublyStochastic, a rectangle", epsilons=(0.5,)),
    _doubly(
        DoublyStochastic(0.2, 3),
        Rows("all", _EXCHANGE),
        name="DoublyStochastic, all rows",
        epsilons=(0.5,),
    ),
    _doubly(
        DoublyStochastic(0.2, 3, noise="gaussian"),
        Rectangle(0.1),
        name="DoublyStochastic with Gaussian noise, a rectangle",
        epsilons=(0.0, 0.5, 2.0),
    ),
    _bordered(
        BorderedRows([30.0] * 2, [0.1] * 2, [40, 60], size=3), name="BorderedRows", epsilons=(0.0, 0.3, 1.0)
    ),
)
