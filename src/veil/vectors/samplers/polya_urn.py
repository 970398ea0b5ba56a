"""The Polya urn: Dirichlet-multinomial counts whose law is exact, for shapes that are exact numbers.

An urn of n colours holds the real amount a_i of colour i, A = a_1 + ... + a_n in all. M times something is
drawn from it uniformly, and put back with one whole ball of the same colour. After t draws, c_i of them of
colour i, the next one is of colour i with probability (a_i + c_i) / (A + t): so the counts after M draws are
multinomial with probabilities that are themselves Dirichlet(a), exactly (Blackwell and MacQueen 1973).

The definition that the code follows: with U uniform in [0, 1) let y = U (A + t). If y < t, the draw repeats
the colour of draw number floor(y), counted from 0: c_i of these t are of colour i. Else y - t is uniform in
[0, A), and the colour is the i for which C_{i-1} <= y - t < C_i, C_i = a_1 + ... + a_i. A draw takes constant
time, but for the about A log(1 + M / A) draws that repeat none and look a colour up.

Of U only the first 64 bits, a word, are drawn at first, and compiled code computes x = word 2^-64 (A + t) in
floats. With u = 2^-53, T = A + t and T' its float (A rounded, then the sum),

    |T' - T| <= 2.01 u T,  |x - U T| <= T (4.02 u + 2^-64) < 4.1 u T:

the word is rounded to 53 bits, multiplied once, and its later bits are less than 2^-64. x - t costs another
rounding of at most u T, and the float of C_i is wrong by at most u A. (No number on the way is above T', so
in whatever order the compiler takes the sums, each costs at most u T'.) So each comparison of x with a whole
number, or of x - t with a C_i, is decided by floats that are further apart than SLACK T' = 16 u T', whatever
the later bits of U are; what is left, more than half of it, covers the rounding of the slack and of the
comparison itself. Otherwise the draw is settled in whole numbers, from the same word and more bits of the
same U. No colour is lost thereby, however small its amount is: what floats cannot see lies within the slack
and is settled.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable, Sequence
from fractions import Fraction
from itertools import accumulate
from math import lcm

import numpy as np
from numpy.typing import NDArray

from veil.core.arrays import Floats
from veil.core.numerics.compiled import compiled
from veil.core.random.streams import WORD, Rng, Words, one_word, random_words
from veil.vectors.counts import Integers

# The colour of every draw is remembered: at most 256 MB of them, if there are no more than 256 colours.
MOST_DRAWS = 2**28
# Random words that are drawn at a time.
_AT_A_TIME = 2**16
_SLACK = 16.0 * 2.0**-53
_TO_UNIT = 2.0**-64

Colours = NDArray[np.uint8] | NDArray[np.uint16] | NDArray[np.uint32]


class Urn:
    """The amounts of the colours at the beginning, as whole numbers of a common unit."""

    def __init__(self, amounts: Sequence[Fraction]) -> None:
        # In whole numbers: sums of long fractions would be reduced again and again.
        self.unit = lcm(*{amount.denominator for amount in amounts})
        parts = [amount.numerator * (self.unit // amount.denominator) for amount in amounts]
        if not parts or min(parts) < 0 or sum(parts) <= 0:
            raise ValueError("amounts must not be negative, and one must be positive")
        self.reached = list(accumulate(parts))
        self.total = self.reached[-1]
        self.floats: Floats = np.array([part / self.unit for part in self.reached])

    @property
    def colours(self) -> int:
        return len(self.reached)

    def settle(self, drawn: int, word: int, more: Callable[[], int]) -> int:
        """What a uniform number with this first word stands for after so many draws.

        Below `drawn` it is the number of the draw that is repeated; from there on, `drawn` + a new colour.
        """
        balls, bits = drawn * self.unit, WORD
        total = balls + self.total
        while True:
            # y lies in [low, high) / (unit 2^bits).
            low, high = word * total, (word + 1) * total
            if low < balls << bits:
                repeated = low // (self.unit << bits)
                if high <= (repeated + 1) * self.unit << bits:
                    return repeated
            else:
                colour = bisect_right(self.reached, (low >> bits) - balls)
                if high <= (balls + self.reached[colour]) << bits:
                    return drawn + colour
            word, bits = word << WORD | more(), bits + WORD

    def draw(self, rng: Rng, drawn: Colours) -> None:
        """Draw as often as there is room, and write down the colours.

        The words come from the generator in the order of the draws, a piece at a time; the further bits of a
        draw that is open come after its piece and before the next.
        """
        for begin in range(0, len(drawn), _AT_A_TIME):
            words = random_words(rng, min(_AT_A_TIME, len(drawn) - begin))
            at, end = begin, begin + len(words)
            while (at := _advance(self.floats, words, begin, at, drawn)) < end:
                settled = self.settle(at, int(words[at - begin]), lambda: one_word(rng))
                drawn[at] = drawn[settled] if settled < at else settled - at
                at += 1


def sample_urn(
    rng: Rng, *, shapes: Sequence[Sequence[Fraction]], draws: int, size: int | None = None
) -> Integers:
    """Dirichlet-multinomial counts of `draws` draws, one row for each row of shapes.

    size: how many draws of all rows, along a new leading axis. The same generator in the same condition
    gives the same counts.
    """
    urns = [Urn(row) for row in shapes]
    colours = urns[0].colours
    if not 1 <= draws <= MOST_DRAWS or any(urn.colours != colours for urn in urns):
        raise ValueError(f"expected 1 to {MOST_DRAWS} draws, and rows of one length")
    drawn: Colours = np.empty(draws, dtype=np.min_scalar_type(colours - 1))
    counts = np.empty((1 if size is None else size, len(urns), colours), dtype=np.int64)
    for repetition in counts:
        for row, urn in zip(repetition, urns, strict=True):
            urn.draw(rng, drawn)
            row[:] = np.bincount(drawn, minlength=colours)
    return counts[0] if size is None else counts


@compiled
def _advance(reached: Floats, words: Words, begin: int, at: int, drawn: Colours) -> int:
    """Go on from draw number `at` until the words are used up or a draw is open; the draw that comes next."""
    colours, end = len(reached), begin + len(words)
    amount = reached[colours - 1]
    for t in range(at, end):
        total = amount + t
        x = np.float64(words[t - begin]) * _TO_UNIT * total
        slack = total * _SLACK
        if x < t:
            repeated = np.int64(x)
            if x - slack < repeated or x + slack >= repeated + 1:
                return t
            drawn[t] = drawn[repeated]
            continue
        z = x - t
        low, high = 0, colours - 1
        while low < high:
            middle = (low + high) // 2
            if z < reached[middle]:
                high = middle
            else:
                low = middle + 1
        before = reached[low - 1] if low > 0 else 0.0
        if z - slack < before or z + slack >= reached[low]:
            return t
        drawn[t] = low
    return end
