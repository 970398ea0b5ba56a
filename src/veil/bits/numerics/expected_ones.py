"""The expected number of ones of matrix-valued Bernoulli bits: the XOR paper's square query error, undivided.

Theorem 2 there: E |B + f(D) - f(D)|_F^2 = E |B|_F^2, the expected number of ones, a mean over all 2^NP
tables. It has a closed form where the columns are independent and their rows alike, and a short sum where
rows are independent or the table is small.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy.special import gammaln

from veil.bits.numerics.enumerated_changes import all_energies
from veil.bits.numerics.quadratic import Quadratic

Floats = NDArray[np.float64]
_MOST_BITS = 20


def column_law(rows: int, diagonal: float, between: float) -> Floats:
    """The probability of 0 ... N ones in a column: C(N, M) exp((c - l) M + l M^2), rounded."""
    ones = np.arange(rows + 1, dtype=np.float64)
    logs = gammaln(rows + 1.0) - gammaln(ones + 1.0) - gammaln(rows - ones + 1.0)
    logs += ones * (diagonal + between * (ones - 1.0))
    weights = np.exp(logs - logs.max())
    return np.asarray(weights / weights.sum())


def expected_ones_in_closed_form(q: Quadratic) -> float | None:
    """E |B|^2, rounded; None where neither a closed form nor a short sum is known.

    >>> ones = expected_ones_in_closed_form(Quadratic.exchangeable(0.0, 0.0, rows=3, columns=4))
    >>> round(ones, 9)
    6.0
    """
    form = q.column_form
    if form is not None:
        kinds, times = np.unique(np.column_stack(form), axis=0, return_counts=True)
        ones = np.arange(q.rows + 1)
        means = [float(column_law(q.rows, c, between) @ ones) for c, between in kinds.tolist()]
        return float(np.dot(means, times))
    if q.rows_independent and q.columns <= _MOST_BITS:
        return q.rows * _by_enumeration(q.theta)
    return _by_enumeration(q.pi()) if q.cells <= _MOST_BITS else None


def _by_enumeration(matrix: Floats) -> float:
    energies = all_energies(matrix)
    weights = np.exp(energies - energies.max())
    ones = np.bitwise_count(np.arange(len(energies)))
    return float(weights @ ones / weights.sum())
