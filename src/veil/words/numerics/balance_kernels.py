"""The normaliser of the exponential mechanism on words, its derivatives, and the changes that move it most.

Z(w) is the sum over all words v of weight(v) * decay^d(v, w). The derivative of log Z(w) by the logarithm of
the weight of an edge is the expected number of times that v takes the edge: forward and backward tables give
it for all edges at once. The arithmetic is plain floating point: nothing here proves anything.
"""

from __future__ import annotations

import numpy as np

from veil.core.arrays import Floats, Ints
from veil.core.numerics.compiled import compiled
from veil.words.numerics.balance_features import Features
from veil.words.numerics.tables import Ways

# In graphs of more nodes than LARGE, paths that are so improbable after some position are left out.
LARGE, NEGLIGIBLE = 600, 1e-6


@compiled
def fill_tables(ways: Ways, decay: float, word: Ints, forward: Floats, backward: Floats) -> float:
    """log Z(word). forward[t, x] * backward[t, x] is proportional to P(v passes node x at t).

    Every row is scaled, so that no length overflows.
    """
    length, size = len(word), ways.size
    ahead = np.empty(size)
    least = NEGLIGIBLE if size > LARGE else 0.0
    log_sum = 0.0
    for x in range(size):
        backward[length - 1, x] = 1.0 if ways.last[x] else 0.0
    for t in range(length):
        forward[t, :] = 0.0
        # Before the first position there is only the row of the ways to begin.
        for x in range(size if t == 0 else 0, size + 1 if t == 0 else size):
            value = 1.0 if t == 0 else forward[t - 1, x]
            if value > 0.0:
                for e in range(ways.starts[x], ways.starts[x + 1]):
                    forward[t, ways.targets[e]] += value * ways.weight[e]
        for x in range(size):
            if ways.symbol[x] != word[t]:
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
                for e in range(ways.starts[x], ways.starts[x + 1]):
                    value += ways.weight[e] * ahead[ways.targets[e]]
            backward[t, x] = value
            largest = max(largest, value)
        backward[t, :] /= largest
    return log_sum


@compiled
def _look_ahead(ways: Ways, decay: float, read: int, backward: Floats, ahead: Floats) -> None:
    """What lies behind each node, times the factor of its own symbol."""
    for z in range(ways.size):
        ahead[z] = backward[z] * (1.0 if ways.symbol[z] == read else decay)


@compiled
def normalisers(ways: Ways, decay: float, words: Ints, features: Features, slopes: Floats) -> Floats:
    """log Z of every word. slopes: its derivatives by the coefficients of the features."""
    length, size, edges = words.shape[1], ways.size, ways.starts[ways.size]
    forward, backward = np.empty((length, size)), np.empty((length, size))
    answer, expected = np.empty(len(words)), np.empty(edges + size)
    ahead = np.empty(size)
    slopes[:, :] = 0.0
    for i in range(len(words)):
        word = words[i]
        answer[i] = fill_tables(ways, decay, word, forward, backward)
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
                    for e in range(ways.starts[x], ways.starts[x + 1]):
                        onward += ways.weight[e] * ahead[ways.targets[e]]
                    for e in range(ways.starts[x], ways.starts[x + 1]):
                        expected[e] += passes * ways.weight[e] * ahead[ways.targets[e]] / onward
        for e in range(edges + size):
            if expected[e] > 0.0:
                for k in range(features.begin[e], features.begin[e + 1]):
                    slopes[i, features.feature[k]] += expected[e] * features.value[k]
    return answer
