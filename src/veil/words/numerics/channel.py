"""Sequential response: a word is answered symbol by symbol, each answer a successor of the last one.

Given the last node of the answer, one of its successors is the target, by the true symbol; it has weight 1
and every other successor weight `decay`, among those from which the word can still be completed. `targets` is
an array: targets[v, symbol] is the target after node v, or the first node in row `size`. It is public. Where
the target cannot be completed any more (near the end, before dead ends) the successor with the smallest
number that can takes its place.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from veil.core.arrays import Booleans, Floats, Ints, Places
from veil.core.errors import InvalidArgument
from veil.core.numerics.compiled import compiled
from veil.words.numerics.graph import WordGraph
from veil.words.numerics.tables import Ways, checked_decay, checked_words, in_threads

_ROWS_TOGETHER = 1024


class Channel(NamedTuple):
    """What may follow at each position. which[t]: the row of the other arrays that is for position t.

    open[row, z]: whether a word can be completed from z. many[row, v]: how many successors of v are open.
    spare[row, v]: the open one with the smallest number, -1 if there is none.
    """

    ways: Ways
    targets: Ints
    which: Places
    open: Booleans
    many: Places
    spare: Ints

    @classmethod
    def of(cls, graph: WordGraph, targets: Ints) -> Channel:
        """The channel of a graph with the targets stated."""
        ways = Ways.of(graph)
        chosen = np.ascontiguousarray(targets, dtype=np.int32)
        if chosen.shape != (graph.size + 1, graph.alphabet):
            shape = (graph.size + 1, graph.alphabet)
            raise InvalidArgument("targets", expected=f"shape {shape}", found=f"shape {chosen.shape}")
        source = np.repeat(np.arange(graph.size + 1), np.diff(ways.starts))
        given = np.arange(graph.size + 1)[:, None] * graph.size + chosen
        if not np.isin(given[chosen >= 0], source * graph.size + ways.targets).all():
            raise InvalidArgument("targets", expected="successors of each node", found="others")
        seen: dict[bytes, int] = {}
        rows: list[Booleans] = []
        which = np.empty(graph.length, dtype=np.int64)
        for t in range(graph.length):
            now = graph.completable(graph.length - 1 - t)
            key = now.tobytes()
            if key not in seen:
                seen[key] = len(rows)
                rows.append(now)
            which[t] = seen[key]
        many = np.zeros((len(rows), graph.size + 1), dtype=np.int64)
        spare = np.full(many.shape, graph.size, dtype=np.int32)
        for row, now in enumerate(rows):
            kept = now[ways.targets]
            many[row] = np.bincount(source[kept], minlength=graph.size + 1)
            np.minimum.at(spare[row], source[kept], ways.targets[kept])
        spare[many == 0] = -1
        return cls(ways, chosen, which, np.array(rows), many, spare)


def sequential_expected_errors(
    graph: WordGraph, words: Ints, decay: float, targets: Ints, *, threads: int = 2
) -> Floats:
    """The expected number of errors of the sequential response for each row of words."""
    given, factor, channel = checked_words(graph, words), checked_decay(decay), Channel.of(graph, targets)
    found = np.empty(len(given))

    def expect(begin: int, end: int) -> None:
        _respond(channel, factor, given[begin:end], False, np.empty((end - begin, 1)), found[begin:end])

    in_threads(len(given), _ROWS_TOGETHER, threads, expect)
    return found


def sequential_pmf(graph: WordGraph, word: Ints, decay: float, targets: Ints) -> Floats:
    """The probability of 0 ... n errors of the sequential response."""
    given, factor = checked_words(graph, np.asarray(word)[None, :]), checked_decay(decay)
    laws = np.empty((1, graph.length + 1))
    _respond(Channel.of(graph, targets), factor, given, True, laws, np.empty(1))
    law: Floats = laws[0]
    return law


def sequential_log_probabilities(
    graph: WordGraph, outputs: Ints, word: Ints, decay: float, targets: Ints
) -> Floats:
    """The log-probability of each output under the sequential response."""
    channel = Channel.of(graph, targets)
    found = np.zeros(len(outputs))
    at = np.full(len(outputs), graph.size, dtype=np.int64)
    for t in range(len(word)):
        row = channel.which[t]
        target = channel.targets[at, word[t]].astype(np.int64)
        closed = (target < 0) | ~channel.open[row][np.maximum(target, 0)]
        target = np.where(closed, channel.spare[row][at], target)
        ahead = graph.step[at, outputs[:, t]]
        total = np.log1p((channel.many[row][at] - 1) * decay)
        found += np.where(ahead == target, 0.0, math.log(decay)) - total
        at = ahead
    return found


@compiled
def favoured(channel: Channel, place: int, at: int, read: int) -> int:
    """The likeliest successor: the target, or the spare one where no word can be completed from it."""
    target = channel.targets[at, read]
    if target < 0 or not channel.open[place, target]:
        target = channel.spare[place, at]
    return int(target)


@compiled
def _respond(channel: Channel, decay: float, words: Ints, whole: bool, laws: Floats, means: Floats) -> None:
    """Forwards over the last node of the answer, and over the errors so far if the whole law is asked for."""
    rows, length = words.shape
    ways, symbol, size = channel.ways, channel.ways.symbol, channel.ways.size
    kept = length + 1 if whole else 1
    now, then = np.zeros((size + 1, kept)), np.zeros((size + 1, kept))
    for row in range(rows):
        now[:] = 0.0
        now[size, 0] = 1.0
        mean = 0.0
        for t in range(length):
            now, then = then, now
            now[:] = 0.0
            place, read = channel.which[t], words[row, t]
            for v in range(size if t == 0 else 0, size + 1 if t == 0 else size):
                # Nodes that the answer is not in have no errors to hand on.
                if then[v].max() == 0.0 or channel.many[place, v] == 0:
                    continue
                target, total = favoured(channel, place, v, read), 1.0 + (channel.many[place, v] - 1) * decay
                for edge in range(ways.starts[v], ways.starts[v + 1]):
                    z = ways.targets[edge]
                    if channel.open[place, z]:
                        share = (1.0 if z == target else decay) / total
                        if not whole:
                            now[z, 0] += share * then[v, 0]
                        elif symbol[z] == read:
                            for errors in range(t + 1):
                                now[z, errors] += share * then[v, errors]
                        else:
                            for errors in range(t + 1):
                                now[z, errors + 1] += share * then[v, errors]
            if not whole:
                for z in range(size):
                    if symbol[z] != read:
                        mean += now[z, 0]
        means[row] = mean
        if whole:
            laws[row] = now[:size].sum(axis=0)
