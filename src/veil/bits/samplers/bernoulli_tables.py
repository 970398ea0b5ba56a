"""Choices among weights that are products of exponentials, by tables of thresholds that are certain.

The weights w_0 ... w_{m-1} are real numbers, known by whole numbers that enclose them: an enclosure
(low, high, shift) stands for a number in [low, high] 2^shift. A uniform real number u in [0, 1) chooses the k
for which C_{k-1} <= u < C_k, C_k = (w_0 + ... + w_k) / (w_0 + ... + w_{m-1}). Of u only a word of 64 bits is
drawn. If it lies between two thresholds whatever they are within their enclosures, k is known. Otherwise more
bits of the same u are drawn and all enclosures are made narrower: the outcome is that of the real numbers.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable, Sequence
from fractions import Fraction
from functools import lru_cache
from itertools import accumulate

import numpy as np
from numpy.typing import NDArray

from veil.core.random.exact_choice import one_word, random_words
from veil.core.random.exact_tables import WORD, exp_minus
from veil.core.random.streams import Rng

Integers = NDArray[np.int64]
Words = NDArray[np.uint64]
Enclosure = tuple[int, int, int]
# Bits that the enclosures have beyond those of the words: they swallow the rounding of long products.
_GUARD = 128
ONE: Enclosure = (1, 1, 0)


def product(a: Enclosure, b: Enclosure, bits: int) -> Enclosure:
    low, high, shift = a[0] * b[0], a[1] * b[1], a[2] + b[2]
    cut = high.bit_length() - bits
    if cut <= 0:
        return low, high, shift
    return low >> cut, -(-high >> cut), shift + cut


def times_ratio(a: Enclosure, top: int, bottom: int, bits: int) -> Enclosure:
    """a top / bottom, for whole numbers that are positive."""
    raised = bottom.bit_length() + bits
    low, high = (a[0] * top << raised) // bottom, -(-(a[1] * top << raised) // bottom)
    return product((low, high, a[2] - raised), ONE, bits)


def exponential(x: Fraction, bits: int) -> Enclosure:
    """exp(x): that of |x| / 2^h < 1, squared h times."""
    size = abs(x)
    halvings = int(size).bit_length()
    # Each squaring doubles the relative error.
    inner = bits + 2 * halvings + 8
    if not size:
        return ONE
    low, high = exp_minus(size / 2**halvings, inner)
    if x > 0:
        one = 1 << 2 * inner
        low, high = one // high, -(-one // low)
    found: Enclosure = (low, high, -inner)
    for _ in range(halvings):
        found = product(found, found, inner)
    return found


def enclosing_thresholds(weights: Sequence[Enclosure], bits: int) -> tuple[list[int], list[int]]:
    """For each threshold but the last: the first and the last number of so many bits that leave it open."""
    top = max(high.bit_length() + shift for _, high, shift in weights if high)
    unit = top - bits - _GUARD
    lows, highs = [], []
    for low, high, shift in weights:
        up = shift - unit
        lows.append(low << up if up >= 0 else low >> -up)
        highs.append(high << up if up >= 0 else -(-high >> -up))
    least, most = list(accumulate(lows)), list(accumulate(highs))
    first = [(part << bits) // most[-1] for part in least[:-1]]
    last = [min(-(-(part << bits) // least[-1]), 1 << bits) - 1 for part in most[:-1]]
    return first, last


class EnclosedChoice:
    """The same choice many times. `weights` gives enclosures of so many bits, in the same order always."""

    def __init__(self, weights: Callable[[int], Sequence[Enclosure]]) -> None:
        self._weights = weights
        first, last = self._thresholds(WORD)
        self._first = np.array(first, dtype=np.uint64)
        # last[k] belongs to the threshold below option k. Below option 0 there is none: the word 0 is sent
        # to be settled without need, which does no harm.
        self._last = np.array([0, *last], dtype=np.uint64)

    def _thresholds(self, bits: int) -> tuple[list[int], list[int]]:
        return enclosing_thresholds(self._weights(bits + _GUARD), bits)

    def draw(self, rng: Rng, size: int) -> Integers:
        """The option chosen, so many times."""
        if not len(self._first):
            return np.zeros(size, dtype=np.int64)
        words = random_words(rng, size)
        chosen = np.searchsorted(self._first, words, side="right")
        for row in np.flatnonzero(words <= self._last[chosen]).tolist():
            chosen[row] = self.settled(int(words[row]), lambda: one_word(rng))
        return chosen

    def settled(self, word: int, more: Callable[[], int]) -> int:
        """The option that a uniform number with this first word stands for."""
        bits = WORD
        while True:
            first, last = self._thresholds(bits)
            option = bisect_right(first, word)
            if option == 0 or word > last[option - 1]:
                return option
            word, bits = word << WORD | more(), bits + WORD


@lru_cache(maxsize=64)
def ones_of_column(rows: int, diagonal: float, between: float) -> EnclosedChoice:
    """The number M of ones in a column of alike rows: weights C(N, M) exp((c - l) M + l M^2)."""
    return EnclosedChoice(lambda bits: column_weights(rows, Fraction(diagonal), Fraction(between), bits))


def column_weights(rows: int, diagonal: Fraction, between: Fraction, bits: int) -> list[Enclosure]:
    """The weight of M + 1 is that of M times (N - M) / (M + 1) exp(c + 2 l M).

    The factor exp(c + 2 l M) is itself multiplied by exp(2 l) from one M to the next: its relative error
    grows like M, and that of the weight like M^2 2^-bits. It is enclosed at each step.
    """
    narrow = bits + 2 * rows.bit_length()
    weight, found = ONE, [ONE]
    factor, growth = exponential(diagonal, narrow), exponential(2 * between, narrow)
    for ones in range(rows):
        weight = times_ratio(product(weight, factor, narrow), rows - ones, ones + 1, narrow)
        factor = product(factor, growth, narrow)
        found.append(weight)
    return found


def table_weights(matrix: NDArray[np.float64], bits: int) -> list[Enclosure]:
    """exp(x' matrix x) for x = 0 ... 2^n - 1, bit i of the number being entry i of x."""
    length = len(matrix)
    entries = [[Fraction(float(value)) for value in row] for row in matrix]
    narrow = bits + 2 * length
    found = [ONE]
    for i in range(length):
        # exp of what entry i adds, by the entries below it.
        pull = [exponential(entries[i][i], narrow)]
        for j in range(i):
            one = exponential(2 * entries[i][j], narrow)
            pull += [product(each, one, narrow) for each in pull]
        found += [product(a, b, narrow) for a, b in zip(found, pull, strict=True)]
    return found
