"""Output laws of the word mechanisms, by enumeration of all feasible words from the definitions in words.md.

A law is a table of balls, P(v | w) for each input w (a row) and output v (a column). Decays and weights are
the floats as they stand, so that everything is rational but the powers e^-rate of permute-and-flip.
"""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Callable, Hashable, Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import Any

import numpy as np
from flint import arb, arb_poly, fmpq
from numpy.typing import NDArray

from tests.review.tails import precision

Word = tuple[Hashable, ...]
Rows = list[list[arb]]
BITS = 256
# The polynomials of permute-and-flip alternate in sign: binomials of so many words cancel.
_WIDE = 1024
# Floats tell outputs apart whose losses differ by more than this; among the others the balls decide.
_NEAR = 1e-9


def fraction_ball(number: Fraction) -> arb:
    return arb(fmpq(number.numerator, number.denominator))


@dataclass(frozen=True, eq=False)
class Law:
    """P(v | w) of a mechanism for all words w and v, in the order of `words`."""

    words: Sequence[Word]
    rows: Rows

    @cached_property
    def distances(self) -> NDArray[np.int64]:
        """In how many places each two words differ."""
        codes = {symbol: i for i, symbol in enumerate({s: None for word in self.words for s in word})}
        table = np.array([[codes[symbol] for symbol in word] for word in self.words])
        return np.asarray((table[:, None, :] != table[None, :, :]).sum(axis=2))

    @cached_property
    def logs(self) -> Rows:
        with precision(BITS):
            return [[chance.log() for chance in row] for row in self.rows]

    @cached_property
    def _floats(self) -> NDArray[np.float64]:
        return np.array([[float(log.mid()) for log in row] for row in self.logs])

    def is_normalised(self) -> bool:
        """Whether each row may sum to one; the balls are narrow."""
        with precision(BITS):
            sums = [sum(row, arb(0)) for row in self.rows]
            return all(total.contains(1) and total.rad() < arb(2) ** -200 for total in sums)

    def neighbours(self, radius: int) -> Iterator[tuple[int, int]]:
        """All pairs of different words that are at most so far apart, each once."""
        for i, j in np.argwhere((self.distances > 0) & (self.distances <= radius)).tolist():
            if i < j:
                yield i, j

    def loss(self, i: int, j: int) -> arb:
        """The largest |log P(v | i) / P(v | j)| over all outputs v."""
        sizes = np.abs(self._floats[i] - self._floats[j])
        found = arb(0)
        with precision(BITS):
            for v in np.flatnonzero(sizes >= sizes.max() - _NEAR).tolist():
                found = found.max(abs(self.logs[i][v] - self.logs[j][v]))
        return found


def exponential_law(words: Sequence[Word], decay: float, weights: Sequence[Fraction] | None = None) -> Law:
    """weight(v) decay^d(v, w) / Z(w)."""
    powers = [Fraction(decay) ** errors for errors in range(len(words[0]) + 1)]
    by_distance = Law(words, []).distances.tolist()
    with precision(BITS):
        rows = []
        for row in by_distance:
            masses = [powers[errors] for errors in row]
            if weights is not None:
                masses = [mass * weight for mass, weight in zip(masses, weights, strict=True)]
            total = sum(masses, Fraction(0))
            rows.append([fraction_ball(mass / total) for mass in masses])
    return Law(words, rows)


def distance_law(words: Sequence[Word], weights: Sequence[Fraction]) -> Law:
    """weights[d(v, w)] / Z(w)."""
    with precision(BITS):
        rows = []
        for row in Law(words, []).distances.tolist():
            total = sum((weights[errors] for errors in row), Fraction(0))
            rows.append([fraction_ball(weights[errors] / total) for errors in row])
    return Law(words, rows)


def permute_and_flip_law(words: Sequence[Word], rate: float) -> Law:
    """Words in random order, each taken with the probability p_v = e^(-rate d(v, w)): the first that is.

    P(v) = p_v * the integral over t from 0 to 1 of the product over the others of (1 - p t): t is the share
    of the order that has passed when v is looked at.
    """
    with precision(_WIDE):
        taken = [(-fraction_ball(Fraction(rate) * errors)).exp() for errors in range(len(words[0]) + 1)]
        known: dict[tuple[int, ...], list[arb]] = {}
        rows = []
        for row in Law(words, []).distances.tolist():
            counts = tuple(row.count(errors) for errors in range(len(taken)))
            if counts not in known:
                known[counts] = _masses(counts, taken)
            rows.append([known[counts][errors] for errors in row])
    return Law(words, rows)


def _masses(counts: Sequence[int], taken: Sequence[arb]) -> list[arb]:
    """The probability of one word at each distance that occurs."""
    masses = []
    for at, chance in enumerate(taken):
        product = arb_poly([1])
        for errors, many in enumerate(counts):
            others = many - (errors == at)
            if counts[at] and others:
                product *= arb_poly([1, -taken[errors]]) ** others
        masses.append(chance * sum((c / (k + 1) for k, c in enumerate(product.coeffs())), arb(0)))
    return masses


def sequential_law(
    words: Sequence[Word], decay: float, favoured: Callable[[Word, Hashable, set[Hashable]], Hashable]
) -> Law:
    """Symbol after symbol: the favoured one weighs 1, every other one that can be completed `decay`.

    favoured: by the symbols drawn so far, the true symbol, and those from which a word can be completed.
    """
    ahead = continuations(words)
    down = Fraction(decay)
    rows = []
    with precision(BITS):
        for word in words:
            known: dict[Word, Fraction] = {(): Fraction(1)}
            for place, true in enumerate(word):
                for prefix in [drawn for drawn in known if len(drawn) == place]:
                    options = ahead[prefix]
                    target, total = favoured(prefix, true, options), 1 + (len(options) - 1) * down
                    for symbol in options:
                        share = (1 if symbol == target else down) / total
                        known[*prefix, symbol] = known[prefix] * share
            rows.append([fraction_ball(known[v]) for v in words])
    return Law(words, rows)


def continuations(words: Sequence[Word]) -> dict[Word, set[Hashable]]:
    """The symbols after which each beginning of a word can still become a word."""
    ahead: dict[Word, set[Hashable]] = defaultdict(set)
    for word in words:
        for place, symbol in enumerate(word):
            ahead[word[:place]].add(symbol)
    return ahead


def path_weights(graph: Any, labels: Sequence[Hashable], words: Sequence[Word]) -> list[Fraction]:
    """The product of the public weights along the path of each word: floats as they stand."""
    codes = {label: code for code, label in enumerate(labels)}
    edges = {
        (int(v), int(graph.targets[edge])): Fraction(float(graph.weight[edge]))
        for v in range(graph.size)
        for edge in range(int(graph.starts[v]), int(graph.starts[v + 1]))
    }
    weights = []
    for word in words:
        at = int(graph.step[graph.size, codes[word[0]]])
        weight = Fraction(float(graph.first_weight[at]))
        for symbol in word[1:]:
            ahead = int(graph.step[at, codes[symbol]])
            weight, at = weight * edges[at, ahead], ahead
        weights.append(weight)
    return weights


def is_above(loss: arb, claim: float) -> bool:
    """Whether a loss is surely above the claim."""
    return bool(loss > arb(claim))


def is_settled(loss: arb, claim: float) -> bool:
    """Whether the ball says on which side of the claim the loss lies."""
    return math.isfinite(claim) and (bool(loss > arb(claim)) or bool(loss <= arb(claim)))
