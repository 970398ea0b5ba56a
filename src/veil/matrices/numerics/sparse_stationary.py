"""The stationary distribution of a sparse Markov chain: by elimination where it stays sparse.

Chains on lines, trees, planar maps or with hubs do. Those whose states all lie a few random steps from
each other do not: the transitions that elimination adds would fill the memory. They mix quickly, and are
solved by sweeps over ever coarser groups of states, from the point where they had the fewest transitions.

A sweep sets each state's weight to what flows in over the rate of flowing out (Gauss-Seidel). It balances
neighbours quickly and distant parts slowly. So close states are put into groups, the flows between the
groups make a smaller chain, and the weight of each group there corrects all its members by one factor:
aggregation and disaggregation (Koury, McAllister and Stewart, SIAM J. Alg. Disc. Meth. 5, 1984) on
several levels (Horton and Leutenegger, SIGMETRICS 1994). The coarsest chain is solved by elimination.
Sweeps and corrections are sums of products of positive numbers, so small weights are as accurate as large
ones. Unlike elimination this is an iteration: it ends when the weights settle, and says so if they do not.

How close two states are is the larger of the two probabilities of stepping from one to the other. Close
states are grouped before distant ones, and a group never holds links of very different strength: what
moves slowly between weakly coupled parts must stay visible between the groups.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from veil.core.arrays import Floats, Ints, Places
from veil.core.errors import VeilError
from veil.core.numerics.compiled import compiled
from veil.matrices.numerics.elimination import not_irreducible, stationary_dense
from veil.matrices.numerics.sparse_elimination import Chain, Round, chain_of, eliminate_round

# Chains of so few states are solved densely at once; those of more states than the second never.
_SMALL, _LARGEST_DENSE = 500, 7000
# A sparse round visits every transition, at about this many times the cost of an entry in a dense product.
_ROUND_COST = 100
# In transitions, of 12 bytes each: the chain that is left, and what must be remembered of the rounds.
_MOST_LEFT, _MOST_REMEMBERED = 20_000_000, 40_000_000
# Relative, in every state: by how much the flows in and out, and the weights of two cycles, may differ.
ACCURACY = 1e-12
# Where the cycles on one choice of groups end.
_SETTLED = 1e-13
_MOST_CYCLES, _MOST_CHOICES = 200, 8
# In transitions visited by sweeps: about half a minute.
_MOST_WORK = 6_000_000_000
_SWEEPS = 2
# A chain of so few groups is solved by elimination.
_COARSEST = 1000
# How many cycles are combined.
_MEMORY = 8
# A link is taken if it is at least this part of the closest link of either state.
_CLOSE = 0.25
_MOST_MEMBERS = 3
# Where this leaves more than this part of the states, a state may join its closest neighbour in any case.
_STALLED = 0.9


def stationary_sparse(matrix: Any) -> Floats:
    """The stationary distribution of an irreducible chain, given as a scipy.sparse array.

    Every entry has a small relative error; one that the iteration cannot reach raises VeilError.
    """
    rounds, core = _eliminate(chain_of(matrix))
    if core.states <= _LARGEST_DENSE:
        weights = stationary_dense(core.dense(), overwrite=True)
    else:
        weights = balanced_weights(core)
    for step in reversed(rounds):
        weights = step.extend(weights)
    return weights / float(weights.sum())


def _eliminate(chain: Chain) -> tuple[list[Round], Chain]:
    """The rounds of elimination and the chain that is left, which is small, or large and sparse."""
    rounds: list[Round] = []
    remembered = 0
    sparsest, rounds_to_it = chain, 0
    while chain.states > _SMALL:
        step, chain = eliminate_round(chain)
        rounds.append(step)
        remembered += step.ways.transitions
        # A dense solution may do a round's worth of states in less time than a round takes.
        a_round = len(step.eliminated) * chain.states**2
        if chain.states <= _LARGEST_DENSE and _ROUND_COST * chain.transitions > a_round:
            break
        if chain.transitions > _MOST_LEFT or remembered > _MOST_REMEMBERED:
            return rounds[:rounds_to_it], sparsest
        if chain.transitions <= sparsest.transitions:
            sparsest, rounds_to_it = chain, len(rounds)
    return rounds, chain


def balanced_weights(chain: Chain) -> Floats:
    """The stationary distribution of an irreducible chain; raises VeilError if it does not settle.

    A slow motion that the groups hide would also look settled. So the answer counts only if it stays
    settled on groups that were chosen again, in another order.
    """
    fine = _arrivals(chain)
    weights = np.full(chain.states, 1.0 / chain.states)
    change = imbalance = np.inf
    work = 0
    for choice in range(_MOST_CHOICES):
        _sweep(fine, weights, 2 * _SWEEPS)
        levels = _levels(fine, _positive(weights), backwards=choice % 2 == 1)
        mixture = _Mixture()
        for cycle in range(_MOST_CYCLES):
            before = _positive(weights)
            _correct(fine, levels, weights)
            weights /= weights.sum()
            work += 2 * _SWEEPS * (chain.transitions + sum(len(level.into) for level in levels))
            change = float(np.abs(_positive(weights) / before - 1.0).max())
            imbalance = _imbalance(fine, weights)
            if choice > 0 and cycle == 0 and max(change, imbalance) <= ACCURACY:
                return weights
            if max(change, imbalance) <= _SETTLED or work > _MOST_WORK:
                break
            weights = mixture.next(before, weights)
    raise VeilError(
        f"the stationary distribution did not settle: flows in and out of a state differ by {imbalance:.1e} "
        f"and its weight still changes by {change:.1e} (relative), where {ACCURACY:.0e} is asked for"
    )


def _positive(weights: Floats) -> Floats:
    if not (weights.min() > 0.0 and weights.max() < np.inf):
        raise VeilError("the stationary distribution has entries that are zero or too small for floats")
    return weights.copy()


def _levels(fine: Arrivals, weights: Floats, *, backwards: bool) -> list[Grouping]:
    """Groups, groups of groups and so on, chosen for the weights known so far."""
    levels: list[Grouping] = []
    while fine.states > _COARSEST:
        levels.append(_group_close_states(fine, weights, backwards=backwards))
        coarse = levels[-1].coarse
        if coarse.states == fine.states:
            raise not_irreducible("parts without a way between them")
        fine, weights = coarse, np.ones(coarse.states)
    return levels


def _correct(fine: Arrivals, levels: list[Grouping], weights: Floats) -> None:
    """One cycle: sweep, correct by the factors of the groups, sweep again. Changes the weights in place."""
    if not levels:
        rates = fine.ways.dense().T / fine.leaving[:, None]
        weights[:] = stationary_dense(np.ascontiguousarray(rates), overwrite=True) / fine.leaving
        return
    _sweep(fine, weights, _SWEEPS)
    groups, into, coarse = levels[0]
    _collect(fine.ways, weights, into, coarse)
    factors = np.ones(coarse.states)
    _correct(coarse, levels[1:], factors)
    weights *= (factors / factors.max())[groups]
    _sweep(fine, weights, _SWEEPS)


class _Mixture:
    """Anderson's mixing (J. ACM 12, 1965) of the logarithms of the weights, which keeps them positive.

    The next start is the combination of past results whose combined change is least.
    """

    def __init__(self) -> None:
        self._results: list[Floats] = []
        self._changes: list[Floats] = []

    def next(self, before: Floats, after: Floats) -> Floats:
        """Where to start the next cycle, given where the last started and ended."""
        change = np.log(after / before)
        if self._changes and np.abs(change).max() > 2.0 * np.abs(self._changes[-1]).max():
            # The combination did not help: forget the past.
            self._results, self._changes = [], []
        self._results = [*self._results[1 - _MEMORY :], np.log(after)]
        self._changes = [*self._changes[1 - _MEMORY :], change]
        if len(self._changes) == 1:
            return after
        steps = np.stack([past - change for past in self._changes[:-1]], axis=1)
        shares = np.linalg.lstsq(steps, -change, rcond=1e-8)[0]
        moved = np.stack([past - self._results[-1] for past in self._results[:-1]], axis=1) @ shares
        if np.abs(moved).max() > 1.0:
            return after
        answer = after * np.exp(moved)
        return answer / float(answer.sum())


class Arrivals(NamedTuple):
    """A chain by where each state is reached from: inflow[i] = sum of weights[sources] * rates.

    mass: what a unit of weight stands for; a rate over the mass of its source is a probability.
    """

    ways: Chain
    leaving: Floats
    mass: Floats

    @property
    def states(self) -> int:
        return len(self.leaving)


class Grouping(NamedTuple):
    """The group of each state, the chain of the groups, and the way of that chain that each way is part of.

    The part is -1 for a way within a group.
    """

    groups: Ints
    into: Places
    coarse: Arrivals


def _arrivals(chain: Chain) -> Arrivals:
    order = np.argsort(chain.targets, kind="stable")
    counts = np.bincount(chain.targets, minlength=chain.states)
    bounds = np.concatenate([[0], np.cumsum(counts)]).astype(np.int64)
    ways = Chain(bounds, chain.starts()[order], chain.weights[order])
    return Arrivals(ways, chain.leaving(), np.ones(chain.states))


def _group_close_states(fine: Arrivals, weights: Floats, *, backwards: bool) -> Grouping:
    """Groups of two or three states; backwards: visit them from the last, which gives other groups."""
    links = _links(fine)
    visited = np.arange(fine.states)[:: -1 if backwards else 1]
    groups, count = _pair(links, visited, _CLOSE, _MOST_MEMBERS)
    if count > _STALLED * fine.states:
        groups, count = _pair(links, visited, 0.0, fine.states)
    targets, sources = groups[fine.ways.starts()].astype(np.int64), groups[fine.ways.targets]
    between = targets != sources
    known, part = np.unique((targets * count + sources)[between], return_inverse=True)
    into = np.full(len(sources), -1, dtype=np.int64)
    into[between] = part
    bounds = np.searchsorted(known, count * np.arange(count + 1, dtype=np.int64)).astype(np.int64)
    ways = Chain(bounds, (known % count).astype(np.int32), np.empty(len(known)))
    mass = np.bincount(groups, weights=fine.mass * weights).astype(np.float64)
    coarse = Arrivals(ways, np.empty(count), mass)
    _collect(fine.ways, weights, into, coarse)
    return Grouping(groups, into, coarse)


def _links(chain: Arrivals) -> Chain:
    """For each state its neighbours in either direction, and how close they are."""
    from scipy.sparse import csr_array

    ways, shape = chain.ways, (chain.states, chain.states)
    steps = csr_array((ways.weights / chain.mass[ways.targets], ways.targets, ways.bounds), shape=shape)
    both = steps.maximum(steps.T.tocsr()).tocsr()
    return Chain(both.indptr.astype(np.int64), both.indices.astype(np.int32), both.data)


@compiled
def _pair(links: Chain, visited: Places, close: float, most: int) -> tuple[Ints, int]:
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
def _collect(fine: Chain, weights: Floats, into: Places, coarse: Arrivals) -> None:
    """Set the rates between the groups for the weights of their members."""
    rates = coarse.ways.weights
    rates[:] = 0.0
    coarse.leaving[:] = 0.0
    for at in range(len(into)):
        if into[at] >= 0:
            rates[into[at]] += weights[fine.targets[at]] * fine.weights[at]
    for at in range(len(rates)):
        coarse.leaving[coarse.ways.targets[at]] += rates[at]


@compiled
def _inflow(ways: Chain, weights: Floats, state: int) -> float:
    inflow = 0.0
    for at in range(ways.bounds[state], ways.bounds[state + 1]):
        inflow += weights[ways.targets[at]] * ways.weights[at]
    return inflow


@compiled
def _sweep(chain: Arrivals, weights: Floats, times: int) -> None:
    for _ in range(times):
        for state in range(len(chain.leaving)):
            weights[state] = _inflow(chain.ways, weights, state) / chain.leaving[state]


@compiled
def _imbalance(chain: Arrivals, weights: Floats) -> float:
    """The largest relative difference between the flows into and out of a state."""
    worst = 0.0
    for state in range(len(chain.leaving)):
        inflow = _inflow(chain.ways, weights, state)
        worst = max(worst, abs(inflow / (chain.leaving[state] * weights[state]) - 1.0))
    return worst
