"""Neighbours of tables of bits and of graphs, as their sentences say."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import combinations
from typing import Any

import numpy as np

from tests.neighbours.written import Written
from veil.bits import BitFlips

Table = tuple[tuple[int, ...], ...]
Edge = tuple[int, int]
Edges = frozenset[Edge]


def flipped(table: Table, count: int, where: str) -> Iterator[Table]:
    """ "two tables of the same, public size that differ in at most COUNT bits, anywhere", or
    "in at most COUNT bits of one row"; every such table."""
    cells = [(i, j) for i, row in enumerate(table) for j in range(len(row))]
    for many in range(1, count + 1):
        for chosen in combinations(cells, many):
            if where == "row" and len({i for i, _ in chosen}) > 1:
                continue
            edited = [list(row) for row in table]
            for i, j in chosen:
                edited[i][j] = 1 - edited[i][j]
            yield tuple(map(tuple, edited))


def rewired(edges: Edges, nodes: int, count: int) -> Iterator[Edges]:
    """ "of a graph, in one edge", or "in so many edges": each is added where it is not, and removed where it
    is; every such graph."""
    pairs = list(combinations(range(nodes), 2))
    for many in range(1, count + 1):
        for chosen in combinations(pairs, many):
            yield edges ^ frozenset(chosen)


def tables(rows: int, columns: int) -> Iterator[Table]:
    """Every table of this size."""
    for number in range(2 ** (rows * columns)):
        bits = [(number >> place) & 1 for place in range(rows * columns)]
        yield tuple(tuple(bits[i * columns : (i + 1) * columns]) for i in range(rows))


def graphs(nodes: int) -> Iterator[Edges]:
    """Every graph on so many nodes."""
    pairs = list(combinations(range(nodes), 2))
    for number in range(2 ** len(pairs)):
        yield frozenset(pair for place, pair in enumerate(pairs) if (number >> place) & 1)


def apart(first: Table, second: Table) -> list[int]:
    """How many bits of each row differ."""
    return [
        sum(a != b for a, b in zip(one, two, strict=True)) for one, two in zip(first, second, strict=True)
    ]


def _any_of(rng: np.random.Generator, choices: Iterator[Any]) -> Any:
    listed = list(choices)
    return listed[int(rng.integers(len(listed)))]


_TABLE: Table = ((0, 1, 1), (1, 0, 0))

WRITTEN = (
    Written(
        BitFlips(1),
        "two tables of the same, public size that differ in one bit; of a graph, in one edge",
        lambda rng, table: _any_of(rng, flipped(table, 1, "anywhere")),
        _TABLE,
        lambda first, second: sum(apart(first, second)) == 1,
    ),
    Written(
        BitFlips(3),
        "two tables of the same, public size that differ in at most 3 bits, anywhere; of a graph, in so many "
        "edges",
        lambda rng, edges: _any_of(rng, rewired(edges, 4, 3)),
        frozenset({(0, 1), (1, 2)}),
        lambda first, second: 1 <= len(first ^ second) <= 3,
    ),
    Written(
        BitFlips(1, where="row"),
        "two tables of the same, public size that differ in one bit of one row",
        lambda rng, table: _any_of(rng, flipped(table, 1, "row")),
        _TABLE,
        lambda first, second: sorted(apart(first, second)) == [0, 1],
    ),
    Written(
        BitFlips(3, where="row"),
        "two tables of the same, public size that differ in at most 3 bits of one row",
        lambda rng, table: _any_of(rng, flipped(table, 3, "row")),
        _TABLE,
        lambda first, second: min(apart(first, second)) == 0 and 1 <= max(apart(first, second)) <= 3,
    ),
)
