"""The ladder: noise whose steps are as wide as the local sensitivity, for a count on graphs.

After Zhang, Cormode, Procopiuc, Srivastava and Xiao, "Private Release of Graph Statistics using Ladder
Functions" (SIGMOD 2015), with two changes that nearly double its accuracy at the same epsilon.

f is the count, S_t(g) its local sensitivity at distance t (local_sensitivity.py), w >= 1 a public least width
and w_t(g) = max(w, S_t(g)). Around f(g) lie rungs. Rung 0 holds the outputs within h(g) of f(g), rung k those
beyond U_{k-1}(g) and within U_k(g), where U_0 = h and U_k = U_{k-1} + w_{k-1} + c. An output in rung k weighs
r^k, 0 < r < 1. Either c = 1 and h(g) = floor(share w_0(g)) for a public share <= 1, or c = 0 and h = 0 (the
published form, there with w = 0).

Neighbouring graphs put an output into rungs at most one apart. Let |y - f(g)| <= U_k(g). We need
|y - f(g')| <= U_{k+1}(g'). The left side is at most U_k(g) + |f(g) - f(g')|, and

    U_{k+1}(g') = h(g') + w_0(g') + c + sum_{t=1..k} (w_t(g') + c)
               >= h(g') + c + |f(g) - f(g')| + sum_{t=0..k-1} (w_t(g) + c)
               >= h(g) + |f(g) - f(g')| + sum_{t=0..k-1} (w_t(g) + c) = U_k(g) + |f(g) - f(g')|.

First w_0(g') >= S_0(g') >= |f(g) - f(g')| and w_{t+1}(g') >= w_t(g), as S_{t+1}(g') >= S_t(g) and w is the
same for both. Then h(g) <= h(g') + c: w_0 changes by one at most, so does floor(share w_0).

The loss. Let Z(g) be the sum of all weights. P(y | g) / P(y | g') <= (1 / r) Z(g') / Z(g), and the second
factor is at most F, the lesser of

 (a) 1 / r, as every weight of g' is at most 1 / r times that of g. This is the published argument;
 (b) 1 + D / Z_min. Z(g) = 2 h + 1 + 2 sum_{k>=1} (w_{k-1} + c) r^k; h and every w_t change by one at most (h
     not at all if c = 0). So Z changes by no more than D = 2 c + 2 r / (1 - r), and it is never below
     Z_min = 2 floor(share w) + 1 + 2 (w + c) r / (1 - r).

If w >= n - 2, which is the largest sensitivity there is, Z is the same for all graphs: F = 1. r is the least
multiple of 2^-53 with r >= e^-epsilon F(r), where e^-epsilon is rounded upwards: the loss is at most epsilon,
and no rounding adds to it. By (b) with wide rungs F is close to 1, so r is close to e^-epsilon and not to
e^{-epsilon/2}. A ladder whose rungs are wider than w anyway does not get wider by it.

Far out. From some t on S_t is n - 2, and all rungs are equally wide. There the weights fall geometrically
without end, and nothing is cut off: samplers/ladder.py draws from the law as it stands.

How far the count may be off, from public numbers only. The width of a ladder is as private as the graph. But
the largest number of neighbours that two nodes share, a = S_0, changes by one at most when an edge does
(local_sensitivity.py), so it can be released with whole-number noise of scale 1 / epsilon, for a small part
of the budget. Suppose that this says least <= a <= most, with some confidence. Then S_t lies between `least`
and min(n - 2, most + t) for every t, as the term of a pair is at most a_ij + t. Narrower rungs put an output
into a later rung, so

    P(|offset| > x) <= (weight beyond x on the widest ladder) / (sum of the weights on the narrowest one),

where both are between the bounds: a weight beyond x is not smaller on the widest ladder, and the sum is not
smaller than on the narrowest. The failures of the two statements add.
"""

from __future__ import annotations

from bisect import bisect_left
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property, lru_cache
from math import exp, log

import numpy as np

from veil.core.errors import InvalidArgument
from veil.core.numerics.rounding import decay_above
from veil.graphs.numerics.local_sensitivity import TriangleSensitivity
from veil.graphs.numerics.triangles import Integers

# The decay is a multiple of 2^-DECAY_BITS, so that one random word decides about it exactly.
DECAY_BITS = 53
# The least width by default, times epsilon. More is better where the sensitivity exceeds it, up to a tenth of
# the mean error; less where it does not.
_FLOOR = 8.0
_SHARES = 1024


