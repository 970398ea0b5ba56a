"""XOR noise by brute force: all tables, all changes."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import combinations, product
from typing import Any

import numpy as np

Law = dict[tuple[int, ...], float]


def quadratic_law(theta: Any, coupling: Any, rows: int) -> Law:
    """log P(b) but for a constant, for every table, by the XOR paper's double sum over rows."""
    theta, coupling = np.atleast_2d(theta), np.atleast_2d(coupling)
    columns = len(theta)
    law = {}
    for bits in product((0, 1), repeat=rows * columns):
        table = np.array(bits).reshape(rows, columns)
        energy = sum(float(row @ theta @ row) for row in table)
        for i, j in product(range(rows), repeat=2):
            if i != j:
                energy += float(table[i] @ coupling @ table[j])
        law[bits] = energy
    return law


def weight_law(columns: int, rows: int, log_weight: Callable[[int], float]) -> Law:
    """log P(b) but for a constant, where every row's part depends on its number of ones."""
    law = {}
    for bits in product((0, 1), repeat=rows * columns):
        table = np.array(bits).reshape(rows, columns)
        law[bits] = sum(log_weight(int(row.sum())) for row in table)
    return law


def changes(rows: int, columns: int, count: int, where: str) -> Iterator[tuple[int, ...]]:
    """All sets of at most `count` cells, anywhere or within one row."""
    cells = range(rows * columns)
    for size in range(1, count + 1):
        for cell_set in combinations(cells, size):
            if where == "anywhere" or len({cell // columns for cell in cell_set}) == 1:
                yield cell_set


def worst_loss(law: Law, rows: int, columns: int, count: int, where: str) -> float:
    """The largest difference of log-probabilities between a table and a changed one."""
    worst = 0.0
    for cell_set in changes(rows, columns, count, where):
        for bits, log in law.items():
            other = tuple(1 - bit if cell in cell_set else bit for cell, bit in enumerate(bits))
            worst = max(worst, log - law[other])
    return worst


def flip_rates(law: Law) -> Any:
    """The probability of a one in every cell."""
    logs = np.array(list(law.values()))
    weights = np.exp(logs - logs.max())
    return (weights / weights.sum()) @ np.array(list(law))
