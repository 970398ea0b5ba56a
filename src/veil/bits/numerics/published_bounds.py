"""What the XOR paper states about its noise, to the letter: condition (4), Theorem 2, Proposition 1.

Condition (4) is not a bound of the privacy loss (flip_losses.py has that).

Theorem 2: E |B + f(D) - f(D)|_F^2 = E |B|_F^2, the expected number of ones, a mean over all 2^NP tables. It
has a closed form where the columns are independent and their rows alike, and a short sum where rows are
independent or the table is small.

Proposition 1 holds as it is printed. For 0 < theta, Lambda (entries and eigenvalues): 2 b_i' Lambda b_j <=
lambda_max (|b_i|^2 + |b_j|^2), so b' Pi b <= a |b|^2; and exp(x) >= 1 + x with the mean of b' Pi b over all
tables, which is at least half the traces, and a trace of a positive definite matrix is at least the norm of
its eigenvalues.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from scipy.special import gammaln

from veil.bits.numerics.enumerated_changes import all_energies
from veil.bits.numerics.quadratic import Quadratic
from veil.core.arrays import Floats

_MOST_BITS = 20


def _spectrum(matrix: Floats) -> Floats:
    """A norm of the eigenvalues of a matrix, and the largest one."""
    # |lambda|_2 is the Frobenius norm (Remark 1). The paper's Lambda_ij are symmetric; others are read as
    # its symmetric part where an eigenvalue is asked for.
    return np.array([np.linalg.norm(matrix), np.linalg.eigvalsh((matrix + matrix.T) / 2.0)[-1]])


def _spectra(q: Quadratic) -> tuple[float, float, float, float]:
    """That of theta, and the sums of both over all pairs of rows."""
    count, root = q.rows * (q.rows - 1) / 2.0, math.sqrt(q.columns)
    if q.multiples is not None:
        c, between = q.multiples
        return abs(c) * root, c, count * abs(between) * root, count * between
    between_rows = np.zeros(2) if q.common is None else count * _spectrum(q.common)
    if q.pairs is not None:
        between_rows = np.sum([_spectrum(block) for block in q.pairs.values()], axis=0)
    norm, largest = _spectrum(q.theta)
    return float(norm), float(largest), float(between_rows[0]), float(between_rows[1])


def condition_4(q: Quadratic, sensitivity: float) -> float:
    """Condition (4): s_f (|lambda(theta)|_2 + sum_{i<j} |lambda(Lambda_ij)|_2), the paper's epsilon."""
    norm, _, norms, _ = _spectra(q)
    return sensitivity * (norm + norms)


@dataclass(frozen=True)
class Proposition1:
    """E[ones] <= U / L, in logarithms: U alone does not fit into a float for a table of 1,000 cells."""

    log_upper: float
    log_lower: float

    @property
    def bound(self) -> float:
        """U / L; infinite where it is beyond the floats."""
        log = self.log_upper - self.log_lower
        return math.exp(log) if log < 709.0 else math.inf


def proposition_1(q: Quadratic) -> Proposition1:
    """U = sum_k C(NP, k) k e^{a k} = NP e^a (1 + e^a)^{NP - 1}, and L = 2^{NP - 1} (2 + N |theta| + ...)."""
    norm, largest, norms, all_largest = _spectra(q)
    a = largest + 2.0 * all_largest
    upper = math.log(q.cells) + a + (q.cells - 1) * float(np.logaddexp(0.0, a))
    lower = (q.cells - 1) * math.log(2.0) + math.log(2.0 + q.rows * norm + norms)
    return Proposition1(upper, lower)


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
