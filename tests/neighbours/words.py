"""Neighbours of words, as their sentences say."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import combinations, product
from typing import Any

import numpy as np

from tests.neighbours.written import Written
from veil.errors import InvalidData
from veil.words import ChainWords, Hamming

Word = tuple[Any, ...]


def respelled(word: Word, radius: int, symbols: Sequence[Any], feasible: set[Word]) -> Iterator[Word]:
    """ "two feasible words of the same length differ in one symbol", or "in at most RADIUS symbols".

    Every way to write other symbols in so many places, where a feasible word comes out.
    """
    for many in range(1, min(radius, len(word)) + 1):
        for places in combinations(range(len(word)), many):
            others = [[symbol for symbol in symbols if symbol != word[place]] for place in places]
            for written in product(*others):
                other = list(word)
                for place, symbol in zip(places, written, strict=True):
                    other[place] = symbol
                if tuple(other) in feasible:
                    yield tuple(other)


def several(
    rng: np.random.Generator,
    batch: list[Word],
    words_each: int,
    radius: int,
    symbols: Sequence[Any],
    feasible: Any,
) -> list[Word] | None:
    """ "up to WORDS_EACH words of one person differ in at most RADIUS symbols each".

    Which words are of one person is not known to the mechanism: any so many may be.
    """
    edited = list(batch)
    for place in rng.choice(len(batch), min(words_each, len(batch)), replace=False).tolist():
        choices = list(respelled(edited[place], radius, symbols, feasible))
        if not choices:
            return None
        edited[place] = choices[int(rng.integers(len(choices)))]
    return edited


def feasible_words(language: Any, length: int) -> set[Word]:
    """Every word over the alphabet that the language takes, tried one by one."""
    found = set()
    for word in product(language.labels, repeat=length):
        try:
            language.validate(list(word))
        except InvalidData:
            continue
        found.add(word)
    return found


def apart(first: Word, second: Word) -> int:
    return sum(a != b for a, b in zip(first, second, strict=True))


ROADS = {"a": ["b", "c"], "b": ["a", "c"], "c": ["a", "b", "c"]}
_LANGUAGE = ChainWords(ROADS, 4)
_FEASIBLE = feasible_words(_LANGUAGE, 4)


def _one(rng: np.random.Generator, word: Word, radius: int) -> Word:
    choices = list(respelled(word, radius, "abc", _FEASIBLE))
    return choices[int(rng.integers(len(choices)))]


WRITTEN = (
    Written(
        Hamming(1),
        "two feasible words of the same length differ in one symbol",
        lambda rng, word: _one(rng, word, 1),
        ("a", "b", "c", "a"),
        lambda first, second: apart(first, second) == 1 and set(second) <= set("abc"),
    ),
    Written(
        Hamming(2),
        "two feasible words of the same length differ in at most 2 symbols",
        lambda rng, word: _one(rng, word, 2),
        ("a", "b", "c", "a"),
        lambda first, second: 1 <= apart(first, second) <= 2,
    ),
    Written(
        Hamming(1, words_each=2),
        "up to 2 words of one person differ in one symbol each",
        lambda rng, batch: several(rng, batch, 2, 1, "abc", _FEASIBLE),
        [("a", "b", "c", "a"), ("c", "c", "c", "c"), ("b", "a", "b", "c")],
        lambda first, second: sorted(map(apart, first, second)) == [0, 1, 1],
    ),
    Written(
        Hamming(2, words_each=3),
        "up to 3 words of one person differ in at most 2 symbols each",
        lambda rng, batch: several(rng, batch, 3, 2, "abc", _FEASIBLE),
        [("a", "b", "c", "a"), ("c", "c", "c", "c"), ("b", "a", "b", "c")],
        lambda first, second: max(map(apart, first, second)) <= 2,
    ),
)
