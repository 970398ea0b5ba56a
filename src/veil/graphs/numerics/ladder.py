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
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from veil.core.errors import InvalidArgument
from veil.core.numerics.rounding import decay_above
from veil.graphs.numerics.local_sensitivity import TriangleSensitivity

Integers = NDArray[np.int64]

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

    def rung(self, offsets: Integers) -> Integers:
        """The rung of outputs so far from the count."""
        away = np.abs(offsets)
        inside = np.searchsorted(self.ends, away)
        beyond = -(-(away - self.ends[-1]) // self.widths[-1])
        return np.asarray(np.where(away > self.ends[-1], len(self.widths) + beyond, inside), dtype=np.int64)

    def total(self) -> Fraction:
        """The sum of all weights, exactly; for short ladders only."""
        r = self.decay
        wide: list[int] = self.widths.tolist()
        inside = sum((2 * width * r ** (k + 1) for k, width in enumerate(wide)), Fraction(2 * self.first + 1))
        return inside + 2 * wide[-1] * r ** (len(wide) + 1) / (1 - r)

    def mean_error(self) -> float:
        """The expected distance from the count. It depends on the graph: for plans, never for a release."""
        decay = float(self.decay)
        last = int(50.0 / -np.log(decay)) + 2
        rungs = np.arange(1, last + 1, dtype=np.int64)
        weights = np.exp(rungs * np.log(decay)) * self.width(rungs)
        middles = (self.end(rungs - 1) + self.end(rungs) + 1) / 2.0
        within = self.first * (self.first + 1) / 2.0
        return float((within + weights @ middles) / (self.first + 0.5 + weights.sum()))


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
        distances = np.arange(sensitivity.settled() + 1, dtype=np.int64)
        widths = np.maximum(sensitivity.at(distances), self.floor)
        first = int(self.share * int(widths[0]))
        return Ladder(first, widths + bool(self.share), self.decay)


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


def published_rule(nodes: int, epsilon: float) -> LadderRule:
    """The ladder as published, where half of epsilon goes to the normaliser; a rung is never empty."""
    exact = Fraction(decay_above(epsilon / 2)) * 2**DECAY_BITS
    decay = Fraction(-(-exact.numerator // exact.denominator), 2**DECAY_BITS)
    return LadderRule(nodes, 1, Fraction(0), decay)


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

    if not holds(one - 1):
        raise InvalidArgument("epsilon", expected="a number of at least 1e-12", found=repr(epsilon))
    low, high = 0, one - 1
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if holds(middle) else (middle, high)
    return Fraction(high, one)
