"""All graphs with few nodes, as bits of their pairs, and slow counts to compare with."""

from __future__ import annotations

from itertools import combinations

import numpy as np
from numpy.typing import NDArray

from veil.graphs.numerics.triangles import Neighbours, neighbours

Integers = NDArray[np.int64]


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
