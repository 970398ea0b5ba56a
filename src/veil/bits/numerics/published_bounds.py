"""What the XOR paper states about its noise, to the letter: condition (4), Proposition 1, Algorithm 1.

Condition (4) is not a bound of the privacy loss (flip_losses.py has that). Proposition 1 holds as it is
printed. For 0 < theta, Lambda (entries and eigenvalues): 2 b_i' Lambda b_j <= lambda_max (|b_i|^2 + |b_j|^2),
so b' Pi b <= a |b|^2; and exp(x) >= 1 + x with the mean of b' Pi b over all tables, which is at least half
the traces, and a trace of a positive definite matrix is at least the norm of its eigenvalues.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from veil.bits.numerics.quadratic import Quadratic
from veil.core.errors import InvalidArgument

Floats = NDArray[np.float64]


@dataclass(frozen=True)
class Spectrum:
    """A norm of the eigenvalues of a matrix, and the largest one."""

    norm: float
    largest: float


def _spectrum(matrix: Floats) -> Spectrum:
    # |lambda|_2 is the Frobenius norm (Remark 1). The paper's Lambda_ij are symmetric; others are read as
    # its symmetric part where an eigenvalue is asked for.
    return Spectrum(float(np.linalg.norm(matrix)), float(np.linalg.eigvalsh((matrix + matrix.T) / 2.0)[-1]))


def _spectra(q: Quadratic) -> tuple[Spectrum, float, float]:
    """That of theta, and the sums of both over all pairs of rows."""
    if q.multiples is not None:
        c, between = q.multiples
        pairs, root = q.rows * (q.rows - 1) / 2.0, math.sqrt(q.columns)
        return Spectrum(abs(c) * root, c), pairs * abs(between) * root, pairs * between
    theta = _spectrum(q.theta)
    if q.pairs is not None:
        each = [_spectrum(block) for block in q.pairs.values()]
        return theta, math.fsum(one.norm for one in each), math.fsum(one.largest for one in each)
    if q.common is None:
        return theta, 0.0, 0.0
    one, count = _spectrum(q.common), q.rows * (q.rows - 1) / 2.0
    return theta, count * one.norm, count * one.largest


def condition_4(q: Quadratic, sensitivity: float) -> float:
    """Condition (4): s_f (|lambda(theta)|_2 + sum_{i<j} |lambda(Lambda_ij)|_2), the paper's epsilon."""
    theta, norms, _ = _spectra(q)
    return sensitivity * (theta.norm + norms)


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
    theta, norms, largest = _spectra(q)
    a = theta.largest + 2.0 * largest
    upper = math.log(q.cells) + a + (q.cells - 1) * float(np.logaddexp(0.0, a))
    lower = (q.cells - 1) * math.log(2.0) + math.log(2.0 + q.rows * theta.norm + norms)
    return Proposition1(upper, lower)


def algorithm_1(epsilon: float, alpha: float, rows: int, columns: int, sensitivity: float) -> Quadratic:
    """Algorithm 1. Equal eigenvalues make its basis U irrelevant: multiples of the identity.

    >>> algorithm_1(1.0, 0.5, 2, 4, 1.0).multiples
    (0.25, 0.25)
    """
    for name, value in (("epsilon", epsilon), ("sensitivity", sensitivity)):
        if not 0.0 < value < math.inf:
            raise InvalidArgument(name, expected="a positive number", found=repr(value))
    if not 0.0 < alpha <= 1.0:
        raise InvalidArgument("alpha", expected="a number above 0 and at most 1", found=repr(alpha))
    unit = epsilon / (sensitivity * math.sqrt(columns))
    pairs = rows * (rows - 1) / 2.0
    between = (1.0 - alpha) * unit / pairs if pairs else 0.0
    return Quadratic.exchangeable(alpha * unit, between, rows=rows, columns=columns)
