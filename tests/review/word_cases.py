"""Word mechanisms on small random languages: the exact law of each, and what it claims at every distance."""

from __future__ import annotations

from collections.abc import Hashable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest
from flint import arb

import veil
from tests.oracles.words import Recipe, random_recipe
from tests.review.drawn_words import drawn_law
from tests.review.tails import precision
from tests.review.word_laws import (
    BITS,
    Law,
    Word,
    distance_law,
    exponential_law,
    path_weights,
    permute_and_flip_law,
    sequential_law,
)
from veil.words import (
    BalancedWords,
    EachWord,
    ExponentialWords,
    Hamming,
    PermuteAndFlip,
    SequentialWords,
    StaircaseWords,
)

# Outputs of a language are all compared with each other, so that it must not have too many words.
_FEWEST, _MOST, _LONGEST = 4, 70, 5


@dataclass(frozen=True, eq=False)
class Case:
    """One law. claims: the epsilon of words that differ in 1, 2, ... symbols. many: so many words at once."""

    name: str
    law: Law
    claims: Sequence[float]
    many: int = 1


def favoured(mechanism: SequentialWords, prefix: Word, true: Hashable, options: set[Hashable]) -> Hashable:
    """The public rule: the target of the last node drawn, or the open node of the smallest number."""
    graph, labels = mechanism.language.graph, mechanism.language.labels
    code = {label: i for i, label in enumerate(labels)}
    at = graph.size
    for symbol in prefix:
        at = int(graph.step[at, code[symbol]])
    target = int(mechanism.targets[at, code[true]])
    if target >= 0 and labels[int(graph.symbol[target])] in options:
        return labels[int(graph.symbol[target])]
    return min(options, key=lambda symbol: int(graph.step[at, code[symbol]]))


def law_of(mechanism: Any, words: Sequence[Word]) -> Law:
    """The law on these words, which may be shorter than those of the language."""
    if isinstance(mechanism, PermuteAndFlip):
        return permute_and_flip_law(words, mechanism.rate)
    if isinstance(mechanism, SequentialWords):
        return sequential_law(words, mechanism.decay, lambda *given: favoured(mechanism, *given))
    if isinstance(mechanism, StaircaseWords):
        return distance_law(words, mechanism.steps(len(words[0])).weights())
    weights = None
    if isinstance(mechanism, BalancedWords):
        weights = path_weights(mechanism.graph, mechanism.language.labels, words)
    return exponential_law(words, mechanism.decay, weights)


def beginnings(law: Law, length: int) -> Law:
    """The law of the first symbols of the output: what has been published before the word is whole."""
    places: dict[Word, list[int]] = {}
    for column, word in enumerate(law.words):
        places.setdefault(word[:length], []).append(column)
    with precision(BITS):
        rows = [[sum((row[i] for i in same), arb(0)) for same in places.values()] for row in law.rows]
    return Law(law.words, rows)


def mechanisms(rng: np.random.Generator, recipe: Recipe, language: Any) -> Iterator[Any]:
    """Every mechanism that takes the language, at random budgets."""
    makers: list[Any] = [ExponentialWords, BalancedWords, PermuteAndFlip, SequentialWords]
    for maker in [*makers, *([StaircaseWords] if recipe.kind == "free" else [])]:
        radius = int(rng.integers(1, min(3, recipe.length) + 1))
        epsilon, more = float(10.0 ** rng.uniform(-2.0, 1.2)), dict[str, Any]()
        if maker is ExponentialWords and rng.random() < 0.3:
            more = {"calibration": "generic"}
        elif maker in (ExponentialWords, BalancedWords) and rng.random() < 0.3:
            more = {"shorter": True}
        yield maker(language, epsilon, radius=radius, **more)


def claims_of(mechanism: Any, length: int, many: int = 1) -> list[float]:
    """What is charged for words that differ in 1 ... length symbols: the least of all radii that reach it."""
    near = [Hamming(radius, words_each=many) for radius in range(1, length + 1)]
    epsilons = [mechanism.profile(adjacency).pure_epsilon for adjacency in near]
    return [min(epsilons[place:]) for place in range(length)]


def cases(rng: np.random.Generator) -> Iterator[Case]:
    """Laws of random mechanisms on random languages, without end."""
    while True:
        recipe = random_recipe(int(rng.integers(2**31)), most=_MOST, longest=_LONGEST)
        words = recipe.words()
        if len(words) < _FEWEST:
            continue
        language = recipe.build(veil)
        for mechanism in mechanisms(rng, recipe, language):
            law = law_of(mechanism, words)
            name = f"{mechanism!r} on {recipe}"
            check_stated(mechanism, law, int(rng.integers(len(words))))
            claims = claims_of(mechanism, recipe.length)
            yield Case(name, law, claims)
            if isinstance(mechanism, ExponentialWords | BalancedWords) and recipe.kind != "free":
                yield Case(f"as it is drawn, {name}", drawn_law(mechanism, words), claims)
            if isinstance(mechanism, SequentialWords) and recipe.length > 1:
                length = int(rng.integers(1, recipe.length))
                yield Case(f"the first {length} of {name}", beginnings(law, length), claims)
            many, length = int(rng.integers(2, 5)), int(rng.integers(1, recipe.length + 1))
            each = EachWord(mechanism, words_each=many)
            fewer = recipe.words(length)
            if mechanism.covers_shorter and len(fewer) > 1:
                charged = claims_of(each, length, many)
                yield Case(f"{many} words of {length} by {name}", law_of(mechanism, fewer), charged, many)


def check_stated(mechanism: Any, law: Law, place: int) -> None:
    """That the mechanism states the same law for a word as the definition, and it is one."""
    assert law.is_normalised()
    stated = mechanism.distribution(law.words[place])
    for word, chance in zip(law.words, law.rows[place], strict=True):
        assert stated[word] == pytest.approx(float(chance), rel=1e-9, abs=1e-300)
