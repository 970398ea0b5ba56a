"""Local sensitivity against all small graphs, and the privacy of the whole ladder by enumeration."""

from __future__ import annotations

import math
from fractions import Fraction
from functools import cache

import numpy as np
import pytest

from tests.graphs.numerics.small import (
    Integers,
    graph_of,
    matrices,
    matrix_of,
    pairs,
    published_rule,
    random_graph,
    rungs_of,
    total_weight,
    triangle_counts,
)
from tests.params import quick_first
from veil.core.numerics.rounding import decay_above
from veil.errors import InvalidArgument
from veil.graphs.numerics.ladder import Ladder, LadderRule, ladder_rule
from veil.graphs.numerics.local_sensitivity import TriangleSensitivity, triangle_sensitivity
from veil.graphs.numerics.triangles import neighbours


def all_sensitivities(nodes: int, distances: int) -> Integers:
    """[t, graph]: the largest change that one edge makes in a graph that t edges lead to."""
    counts = triangle_counts(matrices(nodes))
    numbers = np.arange(len(counts))
    flipped = [numbers ^ 1 << at for at in range(len(pairs(nodes)))]
    found = [np.max([np.abs(counts - counts[other]) for other in flipped], axis=0)]
    for _ in range(distances):
        found.append(np.maximum(found[-1], np.max([found[-1][other] for other in flipped], axis=0)))
    return np.array(found)


