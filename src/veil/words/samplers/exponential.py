"""Words drawn with probability proportional to their weight times decay^(distance from a given word).

The table of numerics/tables.py is made from the end of the word, then the word is walked from its
beginning: each node is chosen with probability proportional to weight * omega * G, where G are the floats of
the table, taken as the exact numbers they are. The choice is exact (exact_choice.py), so the only difference
from the law that is meant is the rounding of the table, bounded in words/mechanisms/words.md.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from veil.core.arrays import Floats, Ints, Places
from veil.core.errors import InvalidArgument
from veil.core.numerics.compiled import compiled
from veil.core.random.exact_choice import Walk, choose, draw_paths, likely_choice
from veil.core.random.streams import Rng, Words
from veil.words.numerics.graph import WordGraph
from veil.words.numerics.tables import (
    LANES,
    NOTHING,
    Layer,
    Scaled,
    Ways,
    checked_decay,
    checked_words,
    fill_plain,
    fill_scaled,
    read_lanes,
    scaled_terms,
)


def sample_words(rng: Rng, *, graph: WordGraph, words: Ints, decay: float, threads: int = 2) -> Ints:
    """For each row of words another word v, with probability proportional to kappa(v) decay^distance.

    The rows must be words of the graph. The same generator in the same condition gives the same words,
    whatever the number of threads.
    """
    given, factor, ways = checked_words(graph, words), checked_decay(decay), Ways.of(graph)
    walk: Walk = _Plain(ways, factor, given)
    if not ways.fits(graph.length, factor, graph.length * LANES):
        walk = _Scaled.of(ways, factor, given)
    nodes = draw_paths(rng, walk, rows=len(given), length=graph.length, threads=threads)
    return np.asarray(graph.symbol[nodes])


def settled(
    ways: Ways,
    nodes: Sequence[int] | Ints,
    position: int,
    weight: Callable[[int], Fraction],
    word: int,
    more: Callable[[], int],
) -> int:
    """The node at a position, chosen by the exact weights of the edges that lead on from the one before."""
    at = ways.size if position == 0 else nodes[position - 1]
    begin, end = int(ways.starts[at]), int(ways.starts[at + 1])
    return int(ways.targets[begin + choose([weight(edge) for edge in range(begin, end)], word, more)])


@dataclass(frozen=True)
class _Plain:
    """Tables of plain floats, for LANES words side by side."""

    ways: Ways
    decay: float
    words: Ints
    together: int = LANES
    each: int = 1

    def advance(self, begin: int, end: int, bits: Words, nodes: Ints, known: Places) -> Floats:
        table = np.empty((self.words.shape[1], self.ways.size, LANES))
        _walk_plain(self.ways, self.decay, self.words[begin:end], bits, nodes, known, table)
        return table

    def settle(
        self, tables: Floats, row: int, nodes: Ints, position: int, bits: Words, more: Callable[[], int]
    ) -> int:
        ways = self.ways

        def weight(edge: int) -> Fraction:
            z = ways.targets[edge]
            exact = Fraction(float(ways.weight[edge])) * Fraction(float(tables[position, z, row % LANES]))
            return exact if ways.symbol[z] == self.words[row, position] else exact * Fraction(self.decay)

        return settled(ways, nodes, position, weight, int(bits[position]), more)


@dataclass(frozen=True)
class _Scaled:
    """Tables of mantissas and exponents, a word at a time."""

    ways: Ways
    decay: Scaled
    words: Ints
    together: int = 1
    each: int = 1

    @classmethod
    def of(cls, ways: Ways, decay: float, words: Ints) -> _Scaled:
        scaled, parts = ways.scaled(), math.frexp(decay)
        lowest = words.shape[1] * (abs(parts[1]) + int(np.abs(scaled.raised).max(initial=0)) + 1)
        if lowest >= -NOTHING:
            # Below that a value could not be told from zero, and a word would never be drawn.
            raise InvalidArgument("length", expected="shorter words at this decay", found=f"{words.shape[1]}")
        return cls(scaled, parts, words)

    def advance(self, begin: int, end: int, bits: Words, nodes: Ints, known: Places) -> Layer:
        shape = (self.words.shape[1], self.ways.size)
        table = np.empty(shape), np.empty(shape, dtype=np.int32)
        _walk_scaled(self.ways, self.decay, self.words[begin:end], bits, nodes, known, table)
        return table

    def settle(
        self, tables: Layer, row: int, nodes: Ints, position: int, bits: Words, more: Callable[[], int]
    ) -> int:
        ways = self.ways

        def weight(edge: int) -> Fraction:
            z = ways.targets[edge]
            exact = Fraction(float(ways.weight[edge])) * Fraction(float(tables[0][position, z]))
            raised = int(ways.raised[edge]) + int(tables[1][position, z]) if exact else 0
            if ways.symbol[z] != self.words[row, position]:
                exact, raised = exact * Fraction(self.decay[0]), raised + self.decay[1]
            return exact * Fraction(2) ** raised

        return settled(ways, nodes, position, weight, int(bits[position]), more)


@compiled
def _walk_plain(
    ways: Ways, decay: float, words: Ints, bits: Words, nodes: Ints, known: Places, table: Floats
) -> None:
    rows, length = words.shape
    size, symbol, starts, targets, weight, _, _ = ways
    ahead, weights = np.empty((size, LANES)), np.empty(len(targets))
    read = np.empty((LANES, length), dtype=np.int32)
    for group in range(0, rows, LANES):
        read_lanes(words, group, read)
        fill_plain(ways, decay, read, ahead, table)
        for lane in range(min(LANES, rows - group)):
            row = group + lane
            for t in range(known[row], length):
                at = size if t == 0 else nodes[row, t - 1]
                begin, end = starts[at], starts[at + 1]
                for edge in range(begin, end):
                    z = targets[edge]
                    factor = 1.0 if symbol[z] == words[row, t] else decay
                    weights[edge - begin] = weight[edge] * factor * table[t, z, lane]
                chosen = likely_choice(weights, end - begin, bits[row, t])
                if chosen < 0:
                    break
                nodes[row, t], known[row] = targets[begin + chosen], t + 1


@compiled
def _walk_scaled(
    ways: Ways, decay: Scaled, words: Ints, bits: Words, nodes: Ints, known: Places, table: Layer
) -> None:
    rows, length = words.shape
    (value, exponent), size, starts, targets = table, ways.size, ways.starts, ways.targets
    weights = np.empty(len(targets))
    for row in range(rows):
        fill_scaled(ways, decay, words[row], table)
        for t in range(known[row], length):
            at = size if t == 0 else nodes[row, t - 1]
            # Left out is less than k 2^-253 of the sum: far within the slack.
            scaled_terms(ways, at, words[row, t], decay, (value[t], exponent[t]), weights)
            chosen = likely_choice(weights, starts[at + 1] - starts[at], bits[row, t])
            if chosen < 0:
                break
            nodes[row, t], known[row] = targets[starts[at] + chosen], t + 1
