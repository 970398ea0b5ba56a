"""A word drawn by its distance from a given one: first the distance, then a word at that distance.

Permute-and-flip over all words of a graph gives a word at distance l the rank of an exponential variable
minus rate l, and takes the largest ("report noisy max" with exponential noise: Ding et al., 2021). The words
at one distance are alike, so only the largest of their N(l) variables matters (noisy_max.py); among them the
word is uniform. It is drawn by walking forwards through the counts of numerics/counts.py, by exact choices.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from functools import partial
from math import isqrt

import numpy as np
from numpy.typing import NDArray

from veil.core.arrays import Floats, Ints, Places
from veil.core.errors import InvalidArgument
from veil.core.numerics.compiled import compiled
from veil.core.random.exact_choice import draw_paths, likely_choice
from veil.core.random.streams import Rng, Words, one_word, random_words
from veil.words.numerics.counts import Layers, count_layer, distance_counts, distance_weights
from veil.words.numerics.graph import WordGraph
from veil.words.numerics.tables import Ways, checked_words
from veil.words.samplers.exponential import settled
from veil.words.samplers.noisy_max import noisy_max_rows, sample_noisy_max

Distances = NDArray[np.int64]
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
            of_each = (distance_weights(graph, word) for word in some)
            distances = np.array([sample_noisy_max(rng, counts=each, rate=rate)[0] for each in of_each])
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
        paths = [_long_path(rng, ways, word, int(far)) for word, far in zip(given, wanted, strict=True)]
        nodes = np.array(paths, dtype=np.int32)
    return np.asarray(graph.symbol[nodes].reshape(given.shape))


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
        table = np.empty((self.words.shape[1], self.ways.size, self.most + 1))
        _walk_counts(self.ways, self.words[begin:end], self.distances[begin:end], bits, nodes, known, table)
        return table

    def settle(
        self, tables: Floats, row: int, nodes: Ints, position: int, bits: Words, more: Callable[[], int]
    ) -> int:
        word = self.words[row]
        passed = self.ways.symbol[nodes[:position]] != word[:position]
        left = int(self.distances[row]) - int(passed.sum())

        def count(z: int, errors: int) -> Fraction:
            return Fraction(float(tables[position, z, errors]))

        weight = partial(_weight, self.ways, int(word[position]), left, count)
        return settled(self.ways, nodes, position, weight, int(bits[position]), more)


def _weight(ways: Ways, read: int, left: int, count: Callable[[int, int], Fraction], edge: int) -> Fraction:
    """The exact weight of the ways to go on over an edge with the errors that are left."""
    z = int(ways.targets[edge])
    errors = left - int(ways.symbol[z] != read)
    return Fraction(float(ways.weight[edge])) * count(z, errors) if errors >= 0 else Fraction(0)


def _long_path(rng: Rng, ways: Ways, word: Ints, distance: int) -> list[int]:
    """A path at a distance. Every sqrt(n)-th layer is kept; the others are made again when needed."""
    length = len(word)
    layers = Layers.of(ways, word, distance)
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
    left = distance
    for begin in range(0, length, block):
        end = min(begin + block, length)
        together = [kept.pop(begin // block)]
        for t in range(end - 2, begin - 1, -1):
            together.append(layers.before(together[-1], t))
        for t in range(begin, end):
            count, read = partial(layers.count, together.pop()), int(word[t])
            weight = partial(_weight, ways, read, left, count)
            path.append(settled(ways, path, t, weight, bits[t], lambda: one_word(rng)))
            left -= int(ways.symbol[path[-1]] != read)
    return path


@compiled
def _walk_counts(
    ways: Ways, words: Ints, distances: Distances, bits: Words, nodes: Ints, known: Places, table: Floats
) -> None:
    rows, length = words.shape
    size, symbol, starts, targets, weight, _, _ = ways
    weights = np.empty(len(targets))
    for row in range(rows):
        table[length - 1] = 0.0
        table[length - 1, :, 0] = np.where(ways.last, 1.0, 0.0)
        for t in range(length - 2, -1, -1):
            count_layer(ways, 0, words[row, t + 1], length - 1 - t, table[t + 1], table[t])
        left = distances[row]
        for t in range(known[row]):
            left -= 0 if symbol[nodes[row, t]] == words[row, t] else 1
        for t in range(known[row], length):
            at = size if t == 0 else nodes[row, t - 1]
            begin, end = starts[at], starts[at + 1]
            for edge in range(begin, end):
                z = targets[edge]
                errors = left - (0 if symbol[z] == words[row, t] else 1)
                weights[edge - begin] = weight[edge] * table[t, z, errors] if errors >= 0 else 0.0
            chosen = likely_choice(weights, end - begin, bits[row, t])
            if chosen < 0:
                break
            nodes[row, t], known[row] = targets[begin + chosen], t + 1
            left -= 0 if symbol[nodes[row, t]] == words[row, t] else 1
