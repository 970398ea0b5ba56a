"""All graphs with few nodes, as bits of their pairs; slow counts and whole laws to compare with."""

from __future__ import annotations

from fractions import Fraction
from itertools import combinations

import numpy as np
from numpy.typing import NDArray

from veil.core.numerics.rounding import decay_above
from veil.graphs.numerics.ladder import DECAY_BITS, Ladder, LadderRule
from veil.graphs.numerics.triangles import Neighbours, neighbours

Integers = NDArray[np.int64]
Floats = NDArray[np.float64]


def pairs(nodes: int) -> list[tuple[int, int]]:
    return list(combinations(range(nodes), 2))


def graph_of(nodes: int, bits: int) -> Neighbours:
    """The graph that holds the pairs whose bits are set."""
    edges = [pair for at, pair in enumerate(pairs(nodes)) if bits >> at & 1]
    ends = np.array(edges, dtype=np.int64).reshape(-1, 2)
    return neighbours(nodes, ends[:, 0], ends[:, 1])


def matrices(nodes: int) -> Integers:
    """The adjacency matrices of all graphs with so many nodes, in the order of their bits."""
    numbers = np.arange(2 ** len(pairs(nodes)))
    found = np.zeros((len(numbers), nodes, nodes), dtype=np.int64)
    for at, (i, j) in enumerate(pairs(nodes)):
        found[:, i, j] = found[:, j, i] = numbers >> at & 1
    return found


def triangle_counts(adjacency: Integers) -> Integers:
    return np.asarray(np.einsum("gij,gjk,gki->g", adjacency, adjacency, adjacency) // 6)


def random_graph(nodes: int, chance: float, seed: int) -> Neighbours:
    ends = np.array(pairs(nodes), dtype=np.int64)
    kept = ends[np.random.default_rng(seed).random(len(ends)) < chance]
    return neighbours(nodes, kept[:, 0], kept[:, 1])


def matrix_of(graph: Neighbours) -> Integers:
    found = np.zeros((graph.size, graph.size), dtype=np.int64)
    rows, columns = graph.ends()
    found[rows, columns] = found[columns, rows] = 1
    return found


def total_variation(first: Floats, second: Floats) -> float:
    """Half the sum of absolute differences of two distributions: the share of nodes in the wrong place."""
    size = max(len(first), len(second))
    p, q = np.zeros(size), np.zeros(size)
    p[: len(first)], q[: len(second)] = first, second
    return float(0.5 * np.abs(p / p.sum() - q / q.sum()).sum())


def rungs_of(ladder: Ladder, offsets: Integers) -> Integers:
    """The rung of outputs so far from the count."""
    away = np.abs(offsets)
    inside = np.searchsorted(ladder.ends, away)
    beyond = -(-(away - ladder.ends[-1]) // ladder.widths[-1])
    return np.asarray(np.where(away > ladder.ends[-1], len(ladder.widths) + beyond, inside), dtype=np.int64)


def total_weight(ladder: Ladder) -> Fraction:
    """The sum of all weights, exactly; for short ladders only."""
    r = ladder.decay
    wide: list[int] = ladder.widths.tolist()
    inside = sum((2 * width * r ** (k + 1) for k, width in enumerate(wide)), Fraction(2 * ladder.first + 1))
    return inside + 2 * wide[-1] * r ** (len(wide) + 1) / (1 - r)


def published_rule(nodes: int, epsilon: float) -> LadderRule:
    """The ladder as published, where half of epsilon goes to the normaliser; a rung is never empty."""
    exact = Fraction(decay_above(epsilon / 2)) * 2**DECAY_BITS
    decay = Fraction(-(-exact.numerator // exact.denominator), 2**DECAY_BITS)
    return LadderRule(nodes, 1, Fraction(0), decay)
