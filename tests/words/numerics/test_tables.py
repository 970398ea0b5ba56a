"""Tables, counts and laws of the number of errors, against the enumeration of all words."""

from __future__ import annotations

import math
from fractions import Fraction
from math import comb
from typing import Any

import numpy as np
import pytest

from tests.params import quick_first
from tests.words.numerics.oracle import (
    all_words,
    automaton,
    by_distance,
    count_error,
    distance,
    exact_distance_counts,
    exponential_law,
    permute_and_flip_law,
    ring,
    sequential_law,
    weighted,
)
from veil.core.numerics.staircase import free_counts
from veil.errors import InvalidArgument
from veil.words.numerics.channel import (
    best_targets,
    nearest_targets,
    sequential_expected_errors,
    sequential_pmf,
)
from veil.words.numerics.counts import (
    Counts,
    distance_counts,
    distance_weights,
    log_counts,
    permute_and_flip_rounding,
)
from veil.words.numerics.errors import expected_errors, exponential_pmf, log_phi, permute_and_flip_pmf
from veil.words.numerics.graph import WordGraph, graph_of
from veil.words.numerics.tables import Ways, rounding_loss

GRAPHS = [ring(), automaton(), weighted(ring()), weighted(automaton())]
NAMES = ["ring", "automaton", "weighted ring", "weighted automaton"]
FORMS = pytest.mark.parametrize("plain", [True, False], ids=["plain", "scaled"])


def use(monkeypatch: pytest.MonkeyPatch, plain: bool) -> None:
    if not plain:
        monkeypatch.setattr(Ways, "fits", lambda *_: False)


