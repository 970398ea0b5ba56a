"""Communities planted in a graph and found in its release, and the measures of agreement."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.typing import NDArray

from tests.graphs.numerics.small import total_variation
from veil.errors import InvalidArgument
from veil.graphs.numerics.agreement import (
    adjusted_rand,
    average_f1,
    communities_of,
    degree_divergence,
)
from veil.graphs.numerics.structure import (
    debiased_modularity,
    debiased_spectrum,
    path_lengths,
    spectral_communities,
)
from veil.graphs.numerics.triangles import Neighbours, neighbours

Integers = NDArray[np.int64]


def planted(groups: int, each: int, inside: float, outside: float, flip: float, seed: int) -> Neighbours:
    rng = np.random.default_rng(seed)
    group = np.arange(groups * each) // each
    hidden = rng.random((len(group), len(group))) < np.where(group[:, None] == group, inside, outside)
    rows, columns = np.nonzero(np.triu(hidden ^ (rng.random(hidden.shape) < flip), 1))
    return neighbours(len(group), rows.astype(np.int64), columns.astype(np.int64))


@pytest.mark.slow_for("iterative")
@pytest.mark.parametrize("each", [60, 150], ids=["dense", "iterative"])
def test_planted_communities_are_found(each: int) -> None:
    truth = np.arange(5 * each) // each
    graph = planted(5, each, 0.8, 0.02, 0.27, 1)
    labels = spectral_communities(graph, 0.27)
    assert adjusted_rand(labels, truth) > 0.95
    assert labels.max() == 4
    assert (labels == spectral_communities(graph, 0.27)).all()
    assert adjusted_rand(spectral_communities(graph, 0.27, communities=5), truth) > 0.95


def test_nothing_is_found_in_noise() -> None:
    """Without structure there is the vector of the density at most, so one community."""
    graph = planted(1, 500, 0.02, 0.02, 0.3, 2)
    assert spectral_communities(graph, 0.3).max() == 0
    spectrum = debiased_spectrum(graph, 0.3)
    assert spectrum.above <= 1
    # The edge of the noise is where theory has it.
    assert spectrum.values[1] == pytest.approx(spectrum.edge, rel=0.05)


def test_modularity() -> None:
    graph = planted(4, 100, 0.3, 0.02, 0.0, 3)
    labels = np.arange(400) // 100
    rows, columns = graph.ends()
    degrees = graph.degrees
    same = labels[:, None] == labels
    adjacency = np.zeros((400, 400))
    adjacency[rows, columns] = adjacency[columns, rows] = 1.0
    ends = float(len(graph.nodes))
    slow = float(((adjacency - np.outer(degrees, degrees) / ends) * same).sum() / ends)
    assert debiased_modularity(graph, labels, 0.0) == pytest.approx(slow)
    noisy = [debiased_modularity(planted(4, 100, 0.3, 0.02, 0.2, seed), labels, 0.2) for seed in range(20)]
    assert np.mean(noisy) == pytest.approx(slow, abs=0.03)
    empty = neighbours(10, np.zeros(0, dtype=np.int64), np.zeros(0, dtype=np.int64))
    assert debiased_modularity(empty, np.zeros(10, dtype=np.int64), 0.1) == 0.0


@pytest.mark.parametrize("nodes", [0, 1, 2, 5])
def test_few_nodes(nodes: int) -> None:
    none = np.zeros(0, dtype=np.int64)
    assert len(spectral_communities(neighbours(nodes, none, none), 0.2)) == nodes


def test_adjusted_rand() -> None:
    rng = np.random.default_rng(1)
    first, second = rng.integers(0, 4, 60), rng.integers(0, 3, 60)
    same = [(i, j) for i in range(60) for j in range(i) if first[i] == first[j]]
    together = sum(second[i] == second[j] for i, j in same)
    others = sum(second[i] == second[j] for i in range(60) for j in range(i))
    expected = len(same) * others / 1770
    slow = (together - expected) / ((len(same) + others) / 2 - expected)
    assert adjusted_rand(first, second) == pytest.approx(slow)
    assert adjusted_rand(second, first) == pytest.approx(slow)
    assert adjusted_rand(first, first * 7 - 3) == 1.0
    assert adjusted_rand(np.zeros(5, dtype=np.int64), np.ones(5, dtype=np.int64)) == 1.0
    assert abs(adjusted_rand(rng.integers(0, 5, 20_000), rng.integers(0, 5, 20_000))) < 0.01
    with pytest.raises(InvalidArgument, match="labels"):
        adjusted_rand(first, second[1:])


def test_average_f1() -> None:
    ours, theirs = [{0, 1, 2, 3}, {4, 5}], [{0, 1}, {2, 3, 4, 5}, {0, 1, 2, 3}]

    def f1(a: set[int], b: set[int]) -> float:
        precision, recall = len(a & b) / len(a), len(a & b) / len(b)
        return 2 * precision * recall / (precision + recall) if a & b else 0.0

    slow = sum(max(f1(a, b) for b in theirs) for a in ours) / 4
    slow += sum(max(f1(b, a) for a in ours) for b in theirs) / 6
    assert average_f1(ours, theirs) == pytest.approx(slow)
    assert average_f1(ours, ours) == 1.0
    assert average_f1([], ours) == 0.0
    assert average_f1([[], [1, 1, 2]], [[1, 2]]) == 1.0


def test_communities_of_labels() -> None:
    assert communities_of(np.array([2, 0, 2, 5])) == [[1], [0, 2], [3]]
    assert communities_of(np.zeros(0, dtype=np.int64)) == []


def test_degree_divergence() -> None:
    p, q = np.array([0.25, 0.25, 0.5]), np.array([0.5, 0.5])
    assert degree_divergence(p, q) == pytest.approx(0.5 * np.log(0.5))
    assert degree_divergence(q, p) == pytest.approx(np.log(2.0))
    # Three nodes and one more, a third of it at each degree.
    shares = np.array([1.5 + 1 / 3, 1.5 + 1 / 3, 1 / 3]) / 4
    smooth = degree_divergence(p, q, absent="smooth", nodes=3)
    assert smooth == pytest.approx(float((p * np.log(p / shares)).sum()))
    assert total_variation(p, q) == pytest.approx(0.5)
    with pytest.raises(InvalidArgument, match="nodes"):
        degree_divergence(p, q, absent="smooth")


def slow_distances(graph: Neighbours) -> Integers:
    """Floyd and Warshall."""
    far = 10**6
    distances = np.full((graph.size, graph.size), far)
    rows, columns = graph.ends()
    distances[rows, columns] = distances[columns, rows] = 1
    np.fill_diagonal(distances, 0)
    for middle in range(graph.size):
        distances = np.minimum(distances, distances[:, middle, None] + distances[middle])
    return np.asarray(distances[np.triu_indices(graph.size, 1)])


@pytest.mark.parametrize(("chance", "seed"), [(0.02, 1), (0.05, 2), (0.5, 3)])
def test_path_lengths(chance: float, seed: int) -> None:
    graph = planted(1, 90, chance, chance, 0.0, seed)
    slow = slow_distances(graph)
    joined = slow < 10**6
    found = path_lengths(graph)
    assert found.exact
    assert found.error == 0.0
    assert found.mean == pytest.approx(slow[joined].mean())
    assert found.diameter == slow[joined].max()
    assert found.connected == pytest.approx(joined.mean())
    assert found.strict_diameter == (slow.max() if joined.all() else np.inf)


def test_sampled_path_lengths() -> None:
    graph = planted(10, 60, 0.2, 0.001, 0.0, 5)
    whole, part = path_lengths(graph), path_lengths(graph, sources=100)
    assert not part.exact
    assert part.diameter <= whole.diameter
    # Five standard errors: alpha 1e-6.
    assert abs(part.mean - whole.mean) < 5.0 * part.error
    assert part.error < 0.2


def test_no_paths() -> None:
    none = np.zeros(0, dtype=np.int64)
    found = path_lengths(neighbours(3, none, none))
    assert np.isnan(found.mean)
    assert (found.diameter, found.connected) == (0, 0.0)
    assert path_lengths(neighbours(1, none, none)).connected == 1.0
