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
from veil.words.numerics.graph import WordGraph, begins
from veil.words.numerics.tables import Ways, checked_decay, checked_words, in_threads

_ROWS_TOGETHER = 1024
# Rounds of the search for the best targets; with more positions than that, later ones count less.
_MOST_ROUNDS, _DISCOUNT = 40, 0.95
# Pairs of nodes beyond which the search is left.
_MOST_PAIRS = 4_000_000


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
        which = np.empty(graph.length, dtype=np.int64)
        for t in range(graph.length):
            which[t] = seen.setdefault(graph.completable(graph.length - 1 - t).tobytes(), len(seen))
        rows = [np.frombuffer(key, dtype=np.bool_) for key in seen]
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
    values = np.empty(len(given))

    def expect(begin: int, end: int) -> None:
        _respond(channel, factor, given[begin:end], False, np.empty((end - begin, 1)), values[begin:end])

    in_threads(len(given), _ROWS_TOGETHER, threads, expect)
    return values


def sequential_pmf(graph: WordGraph, word: Ints, decay: float, targets: Ints) -> Floats:
    """The probability of 0 ... n errors of the sequential response."""
    given, factor = checked_words(graph, np.asarray(word)[None, :]), checked_decay(decay)
    laws = np.empty((1, graph.length + 1))
    _respond(Channel.of(graph, targets), factor, given, True, laws, np.empty(1))
    return np.asarray(laws[0])


def sequential_log_probabilities(
    graph: WordGraph, outputs: Ints, word: Ints, decay: float, targets: Ints
) -> Floats:
    """The log-probability of each output under the sequential response."""
    channel = Channel.of(graph, targets)
    logs = np.zeros(len(outputs))
    at = np.full(len(outputs), graph.size, dtype=np.int32)
    for t in range(len(word)):
        row = channel.which[t]
        target = channel.targets[at, word[t]].astype(np.int64)
        closed = (target < 0) | ~channel.open[row][np.maximum(target, 0)]
        target = np.where(closed, channel.spare[row][at], target)
        ahead = graph.step[at, outputs[:, t]]
        total = np.log1p((channel.many[row][at] - 1) * decay)
        logs += np.where(ahead == target, 0.0, math.log(decay)) - total
        at = ahead
    return logs


def nearest_targets(graph: WordGraph) -> Ints:
    """The successor with the fewest steps to a node that reads the symbol; among equals the smallest number.

    A successor that reads the symbol itself is zero steps away. Only successors from which words end are
    meant.
    """
    ways = Ways.of(graph)
    targets = np.empty((graph.size + 1, graph.alphabet), dtype=np.int32)
    # The edges into each node, one node after another.
    begin = begins(np.bincount(graph.targets, minlength=graph.size))
    sources = graph.sources[np.argsort(graph.targets, kind="stable")]
    _nearest(ways, begin, sources, _useful(graph), targets)
    return targets


def _useful(graph: WordGraph) -> Booleans:
    """The nodes from which a word can be completed in at least one position."""
    able = np.zeros(graph.size, dtype=np.bool_)
    for more in range(graph.length):
        able |= graph.completable(more)
        if able.all():
            break
    return able


def best_targets(graph: WordGraph, decay: float, steps: int | None = None) -> Ints:
    """The targets with the fewest expected errors if the true word is a walk that takes each edge alike.

    Value iteration over pairs (last node v of the answer, true node x), for `steps` more symbols (None: n):
    J(v, x) = min over targets u of the mean of [v' reads wrong] + mean over x -> x' of J(v', x'), where v' is
    the answer given u. As every other successor is equally likely, the best u is the one with the least sum
    itself. Where nodes share symbols, or there are too many, these are the nearest targets.
    """
    distinct = len(np.unique(graph.symbol)) == graph.size
    if not distinct or graph.size**2 > _MOST_PAIRS:
        return nearest_targets(graph)
    rounds = graph.length if steps is None else steps
    ways = Ways.of(graph)
    node = np.full(graph.alphabet, -1, dtype=np.int32)
    node[graph.symbol] = np.arange(graph.size, dtype=np.int32)
    targets = nearest_targets(graph)
    discount = 1.0 if rounds <= _MOST_ROUNDS else _DISCOUNT
    _best(ways, node, _useful(graph), checked_decay(decay), min(rounds, _MOST_ROUNDS), discount, targets)
    return targets


