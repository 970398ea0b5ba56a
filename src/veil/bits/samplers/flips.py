"""Independent flips: which of many bits are flipped, each with the same probability, exactly.

The probability q is a float and stands for that dyadic number. Two ways, with the same distribution:

Slices. A bit is flipped where a uniform number U is below q = 0.q_1 q_2 q_3 ... in binary. The first place in
which U and q differ decides: U is below exactly if q has the one there. So 64 bits are decided side by side,
a word of random bits to a place, until no bit of the word is open; what equals q to its end is not below it.

Gaps. Between flips lie G bits that are not, P(G >= k) = (1 - q)^k: G is the number of k >= 1 for which a
uniform number U is below (1 - q)^k, near log U / log(1 - q). Of U the first 64 bits are drawn, so U is in
[w, w + 1) 2^-64. In floats x = log((w + 1/2) 2^-64) / log1p(-q). U leaves log U open by at most 1 / w; w is
rounded to a float, which moves log U by at most 2^-52; the two logarithms are good to 2 units in their last
places, the division to half of one, which moves x by less than 2^-49 of itself. All that together, `slack`
in the code, is at least the distance from x to the true value. Where no whole number is that near, G is the
one below x. Elsewhere whole numbers settle it: bounds of (1 - q)^k against the same w, and more bits of the
same U.
"""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from veil.core.arrays import Booleans, Places
from veil.core.random.streams import WORD, Rng, one_word, random_words

# Below this probability the gaps take less time than the slices.
_RARE = 0.1
# Bits decided at a time, so that the work stays in the processor's cache.
_AT_A_TIME = 2**21
# Words below this leave too much of log U open.
_SMALL_WORD = 2**24
# Bits by which a power is computed more closely than it is compared.
_GUARD = 64
# A gap that does not occur: for a probability of 2^-53 it is longer with one of less than 2^-700.
_LONGEST = 2**62


def sample_flips(rng: Rng, *, count: int, chance: float) -> Places:
    """The places that are flipped among `count` bits, in order."""
    _check(chance)
    if chance < _RARE:
        return _by_gaps(rng, count, chance)
    pieces = [
        begin + np.flatnonzero(_by_slices(rng, min(_AT_A_TIME, count - begin), chance))
        for begin in range(0, count, _AT_A_TIME)
    ]
    return np.concatenate(pieces) if pieces else np.empty(0, dtype=np.int64)


def sample_flip_mask(rng: Rng, *, count: int, chance: float) -> Booleans:
    """Whether each of `count` bits is flipped."""
    _check(chance)
    mask = np.zeros(count, dtype=np.bool_)
    if chance < _RARE:
        mask[_by_gaps(rng, count, chance)] = True
        return mask
    for begin in range(0, count, _AT_A_TIME):
        size = min(_AT_A_TIME, count - begin)
        mask[begin : begin + size] = _by_slices(rng, size, chance)
    return mask


def sample_gaps(rng: Rng, *, size: int, chance: float) -> Places:
    """So many numbers k >= 0 with probability chance (1 - chance)^k."""
    _check(chance)
    return _gaps(rng, size, chance, _LONGEST)


def _check(chance: float) -> None:
    if not 0.0 <= chance < 1.0:
        raise ValueError("the probability of a flip must be at least 0 and below 1")


def _binary_places(chance: float) -> list[int]:
    """The binary places of the probability, to its last one."""
    top, bottom = chance.as_integer_ratio()
    places = bottom.bit_length() - 1
    return [top >> (places - 1 - i) & 1 for i in range(places)]


def _by_slices(rng: Rng, count: int, chance: float) -> Booleans:
    words = -(-count // WORD)
    flipped = np.zeros(words, dtype=np.uint64)
    # The words with a bit that is still open, and which bits those are.
    at = slice(None)
    places: slice | NDArray[np.intp] = at
    is_open = np.full(words, 2**WORD - 1, dtype=np.uint64)
    for place in _binary_places(chance):
        bits = random_words(rng, len(is_open))
        if place:
            flipped[places] |= is_open & ~bits
            is_open &= bits
        else:
            is_open &= ~bits
        # While nearly every word is open, sorting them out costs more than it saves.
        left = np.flatnonzero(is_open)
        if not len(left):
            break
        if len(left) < len(is_open) // 2:
            is_open = is_open[left]
            places = left if isinstance(places, slice) else places[left]
    return np.unpackbits(flipped.view(np.uint8), bitorder="little", count=count).view(np.bool_)


def _by_gaps(rng: Rng, count: int, chance: float) -> Places:
    if chance == 0.0 or count == 0:
        return np.empty(0, dtype=np.int64)
    pieces: list[Places] = []
    reached = 0
    while reached < count:
        expected = (count - reached) * chance
        # None is longer than count: so many of them add up to less than 2^63.
        most = min(_AT_A_TIME, (2**63 - 1 - reached) // (count + 1))
        gaps = _gaps(rng, int(min(expected + 4.0 * expected**0.5 + 16.0, most)), chance, count)
        places = reached - 1 + np.cumsum(gaps + 1)
        pieces.append(places)
        reached = int(places[-1]) + 1
    flips: Places = np.concatenate(pieces)
    return flips[: int(np.searchsorted(flips, count))]


def _gaps(rng: Rng, size: int, chance: float, most: int) -> Places:
    """So many gaps; what is longer than `most` is cut to it, since it leads past the end."""
    words = random_words(rng, size)
    rate = np.log1p(-chance)
    logs = np.log((words.astype(np.float64) + 0.5) * 2.0**-WORD)
    x = logs / rate
    slack = (2.0 / np.maximum(words.astype(np.float64), 1.0) + 2.0**-51 + 2.0**-49 * np.abs(logs)) / -rate
    gaps = np.floor(x)
    is_open = (words < _SMALL_WORD) | (x - gaps <= slack) | (gaps + 1.0 - x <= slack)
    lengths: Places = np.minimum(gaps, most).astype(np.int64)
    for row in np.flatnonzero(is_open).tolist():
        lengths[row] = _settled_gap(int(words[row]), float(x[row]), chance, most, lambda: one_word(rng))
    return lengths


def _settled_gap(word: int, near: float, chance: float, most: int, more: Callable[[], int]) -> int:
    """The gap that a uniform number with this first word stands for."""
    number = _Uniform(word, more)
    stay = 1 - Fraction(chance)
    gap = max(0, min(int(near), most))
    while gap > 0 and not number.is_below_power(stay, gap):
        gap -= 1
    while gap < most and number.is_below_power(stay, gap + 1):
        gap += 1
    return gap


class _Uniform:
    """A uniform number of which more bits are drawn when they are needed."""

    def __init__(self, word: int, more: Callable[[], int]) -> None:
        self._value, self._bits, self._more = word, WORD, more

    def is_below_power(self, base: Fraction, exponent: int) -> bool:
        """Whether it is below base^exponent."""
        while True:
            low, high = _power(base, exponent, self._bits + _GUARD)
            if (self._value + 1) << _GUARD <= low:
                return True
            if self._value << _GUARD >= high:
                return False
            self._value, self._bits = self._value << WORD | self._more(), self._bits + WORD


def _power(base: Fraction, exponent: int, bits: int) -> tuple[int, int]:
    """base^exponent times 2^bits lies between these two; base is at most 1."""
    scaled = Fraction(base) * 2**bits
    low, high = int(scaled), -int(-scaled // 1)
    below = above = 1 << bits
    while exponent:
        if exponent & 1:
            below, above = below * low >> bits, -(-above * high >> bits)
        low, high = low * low >> bits, -(-high * high >> bits)
        exponent >>= 1
    return below, above
