"""Random languages, all pairs of their words, at radii for which the mechanism was made and at others."""

from __future__ import annotations

from typing import Any

import pytest

import veil
from tests.neighbours.claims import Tally
from tests.neighbours.discrete import divergences, largest_loss
from tests.neighbours.word_laws import law_of
from tests.neighbours.words import apart
from tests.oracles.words import random_recipe
from veil.words import (
    BalancedWords,
    ExponentialWords,
    Hamming,
    PermuteAndFlip,
    SequentialWords,
    StaircaseWords,
)

# Beyond, the polynomials of permute-and-flip have too many digits.
_FEW = 16


def mechanisms(seed: int, words: int, language: Any) -> list[Any]:
    radius = 1 + seed % 3
    made: list[Any] = [
        ExponentialWords(language, 1.0, radius=radius),
        BalancedWords(language, 2.0, radius=min(radius, 2)),
        SequentialWords(language, 1.5, radius=radius),
    ]
    if words <= _FEW:
        made.append(PermuteAndFlip(language, 1.0, radius=radius))
    if isinstance(language, veil.words.FreeWords):
        made.append(StaircaseWords(language, 1.0, radius=radius))
    return made


@pytest.mark.parametrize(
    "languages",
    [
        pytest.param(8, id="some", marks=pytest.mark.slow),
        pytest.param(400, id="all", marks=pytest.mark.evidence),
    ],
)
def test_no_pair_of_words_is_told_apart_better(languages: int) -> None:
    pairs = 0
    for seed in range(1, languages + 1):
        recipe = random_recipe(seed, most=40, longest=4)
        words = sorted(set(map(tuple, recipe.words())))
        for mechanism in mechanisms(seed, len(words), recipe.build(veil)):
            law = law_of(mechanism, words)
            laws = {word: law(word) for word in words}
            tallies = {
                radius: Tally(f"{mechanism.name} of {recipe}, {radius}", mechanism.profile(Hamming(radius)))
                for radius in (1, 2, 4)
            }
            for i, word in enumerate(words):
                for other in words[:i]:
                    loss = largest_loss(laws[word], laws[other])
                    for radius, tally in tallies.items():
                        if apart(word, other) <= radius:
                            tally.pairs += 1
                            tally.add_loss(loss, (word, other))
                            if tally.pairs % 20 == 0:
                                tally.add(0.3, divergences(laws[word], laws[other], 0.3), (word, other))
            for tally in tallies.values():
                pairs += tally.pairs
                assert not tally.above, tally.above[0]
    print(f"\n{languages} random languages, {pairs:,} pairs")
