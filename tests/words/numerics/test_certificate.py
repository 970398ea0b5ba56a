"""The certificate of the exponential mechanism on words, against every word of small languages."""

from __future__ import annotations

import math
from fractions import Fraction
from itertools import pairwise
from typing import Any

import mpmath
import numpy as np
import pytest

from tests.params import quick_first
from veil.core.arrays import Floats, Ints
from veil.errors import InvalidArgument
from veil.samples.streets import streets
from veil.words.numerics import bounds, certificate, pair_bounds
from veil.words.numerics.bounds import Boxes
from veil.words.numerics.certificate import Changes, certified_decay, certified_loss, rate_above
from veil.words.numerics.graph import WordGraph, graph_of

# The counterexample to "b times the loss of radius 1": 0 -> 2 and 1 -> 3, ..., 22.
FAN = graph_of([[2], list(range(3, 23)), *([[]] * 21)], 2, first=[0, 1])


def normaliser_bounds(
    graph: WordGraph, decay: float, longest: int, *, memory: int | None = None, shorter: bool = False
) -> tuple[float, ...]:
    """(D_1, ..., D_longest): D_r bounds |log Z(w') / Z(w)| if w and w' differ in one run of r positions."""
    changes, rate = Changes.of(graph, decay, memory, shorter), rate_above(decay)
    return tuple(max(0.0, min(r * rate, changes.bound(r))) for r in range(1, longest + 1))


def random_graph(rng: np.random.Generator) -> WordGraph:
    """A small language, often with loops, dead ends, unreachable nodes, shared symbols or weights."""
    size = int(rng.integers(1, 7))
    shared = rng.random() < 0.5
    alphabet = int(rng.integers(1, min(4, size) + 1)) if shared else size
    symbol = rng.integers(0, alphabet, size) if shared else np.arange(size)

    def some_nodes(density: float) -> list[int]:
        chosen: dict[int, int] = {}
        for node in rng.permutation(size).tolist():
            if rng.random() < density:
                chosen.setdefault(int(symbol[node]), node)
        return sorted(chosen.values())

    density = float(rng.choice([0.3, 0.5, 0.8]))
    rows = [some_nodes(density) for _ in range(size)]
    begin = some_nodes(1.0 if rng.random() < 0.4 else 0.5)
    first, last = np.zeros(size, dtype=np.bool_), np.ones(size, dtype=np.bool_)
    first[begin[:1] if rng.random() < 0.3 else begin] = True
    if rng.random() < 0.4:
        last = rng.random(size) < 0.6
    starts = np.zeros(size + 1, dtype=np.int64)
    np.cumsum([len(row) for row in rows], out=starts[1:])
    targets = np.array([node for row in rows for node in row], dtype=np.int32)
    length = int(rng.integers(1, 6))
    graph = WordGraph(length, alphabet, symbol.astype(np.int32), starts, targets, first, last)
    if rng.random() < 0.4:
        scale = 1.5
        graph = graph.weighted(
            np.exp(scale * rng.normal(size=len(targets))), np.exp(scale * rng.normal(size=size))
        )
    return graph


def all_words(graph: WordGraph) -> tuple[Ints, Floats]:
    """The words as rows, with their weights."""
    found = [([int(node)], float(graph.first_weight[node])) for node in np.flatnonzero(graph.first)]
    for _ in range(graph.length - 1):
        found = [
            ([*path, int(graph.targets[edge])], weight * float(graph.weight[edge]))
            for path, weight in found
            for edge in range(graph.starts[path[-1]], graph.starts[path[-1] + 1])
        ]
    found = [(path, weight) for path, weight in found if graph.last[path[-1]]]
    paths = np.array([path for path, _ in found], dtype=np.int64).reshape(-1, graph.length)
    return graph.symbol[paths], np.array([weight for _, weight in found])


def exact_figures(graph: WordGraph, decay: float) -> tuple[list[float], list[float]] | None:
    """For runs of 1, 2, 3 the largest |log Z'/Z|, for radius 1, 2, 3 the largest loss; None if too large."""
    words, weights = all_words(graph)
    if not 2 <= len(words) <= 250:
        return None
    differs = words[:, None, :] != words[None, :, :]
    distance = differs.sum(axis=2)
    normaliser = (weights * decay**distance).sum(axis=1)
    change = np.log(normaliser[None, :] / normaliser[:, None])
    span = graph.length - differs[:, :, ::-1].argmax(axis=2) - differs.argmax(axis=2)
    bounds = [float(np.abs(change[(distance == r) & (span == r)]).max(initial=0.0)) for r in (1, 2, 3)]
    # loss[w, w']: over every output v.
    further = (distance[None, :, :] - distance[:, None, :]).max(axis=2)
    loss = further * -math.log(decay) + change
    return bounds, [float(loss[distance <= radius].max()) for radius in (1, 2, 3)]


