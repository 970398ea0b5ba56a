"""Triangles, wedges and shared neighbours, by lists and by bits, against matrix products."""

from __future__ import annotations

import numpy as np
import pytest

from tests.graphs.numerics.small import graph_of, matrices, matrix_of, random_graph, triangle_counts
from veil.errors import InvalidData
from veil.graphs.numerics import triangles
from veil.graphs.numerics.triangles import Neighbours, count_triangles, neighbours, shape


def slow_shape(graph: Neighbours) -> tuple[int, ...]:
    matrix = matrix_of(graph)
    degrees = matrix.sum(axis=0)
    shared = np.triu(matrix @ matrix, 1)
    return (
        len(matrix),
        int(matrix.sum() // 2),
        int(shared.sum()),
        int((shared * matrix).sum() // 3),
        int((degrees**2).sum()),
        int((shared**2).sum()),
        int((shared * (degrees[:, None] + degrees)).sum()),
    )


@pytest.mark.parametrize(
    ("nodes", "chance"), [(3, 1.0), (30, 0.0), (64, 0.5), (65, 0.9), (200, 0.02), (130, 1.0)]
)
@pytest.mark.parametrize("most_words", [0, 2**28], ids=["lists", "choice"])
def test_shape(nodes: int, chance: float, most_words: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(triangles, "_MOST_WORDS", most_words)
    graph = random_graph(nodes, chance, 4)
    assert tuple(shape(graph)) == slow_shape(graph)
    assert count_triangles(graph) == shape(graph).triangles


def test_bits_and_lists_agree(monkeypatch: pytest.MonkeyPatch) -> None:
    graph = random_graph(150, 0.3, 8)
    monkeypatch.setattr(triangles, "_DENSE_STEPS", 10**9)
    by_bits = shape(graph)
    monkeypatch.setattr(triangles, "_DENSE_STEPS", 0)
    assert shape(graph) == by_bits


def test_all_graphs_of_four_nodes() -> None:
    slow = triangle_counts(matrices(4))
    assert [count_triangles(graph_of(4, bits)) for bits in range(64)] == slow.tolist()


def test_transitivity() -> None:
    assert shape(random_graph(6, 1.0, 1)).transitivity == 1.0
    assert shape(random_graph(6, 0.0, 1)).transitivity == 0.0


def test_edges_in_any_order_and_direction() -> None:
    graph = neighbours(4, np.array([3, 0, 2]), np.array([1, 3, 3]))
    assert graph.nodes.tolist() == [3, 3, 3, 0, 1, 2]
    assert [ends.tolist() for ends in graph.ends()] == [[0, 1, 2], [3, 3, 3]]
    assert len(graph.nodes) == 6


@pytest.mark.parametrize(
    ("rows", "columns", "found"),
    [([0, 1], [1, 0], "twice"), ([2], [2], "loop"), ([0], [4], "outside"), ([-1], [0], "outside")],
)
def test_malformed_edges(rows: list[int], columns: list[int], found: str) -> None:
    with pytest.raises(InvalidData, match=found):
        neighbours(4, np.array(rows), np.array(columns))
