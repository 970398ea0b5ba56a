"""How many words of a graph lie at each distance from a given word.

From the end of the word: from node x at position t,

    N_n(x, 0) = 1 if a word may end in x;
    N_t(x, l) = sum over x -> z of weight * N_{t+1}(z, l - [z reads wrong]).

With all weights one these are numbers of words. They are floats: every sum below 2^53 is exact, and beyond
it each number is within `count_error(graph)` of the true one, relatively. Numbers beyond the range of floats
have a mantissa and an exponent each.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from veil.core.arrays import Booleans, Floats, Ints, Places
from veil.core.errors import CannotCalibrate
from veil.core.numerics.compiled import compiled
from veil.core.numerics.rounding import float_above
from veil.words.numerics.graph import WordGraph
from veil.words.numerics.scaled_counts import ScaledWays
from veil.words.numerics.tables import Exponents, Ways, checked_words, in_threads

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

    @classmethod
    def of_whole(cls, values: list[int]) -> Counts:
        """The whole numbers, rounded to 53 bits."""
        shifts = [max(0, value.bit_length() - 1000) for value in values]
        found = cls.of(np.array([float(value >> shift) for value, shift in zip(values, shifts, strict=True)]))
        return cls(found.mantissa, (found.exponent + np.array(shifts)).astype(np.int32))

    def logs(self) -> Floats:
        """Their natural logarithms; minus infinity for a zero."""
        with np.errstate(divide="ignore"):
            found: Floats = np.log(self.mantissa) + self.exponent * math.log(2.0)
        return found

    def exact(self) -> list[Fraction]:
        """The exact numbers that a row holds."""
        pairs = zip(self.mantissa.tolist(), self.exponent.tolist(), strict=True)
        return [
            Fraction(mantissa) * Fraction(2) ** exponent if mantissa else Fraction(0)
            for mantissa, exponent in pairs
        ]


def distance_weights(graph: WordGraph, word: Ints, most: int | None = None) -> Counts:
    """The number of words at each distance 0 ... most (None: n), or their weight if words are weighted."""
    given, ways = checked_words(graph, np.asarray(word)[None, :]), Ways.of(graph)
    kept = graph.length if most is None else min(most, graph.length)
    if ways.fits(graph.length, 1.0, 2 * (kept + 1)):
        found = np.empty((1, kept + 1))
        count_rows(ways.symbol, ways.starts, ways.targets, ways.weight, ways.last, given, found)
        return Counts.of(found[0])
    scaled = ScaledWays.of(ways)
    value, exponent = scaled.final_layer(kept)
    for t in range(graph.length - 2, -1, -1):
        value, exponent = scaled.layer_before(value, exponent, int(given[0, t + 1]), graph.length - 1 - t)
    return Counts(*scaled.beginning(value, exponent, int(given[0, 0])))


def distance_counts(graph: WordGraph, words: Ints, *, threads: int = 2) -> Floats | None:
    """The numbers of words at the distances 0 ... n for each row, if floats hold them; else None."""
    given, ways = checked_words(graph, words), Ways.of(graph)
    if not ways.fits(graph.length, 1.0, 2 * (graph.length + 1)):
        return None
    found = np.empty((len(given), graph.length + 1))

    def count(begin: int, end: int) -> None:
        arrays = ways.symbol, ways.starts, ways.targets, ways.weight, ways.last
        count_rows(*arrays, given[begin:end], found[begin:end])

    in_threads(len(given), _ROWS_TOGETHER, threads, count)
    return found


def exact_distance_counts(graph: WordGraph, word: Ints) -> list[int]:
    """The numbers of words at the distances 0 ... n, in whole numbers: for small graphs, and as a check."""
    path_ends = [[1 if graph.last[x] else 0] + [0] * graph.length for x in range(graph.size)]
    step = [graph.targets[graph.starts[x] : graph.starts[x + 1]].tolist() for x in range(graph.size)]

    def summed(nodes: list[int], ahead: list[list[int]], read: int) -> list[int]:
        total = [0] * (graph.length + 1)
        for z in nodes:
            wrong = int(graph.symbol[z] != read)
            for errors in range(graph.length + 1 - wrong):
                total[errors + wrong] += ahead[z][errors]
        return total

    for t in range(graph.length - 1, 0, -1):
        path_ends = [summed(step[x], path_ends, int(word[t])) for x in range(graph.size)]
    return summed(np.flatnonzero(graph.first).tolist(), path_ends, int(word[0]))


def count_roundings(graph: WordGraph) -> int:
    """The roundings that a number of words has gone through, at most: mechanisms/words.md, on rounding."""
    ways = Ways.of(graph)
    begin = int(ways.starts[-1] - ways.starts[-2])
    # A layer of mantissas leaves out less than one more rounding.
    return (graph.length - 1) * ways.most + begin


def count_error(graph: WordGraph) -> float:
    """The relative error of a number of words, at most; 0 for numbers that are below 2^53."""
    unit = Fraction(1, 2**53)
    roundings = count_roundings(graph) * unit
    return float_above(roundings / (1 - roundings))


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
def count_layer(
    symbol: Ints,
    starts: Places,
    targets: Ints,
    weight: Floats,
    read: int,
    errors: int,
    ahead: Floats,
    here: Floats,
) -> None:
    """One position back. `ahead` holds 0 ... errors - 1 errors at most, `here` one more."""
    size, kept = here.shape
    for x in range(size):
        count_sum(
            symbol, starts[x], starts[x + 1], targets, weight, read, min(errors, kept - 1), ahead, here[x]
        )


@compiled
def count_sum(
    symbol: Ints,
    begin: int,
    end: int,
    targets: Ints,
    weight: Floats,
    read: int,
    errors: int,
    ahead: Floats,
    here: Floats,
) -> None:
    """The sum over some edges, for 0 ... errors errors; more there are none."""
    here[:] = 0.0
    for edge in range(begin, end):
        z, factor = targets[edge], weight[edge]
        if symbol[z] == read:
            for many in range(errors + 1):
                here[many] += factor * ahead[z, many]
        else:
            for many in range(errors):
                here[many + 1] += factor * ahead[z, many]


@compiled
def count_rows(
    symbol: Ints,
    starts: Places,
    targets: Ints,
    weight: Floats,
    last: Booleans,
    words: Ints,
    found: Floats,
) -> None:
    """found[row, l]: the numbers for a row of words."""
    rows, length = words.shape
    size, kept = len(symbol), found.shape[1]
    here, ahead = np.empty((size, kept)), np.empty((size, kept))
    for row in range(rows):
        here[:] = 0.0
        for x in range(size):
            here[x, 0] = 1.0 if last[x] else 0.0
        for t in range(length - 2, -1, -1):
            here, ahead = ahead, here
            count_layer(symbol, starts, targets, weight, words[row, t + 1], length - 1 - t, ahead, here)
        errors = min(length, kept - 1)
        count_sum(
            symbol, starts[size], starts[size + 1], targets, weight, words[row, 0], errors, here, found[row]
        )
