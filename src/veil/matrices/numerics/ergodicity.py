"""How far apart the rows of a matrix are, and how much its columns vary: ergodicity coefficients.

For a stochastic matrix P and vectors z that sum to zero,

    row_spread(P)     = max ||P^T z||_1 / ||z||_1        (Dobrushin's coefficient; Seneta 1981, ch. 4)
    column_spread(P)  = max ||P^T z||_inf / ||z||_inf

The first is attained at z = e_i - e_j. The second is, column by column, the linear programme of the
largest z'p with |z_i| <= 1 and sum z = 0; its dual is the least sum |p_i - c| over c, which a median
attains whether the number of rows is even or odd.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from veil.core.numerics.compiled import compiled

Floats = NDArray[np.float64]

# Rows that are compared with one row at a time: each number read serves that often.
_TILE = 4
# Entries of sparse columns that are written out at a time.
_DENSE_ENTRIES = 4_000_000


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


def column_spread(matrix: Any) -> float:
    """The largest sum over a column of the distances from the column's median; dense or scipy.sparse."""
    if isinstance(matrix, np.ndarray):
        return float(np.abs(matrix - np.median(matrix, axis=0)).sum(axis=0).max())
    columns = matrix.tocsc()
    states = columns.shape[0]
    filled = np.diff(columns.indptr)
    # Where at least half of the entries are zero, zero is a median.
    sparse = 2 * filled <= states
    best = float(abs(columns[:, sparse]).sum(axis=0).max()) if sparse.any() else 0.0
    full = np.flatnonzero(~sparse)
    width = max(1, _DENSE_ENTRIES // states)
    for start in range(0, len(full), width):
        best = max(best, column_spread(columns[:, full[start : start + width]].toarray()))
    return best


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
