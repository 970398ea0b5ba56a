"""Estimates from randomised response: means and variances by enumeration, intervals by simulation."""

from __future__ import annotations

from fractions import Fraction
from math import inf

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy import stats

from tests.graphs.numerics.small import graph_of, matrix_of, random_graph, total_variation
from tests.params import quick_first
from veil.errors import InvalidArgument
from veil.graphs.numerics import debias
from veil.graphs.numerics.debias import (
    Estimate,
    debiased_counts,
    debiased_distribution,
    edge_number,
    flip_variance,
    node_degrees,
)
from veil.graphs.numerics.degrees import degree_distribution
from veil.graphs.numerics.triangles import Neighbours, neighbours, shape

# Two-sided tests of coverage accept the truth with probability 1 - ALPHA.
ALPHA = 1e-6
FIVE = 5
RELEASES = [shape(graph_of(FIVE, bits)) for bits in range(2**10)]


def chances(hidden: int, flip: Fraction) -> list[Fraction]:
    """Of every release of a graph with 10 pairs."""
    return [
        flip ** (hidden ^ bits).bit_count() * (1 - flip) ** (10 - (hidden ^ bits).bit_count())
        for bits in range(2**10)
    ]


@pytest.mark.mostly_slow(quick=3)
@pytest.mark.parametrize("flip", [0.0, 0.125, 0.375])
@pytest.mark.parametrize("hidden", [0, 0b1111111111, 0b1010110010, 0b0000010111])
def test_no_bias_and_variances_by_enumeration(hidden: int, flip: float) -> None:
    """Over all 1,024 releases of graphs with 5 nodes, in exact numbers."""
    q, s = Fraction(flip), flip_variance(flip)
    weights = chances(hidden, q)
    assert sum(weights) == 1
    found = [debias._means(release, q, s) for release in RELEASES]

    def mean(values: list[Fraction]) -> Fraction:
        return sum((p * value for p, value in zip(weights, values, strict=True)), Fraction(0))

    true = RELEASES[hidden]
    matrix = matrix_of(graph_of(FIVE, hidden))
    degrees = matrix.sum(axis=0)
    along = int((np.triu(matrix) * np.outer(degrees, degrees)).sum())
    assert mean([each.edges for each in found]) == true.edges
    assert mean([each.edge_squares for each in found]) == true.edges**2
    assert mean([each.wedges for each in found]) == true.wedges
    assert mean([each.triangles for each in found]) == true.triangles
    assert mean([each.shared_squares for each in found]) == true.shared_squares
    assert mean([each.along for each in found]) == along

    of_triangles = s * true.shared_squares + s**2 * 3 * true.edges + s**3 * 10
    of_wedges = s * (-true.degree_squares + 4 * true.edges**2 + 4 * true.edges) + 3 * s**2 * 10
    both = s * (2 * along - true.degree_squares - 6 * true.triangles) + 3 * s**2 * true.edges
    assert mean([(each.edges - true.edges) ** 2 for each in found]) == 10 * s
    assert mean([(each.triangles - true.triangles) ** 2 for each in found]) == of_triangles
    assert mean([(each.wedges - true.wedges) ** 2 for each in found]) == of_wedges
    products = [(each.wedges - true.wedges) * (each.triangles - true.triangles) for each in found]
    assert mean(products) == both


def test_no_flips_no_error() -> None:
    graph = random_graph(40, 0.2, 3)
    true, found = shape(graph), debiased_counts(shape(graph), 0.0)
    assert found.edges.value == true.edges
    assert found.wedges.value == true.wedges
    assert found.triangles.value == true.triangles
    assert found.transitivity.value == pytest.approx(true.transitivity)
    errors = [found.edges.error, found.wedges.error, found.triangles.error, found.transitivity.error]
    assert errors == [0.0] * 4


def clustered(nodes: int, seed: int) -> NDArray[np.bool_]:
    """Groups of ten, joined within more often than without."""
    rng = np.random.default_rng(seed)
    group = np.arange(nodes) // 10
    chance = np.where(group[:, None] == group, 0.5, 0.05)
    upper = np.triu(rng.random((nodes, nodes)) < chance, 1)
    return np.asarray(upper | upper.T)


def released(matrix: NDArray[np.bool_], flip: float, rng: np.random.Generator) -> Neighbours:
    upper = np.triu(matrix ^ (rng.random(matrix.shape) < flip), 1)
    rows, columns = np.nonzero(upper)
    return neighbours(len(matrix), rows.astype(np.int64), columns.astype(np.int64))


