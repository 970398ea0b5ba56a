"""Eliminating the states of a sparse Markov chain, many at a time, as long as the chain stays sparse.

The states of one round are not neighbours of one another, so they can be eliminated at once, and they
are among those that add the fewest transitions: (ways in) x (ways out) is small (Markowitz, Management
Science 3, 1957; many at a time as in Liu's multiple minimum degree, ACM TOMS 11, 1985). What is left is
the chain watched only outside them. As in `elimination`, nothing is ever subtracted.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from veil.core.arrays import Booleans, Floats, Ints, Places
from veil.core.numerics.compiled import compiled
from veil.matrices.numerics.elimination import not_irreducible

# A round takes states whose cost is at most this often that of the cheapest tenth.
_TOLERANCE = 1.25
# How many transitions a round may add for each one there is: this bounds the memory of a round.
_GROWTH, _MOST_ROOM = 4, 30_000_000


class Chain(NamedTuple):
    """Transitions between different states: those from state i lie from bounds[i] up to bounds[i + 1].

    A tuple, because compiled functions can read its fields.
    """

    bounds: Places
    targets: Ints
    weights: Floats

    @property
    def states(self) -> int:
        return len(self.bounds) - 1

    @property
    def transitions(self) -> int:
        return len(self.targets)

    def starts(self) -> Ints:
        """The state that each transition starts from."""
        return np.repeat(np.arange(self.states, dtype=np.int32), np.diff(self.bounds))

    def leaving(self) -> Floats:
        """The total weight that leads away from each state."""
        return np.bincount(self.starts(), weights=self.weights, minlength=self.states).astype(np.float64)

    def dense(self) -> Floats:
        """The same as a square array, with nothing on the diagonal."""
        answer = np.zeros((self.states, self.states))
        answer[self.starts(), self.targets] = self.weights
        return answer


def chain_of(matrix: Any) -> Chain:
    """The transitions of a scipy.sparse array that are positive and lead to another state."""
    rows = matrix.tocsr()
    if not rows.has_canonical_format:
        rows = rows.copy()
        rows.sum_duplicates()
    starts = np.repeat(np.arange(rows.shape[0]), np.diff(rows.indptr))
    kept = (rows.data > 0.0) & (starts != rows.indices)
    counts = np.bincount(starts[kept], minlength=rows.shape[0])
    bounds = np.concatenate([[0], np.cumsum(counts)]).astype(np.int64)
    return Chain(bounds, rows.indices[kept].astype(np.int32), rows.data[kept].astype(np.float64))


@dataclass(frozen=True, slots=True)
class Round:
    """The states that one round eliminated, those it kept, and the ways from the kept to the eliminated.

    A weight of `ways` is the expected number of visits to the eliminated state for each to the kept one.
    """

    kept: Ints
    eliminated: Ints
    ways: Chain

    def extend(self, stationary: Floats) -> Floats:
        """From the stationary weights of the kept states, those of all states before the round."""
        answer = np.empty(len(self.kept) + len(self.eliminated))
        answer[self.kept] = stationary
        arriving = stationary[self.ways.starts()] * self.ways.weights
        answer[self.eliminated] = np.bincount(
            self.ways.targets, weights=arriving, minlength=len(self.eliminated)
        )
        _, exponent = math.frexp(answer.max())
        if exponent > 0:
            # Keep the largest near one, by a power of two, which rounds nothing.
            answer *= math.ldexp(1.0, -exponent)
        return answer


def eliminate_round(chain: Chain) -> tuple[Round, Chain]:
    """Eliminate some states that are cheap to eliminate, at least one; also gives the chain that is left."""
    ways_in = np.bincount(chain.targets, minlength=chain.states)
    costs = ways_in * np.diff(chain.bounds)
    chosen = _choose(chain, costs)
    kept, eliminated = (np.flatnonzero(flags).astype(np.int32) for flags in (~chosen, chosen))
    place = np.empty(chain.states, dtype=np.int32)
    place[kept] = np.arange(len(kept), dtype=np.int32)
    place[eliminated] = np.arange(len(eliminated), dtype=np.int32)
    leaving = chain.leaving()
    if not leaving[eliminated].all():
        raise not_irreducible("a state without a way (or with none that floats can hold) to the others")
    ways = _room(len(kept), int(ways_in[eliminated].sum()))
    rest = _room(len(kept), chain.transitions + int(costs[eliminated].sum()))
    _watch_kept(chain, kept, chosen, place, leaving, rest, ways)
    used = rest.bounds[-1]
    rest = Chain(rest.bounds, rest.targets[:used].copy(), rest.weights[:used].copy())
    return Round(kept, eliminated, ways), rest


def _room(states: int, transitions: int) -> Chain:
    targets, weights = np.empty(transitions, dtype=np.int32), np.empty(transitions)
    return Chain(np.zeros(states + 1, dtype=np.int64), targets, weights)


def _choose(chain: Chain, costs: Places) -> Booleans:
    """States that are cheap and no two of which are neighbours, the cheapest first."""
    tenth = chain.states // 10
    candidates = np.flatnonzero(costs <= _TOLERANCE * np.partition(costs, tenth)[tenth])
    candidates = candidates[np.argsort(costs[candidates], kind="stable")]
    chosen = np.zeros(chain.states, dtype=np.bool_)
    room = min(_GROWTH * chain.transitions, _MOST_ROOM - chain.transitions)
    _mark_apart(chain, candidates, costs, room, chosen)
    return chosen


@compiled
def _mark_apart(chain: Chain, candidates: Places, costs: Places, most: int, chosen: Booleans) -> None:
    """Choose one candidate after the other unless it is a neighbour of one chosen before."""
    reached = np.zeros(len(chosen), dtype=np.bool_)
    total = 0
    for state in candidates:
        apart = not reached[state]
        for at in range(chain.bounds[state], chain.bounds[state + 1]):
            if chosen[chain.targets[at]]:
                apart = False
        if apart:
            total += costs[state]
            if total > max(most, costs[state]):
                return
            chosen[state] = True
            for at in range(chain.bounds[state], chain.bounds[state + 1]):
                reached[chain.targets[at]] = True


@compiled
def _watch_kept(
    chain: Chain, kept: Ints, chosen: Booleans, place: Ints, leaving: Floats, rest: Chain, ways: Chain
) -> None:
    """Fill `rest` with the transitions among the kept states, those through the chosen ones included."""
    # Where in `rest` a transition to each state stands; it is of the present row if not before its start.
    where = np.full(len(kept), -1, dtype=np.int64)
    end, ways_end = 0, 0
    for row in range(len(kept)):
        start = end
        for at in range(chain.bounds[kept[row]], chain.bounds[kept[row] + 1]):
            state = chain.targets[at]
            if chosen[state]:
                share = chain.weights[at] / leaving[state]
                ways.targets[ways_end], ways.weights[ways_end] = place[state], share
                ways_end += 1
                for on in range(chain.bounds[state], chain.bounds[state + 1]):
                    end = _add(
                        rest, where, start, end, row, place[chain.targets[on]], share * chain.weights[on]
                    )
            else:
                end = _add(rest, where, start, end, row, place[state], chain.weights[at])
        rest.bounds[row + 1], ways.bounds[row + 1] = end, ways_end


@compiled
def _add(rest: Chain, where: Places, start: int, end: int, row: int, target: int, weight: float) -> int:
    """Add a transition to the row that began at `start`; returns where the row ends now."""
    if target == row:
        return end
    if where[target] >= start:
        rest.weights[where[target]] += weight
        return end
    where[target] = end
    rest.targets[end], rest.weights[end] = target, weight
    return end + 1
