"""What a release can tell of an edge, and what it can keep of them.

Leakage. A reader who knows everything but the pair ij believes with odds z that it is joined. By Bayes' rule
the odds after seeing the release are z times the ratio of its two probabilities, which lies between
e^-epsilon and e^epsilon. So the belief in whichever of the two is believed more is at most

    m e^epsilon / (1 + m e^epsilon), m = max(z, 1 / z):

the odds of "joined" are at most z e^epsilon <= m e^epsilon, those of "not joined" at most e^epsilon / z. It
is reached by randomised response. XO Theorem 4 prints an expression that is not a bound: at z = 0.01 and
epsilon = 1 it is 0.974, less than the 0.990 that the reader believed before.

Keeping. Let a mechanism show each pair by its own bit alone, in the same way for all pairs: a true edge with
probability p, another pair with probability p'. Privacy asks p <= e^epsilon p', so of m edges among M pairs
it shows T = m p + (M - m) p' >= p (m + (M - m) e^-epsilon) on average, and the share of edges that it keeps
is

    p <= T / (m + (M - m) e^-epsilon).

What is found by looking at many pairs together (decoding) is not bounded by this.
"""

from __future__ import annotations

import math


def edge_leakage(odds: float, epsilon: float) -> float:
    """The largest belief in either answer about one pair, for prior odds of an edge."""
    if not odds > 0.0:
        return 1.0
    return 1.0 / (1.0 + math.exp(-min(epsilon + abs(math.log(odds)), 745.0)))


def kept_at_most(released: float, *, edges: float, pairs: float, epsilon: float) -> float:
    """The largest share of true edges in a release of so many pairs that treats all pairs alike."""
    if edges <= 0.0:
        return 1.0
    return min(1.0, released / (edges + (pairs - edges) * math.exp(-epsilon)))
