"""The algebra of Markov chains beyond the stationary distribution.

Ergodicity coefficients say how far apart the rows of a matrix are, and how much its columns vary. For a
stochastic matrix P and vectors z that sum to zero,

    row_spread(P)     = max ||P^T z||_1 / ||z||_1        (Dobrushin's coefficient; Seneta 1981, ch. 4)
    column_spread(P)  = max ||P^T z||_inf / ||z||_inf

The first is attained at z = e_i - e_j. The second is, column by column, the linear programme of the
largest z'p with |z_i| <= 1 and sum z = 0; its dual is the least sum |p_i - c| over c, which a median
attains whether the number of rows is even or odd.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from veil.core.arrays import Floats
from veil.core.errors import InvalidData
from veil.core.numerics.compiled import compiled
from veil.matrices.numerics.elimination import hitting_times_to, visits

# Up to here every target gets an elimination of its own, which keeps relative accuracy.
_EACH_TARGET = 128
_MOST_DOUBLINGS = 62


def group_inverse(matrix: Floats, stationary: Floats) -> Floats:
    """The group inverse of I - P, from the mean numbers of visits before the likeliest state.

    With V = (I - P restricted to the other states)^-1, bordered by zeros, it is (I - 1 pi') V (I - 1 pi').
    V is computed without a subtraction, so nearly decomposable chains keep what they can.
    """
    target = int(np.argmax(stationary))
    others = np.arange(len(matrix)) != target
    bordered = np.zeros_like(matrix)
    bordered[np.ix_(others, others)] = visits(matrix, target)
    after = bordered - np.outer(bordered.sum(axis=1), stationary)
    return after - stationary @ after


def hitting_times(matrix: Floats, stationary: Floats) -> Floats:
    """[i, j]: the mean number of steps from i until j is first there; zero on the diagonal."""
    size = len(matrix)
    if size <= _EACH_TARGET:
        return np.stack([hitting_times_to(matrix, target) for target in range(size)], axis=1)
    inverse = group_inverse(matrix, stationary)
    times = (np.diag(inverse) - inverse) / stationary
    return np.asarray(np.maximum(times, 0.0))


def mixing_time(matrix: Floats, stationary: Floats, distance: float) -> int:
    """The first t at which every row of P^t is within `distance` of pi in total variation.

    By doubling, then halving the step. For an aperiodic irreducible chain.
    """

    def product(left: Floats, right: Floats) -> Floats:
        power = left @ right
        # Rows drift from 1 by rounding, and each squaring would double the drift.
        return np.asarray(power / power.sum(axis=1, keepdims=True))

    steps, reached = 0, np.eye(len(matrix))
    if np.abs(reached - stationary).sum(axis=1).max() <= 2.0 * distance:
        return 0
    powers = [matrix]
    while not np.abs(powers[-1] - stationary).sum(axis=1).max() <= 2.0 * distance:
        powers.append(product(powers[-1], powers[-1]))
        if len(powers) > _MOST_DOUBLINGS:
            expected = f"a chain that mixes within 2^{_MOST_DOUBLINGS} steps"
            raise InvalidData("matrix", expected=expected, found="one that does not")
    for exponent in range(len(powers) - 2, -1, -1):
        further = product(reached, powers[exponent])
        if not np.abs(further - stationary).sum(axis=1).max() <= 2.0 * distance:
            steps, reached = steps + 2**exponent, further
    return steps + 1


def period_of_class(indptr: Any, indices: Any, members: Any, inside: Any, level: Any) -> int:
    """The period of a communicating class: the gcd of level(i) + 1 - level(j) over its transitions.

    Zero for a single state that is left for good. inside, level: work space for all states, handed on
    from class to class; inside is all False, level all -1 where no class has been yet.
    """
    inside[members] = True
    level[members[0]] = 0
    frontier, period = np.array(members[:1]), 0
    while len(frontier):
        counts = indptr[frontier + 1] - indptr[frontier]
        places = np.repeat(indptr[frontier] - np.concatenate([[0], counts.cumsum()[:-1]]), counts)
        ends = indices[places + np.arange(counts.sum())]
        origins = np.repeat(frontier, counts)
        kept = inside[ends]
        ends, origins = ends[kept], origins[kept]
        fresh = level[ends] < 0
        level[ends[fresh]] = level[origins[fresh]] + 1
        gaps = np.abs(level[origins] + 1 - level[ends])
        period = math.gcd(period, int(np.gcd.reduce(gaps)) if len(gaps) else 0)
        frontier = np.unique(ends[fresh])
    inside[members] = False
    return period


def quick_stationary(matrices: Floats) -> Floats:
    """The stationary distribution of each matrix along the last two axes, by one linear solve.

    For averages over many simulated matrices, where six digits are plenty; entries may even be a
    little negative. NaN where the system is singular.
    """
    size = matrices.shape[-1]
    system = np.swapaxes(matrices, -1, -2) - np.eye(size)
    system[..., -1, :] = 1.0
    right = np.zeros((*matrices.shape[:-2], size, 1))
    right[..., -1, 0] = 1.0
    try:
        return np.asarray(np.linalg.solve(system, right)[..., 0])
    except np.linalg.LinAlgError:
        if matrices.ndim == 2:
            return np.full(size, math.nan)
        return np.stack([quick_stationary(matrix) for matrix in matrices])


# Rows that are compared with one row at a time: each number read serves that often.
_TILE = 4


def row_spread(matrix: Floats) -> float:
    """Half the largest 1-norm of the difference of two rows; 0 for a single row.

    A pair differs by at most the sum of its distances from a centre. So rows are compared in the order
    of that distance, until no pair that is left can differ by more than one that was seen.
    """
    rows = np.asarray(matrix, dtype=np.float64)
    radii = np.abs(rows - np.median(rows, axis=0)).sum(axis=1)
    order = np.argsort(-radii, kind="stable")
    rows, radii = np.ascontiguousarray(rows[order]), radii[order]
    return 0.5 * _widest(rows, radii, _far_apart(rows))


def column_spread(matrix: Floats) -> float:
    """The largest sum over a column of the distances from the column's median."""
    return float(np.abs(matrix - np.median(matrix, axis=0)).sum(axis=0).max())


def _far_apart(rows: Floats) -> float:
    """The distance of two rows that are far apart: from the first to the farthest, and on from there."""
    best, place = 0.0, 0
    for _ in range(4):
        distances = np.abs(rows - rows[place]).sum(axis=1)
        place = int(distances.argmax())
        if distances[place] <= best:
            break
        best = float(distances[place])
    return best


@compiled
def _widest(rows: Floats, radii: Floats, best: float) -> float:
    """The largest distance of two rows, at least `best`; the radii decrease."""
    count, width = rows.shape
    for first in range(0, count, _TILE):
        if first + 1 >= count or radii[first] + radii[first + 1] <= best:
            return best
        a, b = rows[first], rows[min(first + 1, count - 1)]
        c, d = rows[min(first + 2, count - 1)], rows[min(first + 3, count - 1)]
        for other in range(first + 1, count):
            if radii[first] + radii[other] <= best:
                break
            row = rows[other]
            to_a, to_b, to_c, to_d = 0.0, 0.0, 0.0, 0.0
            for j in range(width):
                to_a += abs(a[j] - row[j])
                to_b += abs(b[j] - row[j])
                to_c += abs(c[j] - row[j])
                to_d += abs(d[j] - row[j])
            best = max(best, to_a, to_b, to_c, to_d)
    return best