@compiled
def favoured(targets: Ints, is_open: Booleans, spare: Ints, place: int, at: int, read: int) -> int:
    """The likeliest successor: the target, or the spare one where no word can be completed from it."""
    target = targets[at, read]
    if target < 0 or not is_open[place, target]:
        target = spare[place, at]
    return int(target)


@compiled
def _respond(channel: Channel, decay: float, words: Ints, whole: bool, laws: Floats, means: Floats) -> None:
    """Forwards over the last node of the answer, and over the errors so far if the whole law is asked for."""
    rows, length = words.shape
    ways, targets, which, is_open, many, spare = channel
    size, symbol, starts, edges = ways.size, ways.symbol, ways.starts, ways.targets
    kept = length + 1 if whole else 1
    now, then = np.zeros((size + 1, kept)), np.zeros((size + 1, kept))
    for row in range(rows):
        now[:] = 0.0
        now[size, 0] = 1.0
        mean = 0.0
        for t in range(length):
            now, then = then, now
            now[:] = 0.0
            place, read = which[t], words[row, t]
            for v in range(size if t == 0 else 0, size + 1 if t == 0 else size):
                # Nodes that the answer is not in have no errors to hand on.
                if then[v].max() == 0.0 or many[place, v] == 0:
                    continue
                # As in `favoured`; a call would cost a tenth of the whole.
                target = targets[v, read]
                if target < 0 or not is_open[place, target]:
                    target = spare[place, v]
                most = 1.0 / (1.0 + (many[place, v] - 1) * decay)
                least = decay * most
                for edge in range(starts[v], starts[v + 1]):
                    z = edges[edge]
                    if is_open[place, z]:
                        share = most if z == target else least
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


@compiled
def _least(ways: Ways, v: int, useful: Booleans, costs: Floats) -> int:
    """The useful successor of a node with the least cost, -1 if there is none."""
    starts, targets = ways.starts, ways.targets
    best = -1
    for edge in range(starts[v], starts[v + 1]):
        z = targets[edge]
        # A hair less is not better: equals are broken by number, whatever the rounding.
        if useful[z] and (
            best < 0 or costs[z] < costs[best] - 1e-12 or (costs[z] < costs[best] + 1e-12 and z < best)
        ):
            best = z
    return int(best)


@compiled
def _nearest(ways: Ways, into: Places, sources: Ints, useful: Booleans, targets: Ints) -> None:
    """Breadth first from the nodes that read a symbol, against the edges; then the least over successors."""
    size, symbol = ways.size, ways.symbol
    far, queue = np.empty(size), np.empty(size, dtype=np.int64)
    for read in range(targets.shape[1]):
        far[:] = size + 1
        found = 0
        for z in range(size):
            if symbol[z] == read and useful[z]:
                far[z] = 0
                queue[found] = z
                found += 1
        done = 0
        while done < found:
            z = queue[done]
            done += 1
            for place in range(into[z], into[z + 1]):
                x = sources[place]
                if useful[x] and far[x] > size:
                    far[x] = far[z] + 1
                    queue[found] = x
                    found += 1
        for v in range(size + 1):
            targets[v, read] = _least(ways, v, useful, far)


@compiled
def _best(
    ways: Ways, node: Ints, useful: Booleans, decay: float, rounds: int, discount: float, targets: Ints
) -> None:
    size, starts, edges = ways.size, ways.starts, ways.targets
    # value[x, v]: the errors from now on, x the true node now and v the last node of the answer.
    value, ahead = np.zeros((size, size)), np.empty((size, size))
    for _ in range(rounds):
        # ahead[x, u]: the errors from now on if the answer is u now.
        for x in range(size):
            ahead[x] = 0.0
            open_ways = 0
            for edge in range(starts[x], starts[x + 1]):
                if useful[edges[edge]]:
                    open_ways += 1
                    ahead[x] += value[edges[edge]]
            if open_ways > 0:
                ahead[x] *= discount / open_ways
            ahead[x] += 1.0
            ahead[x, x] -= 1.0
        for x in range(size):
            for v in range(size):
                total, least, open_ways = 0.0, np.inf, 0
                for edge in range(starts[v], starts[v + 1]):
                    u = edges[edge]
                    if useful[u]:
                        open_ways += 1
                        total += ahead[x, u]
                        least = min(least, ahead[x, u])
                if open_ways > 0:
                    value[x, v] = (decay * total + (1.0 - decay) * least) / (1.0 + (open_ways - 1) * decay)
    for read in range(len(node)):
        if node[read] >= 0:
            for v in range(size + 1):
                targets[v, read] = _least(ways, v, useful, ahead[node[read]])
