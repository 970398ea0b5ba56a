"""Words that differ in a few symbols: all pairs of small languages, with rational laws."""

from __future__ import annotations

from typing import Any

import pytest

from tests.neighbours.claims import Tally
from tests.neighbours.discrete import Law, divergences, largest_loss, together
from tests.neighbours.word_laws import law_of
from tests.neighbours.words import ROADS, Word, feasible_words, respelled
from veil.words import (
    BalancedWords,
    ChainWords,
    EachWord,
    ExponentialWords,
    FreeWords,
    Hamming,
    PermuteAndFlip,
    SequentialWords,
    StaircaseWords,
)

CHAIN, FREE = ChainWords(ROADS, 3), FreeWords("ab", 3)
GENERIC = "half of what is charged pays for words that might not be there"
BEYOND = "beyond its own radius what is charged adds up"
# A mechanism, the adjacency, the part of the pure claim that is reached, and why it is not more.
WORDS: tuple[tuple[Any, Hamming, float, str], ...] = (
    (ExponentialWords(CHAIN, 1.0), Hamming(1), 0.999, ""),
    (ExponentialWords(CHAIN, 1.0), Hamming(2), 0.93, BEYOND),
    (ExponentialWords(FREE, 1.0, radius=2), Hamming(2), 0.999, ""),
    (ExponentialWords(CHAIN, 1.0, calibration="generic"), Hamming(1), 0.6, GENERIC),
    (BalancedWords(CHAIN, 1.0), Hamming(1), 0.99, ""),
    (SequentialWords(CHAIN, 1.0), Hamming(1), 0.999, ""),
    (SequentialWords(CHAIN, 1.0, radius=2), Hamming(2), 0.999, ""),
    (PermuteAndFlip(CHAIN, 1.0), Hamming(1), 0.7, GENERIC),
    (StaircaseWords(FREE, 1.0, radius=2), Hamming(2), 0.999, ""),
    (StaircaseWords(FREE, 1.0, radius=2), Hamming(3), 0.999, ""),
)
EPSILONS = (0.0, 0.3)
_SMALL = {"a": ["a", "b"], "b": ["a"]}


def _name(case: Any) -> str:
    return f"{type(case).__name__}" if not isinstance(case, (float, str)) else ""


@pytest.mark.parametrize(("mechanism", "adjacency", "reach", "why"), WORDS, ids=_name)
def test_all_pairs(mechanism: Any, adjacency: Hamming, reach: float, why: str) -> None:
    assert reach > 0.95 or why
    words = feasible_words(mechanism.language, mechanism.language.length)
    law = law_of(mechanism, words)
    laws = {word: law(word) for word in words}
    tally = Tally(f"{mechanism.name}, {adjacency.words}", mechanism.profile(adjacency))
    for word in sorted(words):
        assert sum(laws[word].values()) - 1 < 1e-30
        near = sorted(set(respelled(word, adjacency.radius, mechanism.language.labels, words)))
        for other in near:
            tally.pairs += 1
            tally.add_loss(largest_loss(laws[word], laws[other]), (word, other))
            # The curve of some of them: sums of rational numbers are long.
            if tally.pairs % 16 == 1:
                for epsilon in EPSILONS:
                    tally.add(epsilon, divergences(laws[word], laws[other], epsilon)[:1], (word, other))
    assert tally.reached[-1.0] >= reach
    tally.close()


def test_the_laws_are_those_of_the_mechanisms() -> None:
    """The law that was written down here is the one that the mechanism states, to the digits of a float."""
    for mechanism, *_ in WORDS:
        words = feasible_words(mechanism.language, mechanism.language.length)
        word = sorted(words)[1]
        stated = mechanism.distribution(list(word))
        for other, chance in law_of(mechanism, words)(word).items():
            assert stated[other] == pytest.approx(float(chance), rel=1e-9)


EACH = (
    (EachWord(ExponentialWords(FreeWords("ab", 2), 1.0), words_each=2), Hamming(1, words_each=2)),
    (
        EachWord(SequentialWords(ChainWords(_SMALL, 3), 1.0), words_each=2),
        Hamming(1, words_each=2),
    ),
)


@pytest.mark.parametrize(("mechanism", "adjacency"), EACH, ids=_name)
def test_all_pairs_of_two_words_of_one_person(mechanism: EachWord, adjacency: Hamming) -> None:
    """Two words of one person, of any length up to that of the language; others' words have the same law."""
    language, tally = mechanism.domain, Tally(f"EachWord, {adjacency.words}", mechanism.profile(adjacency))
    neighbours: list[tuple[Word, Word]] = []
    laws: dict[Word, Law] = {}
    for length in range(1, language.length + 1):
        words = _of_length(language, length)
        law = law_of(mechanism.mechanism, words)
        laws |= {word: law(word) for word in words}
        neighbours += [
            (word, other)
            for word in sorted(words)
            for other in respelled(word, adjacency.radius, language.labels, words)
        ]
    for i, (one, near_one) in enumerate(neighbours):
        for two, near_two in neighbours[i % 3 :: 3]:
            tally.pairs += 1
            before = together(laws[one], laws[two])
            after = together(laws[near_one], laws[near_two])
            tally.add_loss(largest_loss(before, after), (one, two, near_one, near_two))
            if tally.pairs % 5 == 1:
                tally.add(0.5, divergences(before, after, 0.5)[:1], (one, two))
    assert tally.reached[-1.0] > 0.999
    tally.close(least=0.8)


def _of_length(language: Any, length: int) -> set[Word]:
    shorter = FreeWords(language.labels, length) if isinstance(language, FreeWords) else None
    if shorter is not None:
        return feasible_words(shorter, length)
    return feasible_words(ChainWords(_SMALL, length), length)
