"""A uniform real number whose bits are drawn when they are needed."""

from __future__ import annotations

from fractions import Fraction

from veil.core.random.streams import WORD, Rng, one_word


class Uniform:
    """A real number in [0, 1) of which the first bits are known; more come from the generator."""

    def __init__(self, word: int) -> None:
        self._head, self._bits = word, WORD

    def between(self) -> tuple[Fraction, Fraction]:
        """What it is at least, and what it is below."""
        scale = 1 << self._bits
        return Fraction(self._head, scale), Fraction(self._head + 1, scale)

    def extend(self, rng: Rng) -> None:
        """Draw one word more of it."""
        self._head, self._bits = self._head << WORD | one_word(rng), self._bits + WORD
