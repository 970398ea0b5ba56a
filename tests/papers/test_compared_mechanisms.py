"""What the XOR paper compares itself with: sensitivities by brute force, noise by its law."""

from __future__ import annotations

import math
from collections.abc import Iterator

import numpy as np
import pytest
from veil_papers.compared_mechanisms import (
    degree_counts,
    degrees_by_joint,
    degrees_of,
    joint_degrees,
    ldpgen,
    noisy_degrees,
    noisy_joint_degrees,
    pbcn,
    realised,
    reports,
)

from veil.errors import InvalidArgument
from veil.graphs.graph import Graph
from veil.graphs.numerics.pairs import PairSpace

NODES = 12


def _graph(rng: np.random.Generator, nodes: int = NODES, density: float = 0.3) -> Graph:
    space = PairSpace.among(nodes)
    return Graph(space, np.flatnonzero(rng.random(space.count) < density))


def _neighbours_of(graph: Graph) -> Iterator[Graph]:
    """All graphs that differ in one edge."""
    for code in range(graph.space.count):
        yield graph.replaced(np.setxor1d(graph.codes, [code]))


def _with_degrees(graph: Graph) -> np.ndarray:
    return np.bincount(degrees_of(graph), minlength=graph.space.nodes)


@pytest.mark.parametrize("density", [0.1, 0.4, 0.9])
def test_sensitivities_are_those_of_the_noise(density: float) -> None:
    rng = np.random.default_rng(1)
    graph = _graph(rng, density=density)
    labels = rng.integers(3, size=NODES)
    own, counts, answers = degrees_of(graph), _with_degrees(graph), reports(graph, labels, 3)
    most = []
    for other in _neighbours_of(graph):
        assert np.abs(reports(other, labels, 3) - answers).sum() == 2
        assert np.abs(degrees_of(other) - own).sum() == 2
        most.append(int(np.abs(_with_degrees(other) - counts).sum()))
    assert max(most) == 4


@pytest.mark.parametrize("density", [0.1, 0.3, 0.6, 0.9])
def test_joint_degrees_cost_no_more_than_epsilon(density: float) -> None:
    """Cell by cell with a scale of 4 max(i, j) + 1, and with 4 D + 1 for all."""
    rng = np.random.default_rng(2)
    highest = np.maximum.outer(np.arange(NODES), np.arange(NODES))
    worst = 0.0
    for _ in range(3):
        graph = _graph(rng, density=density)
        own = joint_degrees(graph, NODES - 1)
        for other in _neighbours_of(graph):
            changed = np.abs(joint_degrees(other, NODES - 1) - own)
            largest = max(degrees_of(graph).max(), degrees_of(other).max())
            assert changed.sum() <= 4 * largest + 1
            worst = max(worst, float((changed / (4.0 * highest + 1.0)).sum()))
    assert worst <= 1.0
    # Half of that noise would not do.
    assert worst > 0.5


def test_joint_degrees_of_a_star() -> None:
    """The bound is nearly attained where an edge joins two hubs."""
    edges = [(0, k) for k in range(2, 30)] + [(1, k) for k in range(30, 58)]
    graph = Graph.from_edges(edges, 58)
    joined = Graph.from_edges([*edges, (0, 1)], 58)
    changed = np.abs(joint_degrees(joined, 30) - joint_degrees(graph, 30))
    assert changed.sum() == 4 * 28 + 1
    highest = np.maximum.outer(np.arange(31), np.arange(31))
    assert 0.95 < (changed / (4.0 * highest + 1.0)).sum() <= 1.0


def test_joint_degrees_by_hand() -> None:
    # A path of four nodes: an edge between degrees 1 and 2 at each end, one between 2 and 2.
    graph = Graph.from_edges([(0, 1), (1, 2), (2, 3)], 5)
    found = joint_degrees(graph, 2)
    assert found.tolist() == [[0, 0, 0], [0, 0, 2], [0, 0, 1]]
    assert degrees_by_joint(found, 5) == pytest.approx([0.0, 0.5, 0.5, 0.0, 0.0])
    assert not degrees_by_joint(-found, 5).any()


def _spread(scale: float) -> float:
    """The variance of whole-number noise with P(z) ~ exp(-|z| / scale)."""
    decay = math.exp(-1.0 / scale)
    return 2.0 * decay / (1.0 - decay) ** 2


def test_noise_is_as_large_as_it_must_be() -> None:
    """Variances within six standard errors."""
    rng = np.random.default_rng(3)
    space = PairSpace.among(2_000)
    # All degrees 999.5 in the mean, so that nothing is cut off.
    graph = Graph(space, np.flatnonzero(rng.random(space.count) < 0.5))
    noise = noisy_degrees(graph, 0.5, rng) - degrees_of(graph)
    assert float(noise.var()) == pytest.approx(_spread(4.0), rel=6.0 * math.sqrt(5.0 / 2_000))
    small = _graph(rng, 30, 0.1)
    cells = np.array([noisy_joint_degrees(small, 2.0, 8, rng) for _ in range(150)])
    cells -= joint_degrees(small, 8)
    for high in (4, 8):
        column = cells[:, 1 : high + 1, high]
        spread = _spread((4.0 * high + 1.0) / 2.0)
        # A noise of half the scale has a quarter of the variance.
        assert float(column.var()) == pytest.approx(spread, rel=6.0 * math.sqrt(5.0 / column.size))
        assert 6.0 * math.sqrt(5.0 / column.size) < 0.6
    # Pairs of degrees that cannot be, or are listed the other way round.
    assert not cells[:, 5, 4].any()
    assert not cells[:, 0].any()


