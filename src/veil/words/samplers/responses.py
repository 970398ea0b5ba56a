"""Words answered symbol by symbol: the sequential response on a graph."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from veil.core.arrays import Ints, Places
from veil.core.errors import InvalidArgument
from veil.core.numerics.compiled import compiled
from veil.core.random.exact_choice import choose, draw_paths
from veil.core.random.streams import WORD, Rng, Words
from veil.words.numerics.channel import Channel, favoured
from veil.words.numerics.graph import WordGraph
from veil.words.numerics.tables import checked_decay, checked_words


def sample_sequential(
    rng: Rng, *, graph: WordGraph, words: Ints, decay: float, targets: Ints, threads: int = 2
) -> Ints:
    """For each row of words the answer of the sequential response (numerics/channel.py).

    Two random words to a position: whether the answer is the target, by a threshold in whole numbers, and
    which of the others it is if not. No number is rounded: the law is exactly the one that is stated.
    """
    given = checked_words(graph, words)
    walk = _Walk.of(Channel.of(graph, targets), given, Fraction(checked_decay(decay)))
    nodes = draw_paths(rng, walk, rows=len(given), length=graph.length, threads=threads)
    return np.asarray(graph.symbol[nodes])


@dataclass(frozen=True)
class _Walk:
    """kept[d]: the first word that does not decide for the target, where d successors are open."""

    channel: Channel
    words: Ints
    decay: Fraction
    kept: Words
    together: int = 1
    each: int = 2

    @classmethod
    def of(cls, channel: Channel, words: Ints, decay: Fraction) -> _Walk:
        most = int(channel.many.max())
        if most >= 2**31:
            raise InvalidArgument("graph", expected="fewer than 2^31 successors", found=str(most))
        kept = np.zeros(most + 1, dtype=np.uint64)
        for many in np.unique(channel.many).tolist():
            # With one way only it is taken; the threshold 1 itself is no word.
            kept[many] = int(2**WORD / (1 + (many - 1) * decay)) if many > 1 else 2**WORD - 1
        return cls(channel, words, decay, kept)

    def advance(self, begin: int, end: int, bits: Words, nodes: Ints, known: Places) -> None:
        _walk(self.channel, self.kept, self.words[begin:end], bits, nodes, known)

    def settle(
        self, tables: None, row: int, nodes: Ints, position: int, bits: Words, more: Callable[[], int]
    ) -> int:
        channel = self.channel
        at = channel.ways.size if position == 0 else int(nodes[position - 1])
        place, read = channel.which[position], self.words[row, position]
        begin, end = channel.ways.starts[at], channel.ways.starts[at + 1]
        target = favoured(channel.targets, channel.open, channel.spare, place, at, read)
        others = [
            z for z in channel.ways.targets[begin:end].tolist() if channel.open[place, z] and z != target
        ]
        first, second = int(bits[2 * position]), int(bits[2 * position + 1])
        if not others or choose([Fraction(1), len(others) * self.decay], first, more) == 0:
            return target
        return int(others[choose([Fraction(1)] * len(others), second, more)])


@compiled
def _walk(channel: Channel, kept: Words, words: Ints, bits: Words, nodes: Ints, known: Places) -> None:
    rows, length = words.shape
    graph, targets, which, is_open, many, spare = channel
    size, starts, edges = graph.size, graph.starts, graph.targets
    half, low = np.uint64(32), np.uint64(2**32 - 1)
    for row in range(rows):
        t = known[row]
        while t < length:
            at = size if t == 0 else nodes[row, t - 1]
            place = which[t]
            target = favoured(targets, is_open, spare, place, at, words[row, t])
            ways = many[place, at]
            first, second = bits[row, 2 * t], bits[row, 2 * t + 1]
            if first == kept[ways]:
                break
            if first > kept[ways]:
                # floor(second * others / 2^64), in two halves. Later bits add less than one unit of 2^-64 to
                # the uniform number: they can matter only if the fraction is within `others` units of the
                # top.
                others = np.uint64(ways - 1)
                upper = (second >> half) * others + (((second & low) * others) >> half)
                rest = second * others
                if rest > ~others:
                    break
                skip = np.int64(upper >> half)
                for edge in range(starts[at], starts[at + 1]):
                    z = edges[edge]
                    if is_open[place, z] and z != target:
                        if skip == 0:
                            target = z
                            break
                        skip -= 1
            nodes[row, t] = target
            t += 1
        known[row] = t
