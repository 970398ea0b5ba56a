"""Sums over all words of a graph, each weighed by its distance from a given word: tables from the end.

For a word w the weight of the ways to go on from node x at position t is

    G_n(x) = 1 if a word may end in x, else 0;  G_t(x) = sum over x -> z of weight * omega * G_{t+1}(z),

with omega = 1 where z reads the symbol w_{t+1}, and `decay` where it does not. There are two forms of a
table. Where no value can leave the range of floats, plain floats for several words side by side, so that the
compiler uses vector instructions. Otherwise every value has a mantissa and an exponent of its own: two nodes
may differ by more than the range of floats (one with five ways on, one with a single one, ten thousand
times), and none of them may become 0. How far rounding goes is proved in words/mechanisms/words.md.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from fractions import Fraction
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from veil.core.arrays import Booleans, Floats, Ints, Places
from veil.core.errors import InvalidArgument
from veil.core.numerics.compiled import compiled
from veil.core.numerics.rounding import float_above
from veil.words.numerics.graph import WordGraph

Exponents = NDArray[np.int32]
# A number as a mantissa and an exponent, and arrays of such numbers.
Scaled = tuple[float, int]
Layer = tuple[Floats, Exponents]

# Words whose tables are made side by side.
LANES = 8
# Powers of two by which values are aligned; a value further below the largest changes no sum.
DEEPEST = 256
POWERS = 2.0 ** -np.arange(DEEPEST)
# The exponent of a zero: below any other, and far from the end of the range when others are added to it.
NOTHING = -(2**30)
# Values between 2^-900 and 2^900 leave room for every product that is formed with them.
_ROOM = 900.0
_MOST_TABLE = 2**26


class Ways(NamedTuple):
    """The edges of a graph, and one more row, `size`, for the ways to begin.

    raised: the exponents of the weights where `weight` holds their mantissas (`scaled`); 0 otherwise.
    """

    size: int
    symbol: Ints
    starts: Places
    targets: Ints
    weight: Floats
    last: Booleans
    raised: Exponents

    @classmethod
    def of(cls, graph: WordGraph) -> Ways:
        """The edges of a graph and its first nodes."""
        begin = np.flatnonzero(graph.first).astype(np.int32)
        return cls(
            graph.size,
            graph.symbol,
            np.append(graph.starts, len(graph.targets) + len(begin)).astype(np.int64),
            np.concatenate((graph.targets, begin)).astype(np.int32),
            np.concatenate((graph.weight, graph.first_weight[begin])).astype(np.float64),
            graph.last,
            np.zeros(len(graph.targets) + len(begin), dtype=np.int32),
        )

    def scaled(self) -> Ways:
        """With the weights cut into mantissas and exponents."""
        mantissa, raised = np.frexp(self.weight)
        return self._replace(weight=mantissa, raised=raised.astype(np.int32))

    @property
    def most(self) -> int:
        """The largest number of successors of a node; the ways to begin are not counted."""
        return max(1, int(np.diff(self.starts[:-1]).max(initial=1)))

    def fits(self, length: int, decay: float, table_rows: int) -> bool:
        """Whether plain floats hold every sum, and a table of so many rows is not too large."""
        grown = math.log2(self.most) + math.log2(max(1, self.starts[-1] - self.starts[-2])) / length
        factors = np.abs(np.log2(self.weight)).max(initial=0.0) - math.log2(decay)
        return length * (grown + factors) <= _ROOM and 8 * self.size * table_rows <= _MOST_TABLE


def checked_words(graph: WordGraph, words: Ints) -> Ints:
    """The words as rows of symbols that the compiled code may index with."""
    given = np.ascontiguousarray(words, dtype=np.int32)
    if given.ndim != 2 or given.shape[1] != graph.length:
        raise InvalidArgument(
            "words", expected=f"rows of {graph.length} symbols", found=f"an array of shape {given.shape}"
        )
    if given.size and not (given.min() >= 0 and given.max() < graph.alphabet):
        raise InvalidArgument("words", expected=f"symbols from 0 to {graph.alphabet - 1}", found="others")
    return given


def checked_decay(decay: float) -> float:
    """The factor of an error, a float that is taken as the exact number it is."""
    if not 0.0 < decay <= 1.0:
        raise InvalidArgument("decay", expected="above 0 and at most 1", found=repr(decay))
    return float(decay)


def rounding_loss(graph: WordGraph) -> float:
    """What the rounded tables add to the privacy loss of the exponential mechanism, at most.

    4 (n - 1) (successors + 2) |log(1 - 2^-53)|: words/mechanisms/words.md, on rounding.
    """
    steps = 4 * (graph.length - 1) * (Ways.of(graph).most + 2)
    # |log(1 - u)| <= u + u^2 for u <= 1/2.
    return float_above(steps * (Fraction(1, 2**53) + Fraction(1, 2**106)))


@compiled
def fill_plain(ways: Ways, decay: float, read: Ints, ahead: Floats, table: Floats) -> None:
    """table[t, x, lane] = G_{t+1}(x) for the word read[lane]."""
    _, symbol, starts, targets, weight, last, _ = ways
    length, size, _ = table.shape
    for x in range(size):
        for lane in range(LANES):
            table[length - 1, x, lane] = 1.0 if last[x] else 0.0
    for t in range(length - 2, -1, -1):
        for z in range(size):
            for lane in range(LANES):
                factor = 1.0 if symbol[z] == read[lane, t + 1] else decay
                ahead[z, lane] = factor * table[t + 1, z, lane]
        for x in range(size):
            for lane in range(LANES):
                table[t, x, lane] = 0.0
            for edge in range(starts[x], starts[x + 1]):
                z, factor = targets[edge], weight[edge]
                for lane in range(LANES):
                    table[t, x, lane] += factor * ahead[z, lane]


@compiled
def read_lanes(words: Ints, group: int, read: Ints) -> None:
    """The words from a row on, side by side; lanes that are left over repeat the last row."""
    for lane in range(LANES):
        read[lane] = words[min(group + lane, len(words) - 1)]


@compiled
def scaled_terms(ways: Ways, x: int, read: int, decay: Scaled, ahead: Layer, terms: Floats) -> Scaled:
    """terms[i] = weight * omega * G of the edge i of node x. Returns their sum and the exponent of all."""
    _, symbol, starts, targets, weight, _, raised = ways
    (value, exponent), begin, end = ahead, starts[x], starts[x + 1]
    top = NOTHING
    for edge in range(begin, end):
        z = targets[edge]
        if value[z] > 0.0:
            top = max(top, exponent[z] + raised[edge] + (0 if symbol[z] == read else decay[1]))
    total = 0.0
    for edge in range(begin, end):
        z, term = targets[edge], 0.0
        if value[z] > 0.0:
            wrong = symbol[z] != read
            below = top - (exponent[z] + raised[edge] + (decay[1] if wrong else 0))
            if below < DEEPEST:
                term = weight[edge] * value[z] * (decay[0] if wrong else 1.0) * POWERS[below]
        terms[edge - begin] = term
        total += term
    return total, top


@compiled
def last_scaled(ways: Ways, value: Floats, exponent: Exponents) -> None:
    """G_n: one where a word may end, as a mantissa and an exponent."""
    for x in range(ways.size):
        value[x] = 0.5 if ways.last[x] else 0.0
        exponent[x] = 1 if ways.last[x] else NOTHING


@compiled
def fill_scaled(ways: Ways, decay: Scaled, read: Ints, table: Layer) -> None:
    """value[t, x] * 2^exponent[t, x] = G_{t+1}(x); all factors come as mantissas and exponents too."""
    value, exponent = table
    length, size = value.shape
    terms = np.empty(len(ways.targets))
    last_scaled(ways, value[length - 1], exponent[length - 1])
    for t in range(length - 2, -1, -1):
        ahead = (value[t + 1], exponent[t + 1])
        for x in range(size):
            total, top = scaled_terms(ways, x, read[t + 1], decay, ahead, terms)
            mantissa, shift = math.frexp(total)
            value[t, x] = mantissa
            exponent[t, x] = top + shift if total > 0.0 else NOTHING


def in_threads(rows: int, together: int, threads: int, task: Callable[[int, int], None]) -> None:
    """Call task(begin, end) for pieces of so many rows; the pieces write to different places."""
    if rows <= together:
        task(0, rows)
        return
    with ThreadPoolExecutor(max_workers=max(1, threads)) as pool:
        begins = range(0, rows, together)
        list(pool.map(task, begins, (min(begin + together, rows) for begin in begins)))