def test_noisy_counts_of_degrees() -> None:
    rng = np.random.default_rng(4)
    graph = _graph(rng, 60, 0.3)
    sharp, shares = degree_counts(graph, 500.0, rng), _with_degrees(graph) / 60
    assert sharp == pytest.approx(shares)
    drawn = np.array([degree_counts(graph, 1.0, rng) for _ in range(200)])
    assert drawn.sum(axis=1) == pytest.approx(1.0)
    # A degree that nobody has is counted as often as noise with a scale of 4 is above 0: 4,000 counts, six
    # standard errors; a scale of 2 would give 0.06 less.
    decay = math.exp(-1.0 / 4.0)
    assert not shares[40:].any()
    seen = float((drawn[:, 40:60] > 0.0).mean())
    assert seen == pytest.approx(decay / (1.0 + decay), abs=6.0 * 0.5 / math.sqrt(4_000))


def test_reports_by_hand() -> None:
    graph = Graph.from_edges([(0, 1), (0, 2), (2, 3)], 4)
    assert reports(graph, np.array([0, 0, 1, 1]), 2).tolist() == [[1, 1], [1, 0], [1, 1], [0, 1]]


def test_degrees_are_realised() -> None:
    rng = np.random.default_rng(5)
    for density in (0.05, 0.3, 0.8):
        graph = _graph(rng, 40, density)
        assert (degrees_of(realised(degrees_of(graph), graph)) == degrees_of(graph)).all()
    # No graph has these: an odd number of ends, and more neighbours than there are nodes.
    few = realised(np.array([3, 1, 1, 0]), Graph.from_edges([], 4))
    assert degrees_of(few).tolist() == [2, 1, 1, 0]
    assert len(realised(np.zeros(4, dtype=np.int64), few)) == 0


def test_pbcn_keeps_the_number_of_edges_and_loses_the_pairs() -> None:
    rng = np.random.default_rng(6)
    graph = _graph(rng, 300, 0.1)
    drawn = [pbcn(graph, 1.0, rng) for _ in range(5)]
    sizes = np.array([len(one) for one in drawn])
    # 300 degrees with a variance of about 8: half of their sum.
    assert abs(sizes - len(graph)).max() < 6.0 * math.sqrt(300 * _spread(2.0)) / 2.0 + 1.0
    shared = np.intersect1d(drawn[0].codes, graph.codes)
    assert len(shared) < 0.3 * len(graph)


def test_ldpgen_has_the_expected_degrees_without_noise() -> None:
    rng = np.random.default_rng(7)
    space = PairSpace.among(200)
    rows, columns = space.ends(np.arange(space.count))
    block = np.arange(200) // 100
    chance = np.where(block[rows] == block[columns], 0.2, 0.02)
    graph = Graph(space, np.flatnonzero(rng.random(space.count) < chance))
    drawn = [ldpgen(graph, 1e4, rng, groups=2) for _ in range(30)]
    mean = np.mean([degrees_of(one) for one in drawn], axis=0)
    # Thirty graphs: a standard error of about 0.9 for a degree of 22.
    assert np.abs(mean - degrees_of(graph)).mean() < 1.5
    assert np.corrcoef(mean, degrees_of(graph))[0, 1] > 0.9
    sizes = np.array([len(one) for one in drawn])
    assert sizes.mean() == pytest.approx(len(graph), rel=0.03)


def test_ldpgen_adds_edges_by_cutting_noise_off() -> None:
    """An empty network: every report is its noise above 0, with a scale of 4 / epsilon."""
    rng = np.random.default_rng(8)
    graph = Graph.from_edges([], 400)
    sizes = [len(ldpgen(graph, 1.0, rng, groups=5)) for _ in range(6)]
    decay = math.exp(-1.0 / 4.0)
    # E max(Z, 0) = decay / (1 - decay^2); edges whose chances exceed 1 are a few less.
    ends = 400 * 5 * decay / (1.0 - decay**2)
    assert 0.9 * ends / 2.0 < np.mean(sizes) < 1.05 * ends / 2.0


def test_bad_budgets() -> None:
    graph, rng = Graph.from_edges([(0, 1)], 3), np.random.default_rng(9)
    for release in (ldpgen, pbcn, noisy_degrees, degree_counts):
        with pytest.raises(InvalidArgument, match="epsilon"):
            release(graph, -1.0, rng)
    with pytest.raises(InvalidArgument, match="epsilon"):
        noisy_joint_degrees(graph, 0.0, 2, rng)