def slow_formula(matrix: Integers, distance: int) -> int:
    """The formula of the paper, pair by pair."""
    best, nodes = 0, len(matrix)
    for i, j in pairs(nodes):
        others = [k for k in range(nodes) if k not in (i, j)]
        both = sum(matrix[i, k] and matrix[j, k] for k in others)
        one = sum(matrix[i, k] != matrix[j, k] for k in others)
        best = max(best, both + (distance + min(distance, one)) // 2)
    return min(best, nodes - 2)


@pytest.mark.slow
def test_sensitivity_of_all_graphs_of_five_nodes() -> None:
    slow = all_sensitivities(5, 10)
    for bits, found in enumerate(every_sensitivity(5)):
        assert found.at(np.arange(11)).tolist() == slow[:, bits].tolist()
        settled = found.settled()
        assert settled == int(np.argmax(slow[:, bits] == 3))


@pytest.mark.slow
def test_sensitivity_of_graphs_of_six_nodes() -> None:
    slow = all_sensitivities(6, 9)
    for bits in np.random.default_rng(2).choice(2**15, 400, replace=False).tolist():
        assert triangle_sensitivity(graph_of(6, bits)).at(np.arange(10)).tolist() == slow[:, bits].tolist()


@pytest.mark.mostly_slow(quick=3)
@pytest.mark.parametrize("seed", range(12))
def test_sensitivity_against_the_formula(seed: int) -> None:
    graph = random_graph(14 + seed, (0.05, 0.15, 0.4, 0.8)[seed % 4], seed)
    found = triangle_sensitivity(graph).at(np.arange(50))
    assert found.tolist() == [slow_formula(matrix_of(graph), t) for t in range(50)]


@pytest.mark.parametrize("hubs", [1, 3, 12])
def test_sensitivity_where_hubs_make_most_nodes_needless(hubs: int) -> None:
    """The search ends early on such graphs; compared with all pairs."""
    rng = np.random.default_rng(hubs)
    nodes = 150
    chance = np.where(np.minimum.outer(np.arange(nodes), np.arange(nodes)) < hubs, 0.6, 0.03)
    matrix = np.triu(rng.random((nodes, nodes)) < chance, 1)
    rows, columns = np.nonzero(matrix)
    adjacency = (matrix | matrix.T).astype(np.int64)
    shared, degrees = adjacency @ adjacency, adjacency.sum(axis=0)
    one = degrees[:, None] + degrees - 2 * adjacency - 2 * shared
    upper = np.triu_indices(nodes, 1)
    graph = neighbours(nodes, rows.astype(np.int64), columns.astype(np.int64))
    found = triangle_sensitivity(graph).at(np.arange(400))
    slow = [int((shared + (t + np.minimum(t, one)) // 2)[upper].max()) for t in range(400)]
    assert found.tolist() == np.minimum(slow, nodes - 2).tolist()


def test_neighbours_differ_by_one_at_most() -> None:
    """What the bound on the normaliser rests on, for all graphs of five nodes."""
    found = np.array([sensitivity.at(np.arange(12)) for sensitivity in every_sensitivity(5)])
    numbers = np.arange(2**10)
    for at in range(len(pairs(5))):
        other = found[numbers ^ 1 << at]
        assert np.abs(found - other).max() <= 1
        assert (found[:, :-1] <= other[:, 1:]).all()


@pytest.mark.slow
def test_sensitivity_of_a_star() -> None:
    """The pairs that matter far out share nothing: hub and leaf."""
    star = neighbours(30, np.zeros(29, dtype=np.int64), np.arange(1, 30))
    assert triangle_sensitivity(star).at(np.arange(60)).tolist() == [
        slow_formula(matrix_of(star), t) for t in range(60)
    ]


def test_few_nodes() -> None:
    for nodes in (0, 1, 2):
        empty = neighbours(nodes, np.zeros(0, dtype=np.int64), np.zeros(0, dtype=np.int64))
        found = triangle_sensitivity(empty)
        assert found.at(np.arange(4)).tolist() == [0] * 4
        assert ladder_rule(nodes, 1.0).ladder(found).widths.tolist() == [2]


def law(ladder: Ladder, offsets: Integers, total: Fraction) -> list[Fraction]:
    return [ladder.decay**rung / total for rung in rungs_of(ladder, offsets).tolist()]


@cache
def every_sensitivity(nodes: int) -> list[TriangleSensitivity]:
    """That of each graph with so many nodes."""
    return [triangle_sensitivity(graph_of(nodes, bits)) for bits in range(2 ** len(pairs(nodes)))]


def largest_ratio(rule: LadderRule, nodes: int) -> Fraction:
    """Of the probabilities of any output, over all pairs of neighbouring graphs with so many nodes."""
    counts = triangle_counts(matrices(nodes))
    ladders = [rule.ladder(sensitivity) for sensitivity in every_sensitivity(nodes)]
    # Beyond the longest ladder all rungs are equally wide, so the ratios repeat with that period.
    reach = max(int(ladder.ends[-1]) for ladder in ladders) + int(counts.max()) + 2 * nodes + 4
    outputs = np.arange(-reach, reach + 1)
    kinds: dict[tuple[int, int, tuple[int, ...]], list[Fraction]] = {}
    keys = []
    for count, ladder in zip(counts.tolist(), ladders, strict=True):
        key = (count, ladder.first, tuple(ladder.widths.tolist()))
        keys.append(key)
        if key not in kinds:
            kinds[key] = law(ladder, outputs - count, total_weight(ladder))
    neighbouring = {(keys[g], keys[g ^ 1 << at]) for g in range(len(keys)) for at in range(len(pairs(nodes)))}
    return max(max(p / q for p, q in zip(kinds[a], kinds[b], strict=True)) for a, b in neighbouring)


@pytest.mark.mostly_slow(quick=3)
@pytest.mark.parametrize("epsilon", quick_first([1.0, 0.3, 3.0]))
@pytest.mark.parametrize("share", [0.0, None, 1.0])
@pytest.mark.parametrize("floor", [1, 2, None])
def test_privacy_by_enumeration(epsilon: float, share: float | None, floor: int | None) -> None:
    rule = ladder_rule(5, epsilon, floor=floor, share=share)
    assert largest_ratio(rule, 5) <= rule.loss_factor
    assert rule.loss_factor <= 1 / Fraction(decay_above(epsilon))
    assert rule.loss_factor >= math.exp(epsilon) * (1 - 1e-12)


def test_published_privacy_by_enumeration() -> None:
    rule = published_rule(5, 1.0)
    ratio = largest_ratio(rule, 5)
    assert 1.5 < ratio <= rule.loss_factor <= Fraction("2.71828182845904523536")
    # The test sees a ladder that decays too fast.
    faulty = LadderRule(5, 1, Fraction(0), Fraction(1, 2**3))
    assert largest_ratio(faulty, 5) > math.e


def test_enumeration_sees_a_missing_slack(monkeypatch: pytest.MonkeyPatch) -> None:
    """With a wide rung 0 but no slack, neighbours are two rungs apart somewhere."""

    def without_slack(rule: LadderRule, sensitivity: TriangleSensitivity) -> Ladder:
        whole = original(rule, sensitivity)
        return Ladder(whole.first, whole.widths - 1, whole.decay)

    original = LadderRule.ladder
    rule = ladder_rule(5, 3.0, floor=1, share=0.6)
    monkeypatch.setattr(LadderRule, "ladder", without_slack)
    assert largest_ratio(rule, 5) > rule.loss_factor


def test_rungs_of_neighbours_are_at_most_one_apart() -> None:
    """On graphs that are too large to enumerate, for edges that matter."""
    rng = np.random.default_rng(9)
    for seed in range(6):
        graph = random_graph(40, 0.2, seed)
        matrix = matrix_of(graph)
        i, j = np.argwhere(np.triu(matrix @ matrix, 1) == np.triu(matrix @ matrix, 1).max())[0].tolist()
        for change in ((i, j), (i, int(rng.integers(0, i))) if i else (i, j)):
            other = matrix.copy()
            other[change] = other[change[::-1]] = 1 - other[change]
            rule = ladder_rule(40, 0.5, floor=3)
            near = neighbours(40, *np.nonzero(np.triu(other, 1)))
            ladders = [rule.ladder(triangle_sensitivity(which)) for which in (graph, near)]
            counts = triangle_counts(np.array([matrix, other]))
            outputs = np.arange(-2000, 4000)
            rungs = [rungs_of(ladder, outputs - count) for ladder, count in zip(ladders, counts, strict=True)]
            assert np.abs(rungs[0] - rungs[1]).max() == 1
            assert total_weight(ladders[0]) <= total_weight(ladders[1]) * rule.loss_factor * rule.decay
            assert total_weight(ladders[1]) <= total_weight(ladders[0]) * rule.loss_factor * rule.decay


def test_rungs_and_ends() -> None:
    ladder = Ladder(2, np.array([3, 4, 4, 5]), Fraction(1, 2))
    slow = [0, 0, 0] + [1] * 3 + [2] * 4 + [3] * 4 + [4] * 5 + [5] * 5 + [6] * 5
    assert rungs_of(ladder, np.arange(len(slow))).tolist() == slow
    assert rungs_of(ladder, -np.arange(len(slow))).tolist() == slow
    assert ladder.end(np.arange(7)).tolist() == [2, 5, 9, 13, 18, 23, 28]
    weights = [0.5**rung for rung in rungs_of(ladder, np.arange(-400, 401)).tolist()]
    assert float(total_weight(ladder)) == pytest.approx(sum(weights), rel=1e-12)


def test_wide_rungs_cost_nothing_when_all_graphs_have_the_same() -> None:
    rule = ladder_rule(10, 1.0, floor=8)
    assert rule.loss_factor * rule.decay == 1
    assert float(rule.decay) == pytest.approx(math.exp(-1.0), rel=1e-12)


def test_arguments() -> None:
    for epsilon in (0.0, -1.0, math.inf, math.nan, 1e-300):
        with pytest.raises(InvalidArgument, match="epsilon"):
            ladder_rule(100, epsilon)
    assert ladder_rule(100, 700.0).decay > 0
    with pytest.raises(ValueError, match="rise"):
        Ladder(1, np.array([3, 5]), Fraction(1, 2))
    with pytest.raises(ValueError, match="least width"):
        LadderRule(5, 0, Fraction(0), Fraction(1, 2))
    with pytest.raises(ValueError, match="another number"):
        ladder_rule(6, 1.0).ladder(triangle_sensitivity(graph_of(5, 3)))
