"""Tables for drawing discrete noise by inversion, with bounds that are certain: whole numbers only.

A magnitude m >= 0 of the noise is cut into a block h and an offset d < B = 2^block_bits: m = B h + d. With
weights w(m) = exp(-rate m / B) or exp(-rate (m / B)^2) a magnitude is drawn in two steps:

1. h with probability proportional to w(B h), by inversion of a uniform real number u: h is the number of
   thresholds c_k = (w(0) + w(B) + ... + w(B (k - 1))) / (w(0) + w(B) + ...) that are at most u;
2. d uniform; the pair is rejected where a second uniform real number is below 1 - w(B h + d) / w(B h).

So an accepted m has probability proportional to w(B h) w(B h + d) / w(B h) = w(m).

The thresholds are irrational. Of a uniform real number only the first bits are looked at; where they do not
decide a comparison, more bits of the *same* number are drawn and the threshold is computed more closely. So
every comparison has the outcome it has for the real numbers, and who decides it, and when, changes nothing.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from math import isqrt

WORD = 64
# Bits by which a table is computed more closely than it is stated; they swallow the rounding of all sums.
_GUARD = 64
# What the table leaves out is at most about 2^-8 of the last bit that it is stated in.
_LEFT_OUT = 8

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
    found = one // (total + 2 * k + 4), -(-one // total)
    for _ in range(halvings):
        found = _product(found, found, bits)
    return found


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
