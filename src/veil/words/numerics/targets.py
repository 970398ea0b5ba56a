"""Which successor the sequential response (channel.py) makes likely, by the true symbol."""

from __future__ import annotations

import numpy as np

from veil.core.arrays import Booleans, Floats, Ints, Places
from veil.core.numerics.compiled import compiled
from veil.words.numerics.graph import WordGraph
from veil.words.numerics.tables import Ways, checked_decay

# Rounds of the search for the best targets; with more positions than that, later ones count less.
_MOST_ROUNDS, _DISCOUNT = 40, 0.95
# Pairs of nodes beyond which the search is left.
_MOST_PAIRS = 4_000_000


def nearest_targets(graph: WordGraph) -> Ints:
    """The successor with the fewest steps to a node that reads the symbol; among equals the smallest number.

    A successor that reads the symbol itself is zero steps away. Only successors from which words end are
    meant.
    """
    ways = Ways.of(graph)
    begin, order = graph.incoming
    targets = np.empty((graph.size + 1, graph.alphabet), dtype=np.int32)
    useful = _useful(graph)
    _nearest(ways, begin, graph.sources[order].astype(np.int32), useful, targets)
    return targets


def _useful(graph: WordGraph) -> Booleans:
    """The nodes from which a word can be completed in at least one position."""
    found = np.zeros(graph.size, dtype=np.bool_)
    for more in range(graph.length):
        found |= graph.completable(more)
        if found.all():
            break
    return found


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
def _least(ways: Ways, v: int, useful: Booleans, costs: Floats) -> int:
    """The useful successor of a node with the least cost, -1 if there is none."""
    best = -1
    for edge in range(ways.starts[v], ways.starts[v + 1]):
        z = ways.targets[edge]
        # A hair less is not better: equals are broken by number, whatever the rounding.
        if useful[z] and (
            best < 0 or costs[z] < costs[best] - 1e-12 or (costs[z] < costs[best] + 1e-12 and z < best)
        ):
            best = z
    return int(best)


@compiled
def _nearest(ways: Ways, into: Places, sources: Ints, useful: Booleans, targets: Ints) -> None:
    """Breadth first from the nodes that read a symbol, against the edges; then the least over successors."""
    size = ways.size
    far, queue = np.empty(size), np.empty(size, dtype=np.int64)
    for read in range(targets.shape[1]):
        far[:] = size + 1
        found = 0
        for z in range(size):
            if ways.symbol[z] == read and useful[z]:
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
