"""16,704 exact losses of the word mechanisms: no two neighbours are told apart better than claimed."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

from tests.oracles.words import permute_and_flip_law as recursive_law
from tests.review.tails import precision
from tests.review.tally import REVIEW, Tally, in_full
from tests.review.word_cases import Case, cases, claims_of, favoured, law_of
from tests.review.word_laws import (
    BITS,
    Law,
    fraction_ball,
    is_above,
    is_settled,
    permute_and_flip_law,
    sequential_law,
)
from veil.words import (
    AutomatonWords,
    ChainWords,
    ExponentialWords,
    FreeWords,
    OnlineWord,
    PermuteAndFlip,
    SequentialWords,
    StaircaseWords,
)

STUDY = "exact word losses"
# So many laws make up the full study: a large language alone has a thousand pairs of neighbours.
LAWS = 1_000
ROADS = {"a": ["b", "c"], "b": ["a", "c", "d"], "c": ["c", "a"], "d": ["b"]}


def compare(tally: Tally, case: Case) -> float:
    """Every two words, at the claim for their distance; the largest part of a claim that is reached."""
    largest = 0.0
    for i, j in case.law.neighbours(len(case.claims)):
        claim = case.claims[int(case.law.distances[i, j]) - 1]
        with precision(BITS):
            loss = case.many * case.law.loss(i, j)
        what = f"{case.name}: {case.law.words[i]} and {case.law.words[j]} lose {loss}, claimed {claim!r}"
        if is_settled(loss, claim):
            tally.add(what, is_above=is_above(loss, claim))
            largest = max(largest, float(loss) / claim if claim else 0.0)
        else:
            tally.leave_open(what)
    return largest


@in_full(STUDY)
def test_no_loss_is_above_the_claim(least: int) -> None:
    tally, largest = Tally(STUDY), 0.0
    laws = LAWS if least == REVIEW[STUDY] else 8
    for number, case in enumerate(cases(np.random.default_rng(16_704))):
        largest = max(largest, compare(tally, case))
        if tally.checked >= least and number >= laws:
            break
    print(f"\nthe largest part of a claim that is reached: {largest:.12f}")
    tally.close(least)
    assert largest > 0.999


SHARP = [
    ExponentialWords(FreeWords("abc", 3), 1.5),
    StaircaseWords(FreeWords("abc", 3), 2.0, radius=2),
    SequentialWords(ChainWords(ROADS, 4, start="a"), 0.75),
    PermuteAndFlip(FreeWords("ab", 1), 0.001),
]


@pytest.mark.parametrize("mechanism", SHARP, ids=lambda mechanism: str(mechanism.name))
def test_a_claim_that_is_a_thousandth_less_is_seen(mechanism: Any) -> None:
    """The worst pair is among those compared, but for a thousandth of the claim."""
    words = [tuple(word) for word in mechanism.language.enumerate()]
    case = Case("sharp", law_of(mechanism, words), claims_of(mechanism, mechanism.language.length))
    honest, lowered = Tally(STUDY), Tally(STUDY)
    compare(honest, case)
    compare(lowered, Case("lowered", case.law, [0.999 * claim for claim in case.claims]))
    assert honest.checked
    assert not honest.above
    assert lowered.above


def test_permute_and_flip_by_recursion_over_the_order() -> None:
    words = [tuple(word) for word in ChainWords(ROADS, 3).enumerate()]
    law = permute_and_flip_law(words, 0.625)
    assert law.is_normalised()
    for word, row in zip(law.words, law.rows, strict=True):
        known = recursive_law(words, word, 0.625)
        assert [float(chance) for chance in row] == pytest.approx([known[v] for v in words], rel=1e-14)


@pytest.mark.parametrize(
    "language",
    [
        ChainWords(ROADS, 3),
        AutomatonWords({(0, "x"): [0, 1], (0, "y"): [1], (1, "x"): [0], (1, "y"): [2]}, 0, [0, 2], 3),
    ],
    ids=["chain", "automaton"],
)
def test_words_drawn_online_have_the_sequential_law(language: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """Every choice of the online word is made in turn: the product of its weights is the very law."""
    mechanism = SequentialWords(language, 1.25)
    words = [tuple(word) for word in language.enumerate()]
    law = sequential_law(words, mechanism.decay, lambda *given: favoured(mechanism, *given))
    for word, row in zip(words, law.rows, strict=True):
        drawn = dict(_all_draws(mechanism, word, monkeypatch))
        assert sorted(drawn) == sorted(words)
        assert sum(drawn.values()) == 1
        for v, chance in zip(words, row, strict=True):
            assert chance.overlaps(fraction_ball(drawn[v]))


def _all_draws(mechanism: SequentialWords, word: Any, patch: pytest.MonkeyPatch) -> list[Any]:
    """All outputs for a word, each with its probability: runs that are forced to one choice after another."""
    found, waiting = [], list[tuple[int, ...]]([()])
    while waiting:
        script = waiting.pop()
        chance, widths = [Fraction(1)], list[int]()
        patch.setattr("veil.words.online_word.choose", _forced(script, chance, widths))
        online = OnlineWord(mechanism, rng=1)
        for symbol in word:
            online.push(symbol)
        found.append((online.word, chance[0]))
        # This run took the script and then the first choice each time: the others are still to come.
        for place in range(len(script), len(widths)):
            taken = (*script, *([0] * (place - len(script))))
            waiting += [(*taken, other) for other in range(1, widths[place])]
    return found


def _forced(script: tuple[int, ...], chance: list[Fraction], widths: list[int]) -> Callable[..., int]:
    def choose(weights: list[Fraction], *_: Any) -> int:
        taken = script[len(widths)] if len(widths) < len(script) else 0
        widths.append(len(weights))
        chance[0] *= Fraction(weights[taken]) / sum(map(Fraction, weights))
        return taken

    return choose


def test_a_law_by_hand() -> None:
    """Two words, one of which is twice as likely: the loss is log 2."""
    often, seldom = fraction_ball(Fraction(2, 3)), fraction_ball(Fraction(1, 3))
    law = Law([("a",), ("b",)], [[often, seldom], [seldom, often]])
    assert float(law.loss(0, 1)) == pytest.approx(0.6931471805599453, rel=1e-15)
