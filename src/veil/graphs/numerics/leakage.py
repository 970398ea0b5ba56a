"""What a release can tell of an edge, and what it can keep of them."""

from __future__ import annotations

import math

from veil.core.checks import within
from veil.core.errors import InvalidArgument

# Above the rounding of a few floating-point steps.
_ROUNDING = 2.0**-49


def edge_leakage(zeta: float, epsilon: float) -> float:
    """At most how sure an attacker is of a pair who knows all others and the release: Theorem 4 repaired.

    m e^eps / (1 + m e^eps), m = max(zeta, 1/zeta). Proof: for either answer a, Bayes makes the posterior odds
    of a against its opposite the prior odds times Pr(O | a) / Pr(O | not a) <= e^eps. The prior odds are zeta
    or 1 / zeta, at most m; odds and probability grow together. It is attained: randomised response of that
    pair, whose answer is the likelier one. Rounded up.

    >>> round(edge_leakage(0.01, 1.0), 4)
    0.9963
    """
    odds = checked_odds(zeta)
    odds = max(odds, 1.0 / odds)
    # 1 / (1 + e^-eps / m), which does not overflow.
    return min(1.0, (1.0 + _ROUNDING) / (1.0 + math.exp(-checked_epsilon(epsilon)) / odds))


def kept_at_most(released: float, edges: float, pairs: float, epsilon: float) -> float:
    """The largest share of true edges in a release of so many edges, where each bit is of its own pair alone.

    min(1, T / (m + (M - m) e^-eps)) for T released and m true edges among M pairs, in expectation, for any
    mechanism whose released bit depends on its own pair, the same way for all pairs. Proof: let a and b be
    the probabilities that an edge and a pair without one are released as an edge. One bit's privacy asks a <=
    e^eps b, so T = m a + (M - m) b >= a (m + (M - m) e^-eps), and a is the share that is kept. Rounded up.

    >>> round(kept_at_most(1.13e5, 88_234, 8_154_741, 1.0), 3)
    0.037
    """
    if not 0.0 < edges <= pairs or not 0.0 <= released <= pairs:
        raise InvalidArgument(
            "edges", expected="more than 0, at most the pairs there are", found=f"{edges:g}"
        )
    others = (pairs - edges) * math.exp(-checked_epsilon(epsilon))
    return min(1.0, released / (edges + others) * (1.0 + _ROUNDING))


def checked_odds(zeta: float) -> float:
    """Prior odds, positive."""
    return within("zeta", zeta, 1e-300, 1e300, expected="positive prior odds")


def checked_epsilon(epsilon: float) -> float:
    """A privacy loss."""
    return within("epsilon", epsilon, 0.0, 1e300, expected="a number of at least 0")