@pytest.mark.slow
@pytest.mark.parametrize("epsilon", quick_first([3.0, 1.0]))
def test_coverage(epsilon: float) -> None:
    """95 % intervals hold the truth in 95 % of 600 releases; intervals of half the width are rejected."""
    matrix = clustered(80, 4)
    true = shape(released(matrix, 0.0, np.random.default_rng(1)))
    flip, rng, times = 1.0 / (1.0 + np.exp(epsilon)), np.random.default_rng(6), 600
    names = ("edges", "wedges", "triangles", "transitivity")
    inside, narrow = dict.fromkeys(names, 0), dict.fromkeys(names, 0)
    for _ in range(times):
        found = debiased_counts(shape(released(matrix, flip, rng)), flip)
        for name in names:
            truth, estimate = float(getattr(true, name)), getattr(found, name)
            low, high = estimate.interval(0.95)
            inside[name] += low <= truth <= high
            narrow[name] += abs(estimate.value - truth) <= 0.5 * 1.96 * estimate.error
    for name in names:
        # A variance that is itself estimated makes normal intervals a little less sure: 2 % are allowed for.
        least = stats.binom.ppf(ALPHA, times, 0.93)
        assert inside[name] >= least, name
        if name != "transitivity":
            assert narrow[name] < least, name


def test_directed_and_bipartite_counts() -> None:
    """Degrees by rows and by columns, coverage of the edge number and of each degree."""
    rng = np.random.default_rng(8)
    hidden = rng.random((40, 70)) < 0.1
    flip, times = 0.2, 400
    inside, degrees_inside = 0, 0
    for _ in range(times):
        seen = hidden ^ (rng.random(hidden.shape) < flip)
        low, high = edge_number(int(seen.sum()), pairs=2800, flip=flip).interval(0.9)
        inside += low <= hidden.sum() <= high
        values, error = node_degrees(seen.sum(axis=1), possible=70, flip=flip)
        degrees_inside += int((np.abs(values - hidden.sum(axis=1)) <= 1.6449 * error).sum())
    assert stats.binomtest(inside, times, 0.9).pvalue > ALPHA
    assert stats.binomtest(inside, times, 0.8).pvalue < ALPHA
    # Degrees are whole numbers of few values, which the normal law meets to a few hundredths.
    assert 0.87 < degrees_inside / (40 * times) < 0.93


def test_the_number_of_edges() -> None:
    edges = edge_number(500, pairs=1000, flip=0.25)
    assert (edges.value, edges.error) == pytest.approx((500.0, np.sqrt(750.0)))


def test_intervals_stay_within_what_is_possible() -> None:
    assert Estimate(-5.0, 1.0).interval() == (0.0, 0.0)
    assert Estimate(12.0, 1.0, 0.0, 10.0).interval() == (10.0, 10.0)
    assert Estimate(0.4, inf, 0.0, 1.0).interval() == (0.0, 1.0)
    with pytest.raises(InvalidArgument, match="confidence"):
        Estimate(1.0, 1.0).interval(1.0)
    with pytest.raises(InvalidArgument, match="flip"):
        flip_variance(0.5)


def test_nothing_to_say_about_transitivity() -> None:
    """An empty graph's release has wedges by noise alone."""
    empty = np.zeros((30, 30), dtype=np.bool_)
    found = debiased_counts(shape(released(empty, 0.4, np.random.default_rng(2))), 0.4)
    assert found.transitivity.interval() == (0.0, 1.0)


@pytest.mark.parametrize("nodes", [1, 2, 3])
def test_few_nodes(nodes: int) -> None:
    none = np.zeros(0, dtype=np.int64)
    found = debiased_counts(shape(neighbours(nodes, none, none)), 0.25)
    assert np.isfinite(found.triangles.value)
    assert debiased_distribution(np.zeros(nodes, dtype=np.int64), possible=nodes - 1, flip=0.25).sum() == (
        pytest.approx(1.0)
    )


@pytest.mark.parametrize("flip", [0.0, 1e-4, 0.01, 0.1, 0.3])
def test_distribution(flip: float) -> None:
    """Closer to the truth than the debiased degrees as they stand, wherever there is noise to speak of."""
    rng = np.random.default_rng(3)
    nodes = 3000
    degrees = np.minimum(rng.gamma(1.5, 30.0, nodes), nodes - 1).astype(np.int64)
    heard = rng.binomial(degrees, 1.0 - flip) + rng.binomial(nodes - 1 - degrees, flip)
    true = degree_distribution(degrees, nodes=nodes)
    found = debiased_distribution(heard, possible=nodes - 1, flip=flip)
    assert found.shape == true.shape
    assert found.sum() == pytest.approx(1.0)
    assert found.min() >= 0.0
    raw = np.clip(np.rint(node_degrees(heard, possible=nodes - 1, flip=flip)[0]), 0, nodes - 1)
    plain = degree_distribution(raw.astype(np.int64), nodes=nodes)
    assert total_variation(found, true) < 1.02 * total_variation(plain, true) + 0.1
    if flip >= 0.1:
        assert total_variation(found, true) < 0.5 * total_variation(plain, true)


def test_hubs_are_kept_as_they_are() -> None:
    degrees = np.append(np.full(300, 5), 9000)
    found = debiased_distribution(degrees, possible=20_000, flip=0.0)
    assert found[9000] == pytest.approx(1 / 301)
