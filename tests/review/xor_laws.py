"""Exact laws of noise that is XORed to small tables of bits: energies of all tables as whole numbers.

Every parameter is a float, and so a multiple of 2^-1074: energies are whole numbers of such units, and no
rounding is left. A table of bits is a whole number, cell after cell and row after row from its lowest bit on.
"""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction
from functools import cache
from itertools import combinations
from typing import Any

import numpy as np
from flint import arb
from numpy.typing import NDArray

from tests.review.divergences import ball
from tests.review.tails import precision
from veil.bits import MatrixBernoulli, StaircaseXor, Xor, XorBlocks

BITS = 256
# Energies in units of this; parameters are at least 2^-60 and have 53 bits.
UNIT = 2**120
Wholes = NDArray[Any]


def tables(cells: int) -> NDArray[np.int64]:
    """All tables of so many cells, one a row."""
    return np.asarray((np.arange(2**cells)[:, None] >> np.arange(cells)[None, :]) & 1, dtype=np.int64)


def _whole(number: float) -> int:
    exact = Fraction(number) * UNIT
    assert exact.denominator == 1
    return int(exact)


def quadratic_energies(noise: MatrixBernoulli) -> Wholes:
    """b' Pi b of every table b: theta within each row, the coupling between every two rows, both ways."""
    rows, columns = noise.rows, noise.columns
    size = rows * columns
    theta = [[_whole(entry) for entry in row] for row in np.asarray(noise.theta).tolist()]
    matrix = np.zeros((size, size), dtype=object)
    for i in range(rows):
        matrix[i * columns : (i + 1) * columns, i * columns : (i + 1) * columns] = theta
        for j in range(i + 1, rows):
            block = noise.common if noise.pairs is None else noise.pairs.get((i, j))
            if block is not None:
                whole = np.array([[_whole(x) for x in row] for row in np.asarray(block).tolist()], object)
                matrix[i * columns : (i + 1) * columns, j * columns : (j + 1) * columns] = whole
                matrix[j * columns : (j + 1) * columns, i * columns : (i + 1) * columns] = whole.T
    found = np.zeros(2**size, dtype=object)
    # Bit by bit: a table of k cells with the k-th bit set has the energy of the rest, and what it adds.
    for k in range(size):
        rest = tables(k).astype(object) if k else np.zeros((1, 0), dtype=object)
        added = matrix[k, k] + 2 * (rest @ matrix[k, :k]) if k else np.array([matrix[0, 0]], dtype=object)
        found[2**k : 2 ** (k + 1)] = found[: 2**k] + added
    return found


def xor_energies(mechanism: Xor) -> Wholes:
    """Of the flips that are XORed: with `complement` these are the zeros of the noise."""
    energies = quadratic_energies(mechanism.noise)
    return energies[::-1] if mechanism.complement else energies


def block_energies(mechanism: XorBlocks) -> Wholes:
    """The sum over the blocks, each at the cells that it covers."""
    rows = sum(band[0].noise.rows for band in mechanism.bands)
    columns = sum(block.noise.columns for block in mechanism.bands[0])
    every = np.arange(2 ** (rows * columns))
    total = np.zeros(len(every), dtype=object)
    top = 0
    for band in mechanism.bands:
        left, height = 0, band[0].noise.rows
        for block in band:
            places = [
                (top + i) * columns + left + j for i in range(height) for j in range(block.noise.columns)
            ]
            part = sum(((every >> place) & 1) << k for k, place in enumerate(places))
            total = total + xor_energies(block)[part]
            left += block.noise.columns
        top += height
    return total


def staircase_levels(mechanism: StaircaseXor, rows: int) -> NDArray[np.int64]:
    """By how many steps each set of flips is down: rows one by one, or the whole table as one."""
    cells = rows * mechanism.columns
    flips = tables(cells).reshape(-1, rows, mechanism.columns).sum(axis=2)
    if mechanism.rows is not None:
        return np.asarray(mechanism.steps.levels[flips.sum(axis=1)])
    return np.asarray(mechanism.steps.levels[flips].sum(axis=1))


def changes(rows: int, columns: int, count: int, where: str) -> Iterator[tuple[int, int]]:
    """All sets of up to `count` cells, anywhere or within one row, with their sizes."""
    for size in range(1, min(count, rows * columns) + 1):
        for cells in combinations(range(rows * columns), size):
            if where == "anywhere" or len({cell // columns for cell in cells}) == 1:
                yield sum(1 << cell for cell in cells), size


def largest_change(energies: Wholes, change: int) -> int:
    """The largest difference between a table and the same one with these cells changed."""
    places = np.arange(len(energies))
    return int(np.abs(energies - energies[places ^ change]).max())


# Graphs by their whole matrix


def graph_rows(energies: Wholes, nodes: int) -> list[list[arb]]:
    """P(y | x) of every two graphs of so many nodes: noise on the matrix, and what both halves show."""
    pairs = list(combinations(range(nodes), 2))
    with precision(BITS):
        weights = [_power(int(energy)) for energy in energies]
        total = sum(weights, arb(0))
        every, rows = np.arange(len(energies)), []
        for x in range(2 ** len(pairs)):
            matrix = sum(
                (x >> k & 1) * ((1 << i * nodes + j) + (1 << j * nodes + i)) for k, (i, j) in enumerate(pairs)
            )
            noisy = every ^ matrix
            shown = sum(
                ((noisy >> (i * nodes + j)) & (noisy >> (j * nodes + i)) & 1) << k
                for k, (i, j) in enumerate(pairs)
            )
            sums = [arb(0)] * 2 ** len(pairs)
            for y, weight in zip(np.asarray(shown).tolist(), weights, strict=True):
                sums[y] = sums[y] + weight
            rows.append([one / total for one in sums])
    return rows


@cache
def _power(energy: int) -> arb:
    return ball(Fraction(energy, UNIT)).exp()
