"""The upper tail of whole-number noise: how likely it is to reach a threshold, and how it goes on from there.

Everything is a function of uniform real numbers of which the first 64 bits are looked at. Floats with proved
bounds on their error nearly always tell the outcome; intervals do otherwise, from the same words and more
bits of the same numbers. So each outcome has the probability that it has in real numbers (drawing.md).
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass, field
from fractions import Fraction
from functools import lru_cache
from math import isqrt

import numpy as np
from numpy.typing import NDArray

from veil.core.arrays import Booleans, Places
from veil.core.numerics.compiled import strictly_compiled
from veil.core.numerics.elementary import UNIT
from veil.core.numerics.intervals import Arithmetic, Interval
from veil.core.numerics.rounding import float_above, float_below
from veil.core.random.exact_tables import exp_minus
from veil.core.random.ideal import precisions, settle
from veil.core.random.proposals import log_of_word
from veil.core.random.streams import Rng, Words, random_words
from veil.core.random.uniform import Uniform

# No count of empty cells in a row is longer; a longer one would leave every table.
MOST_STEPS = 2**61
_OPEN = -1
# Rates are known this closely before a float is made of them.
_CLOSE = Fraction(1, 2**60)
_AT_A_TIME = 2**18
# Weights are summed with this many digits more than are asked for; they swallow the rounding of the sums.
_GUARD = 12


@dataclass(frozen=True)
class Steps:
    """How far an exponential variable of this rate goes in whole steps: P(at least g) = exp(-rate g).

    exact: an interval around the rate, to any number of digits.
    """

    exact: Callable[[Arithmetic], Interval] = field(compare=False)
    rate: float = field(init=False)
    # Of the float, relative to it.
    error: float = field(init=False)

    def __post_init__(self) -> None:
        for arithmetic in precisions():
            low, high = (Fraction(end) for end in self.exact(arithmetic))
            if low > 0 and high - low <= low * _CLOSE:
                break
        object.__setattr__(self, "rate", float_below(low))
        object.__setattr__(self, "error", float_above(high / Fraction(self.rate) - 1) + UNIT)

    def draw(self, rng: Rng, size: int) -> Places:
        """So many independent numbers of steps; MOST_STEPS stands for that many or more."""
        drawn = np.empty(size, dtype=np.int64)
        for begin in range(0, size, _AT_A_TIME):
            words = random_words(rng, min(_AT_A_TIME, size - begin))
            some = drawn[begin : begin + len(words)]
            _count_steps(words, self.rate, self.error, some)
            for row in np.flatnonzero(some == _OPEN).tolist():
                some[row] = self._settled(rng, int(words[row]))
        return drawn

    def _settled(self, rng: Rng, word: int) -> int:
        u = Uniform(word)

        def ask(a: Arithmetic) -> int | None:
            size = a.negate(a.log(a.between(*u.between())))
            ends = (int(Fraction(end)) for end in a.divide(size, self.exact(a)))
            low, high = (min(end, MOST_STEPS) for end in ends)
            return low if low == high else None

        return settle(rng, [u], ask)


@strictly_compiled
def _count_steps(words: Words, rate: float, error: float, drawn: Places) -> None:
    """floor(-log U / rate) for each word, or _OPEN where the bound on the error leaves two."""
    for row in range(len(words)):
        drawn[row] = _OPEN
        if words[row] != np.uint64(0):
            size, doubt = log_of_word(words[row])
            # The quotient rounds once, its two parts are wrong by their bounds, and the ends round again.
            steps = -size / rate
            wrong = 1.01 * (doubt / rate + steps * (error + 4.0 * UNIT))
            low, high = np.floor(steps - wrong), np.floor(steps + wrong)
            if low >= MOST_STEPS:
                drawn[row] = MOST_STEPS
            elif low == high and low >= 0.0:
                drawn[row] = np.int64(low)


class Tail(ABC):
    """Noise Z, given that it reaches a threshold of at least 1.

    threshold: the least value that is kept. skips: how many cells in a row do not reach it, before one does.
    """

    threshold: int
    skips: Steps

    @abstractmethod
    def chance(self, a: Arithmetic) -> Interval:
        """P(Z >= threshold)."""

    @abstractmethod
    def draw(self, rng: Rng, size: int) -> Places:
        """So many values of Z, each given that it reaches the threshold."""

    @property
    def rate(self) -> float:
        """P(Z >= threshold), about."""
        low, _ = self.chance(next(precisions()))
        return float(low)

    def _skips(self) -> Steps:
        # P(g cells in a row fail) = (1 - p)^g.
        def exact(a: Arithmetic) -> Interval:
            low, high = a.log(a.subtract(a.number(1), self.chance(a)))
            return a.negate((low, high))

        return Steps(exact)


class GeometricTail(Tail):
    """P(Z = z) ~ exp(-|z| / scale): above the threshold it goes on as if it began there."""

    def __init__(self, scale: Fraction, threshold: int) -> None:
        self.scale, self.threshold = scale, threshold
        self._beyond = Steps(lambda a: a.number(1 / scale))
        self.skips = self._skips()

    def chance(self, a: Arithmetic) -> Interval:
        # exp(-threshold / scale) / (1 + exp(-1 / scale))
        first = a.exp(a.number(-self.threshold / self.scale))
        return a.divide(first, a.add(a.number(1), a.exp(a.number(-1 / self.scale))))

    def draw(self, rng: Rng, size: int) -> Places:
        return self.threshold + self._beyond.draw(rng, size)


class GaussianTail(Tail):
    """P(Z = z) ~ exp(-z^2 / (2 variance)): proposed exponentially, and accepted as that differs."""

    def __init__(self, variance: Fraction, threshold: int) -> None:
        self.variance, self.threshold = variance, threshold
        # exp(-(threshold + j)^2 / 2 v) ~ exp(-rate j) exp(-(j - middle)^2 / 2 v) for every rate; this choice
        # accepts at least a third.
        rate = max(threshold / variance, Fraction(1, isqrt(int(variance)) + 1))
        self._middle = rate * variance - threshold
        self._beyond = Steps(lambda a: a.number(rate))
        self.skips = self._skips()

    def chance(self, a: Arithmetic) -> Interval:
        return a.between(*_gaussian_chance(self.variance, self.threshold, a.digits))

    def draw(self, rng: Rng, size: int) -> Places:
        drawn = np.empty(size, dtype=np.int64)
        filled = 0
        while filled < size:
            missing = size - filled
            proposed = self._beyond.draw(rng, min(_AT_A_TIME, 2 * missing + 16))
            words = random_words(rng, len(proposed))
            # Proposals are independent: the accepted ones in their order are too, wherever they are cut off.
            accepted = proposed[self._accepts(rng, proposed, words)][:missing]
            drawn[filled : filled + len(accepted)] = accepted
            filled += len(accepted)
        return self.threshold + drawn

    def _accepts(self, rng: Rng, proposed: Places, words: Words) -> Booleans:
        verdict = np.empty(len(proposed), dtype=np.int8)
        _compare(words, proposed, float(self._middle), float(2 * self.variance), verdict)
        for row in np.flatnonzero(verdict == _OPEN).tolist():
            away = int(proposed[row]) - self._middle
            verdict[row] = _exceeds(rng, int(words[row]), away * away / (2 * self.variance))
        return np.equal(verdict, 1)


@strictly_compiled
def _compare(
    words: Words,
    proposed: Places,
    middle: float,
    twice: float,
    verdict: NDArray[np.int8],
) -> None:
    """Whether -log V is at least (j - middle)^2 / twice: 1 or 0, or _OPEN where the bounds leave both."""
    for row in range(len(words)):
        verdict[row] = _OPEN
        if words[row] != np.uint64(0):
            size, doubt = log_of_word(words[row])
            away = proposed[row] - middle
            # The whole number, the middle and their difference round once each.
            off = 3.0 * UNIT * (abs(away) + abs(middle) + proposed[row])
            limit = away * away / twice
            # The square, the quotient, its divisor and the comparison round once each.
            wrong = 1.01 * (doubt + (2.0 * abs(away) * off + off * off) / twice + 6.0 * UNIT * limit)
            if -size >= limit + wrong:
                verdict[row] = 1
            elif -size < limit - wrong:
                verdict[row] = 0


def _exceeds(rng: Rng, word: int, limit: Fraction) -> bool:
    """Whether -log V >= limit, for the uniform number V that begins with this word."""
    v = Uniform(word)

    def ask(a: Arithmetic) -> bool | None:
        size, bound = a.negate(a.log(a.between(*v.between()))), a.number(limit)
        return True if size[0] >= bound[1] else False if size[1] < bound[0] else None

    return settle(rng, [v], ask)


@lru_cache(maxsize=64)
def _gaussian_chance(variance: Fraction, threshold: int, digits: int) -> tuple[Fraction, Fraction]:
    """Two numbers between which P(Z >= threshold) lies, close to this many digits of it."""
    # Relative to the weight at the threshold, which is itself exp(-t^2 / 2 v) of the largest.
    bits = (digits + _GUARD) * 4

    def tail(start: int) -> tuple[int, int]:
        """w(start) + w(start + 1) + ... over w(start), times 2^bits."""
        one = 1 << bits
        low, high = one, one
        # w(z + 1) / w(z) = exp(-(2 z + 1) / 2 v), itself multiplied by exp(-1 / v) from one to the next.
        ratio, change = (
            exp_minus(Fraction(2 * start + 1) / (2 * variance), bits),
            exp_minus(1 / variance, bits),
        )
        least = most = 0
        while high > 1:
            least, most = least + low, most + high
            low, high = low * ratio[0] >> bits, -(-high * ratio[1] >> bits)
            ratio = ratio[0] * change[0] >> bits, -(-ratio[1] * change[1] >> bits)
        # The ratios never grow: what is left out is below a geometric series.
        rest = -(-(high << bits) // (one - ratio[1]))
        return least, most + rest

    upper, whole = tail(threshold), tail(0)
    first = exp_minus(Fraction(threshold**2) / (2 * variance), bits + 4 * digits)
    # All of Z: twice the upper half, zero once.
    totals = 2 * whole[0] - (1 << bits), 2 * whole[1] - (1 << bits)
    scale = 1 << (bits + 4 * digits)
    return Fraction(upper[0] * first[0], totals[1] * scale), Fraction(upper[1] * first[1], totals[0] * scale)
