"""Weights that balance the normaliser on words: against enumeration of small languages."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest

from tests.params import quick_first
from veil.words.numerics.balance import Balancer, _Problem, balanced_for
from veil.words.numerics.balance_features import features_of, lifted
from veil.words.numerics.certificate import certified_decay
from veil.words.numerics.graph import WordGraph, graph_of
from veil.words.numerics.normalisers import random_pairs, worst_changes


def _blocks(rows: int, columns: int) -> list[list[int]]:
    """The segments between the junctions of a grid; those that meet follow one another."""
    places = list(itertools.product(range(rows), range(columns)))
    joined = ((u, v) for u, v in itertools.combinations(places, 2) if math.dist(u, v) == 1.0)
    ends = [frozenset(two) for two in joined]
    return [[j for j, other in enumerate(ends) if other != one and one & other] for one in ends]


def _language(length: int) -> WordGraph:
    successors = _blocks(3, 3)
    return graph_of(successors, length, first=successors[0])


def balanced(graph: WordGraph, decay: float) -> WordGraph:
    return Balancer(graph).weighted(decay)


def _all_words(graph: WordGraph) -> tuple[np.ndarray, np.ndarray]:
    """Every word with its weight, by enumeration."""
    paths = [([int(x)], float(graph.first_weight[x])) for x in np.flatnonzero(graph.first)]
    for _ in range(graph.length - 1):
        paths = [
            ([*path, int(graph.targets[e])], mass * float(graph.weight[e]))
            for path, mass in paths
            for e in range(graph.starts[path[-1]], graph.starts[path[-1] + 1])
        ]
    kept = [(path, mass) for path, mass in paths if graph.last[path[-1]]]
    return graph.symbol[np.array([path for path, _ in kept])], np.array([mass for _, mass in kept])


def _normalisers(graph: WordGraph, decay: float) -> tuple[np.ndarray, np.ndarray]:
    """log Z of all words in the order of their symbols, and their distances."""
    words, mass = _all_words(graph)
    order = np.lexsort(words.T[::-1])
    words, mass = words[order], mass[order]
    distances = (words[:, None, :] != words[None, :, :]).sum(axis=2)
    return np.log(decay**distances @ mass), distances


def _largest_change(graph: WordGraph, decay: float, radius: int = 1) -> float:
    logs, distances = _normalisers(graph, decay)
    changes = np.abs(logs[:, None] - logs[None, :])
    return float(changes[(distances > 0) & (distances <= radius)].max())


def test_the_lifted_graph_has_the_same_words() -> None:
    graph = _language(5)
    words, _ = _all_words(graph)
    again, _ = _all_words(lifted(graph))
    assert sorted(map(tuple, words.tolist())) == sorted(map(tuple, again.tolist()))


@pytest.mark.parametrize(("rate", "share"), quick_first([(2.0, 0.4), (1.0, 0.65), (3.0, 0.3)]))
def test_balanced_weights_make_the_normaliser_nearly_constant(rate: float, share: float) -> None:
    graph = _language(5)
    decay = math.exp(-rate)
    weighted = balanced(graph, decay)
    assert weighted.is_weighted
    assert weighted.weight.min() > 1e-3
    assert weighted.weight.max() < 1e3
    assert _largest_change(weighted, decay) < share * _largest_change(graph, decay)


@pytest.mark.slow
def test_weights_fitted_for_one_length_serve_another() -> None:
    decay = math.exp(-2.0)
    weighted = balanced(_language(6), decay)
    for length in (2, 3, 4, 5):
        assert _largest_change(weighted.of_length(length), decay) < _largest_change(_language(length), decay)


@pytest.mark.slow
def test_the_same_language_and_decay_give_the_same_weights() -> None:
    one, two = (balanced(_language(5), 0.2) for _ in range(2))
    assert (one.weight == two.weight).all()
    assert (one.first_weight == two.first_weight).all()


def test_local_search_finds_the_largest_change_of_a_small_language() -> None:
    graph = _language(4)
    decay = math.exp(-1.5)
    weighted = balanced(graph, decay)
    words, changed, found = worst_changes(graph, weighted, decay, 20, 200, np.random.default_rng(1))
    assert found.max() == pytest.approx(_largest_change(weighted, decay), rel=1e-9)
    assert ((words != changed).sum(axis=1) == 1).all()


def test_the_derivatives_are_those_of_the_normaliser() -> None:
    graph = _language(5)
    pairs = lifted(graph)
    problem = _Problem(pairs, features_of(graph, pairs), 0.3)
    rng = np.random.default_rng(2)
    words, _ = random_pairs(graph, 3, rng)
    at = 0.3 * rng.standard_normal(problem.features.width)
    _, slopes = problem.measure(at, words)
    for k in range(len(at)):
        step = 1e-5 * (np.arange(len(at)) == k)
        above, below = problem.measure(at + step, words)[0], problem.measure(at - step, words)[0]
        assert slopes[:, k] == pytest.approx((above - below) / 2e-5, abs=1e-7)


@pytest.mark.slow
@pytest.mark.parametrize("epsilon", quick_first([3.0, 1.5]))
def test_the_certified_loss_holds_for_all_words(epsilon: float) -> None:
    graph = _language(5)
    weighted, decay, loss, _ = balanced_for(graph, epsilon, 1)
    assert loss <= epsilon
    assert -math.log(decay) + _largest_change(weighted, decay) <= loss


@pytest.mark.slow
def test_balancing_allows_a_higher_rate() -> None:
    graph = _language(5)
    weighted, decay, _, _ = balanced_for(graph, 3.0, 1)
    assert weighted.is_weighted
    assert decay < certified_decay(graph, 3.0, 1)[0]


@pytest.mark.slow
def test_a_larger_radius_keeps_its_guarantee() -> None:
    graph = _language(4)
    weighted, decay, loss, _ = balanced_for(graph, 4.0, 2)
    assert loss <= 4.0
    logs, distances = _normalisers(weighted, decay)
    losses = np.minimum(distances, 99) * -math.log(decay) + np.abs(logs[:, None] - logs[None, :])
    assert losses[distances <= 2].max() <= loss * (1.0 + 1e-12)


def test_dead_ends_and_restricted_ends_are_no_obstacle() -> None:
    # Node 4 leads nowhere, and words end in the nodes 0 and 1 only.
    graph = graph_of([[1, 2, 3], [0, 2, 4], [0, 1, 3], [0, 2], []], 6, first=[0, 1, 2], last=[0, 1])
    decay = math.exp(-2.0)
    assert _largest_change(balanced(graph, decay), decay) < _largest_change(graph, decay)


def test_where_there_is_nothing_to_balance_the_graph_stays_as_it_is() -> None:
    single = graph_of([[0, 1], [0, 1]], 1)
    assert not Balancer(single).is_possible
    assert balanced(single, 0.5) is single


def _automaton(states: dict[str, dict[int, str]], begin: str, length: int) -> WordGraph:
    """The words that the automaton can read: a node for every arrow, which carries its symbol."""
    arrows = [(state, symbol) for state, row in states.items() for symbol in row]
    successors = [
        [j for j, (state, _) in enumerate(arrows) if state == states[one][symbol]] for one, symbol in arrows
    ]
    chain = graph_of(successors, length, first=[j for j, (state, _) in enumerate(arrows) if state == begin])
    symbols = np.array([symbol for _, symbol in arrows], dtype=np.int32)
    return WordGraph(length, 3, symbols, chain.starts, chain.targets, chain.first, chain.last)


@pytest.mark.slow
def test_nodes_may_share_symbols() -> None:
    # After a 2 no 1 may come until the next 0, and no 2 follows a 2.
    states = {"free": {0: "free", 1: "free", 2: "held"}, "held": {0: "free"}}
    graph = _automaton(states, "free", 6)
    decay = math.exp(-1.5)
    weighted = balanced(graph, decay)
    assert _largest_change(weighted, decay) < 0.5 * _largest_change(graph, decay)
    _, decay, loss, _ = answer = balanced_for(graph, 2.0, 1)
    assert -math.log(decay) + _largest_change(answer[0], decay) <= loss <= 2.0


def test_a_language_without_single_changes_stays_as_it_is() -> None:
    # An even number of ones: the last symbol is fixed by the others.
    graph = graph_of([[0, 1], [2, 3], [2, 3], [0, 1]], 5, first=[0, 1], last=[0, 3])
    parity = WordGraph(
        5, 2, np.array([0, 1, 0, 1], dtype=np.int32), graph.starts, graph.targets, graph.first, graph.last
    )
    assert balanced(parity, 0.2) is parity
