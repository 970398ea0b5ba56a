"""The normaliser of the exponential mechanism on words, its derivatives, and the changes that move it most.

Z(w) is the sum over all words v of weight(v) * decay^d(v, w). The derivative of log Z(w) by the logarithm of
the weight of an edge is the expected number of times that v takes the edge: forward and backward tables give
it for all edges at once. The changes of one symbol that move log Z most are sought by a local search from
random words. The arithmetic is plain floating point: nothing here proves anything.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from veil.core.arrays import Booleans, Floats, Ints
from veil.core.numerics.compiled import compiled
from veil.words.numerics.balance_features import Features
from veil.words.numerics.graph import WordGraph
from veil.words.numerics.tables import Ways

# In graphs of more nodes than LARGE, paths that are so improbable after some position are left out.
LARGE, NEGLIGIBLE = 600, 1e-6
# Attempts to change a random word in one symbol.
_TRIES = 60


class Steps(NamedTuple):
    """How words are read and walked. alive[t, x]: whether a path that is in node x at t can be completed.

    step: see WordGraph; its last row, and that of the ways, are for the beginning of a word.
    """

    ways: Ways
    step: Ints
    alive: Booleans

    @classmethod
    def of(cls, graph: WordGraph) -> Steps:
        alive = np.stack([graph.completable(graph.length - 1 - t) for t in range(graph.length)])
        return cls(Ways.of(graph), graph.step, alive)


def random_pairs(graph: WordGraph, count: int, rng: np.random.Generator) -> tuple[Ints, Ints]:
    """Random words, and for each another one that differs in one symbol."""
    steps = Steps.of(graph)
    words = _random_words(steps, rng.random((count, graph.length)))
    return words, _random_changes(steps, words, rng.random((count, _TRIES, 2)))


def worst_changes(
    graph: WordGraph, weighted: WordGraph, decay: float, starts: int, attempts: int, rng: np.random.Generator
) -> tuple[Ints, Ints, Floats]:
    """Words, changes of one symbol of each, and |log Z(w') / Z(w)|: the largest that a local search finds.

    `weighted` has the same words as `graph`. An estimate from below; the certificate bounds it from above.
    """
    steps = Steps.of(graph)
    words = _random_words(steps, rng.random((starts, graph.length)))
    changed = words.copy()
    far = _climb(Ways.of(weighted), decay, steps, words, changed, rng.random((starts, attempts, 5)))
    return words, changed, far


@compiled
def _fill_tables(ways: Ways, decay: float, word: Ints, forward: Floats, backward: Floats) -> float:
    """log Z(word). forward[t, x] * backward[t, x] is proportional to P(v passes node x at t).

    Every row is scaled, so that no length overflows.
    """
    size, symbol, starts, targets, weight, last, _ = ways
    length, ahead = len(word), np.empty(size)
    least = NEGLIGIBLE if size > LARGE else 0.0
    log_sum = 0.0
    for x in range(size):
        backward[length - 1, x] = 1.0 if last[x] else 0.0
    for t in range(length):
        forward[t, :] = 0.0
        # Before the first position there is only the row of the ways to begin.
        for x in range(size if t == 0 else 0, size + 1 if t == 0 else size):
            value = 1.0 if t == 0 else forward[t - 1, x]
            if value > 0.0:
                for e in range(starts[x], starts[x + 1]):
                    forward[t, targets[e]] += value * weight[e]
        for x in range(size):
            if symbol[x] != word[t]:
                forward[t, x] *= decay
        if t == length - 1:
            forward[t, :] *= backward[t, :]
        total = forward[t, :].sum()
        log_sum += np.log(total)
        for x in range(size):
            forward[t, x] /= total
            if forward[t, x] < least:
                forward[t, x] = 0.0
    for t in range(length - 2, -1, -1):
        _look_ahead(ways, decay, word[t + 1], backward[t + 1], ahead)
        largest = 0.0
        for x in range(size):
            value = 0.0
            if forward[t, x] > 0.0:
                for e in range(starts[x], starts[x + 1]):
                    value += weight[e] * ahead[targets[e]]
            backward[t, x] = value
            largest = max(largest, value)
        backward[t, :] /= largest
    return log_sum


@compiled
def _look_ahead(ways: Ways, decay: float, read: int, backward: Floats, ahead: Floats) -> None:
    """What lies behind each node, times the factor of its own symbol."""
    size, symbol = ways.size, ways.symbol
    for z in range(size):
        ahead[z] = backward[z] * (1.0 if symbol[z] == read else decay)


@compiled
def normalisers(ways: Ways, decay: float, words: Ints, features: Features, slopes: Floats) -> Floats:
    """log Z of every word. slopes: its derivatives by the coefficients of the features."""
    size, _, starts, targets, weight, _, _ = ways
    begin, feature, value, _ = features
    length, edges = words.shape[1], starts[size]
    forward, backward = np.empty((length, size)), np.empty((length, size))
    answer, expected = np.empty(len(words)), np.empty(edges + size)
    ahead = np.empty(size)
    slopes[:, :] = 0.0
    for i in range(len(words)):
        word = words[i]
        answer[i] = _fill_tables(ways, decay, word, forward, backward)
        expected[:] = 0.0
        for t in range(length):
            total = 0.0
            for x in range(size):
                total += forward[t, x] * backward[t, x]
            if t == 0:
                expected[edges:] = forward[0] * backward[0] / total
            if t == length - 1:
                break
            _look_ahead(ways, decay, word[t + 1], backward[t + 1], ahead)
            # Given x, an edge is taken in proportion to what lies behind it.
            for x in range(size):
                passes = forward[t, x] * backward[t, x] / total
                if passes > 0.0:
                    onward = 0.0
                    for e in range(starts[x], starts[x + 1]):
                        onward += weight[e] * ahead[targets[e]]
                    for e in range(starts[x], starts[x + 1]):
                        expected[e] += passes * weight[e] * ahead[targets[e]] / onward
        for e in range(edges + size):
            if expected[e] > 0.0:
                for k in range(begin[e], begin[e + 1]):
                    slopes[i, feature[k]] += expected[e] * value[k]
    return answer


@compiled
def _is_word(steps: Steps, word: Ints) -> bool:
    """Whether the word has a path in the graph."""
    at, step = steps.ways.size, steps.step
    for symbol in word:
        at = step[at, symbol]
        if at < 0:
            return False
    return bool(steps.ways.last[at])


@compiled
def _walk_on(steps: Steps, at: int, t: int, uniform: float) -> int:
    """A random node for position t after node `at` that can be completed; -1: none."""
    starts, targets, alive = steps.ways.starts, steps.ways.targets, steps.alive
    count = 0
    for edge in range(starts[at], starts[at + 1]):
        count += alive[t, targets[edge]]
    left = int(uniform * count)
    for edge in range(starts[at], starts[at + 1]):
        if alive[t, targets[edge]]:
            if left == 0:
                return int(targets[edge])
            left -= 1
    return -1


@compiled
def _random_words(steps: Steps, uniform: Floats) -> Ints:
    """Random walks, a word for each row of uniform numbers."""
    words = np.empty(uniform.shape, dtype=np.int32)
    for i in range(len(uniform)):
        at = steps.ways.size
        for t in range(len(uniform[i])):
            at = _walk_on(steps, at, t, uniform[i, t])
            words[i, t] = steps.ways.symbol[at]
    return words


@compiled
def _random_changes(steps: Steps, words: Ints, uniform: Floats) -> Ints:
    """For every word another one that differs in one symbol, by as many attempts as there are numbers.

    Without success the word itself. uniform[i, j]: where attempt j changes word i, and to what.
    """
    changed = words.copy()
    length = words.shape[1]
    for i in range(len(words)):
        for j in range(uniform.shape[1]):
            t = int(uniform[i, j, 0] * length)
            at = steps.ways.size
            for before in range(t):
                at = steps.step[at, words[i, before]]
            symbol = steps.ways.symbol[_walk_on(steps, at, t, uniform[i, j, 1])]
            if symbol == words[i, t]:
                continue
            changed[i, t] = symbol
            if _is_word(steps, changed[i]):
                break
            changed[i, t] = words[i, t]
    return changed


@compiled
def _worst_change(
    ways: Ways, decay: float, steps: Steps, word: Ints, forward: Floats, backward: Floats, changed: Ints
) -> float:
    """The largest |log Z(w') / Z(w)| over the changes of one symbol of the word; `changed` is set to that w'.

    steps: of a graph of the same words. forward, backward: working space.
    """
    symbol, mass = ways.symbol, np.empty(steps.step.shape[1])
    _fill_tables(ways, decay, word, forward, backward)
    worst = 0.0
    changed[:] = word
    place, other = 0, word[0]
    for t in range(len(word)):
        # The mass of all words by their symbol at t, as if that symbol cost nothing.
        mass[:] = 0.0
        for x in range(ways.size):
            passes = forward[t, x] * backward[t, x]
            mass[symbol[x]] += passes if symbol[x] == word[t] else passes / decay
        rest = decay * mass.sum()
        here = np.log(rest + (1.0 - decay) * mass[word[t]])
        for y in range(len(mass)):
            if y != word[t] and mass[y] > 0.0:
                change = abs(np.log(rest + (1.0 - decay) * mass[y]) - here)
                if change > worst:
                    changed[t] = y
                    if _is_word(steps, changed):
                        worst, place, other = change, t, y
                    changed[t] = word[t]
    changed[place] = other
    return worst


@compiled
def _climb(ways: Ways, decay: float, steps: Steps, words: Ints, changed: Ints, uniform: Floats) -> Floats:
    """Local search for words with a change that moves log Z far: rewrites words and changed, returns how far.

    steps: of a graph of the same words. Every attempt rewrites up to three neighbouring symbols:
    uniform[i, j] says where and how for attempt j at word i.
    """
    length = words.shape[1]
    forward, backward = np.empty((length, ways.size)), np.empty((length, ways.size))
    trial, trial_changed = np.empty(length, dtype=np.int32), np.empty(length, dtype=np.int32)
    answer = np.empty(len(words))
    for i in range(len(words)):
        answer[i] = _worst_change(ways, decay, steps, words[i], forward, backward, changed[i])
        for j in range(uniform.shape[1]):
            begin = int(uniform[i, j, 0] * length)
            end = min(length, begin + 1 + int(uniform[i, j, 1] * 3.0))
            trial[:] = words[i]
            at = steps.ways.size
            for t in range(end):
                if t < begin:
                    at = steps.step[at, trial[t]]
                else:
                    at = _walk_on(steps, at, t, uniform[i, j, 2 + t - begin])
                    trial[t] = steps.ways.symbol[at]
            if (trial[begin:end] == words[i, begin:end]).all() or not _is_word(steps, trial):
                continue
            far = _worst_change(ways, decay, steps, trial, forward, backward, trial_changed)
            if far > answer[i]:
                answer[i] = far
                words[i, :] = trial
                changed[i, :] = trial_changed
    return answer
