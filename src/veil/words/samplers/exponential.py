"""Words drawn with probability proportional to their weight times decay^(distance from a given word).

The table of numerics/words/tables.py is made from the end of the word, then the word is walked from its
beginning: each node is chosen with probability proportional to weight * omega * G, where G are the floats of
the table, taken as the exact numbers they are. The choice is exact (exact_choice.py), so the only difference
from the law that is meant is the rounding of the table, bounded in words/mechanisms/words.md.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from veil.core.arrays import Booleans, Floats, Ints, Places
from veil.core.errors import InvalidArgument
from veil.core.numerics.compiled import compiled
from veil.core.random.exact_choice import SLACK_EACH, SLACK_ONCE, UNIT, Walk, Words, choose, draw_paths
from veil.core.random.streams import Rng
from veil.words.numerics.graph import WordGraph
from veil.words.numerics.tables import (
    DEEPEST,
    LANES,
    NOTHING,
    POWERS,
    Exponents,
    Ways,
    checked_decay,
    checked_words,
    fill_plain,
    fill_scaled,
    sum_scaled,
)

_TO_UNIT = 2.0**-64


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
    drawn: Ints = graph.symbol[nodes]
    return drawn


@dataclass(frozen=True)
class _Plain:
    """Tables of plain floats, for LANES words side by side."""

    ways: Ways
    decay: float
    words: Ints
    together: int = LANES
    each: int = 1

    def advance(self, begin: int, end: int, bits: Words, nodes: Ints, known: Places) -> Floats:
        ways = self.ways
        table = np.empty((self.words.shape[1], ways.size, LANES))
        _walk_plain(
            ways.symbol,
            ways.starts,
            ways.targets,
            ways.weight,
            ways.last,
            self.decay,
            self.words[begin:end],
            bits,
            nodes,
            known,
            table,
        )
        return table

    def settle(
        self, tables: Floats, row: int, nodes: Ints, position: int, bits: Words, more: Callable[[], int]
    ) -> int:
        ways = self.ways
        begin, end = _edges(ways, nodes, position)
        weights = []
        for z, weight in zip(ways.targets[begin:end].tolist(), ways.weight[begin:end].tolist(), strict=True):
            exact = Fraction(weight) * Fraction(float(tables[position, z, row % LANES]))
            weights.append(
                exact if ways.symbol[z] == self.words[row, position] else exact * Fraction(self.decay)
            )
        return int(ways.targets[begin + choose(weights, int(bits[position]), more)])


@dataclass(frozen=True)
class _Scaled:
    """Tables of mantissas and exponents, a word at a time."""

    ways: Ways
    mantissa: Floats
    raised: Exponents
    decay: float
    decay_raised: int
    words: Ints
    together: int = 1
    each: int = 1

    @classmethod
    def of(cls, ways: Ways, decay: float, words: Ints) -> _Scaled:
        mantissa, raised = np.frexp(ways.weight)
        lowest = words.shape[1] * (abs(math.frexp(decay)[1]) + int(np.abs(raised).max(initial=0)) + 1)
        if lowest >= -NOTHING:
            # Below that a value could not be told from zero, and a word would never be drawn.
            raise InvalidArgument("length", expected="shorter words at this decay", found=f"{words.shape[1]}")
        return cls(ways, mantissa, raised.astype(np.int32), *math.frexp(decay), words)

    def advance(
        self, begin: int, end: int, bits: Words, nodes: Ints, known: Places
    ) -> tuple[Floats, Exponents]:
        ways = self.ways
        value = np.empty((self.words.shape[1], ways.size))
        exponent = np.empty(value.shape, dtype=np.int32)
        _walk_scaled(
            ways.symbol,
            ways.starts,
            ways.targets,
            self.mantissa,
            self.raised,
            ways.last,
            self.decay,
            self.decay_raised,
            self.words[begin:end],
            bits,
            nodes,
            known,
            value,
            exponent,
        )
        return value, exponent

    def settle(
        self,
        tables: tuple[Floats, Exponents],
        row: int,
        nodes: Ints,
        position: int,
        bits: Words,
        more: Callable[[], int],
    ) -> int:
        ways = self.ways
        begin, end = _edges(ways, nodes, position)
        weights = []
        for edge in range(begin, end):
            z = int(ways.targets[edge])
            wrong = ways.symbol[z] != self.words[row, position]
            exact = Fraction(float(self.mantissa[edge])) * Fraction(float(tables[0][position, z]))
            raised = int(self.raised[edge]) + int(tables[1][position, z]) if exact else 0
            if wrong:
                exact, raised = exact * Fraction(self.decay), raised + self.decay_raised
            weights.append(exact * Fraction(2) ** raised)
        return int(ways.targets[begin + choose(weights, int(bits[position]), more)])


def _edges(ways: Ways, nodes: Ints, position: int) -> tuple[int, int]:
    """The edges among which the node at this position is chosen."""
    at = ways.size if position == 0 else int(nodes[position - 1])
    return int(ways.starts[at]), int(ways.starts[at + 1])


@compiled
def _walk_plain(
    symbol: Ints,
    starts: Places,
    targets: Ints,
    weight: Floats,
    last: Booleans,
    decay: float,
    words: Ints,
    bits: Words,
    nodes: Ints,
    known: Places,
    table: Floats,
) -> None:
    rows, length = words.shape
    size = len(symbol)
    ahead = np.empty((size, LANES))
    read = np.empty((LANES, length), dtype=np.int32)
    for group in range(0, rows, LANES):
        for lane in range(LANES):
            # Lanes that are left over repeat the last row.
            read[lane] = words[min(group + lane, rows - 1)]
        fill_plain(symbol, starts, targets, weight, last, decay, read, ahead, table)
        for lane in range(min(LANES, rows - group)):
            row = group + lane
            t = known[row]
            while t < length:
                at = size if t == 0 else nodes[row, t - 1]
                begin, end = starts[at], starts[at + 1]
                total = 0.0
                for edge in range(begin, end):
                    z = targets[edge]
                    factor = 1.0 if symbol[z] == words[row, t] else decay
                    total += weight[edge] * factor * table[t, z, lane]
                x = np.float64(bits[row, t]) * _TO_UNIT * total
                slack = total * ((SLACK_EACH * (end - begin) + SLACK_ONCE) * UNIT)
                chosen = -1
                reached = 0.0
                for edge in range(begin, end):
                    z = targets[edge]
                    factor = 1.0 if symbol[z] == words[row, t] else decay
                    before = reached
                    reached += weight[edge] * factor * table[t, z, lane]
                    if x < reached:
                        if x - slack >= before and x + slack < reached:
                            chosen = z
                        break
                if chosen < 0:
                    break
                nodes[row, t] = chosen
                t += 1
            known[row] = t


@compiled
def _walk_scaled(
    symbol: Ints,
    starts: Places,
    targets: Ints,
    weight: Floats,
    raised: Exponents,
    last: Booleans,
    decay: float,
    decay_raised: int,
    words: Ints,
    bits: Words,
    nodes: Ints,
    known: Places,
    value: Floats,
    exponent: Exponents,
) -> None:
    rows, length = words.shape
    size = len(symbol)
    for row in range(rows):
        read = words[row]
        fill_scaled(symbol, starts, targets, weight, raised, last, decay, decay_raised, read, value, exponent)
        t = known[row]
        while t < length:
            at = size if t == 0 else nodes[row, t - 1]
            begin, end = starts[at], starts[at + 1]
            total, top = sum_scaled(
                symbol,
                begin,
                end,
                targets,
                weight,
                raised,
                read[t],
                decay,
                decay_raised,
                value[t],
                exponent[t],
            )
            x = np.float64(bits[row, t]) * _TO_UNIT * total
            slack = total * ((SLACK_EACH * (end - begin) + SLACK_ONCE) * UNIT)
            chosen = -1
            reached = 0.0
            for edge in range(begin, end):
                z = targets[edge]
                before = reached
                wrong = symbol[z] != read[t]
                below = top - (exponent[t, z] + raised[edge] + (decay_raised if wrong else 0))
                # Left out is less than k 2^-253 of the sum: far within the slack.
                if value[t, z] > 0.0 and below < DEEPEST:
                    reached += weight[edge] * value[t, z] * (decay if wrong else 1.0) * POWERS[below]
                if x < reached:
                    if x - slack >= before and x + slack < reached:
                        chosen = z
                    break
            if chosen < 0:
                break
            nodes[row, t] = chosen
            t += 1
        known[row] = t
