"""The data-driven chains paper, Section 6.2 and Supplement E: trips between the zones of a city.

The paper's table of trips is not at hand; everything here works on any table of counts.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from veil.core.arrays import Floats
from veil.core.numerics.rounding import float_below
from veil.matrices.mechanisms.bordered_rows import BorderedRows
from veil.matrices.numerics.stationary import quick_stationary
from veil.vectors.counts import Integers, Records

_REPLACE = Records("replace")


def least_frequencies(counts: Integers) -> Floats:
    """The floors as the paper takes them, read off the data: the least frequency of each row."""
    # Not rounded up: the least frequency itself is to be at the floor or above it.
    return np.array([float_below(Fraction(int(row.min()), max(int(row.sum()), 1))) for row in counts])


def least_k(counts: Integers) -> Floats:
    """Assumption 4: 3 / (2 eta) for each row."""
    return np.asarray(1.5 / least_frequencies(counts))


def rows_at(counts: Integers, times: float = 1.0) -> BorderedRows:
    """Every k at so many times its least value."""
    ks, floors = times * least_k(counts), least_frequencies(counts)
    return BorderedRows(ks.tolist(), floors.tolist(), counts.sum(axis=1).tolist(), size=len(counts))


@dataclass(frozen=True, slots=True)
class Strength:
    """How private the published form can be with so many zones.

    epsilon, delta: by the paper's formula; infinite where a cell is empty. exact: the epsilon that the same
    release has at the same delta in truth.
    """

    zones: int
    epsilon: float
    delta: float
    exact: float


def table_1(
    counts: Integers, zones: Sequence[int] = (63, 60, 55, 50, 45, 40, 35, 30), *, gamma: float = 1e-8
) -> tuple[Strength, ...]:
    """Supplement E, Table 1: the smallest epsilon as more and more small zones are merged."""
    return tuple(strongest(merged(counts, number), gamma=gamma) for number in zones)


def strongest(counts: Integers, *, gamma: float) -> Strength:
    """The smallest epsilon: every k at its least value."""
    if counts.min() == 0:
        return Strength(len(counts), np.inf, 1.0, np.inf)
    rows = rows_at(counts)
    bound = rows.published(gamma=gamma)
    exact = rows.profile(_REPLACE).epsilon(min(max(bound.delta, 1e-300), 1.0))
    return Strength(len(counts), bound.epsilon, bound.delta, exact)


def merged(counts: Integers, zones: int) -> Integers:
    """Merge the zone with the fewest trips into the one it shares most trips with, until so many are left.

    The paper merges neighbouring zones; without a map, the zone with most shared trips takes their place.
    Both look
    at the data, which no guarantee covers: in a release the merging is a public choice of the user.
    """
    table = counts.astype(np.int64)
    while len(table) > zones:
        smallest = int(np.argmin(table.sum(axis=1) + table.sum(axis=0)))
        shared = table[smallest] + table[:, smallest]
        shared[smallest] = -1
        into = int(np.argmax(shared))
        table[into] += table[smallest]
        table[:, into] += table[:, smallest]
        table = np.delete(np.delete(table, smallest, axis=0), smallest, axis=1)
    return table


@dataclass(frozen=True, slots=True)
class Point:
    """One point of Figure 3: epsilon by the paper and in truth, and how far the long run moved."""

    times: float
    epsilon: float
    delta: float
    exact: float
    moved: float


def figure_3(
    counts: Integers,
    times: Sequence[float] = (1.0, 1.5, 2.0, 2.5, 3.0),
    *,
    gamma: float = 1e-8,
    draws: int = 50,
    rng: np.random.Generator,
) -> tuple[Point, ...]:
    """Section 6.2, Figure 3: the mean total variation of the stationary distribution against epsilon."""
    truth = quick_stationary(counts / counts.sum(axis=1, keepdims=True))
    points = []
    for factor in times:
        rows = rows_at(counts, factor)
        bound = rows.published(gamma=gamma)
        drawn = quick_stationary(rows.sample(counts, rng=rng, size=draws))
        moved = 0.5 * np.abs(drawn - truth).sum(axis=-1)
        exact = rows.profile(_REPLACE).epsilon(max(bound.delta, 1e-300))
        points.append(Point(factor, bound.epsilon, bound.delta, exact, float(moved.mean())))
    return tuple(points)
