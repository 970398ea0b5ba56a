"""Discrete noise drawn exactly and many at a time, from tables with bounds that are certain.

A magnitude m >= 0 of the noise is cut into a block h and an offset d < B = 2^block_bits: m = B h + d. With
weights w(m) = exp(-rate m / B) or exp(-rate (m / B)^2) a magnitude is drawn in two steps:

1. h with probability proportional to w(B h), by inversion of a uniform real number u: h is the number of
   thresholds c_k = (w(0) + w(B) + ... + w(B (k - 1))) / (w(0) + w(B) + ...) that are at most u;
2. d uniform; the pair is rejected where a second uniform real number is below 1 - w(B h + d) / w(B h).

So an accepted m has probability proportional to w(B h) w(B h + d) / w(B h) = w(m).

The thresholds are irrational. Of a uniform real number only the first bits are looked at; where they do not
decide a comparison, more bits of the *same* number are drawn and the threshold is computed more closely. So
every comparison has the outcome it has for the real numbers, and who decides it, and when, changes nothing.

Three words of 64 bits make a proposal. They nearly always decide it, by comparisons in 64-bit whole numbers
whose rounding is bounded here. A row that they do not decide is settled with large whole numbers from the
same three words, and more bits of the same uniform numbers: its outcome is the one that the words stand for,
not a new draw. So a row's outcome is a fixed function of uniform real numbers, whichever code evaluates it,
and the settling causes no bias.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache, partial
from math import isqrt

import numpy as np

from veil.core.arrays import Booleans, Places
from veil.core.random.streams import WORD, Rng, Words, one_word, random_words

# Bits by which a table is computed more closely than it is stated; they swallow the rounding of all sums.
_GUARD = 64
# What the table leaves out is at most about 2^-8 of the last bit that it is stated in.
_LEFT_OUT = 8

# Rows worked on at a time: their arrays stay in the processor's cache.
_AT_A_TIME = 2**14
# A block of 2^50 and fewer than 2^11 blocks in a table stay far inside 64 bits.
MOST_BLOCK_BITS = 50
# Fixed point: offsets in parts of 2^-24 of a block, rates of 2^-36, exponents and probabilities of 2^-31.
_PART, _RATE, _UNIT = 24, 36, 31
# An exponent is at most this many units above its computed value (see _exponents).
_SLACK = 2**8

# A number times 2^bits lies between these two, the ends included.
Bounds = tuple[int, int]


@dataclass(frozen=True)
class Law:
    """Weights exp(-rate h) of the blocks h = 0, 1, 2 ..., or exp(-rate h^2) if squared."""

    rate: Fraction
    squared: bool
    block_bits: int

    @classmethod
    def laplace(cls, scale: Fraction) -> Law:
        """Weights exp(-m / scale); 8 to 16 blocks to a scale, so few offsets are rejected."""
        block_bits = max(0, int(scale).bit_length() - 4)
        return cls(2**block_bits / scale, False, block_bits)

    @classmethod
    def gaussian(cls, variance: Fraction) -> Law:
        """Weights exp(-m^2 / (2 variance)); 16 to 32 blocks to a standard deviation."""
        block_bits = max(0, isqrt(int(variance)).bit_length() - 5)
        return cls(4**block_bits / (2 * variance), True, block_bits)

    def exponent(self, block: int, offset: int) -> Fraction:
        """The x for which w(B h + d) / w(B h) = exp(-x)."""
        part = Fraction(offset, 2**self.block_bits)
        return self.rate * (part * (2 * block + part) if self.squared else part)


def exp_minus(x: Fraction, bits: int) -> Bounds:
    """exp(-x) for x >= 0."""
    if x >= bits:
        return 0, 1  # exp(-x) < 2^-x <= 2^-bits
    halvings = int(x).bit_length()
    top, bottom = x.numerator, x.denominator << halvings
    # The series of exp(x / 2^halvings), all positive. As x / 2^halvings < 1, a term is short by less than 2
    # (the error of the one before it, over k, and 1), and what follows the first zero is below 4 in all.
    term = total = 1 << bits
    k = 0
    while term:
        k += 1
        term = term * top // (bottom * k)
        total += term
    one = 1 << 2 * bits
    bounds = one // (total + 2 * k + 4), -(-one // total)
    for _ in range(halvings):
        bounds = _product(bounds, bounds, bits)
    return bounds


def _product(a: Bounds, b: Bounds, bits: int) -> Bounds:
    return a[0] * b[0] >> bits, -(-a[1] * b[1] >> bits)


def thresholds(law: Law, bits: int) -> tuple[list[int], list[int]]:
    """For each threshold: the first and the last number of so many bits that do not decide about it.

    A uniform number whose first bits are below `first` is below the threshold; above `last` it is not.
    The last number of the table is all ones: beyond it nothing is decided.
    """
    precision = bits + _GUARD
    weight: Bounds = (1 << precision, 1 << precision)
    # w(B (h + 1)) / w(B h) is exp(-rate), or exp(-rate (2 h + 1)): it is multiplied by a constant.
    ratio = exp_minus(law.rate, precision)
    change = _product(ratio, ratio, precision) if law.squared else weight
    sums: list[Bounds] = []
    low = high = 0
    while weight[1] > 1 << (_GUARD - _LEFT_OUT):
        low, high = low + weight[0], high + weight[1]
        sums.append((low, high))
        weight = _product(weight, ratio, precision)
        ratio = _product(ratio, change, precision)
    # The ratios never grow: what was left out is below a geometric series.
    rest = -(-(weight[1] << precision) // ((1 << precision) - ratio[1]))
    least, most = low, high + rest
    first = [(part << bits) // most for part, _ in sums]
    last = [min(-(-(part << bits) // least), 1 << bits) - 1 for _, part in sums]
    last[-1] = (1 << bits) - 1
    return first, last


def settle_block(law: Law, word: int, more: Callable[[], int]) -> int:
    """The block that a uniform number with this first word stands for."""
    bits = WORD
    while True:
        first, last = thresholds(law, bits)
        block = bisect_right(first, word)
        if block == 0 or word > last[block - 1]:
            return block
        word, bits = word << WORD | more(), bits + WORD


def settle_rejection(law: Law, block: int, offset: int, word: int, more: Callable[[], int]) -> bool:
    """Whether a uniform number with this first word is below 1 - w(B h + d) / w(B h)."""
    x, bits = law.exponent(block, offset), WORD
    while x:
        low, high = exp_minus(x, bits + _GUARD)
        # The number lies in [word, word + 1) / 2^bits, and the bound in 1 - [low, high] / 2^(bits + _GUARD).
        one = 1 << (bits + _GUARD)
        if (word + 1) << _GUARD <= one - high:
            return True
        if word << _GUARD >= one - low:
            return False
        word, bits = word << WORD | more(), bits + WORD
    return False


@dataclass(frozen=True)
class _Table:
    first: Words
    # last[k] belongs to the threshold below block k. Before block 0 there is none: the word 0 is sent to be
    # settled without need, which does no harm.
    last: Words
    rate: int


@lru_cache(maxsize=64)
def _table(law: Law) -> _Table:
    first, last = thresholds(law, WORD)
    # _exponents relies on both; they hold by the choice of the block size in Law.
    if law.block_bits and (law.exponent(len(first), 2**law.block_bits) >= 1 or len(first) >= 2**10):
        raise ValueError(f"blocks of 2^{law.block_bits} are too long for the rate {law.rate}")
    return _Table(
        np.array(first, dtype=np.uint64),
        np.array([0, *last], dtype=np.uint64),
        int(law.rate * 2**_RATE) if law.block_bits else 0,
    )


def sample_in_blocks(rng: Rng, law: Law, size: int) -> Places:
    """Draw whole numbers z with P(z) proportional to w(|z|)."""
    drawn = np.empty(size, dtype=np.int64)
    filled = 0
    while filled < size:
        missing = size - filled
        # Proposals are independent: the accepted ones in their order are too, wherever they are cut off.
        accepted = _accepted(rng, law, min(_AT_A_TIME, missing + missing // 8 + 8))[:missing]
        drawn[filled : filled + accepted.size] = accepted
        filled += accepted.size
    return drawn


def _accepted(rng: Rng, law: Law, count: int) -> Places:
    """The accepted ones among so many proposals."""
    table = _table(law)
    block_words, bit_words = random_words(rng, count), random_words(rng, count)
    offsets = (bit_words & np.uint64(2**law.block_bits - 1)).view(np.int64)
    negative = bit_words >= np.uint64(2 ** (WORD - 1))
    blocks = np.searchsorted(table.first, block_words, side="right")
    open_blocks = block_words <= table.last.take(blocks)
    for row in np.flatnonzero(open_blocks).tolist():
        block = settle_block(law, int(block_words[row]), partial(one_word, rng))
        if block >= 2 ** (WORD - 2 - law.block_bits):
            raise OverflowError("a draw does not fit into 64 bits")
        blocks[row] = block
    magnitudes = (blocks << law.block_bits) + offsets
    # A zero with a minus sign is rejected too: it would make zero twice as likely.
    kept = ~(negative & (magnitudes == 0))
    if law.block_bits:
        words = random_words(rng, count)
        rejected, unsure = _rejected(law, table, blocks, offsets, words)
        # A settled block may lie beyond the table, where the rounding was not bounded.
        for row in np.flatnonzero(unsure | open_blocks).tolist():
            block, offset, word = int(blocks[row]), int(offsets[row]), int(words[row])
            rejected[row] = settle_rejection(law, block, offset, word, partial(one_word, rng))
        kept &= ~rejected
    accepted: Places = np.where(negative, -magnitudes, magnitudes)[kept]
    return accepted


def _exponents(law: Law, table: _Table, blocks: Places, offsets: Places) -> Places:
    """The exponent x of every row in units of 2^-31: x lies between the result and _SLACK more.

    Everything is rounded down. With f the offset as a part of its block, 2 h + 1 < 2^11 and x < 1 (_table):
    f is short by at most 2^-24, so f (2 h + f) by (2 h + 2) 2^-24, and after its shift by (2 h + 3) 2^-24.
    Times the rate, at most 1/512, that is below (1 + 2/512) 2^-24. The rate is short by at most 2^-36, times
    2 h + 1 that is 2^-25. The last shift costs 2^-31. Together it is less than 2^-23, or 2^8 units. Without
    the square, where the rate is at most 1/8, it is less. The largest product has 24 + 11 + 27 bits.
    """
    shift = _PART - law.block_bits
    parts = offsets << shift if shift >= 0 else offsets >> -shift
    if law.squared:
        parts = parts * ((blocks << (_PART + 1)) + parts) >> _PART
    exponents: Places = parts * np.int64(table.rate) >> (_PART + _RATE - _UNIT)
    return exponents


def _rejected(
    law: Law, table: _Table, blocks: Places, offsets: Places, words: Words
) -> tuple[Booleans, Booleans]:
    """Whether a uniform number is below 1 - exp(-x), and where the first bits leave that open."""
    x = _exponents(law, table, blocks, offsets)
    u = (words >> np.uint64(WORD - _UNIT)).view(np.int64)
    rejected, unsure = np.zeros(len(x), dtype=np.bool_), np.zeros(len(x), dtype=np.bool_)
    # 1 - exp(-x) <= x: most rows are accepted at once.
    near = np.flatnonzero(u < x + _SLACK)
    x, u = x[near], u[near]
    # x - x^2/2 <= 1 - exp(-x) <= x - x^2/2 + x^3/6; both sides grow with x, for x <= 1. The ones make up for
    # the shifts; u + 1 because a uniform number lies in [u, u + 1) units.
    least = x - (x * x >> (_UNIT + 1)) - 1
    x = x + _SLACK
    square = x * x >> _UNIT
    most = x - (square >> 1) + ((square + 1) * x >> _UNIT) // 6 + 2
    rejected[near] = u + 1 <= least
    unsure[near] = (u + 1 > least) & (u < most)
    return rejected, unsure
