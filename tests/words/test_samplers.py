"""Words drawn by weight, by distance and symbol by symbol, against the enumeration of all words."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from scipy import stats

from tests.core.fit import ALPHA
from tests.core.scripted import ONES, Script
from tests.params import quick_first
from tests.words.numerics.oracle import (
    Word,
    all_words,
    automaton,
    distance,
    exponential_law,
    permute_and_flip_law,
    ring,
    sequential_law,
    weighted,
)
from veil.core.arrays import Ints
from veil.core.random.exact_choice import FixedChoice, choose, sample_free, sample_free_by_distance
from veil.words.numerics.channel import nearest_targets
from veil.words.numerics.graph import WordGraph, graph_of
from veil.words.numerics.tables import LANES, Ways, rounding_loss
from veil.words.samplers import exponential as exponential
from veil.words.samplers.distances import sample_at_distances, sample_permute_and_flip
from veil.words.samplers.exponential import sample_words
from veil.words.samplers.noisy_max import sample_free_permute_and_flip
from veil.words.samplers.responses import sample_sequential

SIZE = 40_000
GRAPHS = [ring(), weighted(automaton())]
NAMES = ["ring", "weighted automaton"]
FORMS = pytest.mark.parametrize("plain", [True, False], ids=["plain", "scaled"])


def use(monkeypatch: pytest.MonkeyPatch, plain: bool) -> None:
    if not plain:
        monkeypatch.setattr(Ways, "fits", lambda *_: False)


def fits(drawn: Ints, law: dict[Word, Any]) -> float:
    """The p-value of a sample of words; words that expect fewer than 10 are joined."""
    seen = Counter(map(tuple, drawn.tolist()))
    assert set(seen) <= {word for word, p in law.items() if p > 0}
    common = [word for word, p in law.items() if len(drawn) * p >= 10]
    expected = [len(drawn) * float(law[word]) for word in common]
    observed = [float(seen[word]) for word in common]
    if len(drawn) - sum(expected) > 1e-6 * len(drawn):
        expected.append(len(drawn) - sum(expected))
        observed.append(len(drawn) - sum(observed))
    else:
        expected = [value * sum(observed) / sum(expected) for value in expected]
    return float(stats.chisquare(observed, expected).pvalue)


def copies(word: Word, count: int = SIZE) -> Ints:
    return np.tile(np.array(word, dtype=np.int32), (count, 1))


@FORMS
@pytest.mark.parametrize("graph", GRAPHS, ids=NAMES)
def test_exponential(graph: WordGraph, plain: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    use(monkeypatch, plain)
    word = list(all_words(graph))[11]
    law = exponential_law(graph, word, 0.3)
    rng = np.random.default_rng(21)
    assert fits(sample_words(rng, graph=graph, words=copies(word), decay=0.3), law) > ALPHA
    # The power: a factor that is a tenth too large is seen.
    assert fits(sample_words(rng, graph=graph, words=copies(word), decay=0.33), law) < ALPHA


@pytest.mark.parametrize("rows", quick_first([1, 7, 8, 9, 5_000, 50_000], quick=5))
def test_words_do_not_depend_on_the_threads(rows: int) -> None:
    graph = ring(9)
    given = sample_words(np.random.default_rng(1), graph=graph, words=copies((0,) * 9, rows), decay=1.0)
    targets = nearest_targets(graph)
    draws: list[Callable[[int], Ints]] = [
        lambda threads: sample_words(
            np.random.default_rng(2), graph=graph, words=given, decay=0.2, threads=threads
        ),
        lambda threads: sample_permute_and_flip(
            np.random.default_rng(2), graph=graph, words=given, rate=1.5, threads=threads
        ),
        lambda threads: sample_sequential(
            np.random.default_rng(2), graph=graph, words=given, decay=0.2, targets=targets, threads=threads
        ),
    ]
    for draw in draws:
        one = draw(1)
        assert one.dtype == np.int32
        assert one.shape == given.shape
        for threads in (2, 5):
            assert (draw(threads) == one).all()


def test_both_forms_of_a_table_draw_the_same(monkeypatch: pytest.MonkeyPatch) -> None:
    graph = weighted(ring(7))
    given = copies((0, 1, 2, 3, 4, 2, 0), 2000)
    plain = sample_words(np.random.default_rng(4), graph=graph, words=given, decay=0.4)
    use(monkeypatch, False)
    assert (sample_words(np.random.default_rng(4), graph=graph, words=given, decay=0.4) == plain).all()


def walked(graph: WordGraph, word: Word, decay: Fraction, bits: list[int], more: list[int]) -> Word:
    """The word that uniform numbers with these first words, and then `more`, stand for: in exact numbers."""
    ahead = [{x: Fraction(int(graph.last[x])) for x in range(graph.size)}]
    edges = [
        graph.first.nonzero()[0].tolist() if x == graph.size else graph.targets[graph.sources == x].tolist()
        for x in range(graph.size + 1)
    ]

    def omega(z: int, t: int) -> Fraction:
        return Fraction(1) if graph.symbol[z] == word[t] else decay

    for t in range(graph.length - 1, 0, -1):
        layer = ahead[0]
        ahead.insert(
            0, {x: sum((omega(z, t) * layer[z] for z in edges[x]), Fraction(0)) for x in range(graph.size)}
        )
    at, found = graph.size, []
    for t in range(graph.length):
        weights = [omega(z, t) * ahead[t][z] for z in edges[at]]
        at = edges[at][choose(weights, bits[t], lambda: more.pop(0))]
        found.append(int(graph.symbol[at]))
    return tuple(found)


@FORMS
def test_words_at_the_thresholds(plain: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    """First words all around every threshold of a position. With decay 1/2 the table itself is exact."""
    use(monkeypatch, plain)
    graph, word = ring(3), (0, 1, 3)
    rng = np.random.default_rng(3)
    law = exponential_law(graph, word, 0.5)
    weights = [sum((p for v, p in law.items() if v[0] == first), Fraction(0)) for first in range(5)]
    assert sum(weights) == 1
    reached = Fraction(0)
    for weight in weights[:-1]:
        reached += weight
        mark = int(reached * 2**64)
        for off in (-(2**20), -3000, -5, -1, 0, 1, 2, 40, 5000, 2**20):
            for extra in (0, ONES, int(rng.integers(2**63))):
                # Nine rows: the open one is alone in the second group.
                bits = rng.integers(0, 2**64, size=(LANES + 1, 3), dtype=np.uint64)
                bits[LANES, 0] = mark + off
                script: Any = Script(bits.ravel(), more=[extra], after=7)
                drawn = sample_words(script, graph=graph, words=copies(word, LANES + 1), decay=0.5)
                for row in (3, LANES):
                    exact = walked(graph, word, Fraction(1, 2), bits[row].tolist(), [extra, 7, 7])
                    assert tuple(drawn[row].tolist()) == exact


@FORMS
def test_an_option_that_floats_cannot_see(plain: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    """Weights 2^-100 beside 1: the words at their thresholds, and further bits, reach them."""
    use(monkeypatch, plain)
    graph = graph_of([[0, 1, 2]] * 3, 1)
    decay = 2.0**-100
    given = np.array([[1]], dtype=np.int32)

    def drawn(first: int, *more: int, after: int = 0) -> int:
        script: Any = Script(np.array([first], dtype=np.uint64), more=list(more), after=after)
        return int(sample_words(script, graph=graph, words=given, decay=decay)[0, 0])

    # The thresholds are about 2^-100 and 1 - 2^-100.
    assert drawn(0, 0) == 0
    assert drawn(0, 2**28 - 1) == 0
    assert drawn(0, 2**28 + 1) == 1
    assert drawn(1) == 1
    assert drawn(2**63) == 1
    assert drawn(ONES, ONES - 2**28 - 1) == 1
    assert drawn(ONES, ONES, after=ONES) == 2


@pytest.mark.slow
def test_the_law_drawn_is_within_the_bound_on_rounding() -> None:
    graph = weighted(ring(6))
    word, decay = (0, 1, 2, 3, 4, 2), 0.3
    ways = Ways.of(graph)
    nodes, known = np.zeros((1, 6), dtype=np.int32), np.zeros(1, dtype=np.int64)
    given = copies(word, 1)
    walk = exponential._Plain(ways, decay, given)
    table = walk.advance(0, 1, np.full((1, 6), 2**62, dtype=np.uint64), nodes, known)[:, :, 0]
    ideal = exponential_law(graph, word, decay)
    worst = 0.0
    for v, true in ideal.items():
        probability, at = Fraction(1), ways.size
        for t, z in enumerate(v):
            weights = {}
            for edge in range(ways.starts[at], ways.starts[at + 1]):
                to = int(ways.targets[edge])
                factor = Fraction(1) if to == word[t] else Fraction(decay)
                weights[to] = factor * Fraction(float(ways.weight[edge])) * Fraction(float(table[t, to]))
            probability *= weights[z] / sum(weights.values())
            at = z
        worst = max(worst, abs(float(probability / true - 1)))
    assert 0.0 < worst <= rounding_loss(graph) / 2.0


def test_exact_choice() -> None:
    weights = [Fraction(0), Fraction(1, 3), Fraction(0), Fraction(2, 3), Fraction(0)]
    third = 2**64 // 3
    assert choose(weights, third - 1, list[int]().pop) == 1
    assert choose(weights, third + 1, list[int]().pop) == 3
    # 2^64 / 3 = third + 1/3: further bits below 0.010101... are below the threshold.
    assert choose(weights, third, [third - 1].pop) == 1
    assert choose(weights, third, [third + 1].pop) == 3
    assert choose(weights, third, [0, third].pop) == 1
    assert choose(weights, ONES, list[int]().pop) == 3
    with pytest.raises(ValueError, match="positive"):
        choose([Fraction(0)], 5, list[int]().pop)
    fixed: Any = FixedChoice(weights)
    script: Any = Script(np.array([0, third - 1, third, third + 1, ONES], dtype=np.uint64), more=[third + 1])
    assert fixed.draw(script, 5).tolist() == [1, 1, 3, 3, 3]
    tiny = FixedChoice([Fraction(1, 2**90), Fraction(1), Fraction(1, 2**90)])
    for more, chosen in (([0], 0), ([2**38 - 1], 0), ([2**38 + 1], 1)):
        script = Script(np.array([0], dtype=np.uint64), more=more)
        assert tiny.draw(script, 1).tolist() == [chosen]
    assert FixedChoice([Fraction(1)]).draw(np.random.default_rng(1), 3).tolist() == [0, 0, 0]


@pytest.mark.slow_for("scaled-8")
@pytest.mark.parametrize("share", quick_first([8, 1]))
@FORMS
def test_permute_and_flip(plain: bool, share: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """The power, that a rate a tenth too large is seen, with all of the draws."""
    graph = automaton(4)
    word = list(all_words(graph))[2]
    law = permute_and_flip_law(graph, word, 0.9)
    use(monkeypatch, plain)
    size = (SIZE if plain else 4000) // share
    rng = np.random.default_rng(8)
    drawn = sample_permute_and_flip(rng, graph=graph, words=copies(word, size), rate=0.9)
    assert fits(drawn, law) > ALPHA
    if plain and share == 1:
        assert fits(sample_permute_and_flip(rng, graph=graph, words=copies(word), rate=0.99), law) < ALPHA


@pytest.mark.slow_for("weighted automaton-scaled-7", "ring-scaled-7")
@pytest.mark.parametrize("share", quick_first([7, 1]))
@FORMS
@pytest.mark.parametrize("graph", GRAPHS, ids=NAMES)
def test_uniform_at_a_distance(
    graph: WordGraph, plain: bool, share: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The power, that weights of other words are seen, with all of the draws."""
    use(monkeypatch, plain)
    words = all_words(graph)
    word = list(words)[5]
    rng = np.random.default_rng(9)
    size = (20_000 if plain else 3000) // share
    for far in range(graph.length + 1):
        weights = {v: kappa for v, kappa in words.items() if distance(v, word) == far}
        if not weights:
            with pytest.raises(ValueError, match="positive"):
                sample_at_distances(rng, graph=graph, words=copies(word, 1), distances=np.array([far]))
            continue
        total = sum(weights.values())
        law = {v: kappa / total for v, kappa in weights.items()}
        drawn = sample_at_distances(rng, graph=graph, words=copies(word, size), distances=np.full(size, far))
        if len(law) > 1:
            assert fits(drawn, law) > ALPHA
            wrong = dict(zip(law, [*list(law.values())[1:], next(iter(law.values()))], strict=True))
            if graph.is_weighted and plain and share == 1:
                assert fits(drawn, wrong) < ALPHA
        else:
            assert set(map(tuple, drawn.tolist())) == set(law)