def check_random_languages(seed: int, count: int) -> dict[int, Floats]:
    """Every bound holds; returns certificate / truth of the losses by radius, for unique symbols."""
    rng = np.random.default_rng(seed)
    gaps: dict[int, list[float]] = {1: [], 2: [], 3: []}
    refuted, done = 0, 0
    while done < count:
        graph, decay = random_graph(rng), math.exp(-float(rng.choice([0.1, 0.5, 1.0, 2.0, 4.0])))
        exact = exact_figures(graph, decay)
        if exact is None:
            continue
        done += 1
        memory = [None, 0, 1, 2, 3][int(rng.integers(5))]
        shorter = bool(rng.random() < 0.2)
        given = graph.of_length(graph.length + int(rng.integers(0, 4))) if shorter else graph
        found = normaliser_bounds(given, decay, 3, memory=memory, shorter=shorter)
        for truth, bound in zip(exact[0], found, strict=True):
            assert truth <= bound + 1e-11
            # A certificate that is 5 % too small would be caught often.
            refuted += truth > 0.95 * bound + 1e-11
        for radius in (1, 2, 3):
            truth, bound = (
                exact[1][radius - 1],
                certified_loss(given, decay, radius, memory=memory, shorter=shorter),
            )
            assert truth <= bound * (1.0 + 1e-12)
            if truth > 0.0 and not shorter and len(np.unique(graph.symbol)) == graph.size:
                gaps[radius].append(bound / truth)
    assert refuted > count / 10
    return {radius: np.array(ratios) for radius, ratios in gaps.items()}


def check_gaps(gaps: dict[int, Floats]) -> None:
    assert np.median(gaps[1]) < 1.001
    assert np.quantile(gaps[1], 0.95) < 1.05
    assert np.median(gaps[2]) < 1.05
    assert np.median(gaps[3]) < 1.05


@pytest.mark.slow
@pytest.mark.parametrize("count", quick_first([40, 120]))
def test_bounds_hold_for_every_word_of_random_languages(count: int) -> None:
    check_gaps(check_random_languages(seed=2024, count=count))


