"""The balanced weights and the decay for a budget: the largest rate found whose certificate holds."""

from __future__ import annotations

import math
from typing import NamedTuple

from veil.core.errors import InvalidArgument
from veil.words.numerics.balance import Balancer
from veil.words.numerics.certificate import certified_decay, certified_loss
from veil.words.numerics.graph import WordGraph

# The weights are fitted and certified for so many rates, with the memory that the certificate chooses.
_ATTEMPTS = 4
# Then with a longer memory, if its boxes hold at most so many numbers and this share of epsilon is to be had.
_THOROUGH_ATTEMPTS, _THOROUGH_MEMORY, _MOST_ENTRIES, _WORTHWHILE = 4, 3, 4e6, 0.03
# A search ends when a smaller share of epsilon than this is unused.
_UNUSED = 0.006
# By how much the rate moves for a loss that is off by one: a little more, because at a higher rate the
# normaliser varies less.
_STRIDE = 1.1
# The loss is at most twice the rate: near to that the boxes have not told anything.
_HOPELESS = 1.9


class Answer(NamedTuple):
    """Weights for the words, a decay, the certified loss, and the memory that certifies it (None: any)."""

    graph: WordGraph
    decay: float
    loss: float
    memory: int | None = None

    @property
    def rate(self) -> float:
        return -math.log(self.decay)


class _Budget(NamedTuple):
    epsilon: float
    radius: int
    shorter: bool

    def loss(self, graph: WordGraph, decay: float, memory: int | None) -> float:
        return certified_loss(graph, decay, self.radius, memory=memory, shorter=self.shorter)


def balanced_for(
    graph: WordGraph, epsilon: float, radius: int, *, shorter: bool = False, rng_seed: int = 0
) -> Answer:
    """The highest rate found whose certified loss, for words within the radius, is at most epsilon.

    The graph comes back as it was where weights do not allow a higher rate. The answer depends on the
    language and the budget alone. shorter: the loss holds for shorter words too.
    """
    if not (0.0 < epsilon < math.inf):
        raise InvalidArgument("epsilon", expected="above 0 and finite", found=str(epsilon))
    plain = Answer(graph, *certified_decay(graph, epsilon, radius, shorter=shorter))
    balancer = Balancer(graph, rng_seed=rng_seed)
    if not balancer.is_possible:
        return plain
    radius = min(radius, graph.length)
    most = epsilon / radius
    budget = _Budget(epsilon, radius, shorter)
    best, rate = _search(balancer, budget, plain, 0.25 * plain.rate + 0.75 * most, _ATTEMPTS, None)
    pairs = balancer.pairs
    entries = pairs.size**2 * (pairs.edges / pairs.size) ** _THOROUGH_MEMORY
    if rate is None or entries > _MOST_ENTRIES or most - best.rate < _WORTHWHILE * most:
        return best
    # The longer memory takes about a fifth off what the weights leave.
    rate += 0.2 * (most - rate)
    return _search(balancer, budget, best, rate, _THOROUGH_ATTEMPTS, _THOROUGH_MEMORY)[0]


def _search(
    balancer: Balancer, budget: _Budget, best: Answer, rate: float, attempts: int, memory: int | None
) -> tuple[Answer, float | None]:
    """The answer with the highest rate among the given one and those of a few attempts from this rate on.

    And the rate to go on with; None if the certificate has nothing to say about such weights.
    """
    epsilon, radius = budget.epsilon, budget.radius
    high, before = epsilon / radius, (rate, math.inf)
    for _ in range(attempts):
        decay = math.exp(-rate)
        weighted = balancer.weighted(decay)
        loss = budget.loss(weighted, decay, memory)
        if loss > _HOPELESS * radius * rate:
            return best, None
        if rate < before[0] and loss > before[1]:
            # Below some rate the boxes widen faster than the rate falls.
            return best, before[0]
        before = rate, loss
        if loss <= epsilon and rate > best.rate:
            best = Answer(weighted, decay, loss, memory)
            if epsilon - loss <= _UNUSED * epsilon:
                break
        else:
            high = min(high, rate)
        # The next weights are a little better or worse by chance: aim at the middle of what will do.
        moved = rate + _STRIDE * (epsilon * (1.0 - 0.5 * _UNUSED) - loss) / radius
        rate = moved if best.rate < moved < high else 0.5 * (best.rate + high)
    return best, rate
