"""What the mechanisms for words are worth: the figures that they must reach, and the published ones."""

from __future__ import annotations

from collections import Counter
from fractions import Fraction
from functools import cache
from typing import Any

import numpy as np
import pytest
from scipy import stats
from veil_papers.hamming_automaton import HammingAutomaton, ProductAutomaton, feasible_counts

import veil
from tests.tables.data import real
from veil.core.random.streams import generator
from veil.samples.streets import streets
from veil.tables.sequences import SequenceFile
from veil.words.mechanisms.word_mechanism import WordMechanism
from veil.words.planning import plan_words
from veil.words.reading import read_words
from veil.words.requests import WordRelease
from veil.words.word_batch import WordBatch

# Probability that a right sampler fails a test of its frequencies.
ALPHA = 1e-6

# The grid of 43 streets, words of 14 segments


@cache
def grid() -> veil.words.ChainWords:
    return veil.words.ChainWords(streets(), 14)


def mean_error(mechanism: WordMechanism) -> float:
    return float(mechanism.expected_errors(grid().walks(100).rows).mean())


@cache
def published(epsilon: float) -> float:
    return mean_error(veil.words.PermuteAndFlip(grid(), epsilon))


@pytest.mark.slow
@pytest.mark.parametrize(("epsilon", "times"), [(5.0, 10.0), (4.0, 8.0)])
def test_certified_rates(epsilon: float, times: float) -> None:
    mechanism = veil.words.ExponentialWords(grid(), epsilon)
    assert mechanism.certified_epsilon <= epsilon
    assert times * mean_error(mechanism) <= published(epsilon)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("epsilon", "share"),
    [(3.0, 1 / 4), (2.0, 0.8), (1.0, 0.95)],
)
def test_the_best_mechanism(epsilon: float, share: float) -> None:
    drive = ["Ash 1st-2nd", "1st Ash-Birch"] * 7
    mechanism: Any = WordRelease(language=grid(), epsilon=epsilon).prepare([drive]).mechanism
    assert mechanism.mechanism.certified_epsilon <= epsilon
    assert mean_error(mechanism.mechanism) <= share * published(epsilon)


@pytest.mark.slow
@pytest.mark.parametrize("radius", [2, 3])
@pytest.mark.parametrize("epsilon", [2.0, 6.0])
def test_several_hidden_symbols(radius: int, epsilon: float) -> None:
    """Certified, with a rate that is at least the generic one, and what is certified for fewer is less."""
    mechanism = veil.words.ExponentialWords(grid(), epsilon, radius=radius)
    assert mechanism.certified_epsilon <= epsilon
    generic = veil.words.ExponentialWords(grid(), epsilon, radius=radius, calibration="generic")
    assert mechanism.rate >= generic.rate * (1.0 - 1e-9)
    assert mean_error(mechanism) <= mean_error(generic) * (1.0 + 1e-9)
    assert mechanism.loss(radius - 1) <= mechanism.loss(radius)


@pytest.mark.slow
def test_what_costs_nothing_to_compute() -> None:
    """Permute-and-flip is never worse than the generic rate; symbol by symbol is better at a small one."""
    for epsilon in (1.0, 2.0, 3.0, 4.0, 5.0):
        generic = mean_error(veil.words.ExponentialWords(grid(), epsilon, calibration="generic"))
        assert published(epsilon) <= generic * (1.0 + 1e-9)
    for epsilon in (1.0, 2.0):
        assert mean_error(veil.words.SequentialWords(grid(), epsilon)) <= 0.97 * published(epsilon)


@pytest.mark.slow
@pytest.mark.parametrize("start", ["Ash 1st-2nd", "3rd Birch-Cedar", "4th Cedar-Dogwood"])
def test_a_small_epsilon_from_a_public_start(start: str) -> None:
    """As published, with a start that is known: the first symbol is then one of few."""
    language = veil.words.ChainWords(streets(), 14, start=start)
    rows = language.walks(100).rows
    for epsilon, share in ((1.0, 0.95), (2.0, 0.85)):
        errors = veil.words.SequentialWords(language, epsilon).expected_errors(rows).mean()
        assert errors <= share * veil.words.PermuteAndFlip(language, epsilon).expected_errors(rows).mean()


# The sessions of msnbc.com with 5 to 20 pages, over 17 categories


