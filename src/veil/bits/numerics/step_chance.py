"""How likely a staircase on bits shows a step between two neighbours.

A record x of P bits is released as y with probability f(d(x, y)) / Z. Let x' differ from x in j bits, of
which a differ between y and x, and let c of the others do. Then d(x, y) = a + c and d(x', y) = j - a + c,
and there are C(j, a) C(P - j, c) such y. If j is at most the width of a step, the levels of the two differ
by one at most: the loss is the rate of a step, its negative, or 0. The chance of the first is

    A_j = sum over a, c with level(j - a + c) = level(a + c) + 1 of C(j, a) C(P - j, c) f(a + c) / Z,

and delta(epsilon) = A_j (1 - e^(epsilon - rate)). The largest A_j gives the worst pair at every epsilon.
"""

from __future__ import annotations

import math

import numpy as np

from veil.core.numerics.staircase import WordStaircase, log_words_at

# Far above the rounding of sums of logarithms of binomial coefficients.
_SLACK = 1e-9


def step_chance(steps: WordStaircase, flips: int) -> float:
    """The largest A_j for 1 <= j <= flips, rounded up; flips is at most the width of a step."""
    if steps.alphabet != 2 or not 1 <= flips <= min(steps.radius, steps.length):
        raise ValueError("the chance of one step needs bits, and no more flips than a step is wide")
    logs = log_words_at(steps.length, 2) + steps.log_weights
    log_total = float(np.logaddexp.reduce(logs))
    return min(1.0, max(_chance(steps, j, log_total) for j in range(1, flips + 1)) * (1.0 + _SLACK))


def _chance(steps: WordStaircase, j: int, log_total: float) -> float:
    a, c = np.arange(j + 1)[:, None], np.arange(steps.length - j + 1)[None, :]
    is_step = steps.levels[j - a + c] == steps.levels[a + c] + 1
    logs = log_words_at(j, 2)[:, None] + log_words_at(steps.length - j, 2)[None, :]
    logs = logs + steps.log_weights[a + c] - log_total
    return math.fsum(np.exp(logs[is_step]).tolist())
