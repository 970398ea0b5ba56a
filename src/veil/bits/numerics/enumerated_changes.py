"""The worst loss for each number of flips, by enumeration: gains[k] belongs to at most k flips.

For what is enumerated here, see "The worst loss" in mechanisms/bits.md. Sums are exact, or have a bound of
their rounding.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from fractions import Fraction

import numpy as np

from veil.core.arrays import Floats
from veil.core.numerics.compiled import compiled
from veil.core.numerics.rounding import SMALLEST_POSITIVE

Others = Sequence[tuple[Floats, int]]
_DIGITS = 53


def exact_sum(values: Floats) -> Fraction:
    """The sum of floats, nothing rounded.

    fsum is correctly rounded. What it rounded off is again a sum of floats, and at most 2^-53 of it.
    """
    terms = values.tolist()
    total = Fraction(0)
    while True:
        rounded = math.fsum(terms)
        if not rounded:
            return total
        total += Fraction(rounded)
        terms.append(-rounded)


def rounding_slack(entries: Iterable[Floats], size: float, terms: int) -> float:
    """How far a float can be from the sum that it stands for: `terms` entries, each times a whole number.

    `size` bounds the sum of the absolute terms. If all entries are multiples of a unit and `size` is below
    2^51 units, then every partial sum is a float and nothing is rounded. Else, in whatever order they are
    added, and products included, the error is below (terms + 8) 2^-52 size: twice the usual bound.
    """
    if size == 0.0:
        return 0.0
    # Every float is a multiple of the smallest one.
    unit = max(2.0 ** (math.frexp(size)[1] + 2 - _DIGITS), SMALLEST_POSITIVE)
    if all(np.array_equal(part / unit, np.rint(part / unit)) for part in entries):
        return 0.0
    return (terms + 8) * 2.0 ** (1 - _DIGITS) * size


def signed_changes(length: int, count: int) -> int:
    """How many vectors of -1, 0, 1 there are with at most so many entries that are not 0."""
    return sum(math.comb(length, k) << k for k in range(1, count + 1))


def gains_by_signs(matrix: Floats, others: Others, count: int) -> Floats:
    """All signed changes d of a row with energy x' matrix x, coupled with bits that take any values.

    others: blocks from the row to the other bits, and how many times each is there.
    """
    length = len(matrix)
    times = np.concatenate([np.ones(length), *(np.full(block.shape[1], float(n)) for block, n in others)])
    rows = np.hstack([matrix, *(block for block, _ in others)])
    size = 4.0 * float(np.abs(rows) @ times @ np.ones(length))
    slack = rounding_slack([rows], size, 3 * length + len(times))
    gains = np.zeros(count + 1)
    _search(rows, times, gains)
    return _upwards(np.maximum.accumulate(gains), slack)


@compiled
def _search(rows: Floats, times: Floats, gains: Floats) -> None:
    """gains[k]: the most that exactly k flips make. A change goes on from one with its last flip left out."""
    length, width = rows.shape
    count = len(gains) - 1
    pulls = np.zeros((count + 1, width))
    place = np.zeros(count + 1, dtype=np.int64)
    sign = np.ones(count + 1)
    depth = 1
    while depth > 0:
        if place[depth] >= length:
            depth -= 1
        else:
            gain = 0.0
            row = rows[place[depth]]
            before, here = pulls[depth - 1], pulls[depth]
            for q in range(width):
                here[q] = before[q] + sign[depth] * row[q]
                gain += 2.0 * times[q] * max(here[q], 0.0)
            # The changed cells themselves count once, whatever their sign.
            for k in range(1, depth + 1):
                value = here[place[k]]
                gain += value - 2.0 * max(value, 0.0)
            gains[depth] = max(gains[depth], gain)
            if depth < count:
                depth += 1
                place[depth] = place[depth - 1] + 1
                sign[depth] = 1.0
                continue
        if sign[depth] > 0.0:
            sign[depth] = -1.0
        else:
            sign[depth] = 1.0
            place[depth] += 1


def all_energies(matrix: Floats) -> Floats:
    """x' matrix x for x = 0 ... 2^n - 1, bit i of the number being entry i of x."""
    energies = np.zeros(1)
    for i, row in enumerate(matrix):
        pull = np.full(1, row[i])
        for j in range(i):
            pull = np.concatenate([pull, pull + 2.0 * row[j]])
        energies = np.concatenate([energies, energies + pull])
    return energies


def gains_by_filters(matrix: Floats, count: int) -> Floats:
    """The largest energy within 1, 2 ... flips of every table, by that many rounds over the hypercube."""
    length = len(matrix)
    energies = all_energies(matrix)
    slack = rounding_slack([matrix], 2.0 * float(np.abs(matrix).sum()), length * (length + 1))
    best = energies
    gains = np.zeros(count + 1)
    for k in range(1, count + 1):
        if k >= length:
            gains[k:] = float(energies.max() - energies.min())
            break
        wider = best.copy()
        for i in range(length):
            pairs, ends = best.reshape(-1, 2, 2**i), wider.reshape(-1, 2, 2**i)
            np.maximum(ends, pairs[:, ::-1], out=ends)
        best = wider
        gains[k] = float((best - energies).max())
    return _upwards(gains, slack)


def _upwards(gains: Floats, slack: float) -> Floats:
    """The gains and the slack, and one more step since their sum may have been rounded down."""
    return np.where(gains > 0.0, np.nextafter(gains + slack, np.inf), gains) if slack else gains


def spread(gains: Floats, parts: int, count: int) -> Floats:
    """The most that `count` flips over so many independent alike parts can gain: by doubling of the parts."""
    total = np.zeros(count + 1)
    doubled = gains[np.minimum(np.arange(count + 1), len(gains) - 1)]
    while parts:
        if parts & 1:
            total = _joined(total, doubled)
        doubled = _joined(doubled, doubled)
        parts >>= 1
    return total


def _joined(one: Floats, other: Floats) -> Floats:
    sums = np.array([(one[: k + 1] + other[k::-1]).max() for k in range(len(one))])
    return sums if _adds_exactly(one) and _adds_exactly(other) else np.nextafter(sums, np.inf)


def _adds_exactly(values: Floats) -> bool:
    parts = values * 2.0**20
    return bool(values.max(initial=0.0) < 2.0**30 and np.array_equal(parts, np.rint(parts)))