@FORMS
@pytest.mark.parametrize("graph", GRAPHS, ids=NAMES)
@pytest.mark.parametrize("decay", quick_first([0.3, 1.0, 1e-3]))
def test_exponential_errors(
    graph: WordGraph, decay: float, plain: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    use(monkeypatch, plain)
    words = list(all_words(graph))[::7]
    means = expected_errors(graph, np.array(words), decay)
    for word, mean in zip(words, means, strict=True):
        law = by_distance(exponential_law(graph, word, decay), word)
        np.testing.assert_allclose(exponential_pmf(graph, np.array(word), decay), law, rtol=1e-12, atol=1e-15)
        assert mean == pytest.approx(sum(far * p for far, p in enumerate(law)), rel=1e-12, abs=1e-15)


@FORMS
@pytest.mark.parametrize("graph", GRAPHS[:2], ids=NAMES[:2])
def test_counts_of_words(graph: WordGraph, plain: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    words = list(all_words(graph))
    use(monkeypatch, plain)
    for word in words[::5]:
        counted = [sum(distance(v, word) == far for v in words) for far in range(graph.length + 1)]
        assert exact_distance_counts(graph, np.array(word)) == counted
        assert distance_weights(graph, np.array(word)).exact() == counted
    several = distance_counts(graph, np.array(words))
    if plain:
        assert several is not None
        assert several.sum() == len(words) ** 2
    else:
        assert several is None


@FORMS
def test_rounded_counts_are_within_their_bound(plain: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    graph = ring(90)
    word = np.array([0, 1, 2, 3, 4] * 18)
    exact = exact_distance_counts(graph, word)
    assert max(exact) > 2**100
    use(monkeypatch, plain)
    found = distance_weights(graph, word).exact()
    errors = [abs(a / b - 1) for a, b in zip(found, exact, strict=True) if b]
    assert 0 < max(errors) <= count_error(graph)
    assert all(a == b for a, b in zip(found, exact, strict=True) if b < 2**53)


def test_counts_beyond_the_range_of_floats() -> None:
    graph = graph_of([list(range(10))] * 10, 400)
    counts = distance_weights(graph, np.zeros(400, dtype=np.int32))
    exact = free_counts(400, 10)
    assert exact == [comb(400, far) * 9**far for far in range(401)]
    for found, true in zip(counts.exact(), exact, strict=True):
        assert abs(found / true - 1) <= count_error(graph)
    np.testing.assert_allclose(counts.logs(), [math.log(count) for count in exact], rtol=1e-14)
    np.testing.assert_allclose(log_counts(exact), counts.logs(), rtol=1e-14)


def test_no_node_is_lost_beside_a_richer_one() -> None:
    """One part of the graph has a single word, the other 4^2000: only the first can be entered."""
    successors = [[0, 1], [0, 1], *[[2, 3, 4, 5]] * 4]
    graph = graph_of(successors, 2000, first=[0, 1])
    word = np.zeros(2000, dtype=np.int32)
    assert expected_errors(graph, word[None, :], 0.25)[0] == pytest.approx(2000 * 0.2, rel=1e-12)
    both = graph_of(successors, 2000)
    # From a word of the poor part the rich part is 2000 errors away, but holds 4^2000 words.
    assert expected_errors(both, word[None, :], 0.5)[0] == pytest.approx(2000.0, rel=1e-9)


@pytest.mark.mostly_slow(quick=3)
@pytest.mark.parametrize("graph", [ring(3), automaton(4)], ids=NAMES[:2])
@pytest.mark.parametrize("rate", [0.0, 0.02, 0.7, 3.0])
def test_permute_and_flip(graph: WordGraph, rate: float) -> None:
    word = list(all_words(graph))[3]
    law = permute_and_flip_law(graph, word, rate)
    counts = exact_distance_counts(graph, np.array(word))
    found = permute_and_flip_pmf(counts, rate)
    np.testing.assert_allclose(found, by_distance(law, word), atol=1e-13)
    logs = log_phi(counts, rate)
    for v, probability in law.items():
        far = distance(v, word)
        assert math.exp(logs[far] - rate * far) == pytest.approx(probability, rel=1e-11)


@pytest.mark.slow
@pytest.mark.parametrize("rate", quick_first([1.0, 0.01, 2.5, 8.0]))
def test_permute_and_flip_sums_to_one_with_huge_counts(rate: float) -> None:
    for length, alphabet in ((60, 3), (1000, 12), (10_000, 2)):
        counts = free_counts(length, alphabet)
        assert permute_and_flip_pmf(counts, rate).sum() == pytest.approx(1.0, abs=1e-10)
    logs = Counts(np.array([0.5, 0.75, 0.0, 0.6]), np.array([1, 3322, 0, 40], dtype=np.int32))
    law = permute_and_flip_pmf(logs, rate)
    assert law.sum() == pytest.approx(1.0, abs=1e-11)
    assert law[2] == 0.0


@pytest.mark.slow
@pytest.mark.parametrize(
    ("counts", "rate"), quick_first([([2, 5], 1e-9), ([1, 10**30, 10**40], 40.0), ([1, 10**6, 3], 14.0)])
)
def test_permute_and_flip_against_adaptive_integration(counts: list[int], rate: float) -> None:
    from mpmath import exp, expm1, inf, log, mp, quad

    with mp.workdps(70):
        flips = [exp(-rate * far) for far in range(len(counts))]

        def integrand(x: Any, far: int) -> Any:
            others = [count - (j == far) for j, count in enumerate(counts)]
            logs = [log(-expm1(-x)) if p == 1 else log(1 - p * exp(-x)) for p in flips]
            return exp(-x + sum(many * value for many, value in zip(others, logs, strict=True) if many))

        peak = log(sum(count * p for count, p in zip(counts, flips, strict=True)))
        marks = [0, *[x for x in (peak - 4, peak - 1, peak, peak + 2, peak + 10) if x > 0.01], inf]
        for far, found in enumerate(permute_and_flip_pmf(counts, rate)):
            true = counts[far] * flips[far] * quad(lambda x, far=far: integrand(x, far), marks)
            assert found == pytest.approx(float(true), abs=1e-12)


@pytest.mark.parametrize("graph", GRAPHS[:2], ids=NAMES[:2])
@pytest.mark.parametrize("decay", [1.0, 0.2])
def test_sequential_errors(graph: WordGraph, decay: float) -> None:
    words = list(all_words(graph))[::9]
    for targets in (nearest_targets(graph), best_targets(graph, decay)):
        means = sequential_expected_errors(graph, np.array(words), decay, targets)
        for word, mean in zip(words, means, strict=True):
            law = sequential_law(graph, word, decay, targets)
            assert set(law) <= set(all_words(graph))
            known = by_distance(law, word)
            np.testing.assert_allclose(
                sequential_pmf(graph, np.array(word), decay, targets), known, atol=1e-14
            )
            assert mean == pytest.approx(sum(far * p for far, p in enumerate(known)), abs=1e-13)


def test_nearest_targets_by_hand() -> None:
    graph = ring()
    targets = nearest_targets(graph)
    for v in range(5):
        for symbol in range(5):
            step = graph.step[v, symbol]
            if step >= 0:
                assert targets[v, symbol] == step
    # From 1 to 4: over 2 or over 3, both one step away. From 3 to 2: 0 and 4 lead there at once.
    assert targets[1, 4] == 2
    assert targets[3, 2] == 0
    assert targets[5].tolist() == [0, 1, 2, 3, 4]
    with pytest.raises(InvalidArgument, match="successors"):
        sequential_pmf(graph, np.zeros(4, dtype=np.int32), 0.5, np.zeros((6, 5), dtype=np.int32))


def test_best_targets_are_no_worse_on_average() -> None:
    """The mean over walks that take each edge alike, weighed by their probability."""
    graph = ring(6)
    words = np.array(list(all_words(graph)))
    steps = np.diff(graph.starts)
    weights = np.prod(1.0 / steps[words[:, :-1]], axis=1)
    for decay in (0.02, 0.2):
        near, best = (
            weights @ sequential_expected_errors(graph, words, decay, targets) / weights.sum()
            for targets in (nearest_targets(graph), best_targets(graph, decay))
        )
        assert best <= near + 1e-12
    shared = automaton()
    assert (best_targets(shared, 0.1) == nearest_targets(shared)).all()


def test_bounds_on_rounding() -> None:
    graph = ring(14)
    assert rounding_loss(graph) == pytest.approx(4 * 13 * 5 * 2.0**-53)
    assert Fraction(rounding_loss(graph)) >= 4 * 13 * 5 * Fraction(1, 2**53)
    # 5 * 3^13 words are counted exactly; 5 * 3^89 are not.
    assert permute_and_flip_rounding(graph) == 0.0
    assert permute_and_flip_rounding(ring(90)) == pytest.approx(8 * (89 * 3 + 5) * 2.0**-53, rel=1e-5)


def test_words_are_checked() -> None:
    graph = ring()
    with pytest.raises(InvalidArgument, match="4 symbols"):
        expected_errors(graph, np.zeros((2, 3), dtype=np.int32), 0.5)
    with pytest.raises(InvalidArgument, match="from 0 to 4"):
        expected_errors(graph, np.full((2, 4), 5, dtype=np.int32), 0.5)
    with pytest.raises(InvalidArgument, match="decay"):
        expected_errors(graph, np.zeros((2, 4), dtype=np.int32), 0.0)