@pytest.fixture(scope="module")
def sessions() -> WordBatch:
    held = read_words(SequenceFile(real("msnbc990928.zip"), skip=7), states=list(range(1, 18)))
    kept = (held.lengths >= 5) & (held.lengths <= 20)
    return WordBatch(held.states, held.codes[np.repeat(kept, held.lengths)], held.lengths[kept])


@pytest.mark.slow
@pytest.mark.parametrize(
    ("kind", "epsilon", "pages"),
    [
        (veil.words.ExponentialWords, 5.0, 0.858),
        (veil.words.PermuteAndFlip, 5.0, 5.007),
        (veil.words.ExponentialWords, 2.0, 6.03),
        (veil.words.ExponentialWords, 8.0, 0.047),
    ],
)
def test_errors_of_sessions(
    sessions: WordBatch, kind: type[WordMechanism], epsilon: float, pages: float
) -> None:
    total = 0.0
    for length, (numbers, rows) in sessions.by_length.items():
        mechanism = kind(veil.words.FreeWords(list(sessions.labels), length), epsilon)
        total += len(numbers) * float(mechanism.expected_errors(rows[:1])[0])
    assert total / len(sessions) == pytest.approx(pages, abs=5e-3 if pages > 6.0 else 1e-3)


@pytest.mark.slow
def test_sessions_as_they_are_drawn(sessions: WordBatch) -> None:
    """The number of wrong pages is a sum of independent ones: within five standard deviations."""
    assert len(sessions.codes) / len(sessions) == pytest.approx(8.82, abs=0.005)
    mechanism = veil.words.ExponentialWords(veil.words.FreeWords(list(sessions.labels), 20), 5.0)
    drawn = mechanism.drawn(generator(1), sessions)
    wrong = (drawn.codes != sessions.codes).mean()
    expected = 16.0 * np.exp(-5.0) / (1.0 + 16.0 * np.exp(-5.0))
    assert abs(wrong - expected) < 5.0 * np.sqrt(expected * (1.0 - expected) / len(sessions.codes))


# The automata of the paper and the fast path


SUPPORT = {"y0": ["y1", "y2"], "y1": ["y2", "y3"], "y2": ["y1", "y3"], "y3": ["y0", "y2", "y3"]}
# A chain that has dead ends, and words that cannot leave their way early on.
ENDS = {"y0": ["y1", "y2"], "y1": ["y1", "y2", "y3"], "y2": ["y1"], "y3": []}


@pytest.mark.parametrize(
    ("support", "word"),
    [
        (SUPPORT, ("y1", "y2", "y3")),
        (SUPPORT, ("y2", "y3", "y3", "y0", "y1")),
        (ENDS, ("y1", "y1", "y2", "y1")),
        (ENDS, ("y2", "y1", "y1", "y3")),
    ],
)
@pytest.mark.parametrize("epsilon", [0.5, 3.0, 8.0])
def test_given_the_distance_the_law_is_that_of_the_automaton(
    support: dict[str, list[str]], word: tuple[str, ...], epsilon: float
) -> None:
    language = veil.words.ChainWords(support, len(word), start="y0")
    mechanism = veil.words.PermuteAndFlip(language, epsilon)
    law = mechanism.distribution(word)
    pmf = mechanism.distance_pmf(word)
    found = 0
    for distance, count in enumerate(feasible_counts(word, support, "y0")):
        automaton = ProductAutomaton(word, distance, support, "y0")
        assert automaton.size == count
        exact = automaton.law()
        assert set(exact.values()) <= {Fraction(1, max(1, count))}
        for drawn, share in exact.items():
            assert law[drawn] == pytest.approx(pmf[distance] * float(share), rel=1e-9)
            found += 1
        if not count:
            assert pmf[distance] == 0.0
    assert found == len(law) == language.number_of_words


@pytest.mark.parametrize("epsilon", [0.5, 6.0])
def test_free_words_too(epsilon: float) -> None:
    word = tuple("abcab")
    mechanism = veil.words.PermuteAndFlip(veil.words.FreeWords("abc", 5), epsilon)
    law, pmf = mechanism.distribution(word), mechanism.distance_pmf(word)
    for distance in range(6):
        for drawn, share in HammingAutomaton(word, distance, tuple("abc")).law().items():
            assert law[drawn] == pytest.approx(pmf[distance] * float(share), rel=1e-9)


