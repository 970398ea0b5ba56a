"""Weights that make the normaliser of the exponential mechanism on words nearly the same for all words.

P(v | w) = weight(v) * decay^d(v, w) / Z(w) has the loss rate * d(w, w') + |log Z(w') / Z(w)|. Without weights
a word has a larger Z the more words are near to it, and the second term takes up to half of the budget. With
the weights K^-1 1, where K(w, v) = decay^d(w, v), Z is constant and the whole budget is used; but that is one
number for every word. To first order in the decay, log Z(w) grows by the number of words that differ from w
in one symbol, and this number is a sum over the positions: at each, the nodes that fit between the node
before and the node after. So a weight for every three nodes in a row can cancel it. Here the logarithm of
that weight is a sum of a few functions of such counts, fitted on random changes and on the worst ones known.

The weights depend on the language and the decay alone. They are public, and whatever they are, the guarantee
is that of the certificate: nothing here needs to be exact.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import partial
from typing import NamedTuple

import numpy as np

from veil.core.arrays import Floats, Ints
from veil.core.progress import part, tell
from veil.words.numerics.balance_features import Features, features_of, lifted
from veil.words.numerics.certificate import certified_decay, certified_loss
from veil.words.numerics.graph import WordGraph
from veil.words.numerics.normalisers import LARGE, normalisers, random_pairs, worst_changes
from veil.words.numerics.tables import Ways

# Words on which the weights are fitted are this long at most: what happens far from both ends is the same.
_LONGEST = 12
# Powers of the residuals whose mean is made small, one after the other: the last is nearly their maximum.
_POWERS = (2, 2, 4, 8, 16, 16)
_STEPS_A_ROUND = 3
# Pairs of words and attempts of the local search: fewer for larger graphs, so that the time stays bounded.
_PAIRS, _ATTEMPTS = (150, 400), (300, 4000)
_PAIR_WORK, _ATTEMPT_WORK = 1e8, 8e7
_SLOW = 0.3
# Above so many edges of the lifted graph the search is not worth its time.
_MOST_PAIRS = 60_000
_RIDGE = 1e-7
_LARGEST_EXPONENT = 12.0

# The weights are fitted and certified for so many rates, with the memory that the certificate chooses.
_SEARCHES = 4
# Then with a longer memory, if its boxes hold at most so many numbers and this share of epsilon is to be had.
_THOROUGH_SEARCHES, _THOROUGH_MEMORY, _MOST_ENTRIES, _WORTHWHILE = 4, 3, 4e6, 0.03
# A search ends when a smaller share of epsilon than this is unused.
_UNUSED = 0.006
# By how much the rate moves for a loss that is off by one: a little more, because at a higher rate the
# normaliser varies less.
_STRIDE = 1.1
# The loss is at most twice the rate: near to that the boxes have not told anything.
_HOPELESS = 1.9


@dataclass(frozen=True, eq=False)
class _Problem:
    """The lifted graph of the words on which the weights are fitted, what they are made of, and the decay."""

    pairs: WordGraph
    features: Features
    decay: float

    def weights(self, coefficients: Floats) -> tuple[Floats, Floats]:
        """The weights of the edges and of the first nodes.

        To 16 bits, so that what a machine makes of the last digits hardly ever shows.
        """
        logs = self.features.log_weights(coefficients)
        edges = self.pairs.edges
        # A common factor of all edges changes nothing.
        logs[:edges] -= logs[:edges].mean()
        logs[edges:][self.pairs.first] -= logs[edges:][self.pairs.first].mean()
        fraction, exponent = np.frexp(np.exp(logs))
        rounded = np.ldexp(np.round(fraction * 2.0**16), exponent - 16)
        return rounded[:edges], rounded[edges:]

    def measure(self, coefficients: Floats, words: Ints) -> tuple[Floats, Floats]:
        """log Z of the words and its derivatives by the coefficients."""
        logs, edges = self.features.log_weights(coefficients), self.pairs.edges
        slopes = np.empty((len(words), self.features.width))
        weighted = self.pairs.weighted(np.exp(logs[:edges]), np.exp(logs[edges:]))
        return normalisers(Ways.of(weighted), self.decay, words, self.features, slopes), slopes


class Balancer:
    """Graphs of the same words with weights for which Z hardly changes with one symbol of the word.

    The graph itself, without weights, where there is nothing to balance or the graph is too large. Weights
    that the graph has are not regarded. Each search begins where the last one ended: the results are a fixed
    function of the language, the decays in turn and the seed. They suit words of every length.
    """

    def __init__(self, graph: WordGraph, *, rng_seed: int = 0) -> None:
        self._graph = graph
        self._short = graph.of_length(min(graph.length, _LONGEST))
        self._rng = np.random.default_rng(rng_seed)
        degrees = np.diff(graph.starts)
        pairs = int(degrees[graph.targets].sum() + degrees[graph.first].sum())
        self.is_possible = graph.length > 1 and 0 < pairs <= _MOST_PAIRS and not self._short.is_empty
        if self.is_possible:
            self.pairs = lifted(self._short)
            self._features = features_of(self._short, self.pairs)
            self._coefficients = np.zeros(self._features.width)
            self._known: tuple[Ints, Ints] | None = None

    def weighted(self, decay: float) -> WordGraph:
        """The words with weights for this decay."""
        if not self.is_possible or not 0.0 < decay < 1.0:
            return self._graph
        problem = _Problem(self.pairs, self._features, decay)
        self._fit(problem)
        if not self._coefficients.any():
            # No two words differ in one symbol only, or all have the same normaliser already.
            return self._graph
        return self.pairs.of_length(self._graph.length).weighted(*problem.weights(self._coefficients))

    def _fit(self, problem: _Problem) -> None:
        """Make the changes of log Z small, first their squares and then nearly their maximum."""
        # Few nodes count in a large graph, unless the decay is slow.
        is_narrow = self.pairs.size > LARGE and problem.decay < _SLOW
        work = self.pairs.edges * self._short.length / (8.0 if is_narrow else 1.0)
        attempts = int(np.clip(_ATTEMPT_WORK / work, *_ATTEMPTS))
        starts = max(4, attempts // 200)
        # Words that were bad before are kept: they are likely to be bad again.
        powers = _POWERS if self._known is None else _POWERS[-2:]
        count = int(np.clip(_PAIR_WORK / work, *_PAIRS))
        words, changed = self._known or random_pairs(self._short, count, self._rng)
        for number, power in enumerate(powers, start=1):
            tell(f"fitting weights, round {number} of {len(powers)}")
            weighted = self.pairs.weighted(*problem.weights(self._coefficients))
            worst = worst_changes(self._short, weighted, problem.decay, starts, attempts // starts, self._rng)
            words, changed = np.vstack((words, worst[0])), np.vstack((changed, worst[1]))
            self._coefficients = _descend(problem, self._coefficients, words, changed, power)
        self._known = words, changed


def _descend(problem: _Problem, coefficients: Floats, words: Ints, changed: Ints, power: int) -> Floats:
    """A few steps of Levenberg and Marquardt on the mean power of log Z(w') - log Z(w)."""
    both = np.vstack((words, changed))

    def residuals(at: Floats) -> tuple[Floats, Floats]:
        values, slopes = problem.measure(at, both)
        half = len(words)
        return values[half:] - values[:half], slopes[half:] - slopes[:half]

    change, slope = residuals(coefficients)
    scale = np.abs(change).max()
    if scale < 1e-9:
        return coefficients

    def objective(change: Floats, at: Floats) -> float:
        return float(((np.abs(change) / scale) ** power).mean() + _RIDGE * (at**2).sum())

    value, damping, identity = objective(change, coefficients), 1e-4, np.eye(len(coefficients))
    for _ in range(_STEPS_A_ROUND):
        share = (np.abs(change) / scale) ** (power - 2) * power / (scale**2 * len(change))
        bend = slope.T @ (slope * (share * (power - 1))[:, None]) + 2.0 * _RIDGE * identity
        gradient = slope.T @ (share * change) + 2.0 * _RIDGE * coefficients
        for _ in range(8):
            damped = bend + damping * np.trace(bend) / len(bend) * identity
            trial = coefficients - np.linalg.solve(damped, gradient)
            if np.abs(trial).max() < _LARGEST_EXPONENT:
                trial_change, trial_slope = residuals(trial)
                found = objective(trial_change, trial)
                if found < value:
                    break
            damping *= 8.0
        else:
            break
        gain = value - found
        coefficients, change, slope, value, damping = trial, trial_change, trial_slope, found, damping / 8.0
        if gain < 1e-3 * value:
            break
    return coefficients


class Answer(NamedTuple):
    """Weights for the words, a decay, the certified loss, and the memory that certifies it (None: any)."""

    graph: WordGraph
    decay: float
    loss: float
    memory: int | None = None

    @property
    def rate(self) -> float:
        return -math.log(self.decay)


def balanced_for(
    graph: WordGraph, epsilon: float, radius: int, *, shorter: bool = False, rng_seed: int = 0
) -> Answer:
    """The highest rate found whose certified loss, for words within the radius, is at most epsilon.

    The graph comes back as it was where weights do not allow a higher rate. The answer depends on the
    language and the budget alone. shorter: the loss holds for shorter words too.
    """
    plain = Answer(graph, *certified_decay(graph, epsilon, radius, shorter=shorter))
    balancer = Balancer(graph, rng_seed=rng_seed)
    if not balancer.is_possible:
        return plain
    radius = min(radius, graph.length)
    most = epsilon / radius
    search = partial(_search, balancer, epsilon, radius, shorter)
    best, rate = search(plain, 0.25 * plain.rate + 0.75 * most, _SEARCHES, None)
    pairs = balancer.pairs
    entries = pairs.size**2 * (pairs.edges / pairs.size) ** _THOROUGH_MEMORY
    if rate is None or entries > _MOST_ENTRIES or most - best.rate < _WORTHWHILE * most:
        return best
    # The longer memory takes about a fifth off what the weights leave.
    rate += 0.2 * (most - rate)
    return search(best, rate, _THOROUGH_SEARCHES, _THOROUGH_MEMORY)[0]


def _search(
    balancer: Balancer,
    epsilon: float,
    radius: int,
    shorter: bool,
    best: Answer,
    rate: float,
    attempts: int,
    memory: int | None,
) -> tuple[Answer, float | None]:
    """The answer with the highest rate among the given one and those of a few attempts from this rate on.

    And the rate to go on with; None if the certificate has nothing to say about such weights.
    """
    high, before = epsilon / radius, (rate, math.inf)
    for attempt in range(1, attempts + 1):
        decay = math.exp(-rate)
        with part(f"weights {attempt} of at most {attempts}"):
            weighted = balancer.weighted(decay)
            loss = certified_loss(weighted, decay, radius, memory=memory, shorter=shorter)
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
