"""How many words of a graph lie at each distance from a given word.

From the end of the word: from node x at position t,

    N_n(x, 0) = 1 if a word may end in x;
    N_t(x, l) = sum over x -> z of weight * N_{t+1}(z, l - [z reads wrong]).

With all weights one these are numbers of words. They are floats: every sum below 2^53 is exact, and beyond
it the relative error of each is bounded by its roundings. Numbers beyond the range of floats have a mantissa
and an exponent each.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from veil.core.arrays import Floats, Ints
from veil.core.errors import CannotCalibrate
from veil.core.numerics.compiled import compiled
from veil.core.numerics.rounding import float_above
from veil.words.numerics.graph import WordGraph
from veil.words.numerics.tables import (
    DEEPEST,
    NOTHING,
    POWERS,
    Exponents,
    Layer,
    Ways,
    checked_words,
    in_threads,
)

_ROWS_TOGETHER = 512


@dataclass(frozen=True)
class Counts:
    """Positive numbers, or zero, as mantissa * 2^exponent; taken as the exact numbers they are."""

    mantissa: Floats
    exponent: Exponents

    @classmethod
    def of(cls, values: Floats) -> Counts:
        """The numbers of an array of floats."""
        mantissa, exponent = np.frexp(values)
        return cls(mantissa, exponent.astype(np.int32))

    def logs(self) -> Floats:
        """Their natural logarithms; minus infinity for a zero."""
        with np.errstate(divide="ignore"):
            return np.asarray(np.log(self.mantissa) + self.exponent * math.log(2.0))

    def exact(self) -> list[Fraction]:
        """The exact numbers that a row holds."""
        pairs = zip(self.mantissa.tolist(), self.exponent.tolist(), strict=True)
        return [
            Fraction(mantissa) * Fraction(2) ** exponent if mantissa else Fraction(0)
            for mantissa, exponent in pairs
        ]


def log_counts(counts: Counts | Floats | Sequence[int]) -> Floats:
    """The natural logarithms of numbers in any form; minus infinity for a zero."""
    if isinstance(counts, (Counts, np.ndarray)):
        return (counts if isinstance(counts, Counts) else Counts.of(counts)).logs()
    return np.array([math.log(count) if count else -np.inf for count in counts])


@dataclass(frozen=True)
class Layers:
    """The numbers N_t of one word, a position at a time, for 0 ... most errors.

    scaled: a number is a mantissa and an exponent, and so are the weights of `ways`; otherwise plain floats.
    """

    ways: Ways
    word: Ints
    most: int
    scaled: bool

    @classmethod
    def of(cls, ways: Ways, word: Ints, most: int) -> Layers:
        """Of plain floats where they hold every number."""
        is_plain = ways.fits(len(word), 1.0, 2 * (most + 1))
        return cls(ways if is_plain else ways.scaled(), word, most, not is_plain)

    def final(self) -> Layer:
        """The layer of the last position."""
        value = np.zeros((self.ways.size, self.most + 1))
        exponent = np.full(value.shape, NOTHING, dtype=np.int32)
        value[:, 0] = np.where(self.ways.last, 0.5 if self.scaled else 1.0, 0.0)
        exponent[self.ways.last, 0] = 1
        return value, exponent

    def before(self, layer: Layer, position: int) -> Layer:
        """The layer at a position, from the one after it."""
        return self._summed(layer, 0, self.ways.size, position + 1)

    def beginning(self, layer: Layer) -> Counts:
        """The sums over the first nodes, from the layer of the first position."""
        value, exponent = self._summed(layer, self.ways.size, self.ways.size + 1, 0)
        return Counts(value[0], exponent[0]) if self.scaled else Counts.of(value[0])

    def _summed(self, layer: Layer, begin: int, end: int, position: int) -> Layer:
        """For each of these rows of edges the sum over the nodes at a position."""
        read, errors = int(self.word[position]), min(len(self.word) - position, self.most)
        value = np.zeros((end - begin, self.most + 1))
        exponent = np.full(value.shape, NOTHING, dtype=np.int32)
        if self.scaled:
            _count_scaled(self.ways, begin, read, errors, layer, (value, exponent))
        else:
            count_layer(self.ways, begin, read, errors, layer[0], value)
        return value, exponent

    def count(self, layer: Layer, node: int, errors: int) -> Fraction:
        """One number of a layer."""
        value = Fraction(float(layer[0][node, errors]))
        return value * Fraction(2) ** int(layer[1][node, errors]) if self.scaled and value else value


def distance_weights(graph: WordGraph, word: Ints) -> Counts:
    """The number of words at each distance 0 ... n, or their weight if words are weighted."""
    given = checked_words(graph, np.asarray(word)[None, :])
    counts = distance_counts(graph, given)
    if counts is not None:
        return Counts.of(counts[0])
    layers = Layers.of(Ways.of(graph), given[0], graph.length)
    layer = layers.final()
    for t in range(graph.length - 2, -1, -1):
        layer = layers.before(layer, t)
    return layers.beginning(layer)


def distance_counts(graph: WordGraph, words: Ints, *, threads: int = 2) -> Floats | None:
    """The numbers of words at the distances 0 ... n for each row, if floats hold them; else None."""
    given, ways = checked_words(graph, words), Ways.of(graph)
    if not ways.fits(graph.length, 1.0, 2 * (graph.length + 1)):
        return None
    counts = np.empty((len(given), graph.length + 1))

    def count(begin: int, end: int) -> None:
        _count_rows(ways, given[begin:end], counts[begin:end])

    in_threads(len(given), _ROWS_TOGETHER, threads, count)
    return counts


def count_roundings(graph: WordGraph) -> int:
    """The roundings that a number of words has gone through, at most: mechanisms/words.md, on rounding."""
    ways = Ways.of(graph)
    begin = int(ways.starts[-1] - ways.starts[-2])
    # A layer of mantissas leaves out less than one more rounding.
    return (graph.length - 1) * ways.most + begin


def permute_and_flip_rounding(graph: WordGraph) -> float:
    """What rounded numbers of words add to the privacy loss of permute-and-flip, at most.

    8 R 2^-53 (1 + 2^-20) for R roundings of a number, 0 where all are exact (words/mechanisms/words.md).
    """
    if graph.is_weighted:
        raise ValueError("permute-and-flip counts words: they have no weights")
    ways, roundings = Ways.of(graph), count_roundings(graph)
    begin = int(ways.starts[-1] - ways.starts[-2])
    if graph.length <= 53 and begin * ways.most ** (graph.length - 1) < 2**53:
        return 0.0
    if roundings > 2**20:
        raise CannotCalibrate(
            "length: the words are too long for permute-and-flip; its rounding is not bounded."
        )
    return float_above(8 * roundings * Fraction(1, 2**53) * (1 + Fraction(1, 2**20)))


@compiled
def count_layer(ways: Ways, begin: int, read: int, errors: int, ahead: Floats, here: Floats) -> None:
    """One position back: the sums over the edges of the nodes from `begin` on, one for each row of `here`.

    There are 0 ... errors errors, and one less in `ahead`.
    """
    _, symbol, starts, targets, weight, _, _ = ways
    kept = min(errors, here.shape[1] - 1)
    for x in range(len(here)):
        here[x] = 0.0
        for edge in range(starts[begin + x], starts[begin + x + 1]):
            z, factor = targets[edge], weight[edge]
            if symbol[z] == read:
                for many in range(kept + 1):
                    here[x, many] += factor * ahead[z, many]
            else:
                for many in range(kept):
                    here[x, many + 1] += factor * ahead[z, many]


@compiled
def _count_rows(ways: Ways, words: Ints, counts: Floats) -> None:
    """counts[row, l]: the numbers for a row of words."""
    rows, length = words.shape
    here, ahead = np.empty((ways.size, length + 1)), np.empty((ways.size, length + 1))
    for row in range(rows):
        here[:] = 0.0
        here[:, 0] = np.where(ways.last, 1.0, 0.0)
        for t in range(length - 2, -1, -1):
            here, ahead = ahead, here
            count_layer(ways, 0, words[row, t + 1], length - 1 - t, ahead, here)
        count_layer(ways, ways.size, words[row, 0], length, here, counts[row : row + 1])


@compiled
def _count_scaled(ways: Ways, begin: int, read: int, errors: int, ahead: Layer, here: Layer) -> None:
    """The same in mantissas and exponents."""
    top = np.empty(errors + 1, dtype=np.int32)
    total = np.empty(errors + 1)
    _, symbol, starts, targets, weight, _, raised = ways
    (value, exponent), (mantissas, exponents) = ahead, here
    # No branches within the loops over the errors, so that they become vector instructions. A zero has an
    # exponent near NOTHING, and adds nothing whatever it is aligned by.
    for x in range(len(mantissas)):
        top[:] = NOTHING
        total[:] = 0.0
        edges = range(starts[begin + x], starts[begin + x + 1])
        for edge in edges:
            z, factor = targets[edge], raised[edge]
            wrong = 0 if symbol[z] == read else 1
            for many in range(errors + 1 - wrong):
                top[many + wrong] = max(top[many + wrong], exponent[z, many] + factor)
        for edge in edges:
            z, factor = targets[edge], raised[edge]
            wrong = 0 if symbol[z] == read else 1
            for many in range(errors + 1 - wrong):
                below = min(top[many + wrong] - exponent[z, many] - factor, DEEPEST - 1)
                total[many + wrong] += weight[edge] * value[z, many] * POWERS[below]
        for many in range(errors + 1):
            if total[many] > 0.0:
                mantissa, shift = math.frexp(total[many])
                mantissas[x, many] = mantissa
                exponents[x, many] = top[many] + shift