@dataclass(frozen=True)
class Ladder:
    """Whole-number noise around a count: rung 0 reaches `first` to each side, rung k is widths[k - 1] wide.

    The last width is that of all further rungs. Widths rise by 0 or 1. An output of rung k weighs decay^k.
    """

    first: int
    widths: Integers
    decay: Fraction

    def __post_init__(self) -> None:
        rises = np.diff(self.widths)
        if not (
            len(self.widths) and self.widths[0] > self.first >= 0 and ((rises == 0) | (rises == 1)).all()
        ):
            raise ValueError("the widths of a ladder exceed its first rung and rise by 0 or 1")

    @cached_property
    def ends(self) -> Integers:
        """How far the rungs 0 ... len(widths) reach."""
        return self.first + np.append(0, np.cumsum(self.widths))

    def width(self, rungs: Integers) -> Integers:
        """The widths of rungs k >= 1, to one side."""
        return np.asarray(self.widths[np.minimum(rungs, len(self.widths)) - 1], dtype=np.int64)

    def end(self, rungs: Integers) -> Integers:
        """How far rungs k >= 0 reach."""
        inside = np.minimum(rungs, len(self.widths))
        return np.asarray(self.ends[inside] + (rungs - inside) * self.widths[-1], dtype=np.int64)


@dataclass(frozen=True)
class LadderRule:
    """What is public about a ladder of triangles: how any graph with so many nodes gets its own.

    share 0 is the published form: no slack in the widths, and rung 0 is the count alone.
    """

    nodes: int
    floor: int
    share: Fraction
    decay: Fraction

    def __post_init__(self) -> None:
        if self.floor < 1 or not 0 <= self.share <= 1 or not 0 < self.decay < 1:
            raise ValueError("a ladder needs a least width of 1, a share from 0 to 1 and a decay below 1")

    @property
    def loss_factor(self) -> Fraction:
        """The largest ratio of the probabilities of an output for neighbours; its logarithm is the loss."""
        return _factor(self.nodes, self.floor, self.share, self.decay) / self.decay

    def ladder(self, sensitivity: TriangleSensitivity) -> Ladder:
        """The ladder of a graph."""
        if sensitivity.nodes != self.nodes:
            raise ValueError("the rule is for graphs with another number of nodes")
        return self.with_sensitivities(sensitivity.at(np.arange(sensitivity.settled() + 1, dtype=np.int64)))

    def with_sensitivities(self, sensitivities: Integers) -> Ladder:
        """The ladder of a graph with such sensitivities at distances 0, 1, 2 ...; the last one stays."""
        widths = np.maximum(sensitivities, self.floor)
        return Ladder(int(self.share * int(widths[0])), widths + bool(self.share), self.decay)


@lru_cache(maxsize=64)
def ladder_rule(
    nodes: int, epsilon: float, *, floor: int | None = None, share: float | Fraction | None = None
) -> LadderRule:
    """The rule whose loss is at most epsilon; the smallest decay that this is proved for.

    floor: the least width of a rung. share: the part of the first width that rung 0 reaches to each side.

    >>> rule = ladder_rule(4039, 1.0)
    >>> rule.floor, round(float(rule.decay), 4)
    (8, 0.4306)
    """
    if not 0.0 < epsilon < float("inf"):
        raise InvalidArgument("epsilon", expected="a number above 0", found=repr(epsilon))
    most = max(nodes - 2, 1)
    floor = max(1, min(most, int(np.ceil(min(_FLOOR / epsilon, most))) if floor is None else floor))
    if share is None:
        # Where a staircase of rungs of one width has the least mean error (Geng and Viswanath, 2014).
        share = 1.0 / (1.0 + float(np.exp(min(epsilon, 100.0) / 2.0)))
    share = Fraction(round(share * _SHARES), _SHARES)
    return LadderRule(nodes, floor, share, _decay(nodes, epsilon, floor, share))


def _factor(nodes: int, floor: int, share: Fraction, decay: Fraction) -> Fraction:
    """F of the head of the file."""
    if floor >= nodes - 2:
        return Fraction(1)
    slack = int(share > 0)
    tail = decay / (1 - decay)
    least = 2 * int(share * floor) + 1 + 2 * (floor + slack) * tail
    return min(1 / decay, 1 + (2 * slack + 2 * tail) / least)


def _decay(nodes: int, epsilon: float, floor: int, share: Fraction) -> Fraction:
    """The least r with r >= e^-epsilon F(r). F falls in r, so this holds from some r on: bisection."""
    target = Fraction(decay_above(epsilon))
    one = 2**DECAY_BITS

    def holds(part: int) -> bool:
        decay = Fraction(part, one)
        return decay >= target * _factor(nodes, floor, share, decay)

    least = 1 + bisect_left(range(1, one), True, key=holds)
    if least == one:
        raise InvalidArgument("epsilon", expected="a number of at least 1e-12", found=repr(epsilon))
    return Fraction(least, one)


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
    widest = rule.with_sensitivities(np.minimum(most + np.arange(top - most + 1), top))
    narrowest = rule.with_sensitivities(np.array([least]))
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
