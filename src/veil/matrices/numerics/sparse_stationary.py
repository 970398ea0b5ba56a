"""The stationary distribution of a sparse Markov chain: by elimination where it stays sparse.

Chains on lines, trees, planar maps or with hubs do. Those whose states all lie a few random steps from
each other do not: the transitions that elimination adds would fill the memory. They mix quickly, and are
solved by `aggregation` from the point where they had the fewest transitions.
"""

from __future__ import annotations

from typing import Any

from veil.matrices.numerics.aggregation import balanced_weights
from veil.matrices.numerics.elimination import stationary_dense
from veil.matrices.numerics.sparse_elimination import Chain, Floats, Round, chain_of, eliminate_round

# Chains of so few states are solved densely at once; those of more states than the second never.
_SMALL, _LARGEST_DENSE = 500, 7000
# A sparse round visits every transition, at about this many times the cost of an entry in a dense product.
_ROUND_COST = 100
# In transitions, of 12 bytes each: the chain that is left, and what must be remembered of the rounds.
_MOST_LEFT, _MOST_REMEMBERED = 20_000_000, 40_000_000


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
        if chain.states <= _LARGEST_DENSE and _dense_is_quicker(chain, len(step.eliminated)):
            break
        if chain.transitions > _MOST_LEFT or remembered > _MOST_REMEMBERED:
            return rounds[:rounds_to_it], sparsest
        if chain.transitions <= sparsest.transitions:
            sparsest, rounds_to_it = chain, len(rounds)
    return rounds, chain


def _dense_is_quicker(chain: Chain, a_round: int) -> bool:
    """Whether a dense solution does a round's worth of states in less time than a round takes."""
    return _ROUND_COST * chain.transitions > a_round * chain.states**2
