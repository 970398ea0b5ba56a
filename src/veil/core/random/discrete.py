"""Discrete noise, drawn exactly: whole numbers and rationals only, no floating point.

Below scales of 2^54 it is drawn many at a time (exact_tables.py). Beyond, where results come near the end of
64 bits, one at a time by the algorithms of Canonne, Kamath and Steinke, "The Discrete Gaussian for
Differential Privacy" (2020), Section 5, with whole numbers of any size. The scale alone decides which, never
a draw, so the choice causes no bias; and both have the same distribution.
"""

from __future__ import annotations

from fractions import Fraction
from math import isqrt

import numpy as np
from numpy.typing import NDArray

from veil.core.random.exact_tables import MOST_BLOCK_BITS, Law, sample_in_blocks
from veil.core.random.streams import WORD, Rng, random_words


def sample_discrete_laplace(rng: Rng, *, scale: Fraction, size: int) -> NDArray[np.int64]:
    """Draw Z with P(z) proportional to exp(-|z| / scale)."""
    law = Law.laplace(scale)
    if law.block_bits <= MOST_BLOCK_BITS:
        return sample_in_blocks(rng, law, size)
    return laplace_one_by_one(rng, scale=scale, size=size)


def sample_discrete_gaussian(rng: Rng, *, variance: Fraction, size: int) -> NDArray[np.int64]:
    """Draw Z with P(z) proportional to exp(-z^2 / (2 variance))."""
    law = Law.gaussian(variance)
    if law.block_bits <= MOST_BLOCK_BITS:
        return sample_in_blocks(rng, law, size)
    return gaussian_one_by_one(rng, variance=variance, size=size)


class _Bits:
    """Uniform whole numbers of any size out of a generator's 64-bit words."""

    def __init__(self, rng: Rng) -> None:
        self._rng = rng
        self._words: list[int] = []

    def _word(self) -> int:
        if not self._words:
            self._words = random_words(self._rng, 256).tolist()
        return self._words.pop()

    def below(self, bound: int) -> int:
        """Uniform on 0 .. bound - 1, by rejection."""
        bits = (bound - 1).bit_length()
        words = max(1, -(-bits // WORD))
        while True:
            value = 0
            for _ in range(words):
                value = (value << WORD) | self._word()
            value >>= words * WORD - bits
            if value < bound:
                return value


def laplace_one_by_one(rng: Rng, *, scale: Fraction, size: int) -> NDArray[np.int64]:
    """The same, for a scale of any size; slow."""
    bits = _Bits(rng)
    return np.array(
        [_discrete_laplace(bits, scale.numerator, scale.denominator) for _ in range(size)], dtype=np.int64
    )


def gaussian_one_by_one(rng: Rng, *, variance: Fraction, size: int) -> NDArray[np.int64]:
    """The same, for a variance of any size; slow."""
    bits = _Bits(rng)
    floor_sigma = isqrt(variance.numerator // variance.denominator)
    return np.array(
        [_discrete_gaussian(bits, variance, floor_sigma + 1) for _ in range(size)], dtype=np.int64
    )


def _bernoulli_exp_at_most_one(bits: _Bits, top: int, bottom: int) -> bool:
    """True with probability exp(-top / bottom), for top <= bottom."""
    k = 1
    while bits.below(bottom * k) < top:
        k += 1
    return k % 2 == 1


def _bernoulli_exp(bits: _Bits, top: int, bottom: int) -> bool:
    """True with probability exp(-top / bottom)."""
    while top > bottom:
        if not _bernoulli_exp_at_most_one(bits, 1, 1):
            return False
        top -= bottom
    return _bernoulli_exp_at_most_one(bits, top, bottom)


def _discrete_laplace(bits: _Bits, top: int, bottom: int) -> int:
    while True:
        # A geometric variable of scale `top`: its remainder first, then its quotient.
        remainder = bits.below(top)
        if not _bernoulli_exp_at_most_one(bits, remainder, top):
            continue
        quotient = 0
        while _bernoulli_exp_at_most_one(bits, 1, 1):
            quotient += 1
        size = (remainder + top * quotient) // bottom
        if bits.below(2) == 0:
            return size
        if size:
            return -size


def _discrete_gaussian(bits: _Bits, variance: Fraction, envelope: int) -> int:
    while True:
        candidate = _discrete_laplace(bits, envelope, 1)
        gap = abs(candidate) * envelope * variance.denominator - variance.numerator
        # Accept with probability exp(-(|y| - variance / t)^2 / (2 variance)), t the envelope.
        top = gap * gap
        bottom = 2 * variance.numerator * variance.denominator * envelope * envelope
        if _bernoulli_exp(bits, top, bottom):
            return candidate
