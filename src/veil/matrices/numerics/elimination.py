"""Stationary distributions, visits and hitting times of dense Markov chains, accurate in every entry.

Eliminating a state leaves the chain watched only outside it. Done the way of Grassmann, Taksar and
Heyman (Operations Research 33, 1985) this never subtracts: the probability of leaving a state is the sum
of what leads away from it, not one minus what stays. So every entry of the answer, however small, has a
small relative error, and nearly decomposable chains are no exception (O'Cinneide, Numerische Mathematik
65, 1993). The diagonal of the matrix is never read.

Here whole blocks of states are eliminated at once. With the matrix split into the states R that remain
and the block B, and V = (I - P_BB)^-1 the expected visits within the block,

    P_RR  becomes  P_RR + W P_BR,    W = P_RB V,    pi_B = pi_R W.

Only products and sums of numbers that are not negative, and nearly all of them in matrix products. The
one limit is the range of floats: products of a few transition probabilities must not fall below 1e-308.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from veil.core.arrays import Floats
from veil.core.errors import InvalidArgument
from veil.core.numerics.compiled import compiled

_BLOCK = 64
# Visits above this could overflow in the sums that follow; a smaller block has fewer of them.
_MOST_VISITS = 1e280


def stationary_dense(matrix: Floats, *, overwrite: bool = False) -> Floats:
    """The stationary distribution of an irreducible chain, given its transition probabilities or rates."""
    work = matrix if overwrite else np.array(matrix, dtype=np.float64, order="C")
    blocks = _eliminate(work)
    answer = np.zeros(len(work))
    answer[0] = 1.0
    for block in reversed(blocks):
        first, end = block.first, block.end
        answer[first:end] = answer[:first] @ work[:first, first:end]
        _, exponent = math.frexp(answer[first:end].max())
        if exponent > 0:
            # Keep the largest near one, by a power of two, which rounds nothing.
            answer[:end] *= math.ldexp(1.0, -exponent)
    return answer / float(answer.sum())


def visits(matrix: Floats, target: int) -> Floats:
    """The expected visits (I - P)^-1 among the states other than the target, before it is reached."""
    order = np.argsort(np.arange(len(matrix)) != target, kind="stable")  # the target first
    work = np.array(matrix[order][:, order], dtype=np.float64, order="C")
    others = len(work) - 1
    answer = np.empty((others, others))
    for block in reversed(_eliminate(work)):
        first, end = block.first, block.end
        old, new = slice(0, first - 1), slice(first - 1, end - 1)
        into, out = work[1:first, first:end], work[first:end, 1:first]
        answer[old, new] = answer[old, old] @ into
        answer[new, old] = block.visits @ (out @ answer[old, old])
        answer[new, new] = block.visits + answer[new, old] @ into
    return answer


def hitting_times_to(matrix: Floats, target: int) -> Floats:
    """The expected number of steps from each state until the target is reached; 0 at the target."""
    order = np.argsort(np.arange(len(matrix)) != target, kind="stable")  # the target first
    work = np.array(matrix[order][:, order], dtype=np.float64, order="C")
    blocks = _eliminate(work)
    steps, times = np.ones(len(work)), np.zeros(len(work))
    for block in blocks:
        # Each visit to the block is followed by the steps within the states eliminated before it.
        first, end = block.first, block.end
        steps[first:end] += work[first:end, end:] @ steps[end:]
    for block in reversed(blocks):
        first, end = block.first, block.end
        times[first:end] = block.visits @ (steps[first:end] + work[first:end, :first] @ times[:first])
    return np.insert(times[1:], target, 0.0)


@dataclass(frozen=True, slots=True)
class _Block:
    """The states from `first` up to `end`, and the expected visits to them before any state below."""

    first: int
    end: int
    visits: Floats


def _eliminate(work: Floats) -> list[_Block]:
    """Eliminate all states but the first, in blocks from the last, and say which.

    Afterwards `work` holds W = P_RB V above each block and P_BR to its left, as they were when the block
    was eliminated. What earlier blocks add to a block is added just before it is eliminated, so that each
    entry is written once.
    """
    blocks: list[_Block] = []
    end, size = len(work), _BLOCK
    while end > 1:
        first = max(1, end - size)
        rows = work[first:end, :end] + work[first:end, end:] @ work[end:, :end]
        within = np.empty((end - first, end - first))
        stuck = _fill_visits_within(rows[:, first:].copy(), rows[:, :first].sum(axis=1), within)
        if stuck >= 0:
            raise _never_left(first + stuck)
        if not within.max() <= _MOST_VISITS:
            if size == 1:
                raise _never_left(first)
            size //= 2
            continue
        work[first:end, :first] = rows[:, :first]
        above = work[:first, first:end] + work[:first, end:] @ work[end:, first:end]
        work[:first, first:end] = above @ within
        blocks.append(_Block(first, end, within))
        end, size = first, min(2 * size, _BLOCK)
    return blocks


@compiled
def _fill_visits_within(inside: Floats, out: Floats, answer: Floats) -> int:
    """Visits among the states of a block that is left with the probabilities `out`; both are overwritten.

    Eliminates the states from the last to the first, then adds them again one by one, each with its
    visits. Returns -1, or the state that is never left.
    """
    states = len(out)
    leave = np.empty(states)
    for k in range(states - 1, -1, -1):
        total = out[k]
        for j in range(k):
            total += inside[k, j]
        if not total > 0.0:
            return k
        leave[k] = total
        out[k] /= total
        for j in range(k):
            inside[k, j] /= total
        for i in range(k):
            share = inside[i, k]
            if share > 0.0:
                out[i] += share * out[k]
                for j in range(k):
                    inside[i, j] += share * inside[k, j]
    for k in range(states):
        for j in range(k):
            answer[k, j] = 0.0
        for i in range(k):
            reached = 0.0
            for j in range(k):
                reached += answer[i, j] * inside[j, k]
            answer[i, k] = reached / leave[k]
            share = inside[k, i]
            for j in range(k):
                answer[k, j] += share * answer[i, j]
        again = 0.0
        for i in range(k):
            again += inside[k, i] * answer[i, k]
        answer[k, k] = 1.0 / leave[k] + again
    return -1


def not_irreducible(found: str) -> InvalidArgument:
    """The error for a chain some of whose states do not lead to all others."""
    return InvalidArgument(
        "matrix", expected="a chain in which every state leads to every other", found=found
    )


def _never_left(state: int) -> InvalidArgument:
    return not_irreducible(
        f"no way (or none that floats can hold) from the state at place {state} to those before it"
    )