def p_value(sample: Counter[tuple[str, ...]], words: list[tuple[str, ...]]) -> float:
    """Of the words at one distance: all equally likely?"""
    return float(stats.chisquare([sample[word] for word in words]).pvalue)


@pytest.mark.slow
def test_draws_given_their_distance_are_uniform() -> None:
    """Chi-square at alpha = 1e-6 for each distance; 60,000 draws. A symbol 15 % too frequent is rejected."""
    word = ("y2", "y3", "y3", "y0", "y1")
    language = veil.words.ChainWords(SUPPORT, 5, start="y0")
    mechanism = veil.words.PermuteAndFlip(language, 2.0)
    draws = 60_000
    rows = mechanism.draw_rows(generator(11), np.tile(language.validate(word).rows, (draws, 1)))
    sample = Counter(tuple(str(language.labels[code]) for code in row) for row in rows.tolist())
    pmf = mechanism.distance_pmf(word)
    powers = []
    for distance, chance in enumerate(pmf):
        words = list(ProductAutomaton(word, distance, SUPPORT, "y0").words())
        if len(words) < 2:
            continue
        assert p_value(sample, words) > ALPHA
        # The same draws with a planted fault: a sixth of those of one word fall upon another.
        moved = sample[words[0]] // 6
        faulty = sample | Counter({words[1]: sample[words[1]] + moved})
        faulty[words[0]] -= moved
        powers.append((p_value(faulty, words), draws * chance / len(words)))
    assert len(powers) >= 3
    # Where a word is drawn more than 1,500 times the fault shows.
    assert all(p < ALPHA for p, number in powers if number > 1500)
    assert any(number > 1500 for _, number in powers)
    # The distances themselves.
    observed = np.zeros(6)
    for drawn, number in sample.items():
        observed[sum(a != b for a, b in zip(drawn, word, strict=True))] += number
    some = pmf > 0.0
    assert stats.chisquare(observed[some], draws * pmf[some] / pmf[some].sum()).pvalue > ALPHA
    assert stats.chisquare(observed[some], draws * np.full(some.sum(), 1.0 / some.sum())).pvalue < ALPHA


@pytest.mark.slow
def test_automata_draw_as_the_fast_path_does() -> None:
    """Two samples, alpha = 1e-6: a distance by the pmf and a run of the automaton, and the mechanism."""
    word = ("y1", "y2", "y3")
    language = veil.words.ChainWords(SUPPORT, 3, start="y0")
    mechanism = veil.words.PermuteAndFlip(language, 2.0)
    rng, draws = generator(3), 20_000
    automata = [ProductAutomaton(word, distance, SUPPORT, "y0") for distance in range(4)]
    distances = rng.choice(4, size=draws, p=mechanism.distance_pmf(word))
    slow = Counter(automata[distance].run(rng) for distance in distances.tolist())
    rows = mechanism.draw_rows(generator(4), np.tile(language.validate(word).rows, (draws, 1)))
    fast = Counter(tuple(str(language.labels[code]) for code in row) for row in rows.tolist())
    other = veil.words.PermuteAndFlip(language, 2.4)
    rows = other.draw_rows(generator(5), np.tile(language.validate(word).rows, (draws, 1)))
    faulty = Counter(tuple(str(language.labels[code]) for code in row) for row in rows.tolist())

    def agreement(one: Counter[tuple[str, ...]], two: Counter[tuple[str, ...]]) -> float:
        cells = sorted(set(one) | set(two))
        return float(
            stats.chi2_contingency([[one[cell] for cell in cells], [two[cell] for cell in cells]])[1]
        )

    assert agreement(slow, fast) > ALPHA
    # Power: an epsilon that is a fifth larger is noticed.
    assert agreement(slow, faulty) < ALPHA


def test_plans_agree_with_the_figures() -> None:
    """The plan of free words over 17 categories: 20 pages at epsilon 5."""
    plan = plan_words(veil.words.FreeWords(17, 20), 5.0)
    assert plan.best.name == "exponential"
    expected = 20.0 * 16.0 * np.exp(-5.0) / (1.0 + 16.0 * np.exp(-5.0))
    assert plan.best.error == pytest.approx(expected)
