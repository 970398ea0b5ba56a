"""How far a count on a ladder may be off, from public numbers only.

The width of a ladder is as private as the graph. But the largest number of neighbours that two nodes share,
a = S_0, changes by one at most when an edge does (local_sensitivity.py), so it can be released with
whole-number noise of scale 1 / epsilon, for a small part of the budget. Suppose that this says
least <= a <= most, with some confidence. Then S_t lies between `least` and min(n - 2, most + t) for every t,
as the term of a pair is at most a_ij + t. Narrower rungs put an output into a later rung, so

    P(|offset| > x) <= (weight beyond x on the widest ladder) / (sum of the weights on the narrowest one),

where both are between the bounds: a weight beyond x is not smaller on the widest ladder, and the sum is not
smaller than on the narrowest. The failures of the two statements add.
"""

from __future__ import annotations

from math import exp, log

import numpy as np

from veil.core.errors import InvalidArgument
from veil.graphs.numerics.ladder import Ladder, LadderRule


def ladder_reach(rule: LadderRule, *, least: int, most: int, confidence: float) -> int:
    """So far from the count an output lies at most, with this confidence, if least <= a <= most.

    Rounding of the sums is far below what the bounds give away.
    """
    if not 0.0 < confidence < 1.0:
        raise InvalidArgument("confidence", expected="a number between 0 and 1", found=repr(confidence))
    top = max(rule.nodes - 2, 0)
    least, most = min(max(least, 0), top), min(max(most, 0), top)
    if least > most:
        raise InvalidArgument("most", expected=f"at least {least}", found=str(most))
    widest = _between(rule, np.minimum(most + np.arange(top - most + 1), top))
    narrowest = _between(rule, np.array([least]))
    decay = float(rule.decay)
    tail = decay / (1.0 - decay)
    total = 2 * narrowest.first + 1 + 2 * int(narrowest.widths[0]) * tail
    allowed = (1.0 - confidence) * total
    # Rungs until all that is left weighs less than a thousandth of what is allowed.
    last = int(log(max(2e3 * (top + 2) / (1.0 - decay) / allowed, 2.0)) / -log(decay)) + 2
    rungs = np.arange(1, last + 1, dtype=np.int64)
    widths = widest.width(rungs)
    weights = np.exp(rungs * log(decay))
    rest = 2.0 * float(widest.width(np.array([last + 1]))[0]) * exp((last + 1) * log(decay)) / (1.0 - decay)
    # beyond[k - 1]: what lies outside rung k - 1, from rung k on.
    beyond = 2.0 * np.cumsum((weights * widths)[::-1])[::-1] + rest
    outside = np.flatnonzero(beyond <= allowed)
    ends = widest.end(rungs - 1)
    if len(outside) and outside[0] == 0:
        return int(ends[0])
    rung = int(outside[0]) - 1 if len(outside) else last - 1
    # Within this rung: the places that may be left outside, both sides together.
    spare = allowed - (float(beyond[rung + 1]) if rung + 1 < last else rest)
    outer = min(int(spare / (2.0 * float(weights[rung]))), int(widths[rung]))
    return int(ends[rung]) + int(widths[rung]) - max(outer, 0)


def _between(rule: LadderRule, sensitivities: np.ndarray[tuple[int], np.dtype[np.int64]]) -> Ladder:
    widths = np.maximum(sensitivities, rule.floor)
    return Ladder(int(rule.share * int(widths[0])), widths + bool(rule.share), rule.decay)
