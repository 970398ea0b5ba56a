"""A word drawn by its distance from a given one: first the distance, then a word at that distance.

Permute-and-flip over all words of a graph gives a word at distance l the rank of an exponential variable
minus rate l, and takes the largest ("report noisy max" with exponential noise: Ding et al., 2021). The words
at one distance are alike, so only the largest of their N(l) variables matters (noisy_max.py); among them the
word is uniform. It is drawn by walking forwards through the counts of words/counts.py, by exact choices.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from functools import partial
from math import isqrt

import numpy as np
from numpy.typing import NDArray

from veil.core.arrays import Booleans, Floats, Ints, Places
from veil.core.errors import InvalidArgument
from veil.core.numerics.compiled import compiled
from veil.core.random.exact_choice import (
    SLACK_EACH,
    SLACK_ONCE,
    UNIT,
    Words,
    choose,
    draw_paths,
    one_word,
    random_words,
)
from veil.core.random.streams import Rng
from veil.words.numerics.counts import (
    count_layer,
    distance_counts,
    distance_weights,
)
from veil.words.numerics.graph import WordGraph
from veil.words.numerics.scaled_counts import ScaledWays
from veil.words.numerics.tables import Exponents, Ways, checked_words
from veil.words.samplers.noisy_max import noisy_max_rows, sample_noisy_max

Distances = NDArray[np.int64]
_TO_UNIT = 2.0**-64
_ROWS_TOGETHER = 2**16


def sample_permute_and_flip(
    rng: Rng, *, graph: WordGraph, words: Ints, rate: float | Fraction, threads: int = 2
) -> Ints:
    """For each row of words another word, by permute-and-flip with p = exp(-rate * distance)."""
    if graph.is_weighted:
        raise InvalidArgument("graph", expected="words without weights", found="weights")
    given = checked_words(graph, words)
    drawn = np.empty_like(given)
    for begin in range(0, len(given), _ROWS_TOGETHER):
        some = given[begin : begin + _ROWS_TOGETHER]
        counts = distance_counts(graph, some, threads=threads)
        if counts is not None:
            distances = noisy_max_rows(rng, counts=counts, rate=rate)
        else:
            distances = np.array(
                [
                    sample_noisy_max(rng, counts=distance_weights(graph, word), rate=rate, size=1)[0]
                    for word in some
                ]
            )
        drawn[begin : begin + len(some)] = sample_at_distances(
            rng, graph=graph, words=some, distances=distances, threads=threads
        )
    return drawn


def sample_at_distances(
    rng: Rng, *, graph: WordGraph, words: Ints, distances: Distances, threads: int = 2
) -> Ints:
    """For each row of words a uniform word at the distance stated for it (by weight, if words have weights).

    There must be such a word.
    """
    given, ways = checked_words(graph, words), Ways.of(graph)
    wanted = np.asarray(distances, dtype=np.int64)
    most = int(wanted.max(initial=0))
    if wanted.shape != (len(given),) or int(wanted.min(initial=0)) < 0 or most > graph.length:
        raise InvalidArgument("distances", expected=f"one of 0 to {graph.length} a word", found="others")
    if ways.fits(graph.length, 1.0, graph.length * (most + 1)):
        walk = _Walk(ways, given, wanted, most)
        nodes = draw_paths(rng, walk, rows=len(given), length=graph.length, threads=threads)
    else:
        nodes = np.array(
            [_long_path(rng, ways, word, int(far)) for word, far in zip(given, wanted, strict=True)],
            dtype=np.int32,
        )
    drawn: Ints = graph.symbol[nodes].reshape(given.shape)
    return drawn


@dataclass(frozen=True)
class _Walk:
    """The whole table of counts of a word at a time."""

    ways: Ways
    words: Ints
    distances: Distances
    most: int
    together: int = 1
    each: int = 1

    def advance(self, begin: int, end: int, bits: Words, nodes: Ints, known: Places) -> Floats:
        ways = self.ways
        table = np.empty((self.words.shape[1], ways.size, self.most + 1))
        _walk_counts(
            ways.symbol,
            ways.starts,
            ways.targets,
            ways.weight,
            ways.last,
            self.words[begin:end],
            self.distances[begin:end],
            bits,
            nodes,
            known,
            table,
        )
        return table

    def settle(
        self, tables: Floats, row: int, nodes: Ints, position: int, bits: Words, more: Callable[[], int]
    ) -> int:
        ways, word = self.ways, self.words[row]
        passed = ways.symbol[nodes[:position]] != word[:position]
        left = int(self.distances[row]) - int(passed.sum())
        at = ways.size if position == 0 else int(nodes[position - 1])
        return _chosen(
            ways,
            at,
            int(word[position]),
            left,
            lambda z, far: Fraction(float(tables[position, z, far])),
            int(bits[position]),
            more,
        )


def _chosen(
    ways: Ways,
    at: int,
    read: int,
    left: int,
    count: Callable[[int, int], Fraction],
    word: int,
    more: Callable[[], int],
) -> int:
    """The next node, chosen by the exact numbers of ways to go on with the errors that are left."""
    begin, end = int(ways.starts[at]), int(ways.starts[at + 1])
    weights = []
    for edge in range(begin, end):
        z = int(ways.targets[edge])
        far = left - int(ways.symbol[z] != read)
        weights.append(Fraction(float(ways.weight[edge])) * count(z, far) if far >= 0 else Fraction(0))
    return int(ways.targets[begin + choose(weights, word, more)])


Layer = tuple[Floats, Exponents | None]


@dataclass(frozen=True)
class _Layers:
    """Layers of counts, one position at a time, plain or scaled."""

    ways: Ways
    scaled: ScaledWays | None
    word: Ints
    most: int

    def final(self) -> Layer:
        if self.scaled is not None:
            return self.scaled.final_layer(self.most)
        layer = np.zeros((self.ways.size, self.most + 1))
        layer[:, 0] = self.ways.last
        return layer, None

    def before(self, layer: Layer, position: int) -> Layer:
        """The layer at a position, from the one after it."""
        read, errors = int(self.word[position + 1]), len(self.word) - 1 - position
        if self.scaled is not None and layer[1] is not None:
            return self.scaled.layer_before(layer[0], layer[1], read, errors)
        ways, here = self.ways, np.empty_like(layer[0])
        count_layer(ways.symbol, ways.starts, ways.targets, ways.weight, read, errors, layer[0], here)
        return here, None

    @staticmethod
    def count(layer: Layer, node: int, far: int) -> Fraction:
        value = Fraction(float(layer[0][node, far]))
        return value * Fraction(2) ** int(layer[1][node, far]) if layer[1] is not None and value else value


def _long_path(rng: Rng, ways: Ways, word: Ints, distance: int) -> list[int]:
    """A path at a distance. Every sqrt(n)-th layer is kept; the others are made again when needed."""
    length = len(word)
    scaled = None if ways.fits(length, 1.0, 2 * (distance + 1)) else ScaledWays.of(ways)
    layers = _Layers(ways, scaled, word, distance)
    block = isqrt(length) + 1
    # kept[b]: the last layer of the positions from b * block on.
    layer = layers.final()
    kept = {(length - 1) // block: layer}
    for t in range(length - 2, -1, -1):
        layer = layers.before(layer, t)
        if (t + 1) % block == 0:
            kept[t // block] = layer
    bits = random_words(rng, length).tolist()
    path: list[int] = []
    at, left = ways.size, distance
    for begin in range(0, length, block):
        end = min(begin + block, length)
        together = [kept.pop(begin // block)]
        for t in range(end - 2, begin - 1, -1):
            together.append(layers.before(together[-1], t))
        for t in range(begin, end):
            count, read = partial(layers.count, together.pop()), int(word[t])
            at = _chosen(
                ways,
                at,
                read,
                left,
                count,
                bits[t],
                lambda: one_word(rng),
            )
            left -= int(ways.symbol[at] != read)
            path.append(at)
    return path


@compiled
def _walk_counts(
    symbol: Ints,
    starts: Places,
    targets: Ints,
    weight: Floats,
    last: Booleans,
    words: Ints,
    distances: Distances,
    bits: Words,
    nodes: Ints,
    known: Places,
    table: Floats,
) -> None:
    rows, length = words.shape
    size = len(symbol)
    for row in range(rows):
        table[length - 1] = 0.0
        for x in range(size):
            table[length - 1, x, 0] = 1.0 if last[x] else 0.0
        for t in range(length - 2, -1, -1):
            count_layer(
                symbol, starts, targets, weight, words[row, t + 1], length - 1 - t, table[t + 1], table[t]
            )
        left = distances[row]
        for t in range(known[row]):
            left -= 0 if symbol[nodes[row, t]] == words[row, t] else 1
        t = known[row]
        while t < length:
            at = size if t == 0 else nodes[row, t - 1]
            begin, end = starts[at], starts[at + 1]
            total = 0.0
            for edge in range(begin, end):
                z = targets[edge]
                far = left - (0 if symbol[z] == words[row, t] else 1)
                if far >= 0:
                    total += weight[edge] * table[t, z, far]
            mark = np.float64(bits[row, t]) * _TO_UNIT * total
            slack = total * ((SLACK_EACH * (end - begin) + SLACK_ONCE) * UNIT)
            chosen = -1
            reached = 0.0
            for edge in range(begin, end):
                z = targets[edge]
                far = left - (0 if symbol[z] == words[row, t] else 1)
                if far < 0:
                    continue
                before = reached
                reached += weight[edge] * table[t, z, far]
                if mark < reached:
                    if mark - slack >= before and mark + slack < reached:
                        chosen = z
                        left = far
                    break
            if chosen < 0:
                break
            nodes[row, t] = chosen
            t += 1
        known[row] = t
