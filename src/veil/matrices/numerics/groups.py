"""Groups of states that are close to one another, for aggregation.

How close two states are is the larger of the two probabilities of stepping from one to the other. Close
states are grouped before distant ones, and a group never holds links of very different strength: what
moves slowly between weakly coupled parts must stay visible between the groups.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from veil.core.numerics.compiled import compiled
from veil.matrices.numerics.sparse_elimination import Bounds, Chain, Floats, Places

# A link is taken if it is at least this part of the closest link of either state.
_CLOSE = 0.25
_MOST_MEMBERS = 3
# Where this leaves more than this part of the states, a state may join its closest neighbour in any case.
_STALLED = 0.9


@dataclass(frozen=True, slots=True)
class Arrivals:
    """A chain by where each state is reached from: inflow[i] = sum of weights[sources] * rates.

    mass: what a unit of weight stands for; a rate over the mass of its source is a probability.
    """

    ways: Chain
    leaving: Floats
    mass: Floats

    @property
    def states(self) -> int:
        return len(self.leaving)


@dataclass(frozen=True, slots=True)
class Grouping:
    """The group of each state, the chain of the groups, and the way of that chain that each way is part of.

    The part is -1 for a way within a group.
    """

    groups: Places
    into: Bounds
    coarse: Arrivals

    def collect(self, fine: Arrivals, weights: Floats) -> None:
        """Set the rates between the groups for the weights of their members."""
        _collect(fine.ways, weights, self.into, self.coarse.ways, self.coarse.leaving)


def arrivals_of(chain: Chain) -> Arrivals:
    """The same chain, by arrivals."""
    order = np.argsort(chain.targets, kind="stable")
    counts = np.bincount(chain.targets, minlength=chain.states)
    bounds = np.concatenate([[0], np.cumsum(counts)]).astype(np.int64)
    ways = Chain(bounds, chain.starts()[order], chain.weights[order])
    return Arrivals(ways, chain.leaving(), np.ones(chain.states))


def group_close_states(fine: Arrivals, weights: Floats, *, backwards: bool) -> Grouping:
    """Groups of two or three states; backwards: visit them from the last, which gives other groups."""
    links = _links(fine)
    visited = np.arange(fine.states)[:: -1 if backwards else 1]
    groups, count = _pair(links, visited, _CLOSE, _MOST_MEMBERS)
    if count > _STALLED * fine.states:
        groups, count = _pair(links, visited, 0.0, fine.states)
    return _grouping(fine, weights, groups, count)


def _grouping(fine: Arrivals, weights: Floats, groups: Places, count: int) -> Grouping:
    targets, sources = groups[fine.ways.starts()].astype(np.int64), groups[fine.ways.targets]
    between = targets != sources
    known, part = np.unique((targets * count + sources)[between], return_inverse=True)
    into = np.full(len(sources), -1, dtype=np.int64)
    into[between] = part
    bounds = np.searchsorted(known, count * np.arange(count + 1, dtype=np.int64)).astype(np.int64)
    ways = Chain(bounds, (known % count).astype(np.int32), np.empty(len(known)))
    mass = np.bincount(groups, weights=fine.mass * weights).astype(np.float64)
    answer = Grouping(groups, into, Arrivals(ways, np.empty(count), mass))
    answer.collect(fine, weights)
    return answer


def _links(chain: Arrivals) -> Chain:
    """For each state its neighbours in either direction, and how close they are."""
    from scipy.sparse import csr_array

    ways, shape = chain.ways, (chain.states, chain.states)
    steps = csr_array((ways.weights / chain.mass[ways.targets], ways.targets, ways.bounds), shape=shape)
    both = steps.maximum(steps.T.tocsr()).tocsr()
    return Chain(both.indptr.astype(np.int64), both.indices.astype(np.int32), both.data)


@compiled
def _pair(links: Chain, visited: Bounds, close: float, most: int) -> tuple[Places, int]:
    """Pair each state with its closest neighbour that is free, or else let it join a pair."""
    closest = np.zeros(len(visited))
    for state in range(len(visited)):
        for at in range(links.bounds[state], links.bounds[state + 1]):
            closest[state] = max(closest[state], links.weights[at])
    groups = np.full(len(visited), -1, dtype=np.int32)
    sizes = np.zeros(len(visited), dtype=np.int64)
    count = 0
    for state in visited:
        if groups[state] >= 0:
            continue
        free, joined, to_free, to_joined = -1, -1, 0.0, 0.0
        for at in range(links.bounds[state], links.bounds[state + 1]):
            other, link = links.targets[at], links.weights[at]
            if link < close * max(closest[state], closest[other]):
                continue
            if groups[other] < 0 and link > to_free:
                free, to_free = other, link
            elif groups[other] >= 0 and link > to_joined and sizes[groups[other]] < most:
                joined, to_joined = other, link
        if free >= 0:
            groups[state] = groups[free] = count
            sizes[count] = 2
            count += 1
        elif joined >= 0:
            groups[state] = groups[joined]
            sizes[groups[joined]] += 1
        else:
            groups[state] = count
            sizes[count] = 1
            count += 1
    return groups, count


@compiled
def _collect(fine: Chain, weights: Floats, into: Bounds, coarse: Chain, leaving: Floats) -> None:
    coarse.weights[:] = 0.0
    leaving[:] = 0.0
    for at in range(len(into)):
        if into[at] >= 0:
            coarse.weights[into[at]] += weights[fine.targets[at]] * fine.weights[at]
    for at in range(len(coarse.targets)):
        leaving[coarse.targets[at]] += coarse.weights[at]
