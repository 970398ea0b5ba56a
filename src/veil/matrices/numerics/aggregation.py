"""Stationary weights of large sparse chains by sweeps over ever coarser groups of states.

A sweep sets each state's weight to what flows in over the rate of flowing out (Gauss-Seidel). It balances
neighbours quickly and distant parts slowly. So close states are put into groups, the flows between the
groups make a smaller chain, and the weight of each group there corrects all its members by one factor:
aggregation and disaggregation (Koury, McAllister and Stewart, SIAM J. Alg. Disc. Meth. 5, 1984) on
several levels (Horton and Leutenegger, SIGMETRICS 1994). The coarsest chain is solved by elimination.

Sweeps and corrections are sums of products of positive numbers, so small weights are as accurate as large
ones. Unlike elimination this is an iteration: it ends when the weights settle, and says so if they do not.
"""

from __future__ import annotations

import numpy as np

from veil.core.errors import VeilError
from veil.core.numerics.compiled import compiled
from veil.matrices.numerics.elimination import not_irreducible, stationary_dense
from veil.matrices.numerics.groups import Arrivals, Grouping, arrivals_of, group_close_states
from veil.matrices.numerics.sparse_elimination import Chain, Floats

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


def balanced_weights(chain: Chain) -> Floats:
    """The stationary distribution of an irreducible chain; raises VeilError if it does not settle.

    A slow motion that the groups hide would also look settled. So the answer counts only if it stays
    settled on groups that were chosen again, in another order.
    """
    fine = arrivals_of(chain)
    weights = np.full(chain.states, 1.0 / chain.states)
    change = imbalance = np.inf
    work = 0
    for choice in range(_MOST_CHOICES):
        for _ in range(2 * _SWEEPS):
            _sweep(fine.ways, fine.leaving, weights)
        levels = _levels(fine, _positive(weights), backwards=choice % 2 == 1)
        mixture = _Mixture()
        for cycle in range(_MOST_CYCLES):
            before = _positive(weights)
            _correct(fine, levels, weights)
            weights /= weights.sum()
            work += 2 * _SWEEPS * (chain.transitions + sum(len(level.into) for level in levels))
            change = float(np.abs(_positive(weights) / before - 1.0).max())
            imbalance = _imbalance(fine.ways, fine.leaving, weights)
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
        levels.append(group_close_states(fine, weights, backwards=backwards))
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
    for _ in range(_SWEEPS):
        _sweep(fine.ways, fine.leaving, weights)
    groups = levels[0]
    groups.collect(fine, weights)
    factors = np.ones(groups.coarse.states)
    _correct(groups.coarse, levels[1:], factors)
    weights *= (factors / factors.max())[groups.groups]
    for _ in range(_SWEEPS):
        _sweep(fine.ways, fine.leaving, weights)


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


@compiled
def _sweep(ways: Chain, leaving: Floats, weights: Floats) -> None:
    for state in range(len(leaving)):
        inflow = 0.0
        for at in range(ways.bounds[state], ways.bounds[state + 1]):
            inflow += weights[ways.targets[at]] * ways.weights[at]
        weights[state] = inflow / leaving[state]


@compiled
def _imbalance(ways: Chain, leaving: Floats, weights: Floats) -> float:
    """The largest relative difference between the flows into and out of a state."""
    worst = 0.0
    for state in range(len(leaving)):
        inflow = 0.0
        for at in range(ways.bounds[state], ways.bounds[state + 1]):
            inflow += weights[ways.targets[at]] * ways.weights[at]
        worst = max(worst, abs(inflow / (leaving[state] * weights[state]) - 1.0))
    return worst
