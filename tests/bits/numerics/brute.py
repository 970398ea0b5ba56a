"""The worst loss and the law of matrix-valued Bernoulli bits by the letter: all tables, all changes."""

from __future__ import annotations

from itertools import combinations, product
from typing import Any

import numpy as np
from numpy.typing import NDArray

from veil.bits.numerics.quadratic import Quadratic

Floats = NDArray[np.float64]


def dense(q: Quadratic) -> Floats:
    """Pi = I (x) theta + sum J_ij (x) Lambda_ij, term by term."""
    n, p = q.shape
    pi: Floats = np.asarray(np.kron(np.eye(n), q.theta), dtype=np.float64)
    for i in range(n):
        for j in range(n):
            if i == j:
                continue
            single = np.zeros((n, n))
            single[i, j] = 1.0
            if q.pairs is not None:
                block = q.pairs.get((min(i, j), max(i, j)), np.zeros((p, p)))
                block = block if i < j else block.T
            else:
                block = q.common if q.common is not None else np.zeros((p, p))
            pi += np.kron(single, block)
    return pi


def tables(cells: int) -> Floats:
    return np.array(list(product((0.0, 1.0), repeat=cells)))


def brute_loss(q: Quadratic, count: int, where: str) -> float:
    """Every table, every allowed set of cells."""
    n, p = q.shape
    pi, b = dense(q), tables(n * p)
    energies = np.einsum("ti,ij,tj->t", b, pi, b)
    weights = 2 ** np.arange(n * p)[::-1]
    units = [range(i * p, i * p + p) for i in range(n)] if where == "row" else [range(n * p)]
    worst = 0.0
    for unit in units:
        for k in range(1, min(count, len(unit)) + 1):
            for cells in combinations(unit, k):
                flipped = b.copy()
                flipped[:, cells] = 1.0 - flipped[:, cells]
                other = energies[(flipped @ weights).astype(int)]
                worst = max(worst, float(np.abs(energies - other).max()))
    return worst


def brute_law(q: Quadratic) -> Floats:
    """The probability of every table in the order of `tables`."""
    b = tables(q.cells)
    energies = np.einsum("ti,ij,tj->t", b, dense(q), b)
    weights = np.exp(energies - energies.max())
    return np.asarray(weights / weights.sum())


def random_symmetric(rng: Any, size: int, scale: float = 1.0) -> Floats:
    a = rng.normal(scale=scale, size=(size, size))
    return np.asarray((a + a.T) / 2.0)


def random_quadratic(rng: Any, rows: int, columns: int, kind: str, scale: float = 1.0) -> Quadratic:
    """kind: independent, common, pairs, diagonal (columns of their own), multiples."""
    theta = random_symmetric(rng, columns, scale)
    if kind == "independent":
        return Quadratic(theta, rows=rows)
    if kind == "common":
        return Quadratic(theta, random_symmetric(rng, columns, scale), rows=rows)
    if kind == "diagonal":
        c, between = rng.normal(scale=scale, size=(2, columns))
        return Quadratic(np.diag(c), np.diag(between), rows=rows)
    if kind == "multiples":
        c, between = rng.normal(scale=scale, size=2)
        return Quadratic(c * np.eye(columns), between * np.eye(columns), rows=rows)
    pairs = [(i, j) for i in range(rows) for j in range(i + 1, rows)]
    blocks = {pair: rng.normal(scale=scale, size=(columns, columns)) for pair in pairs}
    return Quadratic(theta, blocks, rows=rows)