@pytest.mark.slow
@pytest.mark.parametrize("count", quick_first([20, 80]))
def test_bounds_hold_if_all_positions_share_their_boxes(count: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(certificate, "_OWN_POSITIONS", 0)
    monkeypatch.setattr(certificate, "_OWN_IF_SHORTER", 0)
    check_random_languages(seed=2023, count=count)


def only_pairs(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """Leave nothing of the boxes but what the bounds of pairs say. Returns a list that counts the calls."""
    calls = []

    def box_levels(*arguments: Any) -> list[Boxes] | None:
        levels = bounds.box_levels(*arguments)
        for boxes in levels or []:
            own = boxes.low == boxes.high
            own &= boxes.low == 1.0
            boxes.low[~own] = 0.0
            boxes.high[~own] = 1e90
        calls.append(len(levels or []))
        return levels

    monkeypatch.setattr(certificate, "box_levels", box_levels)
    monkeypatch.setattr(certificate, "_SMALL_CHANGE", 0.0)
    monkeypatch.setattr(pair_bounds, "_LARGEST_RATE", math.inf)
    return calls


@pytest.mark.slow
@pytest.mark.parametrize("count", quick_first([40, 120]))
@pytest.mark.parametrize("own", [0, 16])
def test_bounds_of_pairs_hold_alone(own: int, count: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(certificate, "_OWN_POSITIONS", own)
    monkeypatch.setattr(certificate, "_OWN_IF_SHORTER", own)
    calls = only_pairs(monkeypatch)
    rng = np.random.default_rng(77 + own)
    gaps: list[float] = []
    refuted, done = 0, 0
    while done < count:
        graph, decay = random_graph(rng), math.exp(-float(rng.choice([0.1, 0.5, 1.0, 2.0, 4.0])))
        exact = exact_figures(graph, decay)
        if exact is None:
            continue
        done += 1
        memory = [None, 0, 1, 2, 3][int(rng.integers(5))]
        shorter = bool(rng.random() < 0.2)
        given = graph.of_length(graph.length + int(rng.integers(0, 4))) if shorter else graph
        (bound,) = normaliser_bounds(given, decay, 1, memory=memory, shorter=shorter)
        assert exact[0][0] <= bound + 1e-11
        # A bound that is 5 % too small would be caught often.
        refuted += exact[0][0] > 0.95 * bound + 1e-11
        gaps += [bound / exact[0][0]] if exact[0][0] > 0.0 else []
    assert calls
    assert refuted > done / 10
    if own:
        assert np.median(gaps) < 1.05


@pytest.mark.slow
def test_bounds_of_pairs_are_narrower_at_low_rates(monkeypatch: pytest.MonkeyPatch) -> None:
    graph, decay = street_graph(14), math.exp(-0.8)
    (bound,) = normaliser_bounds(graph, decay, 1, memory=2)
    monkeypatch.setattr(certificate, "may_tighten", lambda graph, rate: False)
    (without,) = normaliser_bounds(graph, decay, 1, memory=2)
    assert bound < 0.6 * without


@pytest.mark.slow
def test_bounds_hold_for_every_word_of_many_random_languages() -> None:
    check_gaps(check_random_languages(seed=2025, count=3_000))


@pytest.mark.slow
@pytest.mark.parametrize("alone", [False, True])
def test_bounds_are_rounded_up(alone: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    """Against rational normalisers and logarithms of 40 digits, with no tolerance."""
    if alone:
        only_pairs(monkeypatch)
    rng = np.random.default_rng(5)
    checked = 0
    while checked < 40:
        graph, decay = random_graph(rng), float(rng.uniform(0.05, 0.9))
        words, _ = all_words(graph)
        if not 2 <= len(words) <= 40:
            continue
        checked += 1
        distance = (words[:, None, :] != words[None, :, :]).sum(axis=2).tolist()
        powers = [Fraction(decay) ** k for k in range(graph.length + 1)]
        exact_weights = _exact_weights(graph, words)
        normaliser = [
            sum((kappa * powers[d] for kappa, d in zip(exact_weights, row, strict=True)), Fraction(0))
            for row in distance
        ]
        (bound,) = normaliser_bounds(graph, decay, 1)
        with mpmath.workdps(40):
            for i, row in enumerate(distance):
                for j, d in enumerate(row):
                    if d == 1:
                        ratio = normaliser[j] / normaliser[i]
                        assert mpmath.log(mpmath.mpf(ratio.numerator) / ratio.denominator) <= bound


def _exact_weights(graph: WordGraph, words: Ints) -> list[Fraction]:
    weights = []
    for word in words:
        path = [graph.size]
        for symbol in word:
            path.append(int(graph.step[path[-1], symbol]))
        path = path[1:]
        weight = Fraction(float(graph.first_weight[path[0]]))
        for here, there in pairwise(path):
            edges = range(graph.starts[here], graph.starts[here + 1])
            (edge,) = [edge for edge in edges if graph.targets[edge] == there]
            weight *= Fraction(float(graph.weight[edge]))
        weights.append(weight)
    return weights


def test_radius_two_is_not_twice_radius_one() -> None:
    decay = math.exp(-1.0)
    exact = exact_figures(FAN, decay)
    assert exact is not None
    assert exact[1] == pytest.approx([1.0, 2.785, 2.785], abs=1e-3)
    assert certified_loss(FAN, decay, 1) == pytest.approx(1.0)
    assert certified_loss(FAN, decay, 2) == pytest.approx(exact[1][1], rel=1e-9)
    # Twice the certificate of radius one would be refuted.
    assert exact[1][1] > 2.0 * certified_loss(FAN, decay, 1)


def test_free_words_have_a_constant_normaliser() -> None:
    graph = graph_of([list(range(5))] * 5, 1_000)
    assert normaliser_bounds(graph, 0.3, 3) == (0.0, 0.0, 0.0)
    assert certified_loss(graph, 0.3, 2) == pytest.approx(-2.0 * math.log(0.3))
    decay, loss = certified_decay(graph, 2.0, 2)
    assert loss <= 2.0
    assert -math.log(decay) == pytest.approx(1.0, rel=1e-6)


@pytest.mark.slow
@pytest.mark.parametrize("epsilon", quick_first([0.7, 1e-12, 1e-3, 3.0, 40.0, 5_000.0]))
def test_the_decay_found_keeps_to_epsilon(epsilon: float) -> None:
    rng = np.random.default_rng(8)
    for _ in range(6):
        graph = random_graph(rng)
        for radius in (1, 2):
            decay, loss = certified_decay(graph, epsilon, radius)
            assert 0.0 < decay <= 1.0
            assert loss <= epsilon
            exact = exact_figures(graph, decay)
            if exact is not None and decay < 1.0:
                assert exact[1][radius - 1] <= epsilon * (1.0 + 1e-9) + 1e-13


def street_graph(length: int) -> WordGraph:
    roads = streets()
    number = {name: i for i, name in enumerate(roads)}
    successors = [sorted(number[other] for other in row) for row in roads.values()]
    return graph_of(successors, length, first=successors[0])


@pytest.mark.slow
def test_streets_use_most_of_the_budget() -> None:
    graph = street_graph(14)
    decay, loss = certified_decay(graph, 3.0, 1, memory=2)
    assert loss <= 3.0
    assert loss == certified_loss(graph, decay, 1, memory=2)
    assert -math.log(decay) > 2.47
    # More memory is tighter.
    narrow, wide = (normaliser_bounds(graph, decay, 1, memory=memory)[0] for memory in (1, 3))
    assert wide < narrow


@pytest.mark.slow_for("5000")
@pytest.mark.parametrize("length", [30, 5_000])
def test_the_tail_covers_all_positions_of_long_words(length: int) -> None:
    graph, decay = street_graph(length), math.exp(-2.4)
    (bound,) = normaliser_bounds(graph, decay, 1, memory=1)
    assert bound < 0.75
    steps = np.zeros((graph.size, graph.size))
    steps[graph.sources, graph.targets] = 1.0
    rng = np.random.default_rng(length)
    word = [int(rng.choice(np.flatnonzero(graph.first)))]
    while len(word) < length:
        word.append(int(rng.choice(np.flatnonzero(steps[word[-1]]))))
    past, future = [graph.first.astype(float)], [np.ones(graph.size)]
    for t in range(length - 1):
        after = (past[-1] * np.where(np.arange(graph.size) == word[t], 1.0, decay)) @ steps
        past.append(after / after.sum())
        read = np.where(np.arange(graph.size) == word[length - 1 - t], 1.0, decay)
        before = steps @ (future[-1] * read)
        future.append(before / before.sum())
    largest = 0.0
    for t in range(1, length - 1):
        values = past[t] * future[length - 1 - t]
        normaliser = decay * values.sum() + (1.0 - decay) * values
        fits = (steps[word[t - 1]] > 0.0) & (steps[:, word[t + 1]] > 0.0)
        largest = max(largest, float(np.abs(np.log(normaliser[fits] / normaliser[word[t]])).max()))
    assert 0.3 < largest <= bound


def test_growing_ratios_fall_back_to_the_generic_bound() -> None:
    # One part has ten times as many words a step as the other: their ratio leaves every box.
    many = list(range(2, 12))
    graph = graph_of([[1], [1], *([many] * 10)], 4_000, first=[0, 2])
    assert normaliser_bounds(graph, 0.5, 1, memory=1)[0] <= -math.log(0.5) * (1.0 + 1e-12)


def test_a_language_without_words() -> None:
    assert certified_loss(graph_of([[1], []], 5), 0.5, 1) >= 0.0


def test_no_two_words_at_the_radius_cost_nothing() -> None:
    # Two words that differ everywhere.
    graph = graph_of([[0], [1]], 3)
    assert certified_loss(graph, 0.5, 2) == 0.0
    assert certified_loss(graph, 0.5, 3) == pytest.approx(-3.0 * math.log(0.5))


@pytest.mark.slow
def test_one_certificate_for_many_lengths() -> None:
    decay = math.exp(-2.5)
    together = certified_loss(street_graph(40), decay, 1, memory=2, shorter=True)
    assert together < 3.1
    for length in (1, 2, 3, 7, 14, 40):
        # Bounds of tails give way by 1e-6 more than they must, in different places.
        assert certified_loss(street_graph(length), decay, 1, memory=2) <= together * (1.0 + 2e-6)


def test_wrong_arguments() -> None:
    with pytest.raises(InvalidArgument, match="decay"):
        normaliser_bounds(FAN, 1.5, 1)
    with pytest.raises(InvalidArgument, match="radius"):
        certified_loss(FAN, 0.5, 0)
    with pytest.raises(InvalidArgument, match="epsilon"):
        certified_decay(FAN, 0.0, 1)
