"""The laws of mechanisms on words, by their definitions and their public numbers, as rational numbers."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from decimal import Context, Decimal
from fractions import Fraction
from math import prod
from typing import Any

from tests.neighbours.discrete import Law
from tests.neighbours.words import Word, apart
from veil.words import BalancedWords, ExponentialWords, PermuteAndFlip, SequentialWords, StaircaseWords

_DIGITS = Context(prec=60)
# Rates have no rational power of e: the law is that of the number next to it.
_NEAR = 2**150


def law_of(mechanism: Any, words: Iterable[Word]) -> Callable[[Word], Law]:
    """The law of the output for each true word."""
    listed = sorted(words)
    if isinstance(mechanism, (ExponentialWords, BalancedWords)):
        weights = {word: path_weight(mechanism, word) for word in listed}
        return lambda word: _normalised(
            {v: weights[v] * Fraction(mechanism.decay) ** apart(v, word) for v in listed}
        )
    if isinstance(mechanism, StaircaseWords):
        falling = mechanism.steps(len(listed[0])).weights()
        return lambda word: _normalised({v: falling[apart(v, word)] for v in listed})
    if isinstance(mechanism, PermuteAndFlip):
        return lambda word: permuted_and_flipped(listed, word, mechanism.rate)
    assert isinstance(mechanism, SequentialWords)
    return lambda word: answered(mechanism, listed, word)


def _normalised(weights: dict[Word, Fraction]) -> Law:
    total = sum(weights.values(), Fraction(0))
    return {word: weight / total for word, weight in weights.items()}


def path_weight(mechanism: Any, word: Word) -> Fraction:
    """The product of the public weights along the path of a word; 1 where words are not weighted."""
    graph = mechanism.graph
    places = {label: i for i, label in enumerate(mechanism.language.labels)}
    node = int(graph.step[graph.size, places[word[0]]])
    weight = Fraction(float(graph.first_weight[node]))
    for symbol in word[1:]:
        ahead = int(graph.step[node, places[symbol]])
        begin, end = int(graph.starts[node]), int(graph.starts[node + 1])
        edge = begin + graph.targets[begin:end].tolist().index(ahead)
        weight *= Fraction(float(graph.weight[edge]))
        node = ahead
    return weight


def permuted_and_flipped(words: list[Word], word: Word, rate: float) -> Law:
    """Taken in random order, each with probability exp(-rate d); the first that is taken is it.

    P(v) = p_v times the integral over (0, 1) of the product over all others of (1 - p t): a word comes at a
    random time, and none that came before it was taken.
    """
    taken = {}
    for v in words:
        exponent = _DIGITS.multiply(Decimal(-apart(v, word)), Decimal(rate))
        taken[v] = Fraction(round(Fraction(_DIGITS.exp(exponent)) * _NEAR), _NEAR)
    law, known = {}, {}
    for v in words:
        if taken[v] not in known:
            polynomial = [Fraction(1)]
            for other in words:
                if other != v:
                    shifted = [Fraction(0), *(taken[other] * c for c in polynomial)]
                    polynomial = [a - b for a, b in zip([*polynomial, Fraction(0)], shifted, strict=True)]
            known[taken[v]] = taken[v] * sum((c / (k + 1) for k, c in enumerate(polynomial)), Fraction(0))
        law[v] = known[taken[v]]
    return law


def answered(mechanism: SequentialWords, words: list[Word], word: Word) -> Law:
    """Symbol by symbol: the target is the likeliest of those that may follow, the others are all alike.

    What may follow is read off the list of words. The target is the public table's; where no word goes on
    from it, the one with the smallest number.
    """
    graph, places = mechanism.language.graph, {x: i for i, x in enumerate(mechanism.language.labels)}
    decay, law = Fraction(mechanism.decay), {}
    for v in words:
        chances, node = [], graph.size
        for t, true in enumerate(word):
            open_ = {w[t] for w in words if w[:t] == v[:t]}
            nodes = sorted(int(graph.step[node, places[symbol]]) for symbol in open_)
            target = int(mechanism.targets[node, places[true]])
            target = target if target in nodes else nodes[0]
            node = int(graph.step[node, places[v[t]]])
            chances.append((Fraction(1) if node == target else decay) / (1 + (len(nodes) - 1) * decay))
        law[v] = prod(chances, start=Fraction(1))
    return law