@FORMS
def test_distances_at_the_thresholds(plain: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    """Words at distance 1 from 00: two begin with 0, one each with 1 and 2. Cuts at 1/2 and 3/4, then 1/2."""
    use(monkeypatch, plain)
    graph = graph_of([[0, 1, 2]] * 3, 2)
    middle = 2**61

    def drawn(first: int, second: int) -> list[int]:
        script: Any = Script(np.array([first, second], dtype=np.uint64), after=ONES)
        given = np.zeros((1, 2), dtype=np.int32)
        found = sample_at_distances(script, graph=graph, words=given, distances=np.array([1]))
        return [int(symbol) for symbol in found[0]]

    assert drawn(2**63 - 1, middle) == [0, 1]
    assert drawn(2**63, middle) == [1, 0]
    assert drawn(3 * 2**62 - 1, middle) == [1, 0]
    assert drawn(3 * 2**62, middle) == [2, 0]
    assert drawn(ONES, ONES) == [2, 0]
    assert drawn(0, 2**63 - 1) == [0, 1]
    assert drawn(0, 2**63) == [0, 2]
    assert drawn(0, ONES) == [0, 2]


@pytest.mark.slow
def test_long_words_at_a_distance() -> None:
    """Longer than the table may be: layers are made again block by block. Errors are hypergeometric."""
    graph = graph_of([list(range(30))] * 30, 700)
    word = np.arange(700, dtype=np.int32)[None, :] % 30
    rng = np.random.default_rng(14)
    drawn = sample_at_distances(rng, graph=graph, words=word, distances=np.array([350]))
    wrong = drawn[0] != word[0]
    assert wrong.sum() == 350
    # Errors in the first half: mean 175, standard deviation 6.6.
    assert abs(wrong[:350].sum() - 175) < 6.6 * stats.norm.isf(ALPHA / 2)


@pytest.mark.parametrize("graph", [ring(), automaton()], ids=["ring", "automaton"])
def test_sequential(graph: WordGraph) -> None:
    targets = nearest_targets(graph)
    word = list(all_words(graph))[7]
    law = sequential_law(graph, word, 0.25, targets)
    rng = np.random.default_rng(31)

    def drawn(decay: float) -> Ints:
        return sample_sequential(rng, graph=graph, words=copies(word), decay=decay, targets=targets)

    assert fits(drawn(0.25), law) > ALPHA
    assert fits(drawn(0.275), law) < ALPHA


def test_sequential_at_the_thresholds() -> None:
    """Three ways with decay 1/2: weights 1, 1/2, 1/2; the first word is cut at 2^63, the second too."""
    graph = graph_of([[0, 1, 2]] * 3, 1)
    targets = nearest_targets(graph)
    given = np.array([[1]], dtype=np.int32)

    def drawn(first: int, second: int, *more: int, decay: float = 0.5) -> int:
        script: Any = Script(np.array([first, second], dtype=np.uint64), more=list(more))
        return int(sample_sequential(script, graph=graph, words=given, decay=decay, targets=targets)[0, 0])

    assert drawn(2**63 - 1, 0) == 1
    assert drawn(2**63, 0) == 0
    assert drawn(2**63, 2**63 - 1, ONES) == 0
    assert drawn(2**63, 2**63) == 2
    # With decay 1/4 the threshold is 2/3: further bits below 0.101010... choose the target.
    cut = 2**65 // 3
    assert drawn(cut, 0, cut - 1, decay=0.25) == 1
    assert drawn(cut, 0, cut + 1, decay=0.25) == 0
    assert drawn(cut, ONES, cut + 1, decay=0.25) == 2


def free_law(word: Word, alphabet: int, weight: Callable[[int], float]) -> dict[Word, float]:
    grid = np.stack(np.meshgrid(*[np.arange(alphabet)] * len(word), indexing="ij"), axis=-1)
    words = [tuple(v) for v in grid.reshape(-1, len(word)).tolist()]
    weights = {v: weight(distance(v, word)) for v in words}
    total = math.fsum(weights.values())
    return {v: p / total for v, p in weights.items()}


@pytest.mark.slow
def test_free_words() -> None:
    word, rng = (2, 0, 1), np.random.default_rng(17)
    drawn = sample_free(rng, words=copies(word), alphabet=3, decay=0.3)
    assert fits(drawn, free_law(word, 3, lambda far: 0.3**far)) > ALPHA
    assert fits(drawn, free_law(word, 3, lambda far: 0.27**far)) < ALPHA
    steps = [Fraction(1, 2), Fraction(1, 4), Fraction(0), Fraction(1, 4)]
    many = [1, 6, 12, 8]
    drawn = sample_free_by_distance(rng, words=copies(word), alphabet=3, law=steps)
    law = free_law(word, 3, lambda far: float(steps[far]) / many[far])
    assert fits(drawn, law) > ALPHA
    drawn = sample_free_permute_and_flip(rng, words=copies(word), alphabet=3, rate=1.1)
    graph = graph_of([[0, 1, 2]] * 3, 3)
    assert fits(drawn, permute_and_flip_law(graph, word, 1.1)) > ALPHA
    assert fits(drawn, permute_and_flip_law(graph, word, 1.25)) < ALPHA
    single = copies((0, 0), 3)
    assert (sample_free(rng, words=single, alphabet=1, decay=0.3) == single).all()
