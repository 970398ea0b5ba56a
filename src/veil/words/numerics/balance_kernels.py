"""The normaliser of the exponential mechanism on words, its derivatives, and the changes that move it most.

Z(w) is the sum over all words v of weight(v) * decay^d(v, w). The derivative of log Z(w) by the logarithm of
the weight of an edge is the expected number of times that v takes the edge: forward and backward tables give
it for all edges at once. The arithmetic is plain floating point: nothing here proves anything.
"""

from __future__ import annotations

import numpy as np

from veil.core.arrays import Booleans, Floats, Ints, Places
from veil.core.numerics.compiled import compiled

# In graphs of more nodes than LARGE, paths that are so improbable after some position are left out.
LARGE, NEGLIGIBLE = 600, 1e-6


@compiled
def fill_tables(
    starts: Places,
    targets: Ints,
    symbol: Ints,
    first_weight: Floats,
    last: Booleans,
    weight: Floats,
    decay: float,
    word: Ints,
    forward: Floats,
    backward: Floats,
) -> float:
    """log Z(word). forward[t, x] * backward[t, x] is proportional to P(v passes node x at t).

    first_weight is zero for nodes that are not first. Every row is scaled, so that no length overflows.
    """
    length, size = len(word), len(symbol)
    ahead = np.empty(size)
    least = NEGLIGIBLE if size > LARGE else 0.0
    log_sum = 0.0
    for x in range(size):
        forward[0, x] = first_weight[x] * (1.0 if symbol[x] == word[0] else decay)
        backward[length - 1, x] = 1.0 if last[x] else 0.0
    for t in range(length):
        if t > 0:
            forward[t, :] = 0.0
            for x in range(size):
                value = forward[t - 1, x]
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
        for z in range(size):
            ahead[z] = backward[t + 1, z] * (1.0 if symbol[z] == word[t + 1] else decay)
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
def normalisers(
    starts: Places,
    targets: Ints,
    symbol: Ints,
    first_weight: Floats,
    last: Booleans,
    weight: Floats,
    decay: float,
    words: Ints,
    feature_begin: Places,
    feature: Ints,
    value: Floats,
    slopes: Floats,
    errors: Floats,
) -> Floats:
    """log Z of every word. slopes: its derivatives by the coefficients of features; errors: the mean d(v, w).

    The features of edge e, and after all edges those of the nodes in the place of first nodes, are
    feature[feature_begin[e] : feature_begin[e + 1]]: each adds its coefficient times its value to log weight.
    """
    length, size, edges = words.shape[1], len(symbol), len(targets)
    forward, backward = np.empty((length, size)), np.empty((length, size))
    answer, expected = np.empty(len(words)), np.empty(edges + size)
    ahead = np.empty(size)
    slopes[:, :] = 0.0
    for i in range(len(words)):
        word = words[i]
        answer[i] = fill_tables(
            starts, targets, symbol, first_weight, last, weight, decay, word, forward, backward
        )
        expected[:] = 0.0
        errors[i] = 0.0
        for t in range(length):
            total, hit = 0.0, 0.0
            for x in range(size):
                passes = forward[t, x] * backward[t, x]
                total += passes
                if symbol[x] == word[t]:
                    hit += passes
            errors[i] += 1.0 - hit / total
            if t == 0:
                expected[edges:] = forward[0] * backward[0] / total
            if t == length - 1:
                break
            for z in range(size):
                ahead[z] = backward[t + 1, z] * (1.0 if symbol[z] == word[t + 1] else decay)
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
                for k in range(feature_begin[e], feature_begin[e + 1]):
                    slopes[i, feature[k]] += expected[e] * value[k]
    return answer
