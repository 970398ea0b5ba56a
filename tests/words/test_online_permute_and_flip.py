"""Permute-and-flip online cannot be better than what is offered: the statements of words.md in numbers."""

from __future__ import annotations

import itertools
import math
from collections.abc import Mapping
from typing import Any

import numpy as np
import pytest
from scipy.optimize import linprog

from veil import words
from veil.words.language import Language

ROADS = {"a": ["b", "c"], "b": ["a", "d"], "c": ["a", "c"], "d": ["d"]}
Law = Mapping[tuple[Any, ...], float]


def _of_prefixes(law: Law, length: int) -> dict[tuple[Any, ...], float]:
    """The law of the first symbols that are released."""
    found: dict[tuple[Any, ...], float] = {}
    for word, chance in law.items():
        found[word[:length]] = found.get(word[:length], 0.0) + chance
    return found


def _apart(one: Law, other: Law) -> float:
    return max(abs(one.get(word, 0.0) - other.get(word, 0.0)) for word in {*one, *other})


def _looks_ahead(mechanism: Any, language: Language) -> float:
    """By how much the law of the first symbols released can depend on true symbols that come later."""
    laws = {word: mechanism.distribution(word) for word in language.enumerate()}
    most = 0.0
    for length in range(1, language.length):
        for one, other in itertools.combinations(laws, 2):
            if one[:length] == other[:length]:
                most = max(most, _apart(_of_prefixes(laws[one], length), _of_prefixes(laws[other], length)))
    return most


def test_over_all_words_permute_and_flip_does_not_look_ahead() -> None:
    language = words.FreeWords("xyz", 3)
    assert _looks_ahead(words.PermuteAndFlip(language, 3.0), language) < 1e-12


def test_along_a_chain_it_does_and_the_sequential_mechanism_does_not() -> None:
    language = words.ChainWords(ROADS, 3, start="a")
    assert _looks_ahead(words.PermuteAndFlip(language, 3.0), language) > 0.01
    assert _looks_ahead(words.SequentialWords(language, 3.0), language) < 1e-12


def _least_error(alphabet: int, length: int, epsilon: float) -> float:
    """Of all epsilon-private channels from words to words, the least mean error: a linear program."""
    inputs = list(itertools.product(range(alphabet), repeat=length))
    size = len(inputs)
    errors = np.array([[sum(a != b for a, b in zip(v, w, strict=True)) for v in inputs] for w in inputs])
    rows = []
    for one, other in itertools.permutations(range(size), 2):
        if errors[one, other] == 1:
            for out in range(size):
                row = np.zeros((size, size))
                row[one, out], row[other, out] = 1.0, -math.exp(epsilon)
                rows.append(row.ravel())
    found = linprog(
        errors.ravel() / size,
        A_ub=np.array(rows),
        b_ub=np.zeros(len(rows)),
        A_eq=np.kron(np.eye(size), np.ones(size)),
        b_eq=np.ones(size),
    )
    assert found.status == 0
    return float(found.fun)


@pytest.mark.parametrize(("alphabet", "length"), [(2, 1), (2, 2), (3, 2), (2, 3)])
def test_over_all_words_no_mechanism_errs_less(alphabet: int, length: int) -> None:
    """The best of all channels has n(m - 1)/(e^epsilon + m - 1), and so has the sequential mechanism."""
    language = words.FreeWords(alphabet, length)
    for epsilon in (0.5, 3.0):
        least = length * (alphabet - 1) / (math.exp(epsilon) + alphabet - 1)
        assert _least_error(alphabet, length, epsilon) == pytest.approx(least, rel=1e-6)
        sequential = words.SequentialWords(language, epsilon)
        assert sequential.expected_error([0] * length) == pytest.approx(least, rel=1e-9)
        flipped = words.PermuteAndFlip(language, epsilon).expected_error([0] * length)
        assert flipped > 1.02 * least


@pytest.mark.parametrize("options", [2, 3, 5])
def test_step_by_step_it_is_the_sequential_mechanism(options: int) -> None:
    """Among nodes of which one is the target: by all orders of the coin flips, and at equal loss."""
    for coin in (0.2, 0.7):
        # The target's coin always shows heads; the others' with this probability, in random order.
        law = np.zeros(options)
        for order in itertools.permutations(range(options)):
            left = 1.0
            for node in order:
                law[node] += left * (1.0 if node == 0 else coin) / math.factorial(options)
                left *= 0.0 if node == 0 else 1.0 - coin
        assert law.sum() == pytest.approx(1.0)
        assert law[1:] == pytest.approx([law[1]] * (options - 1), rel=1e-12)
        loss = math.log(law[0] / law[1])
        language = words.FreeWords(options, 1)
        same = words.SequentialWords(language, loss).distribution([0])
        assert [same[symbol,] for symbol in language.labels] == pytest.approx(law.tolist(), rel=1e-9)
