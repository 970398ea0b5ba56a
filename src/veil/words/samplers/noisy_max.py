"""Report noisy max with exponential noise, for classes of many alike candidates.

A class l of N candidates has the largest of N independent standard exponential variables, minus rate l. That
is a fixed function of one uniform real number U: M = -log(1 - U^(1/N)), as P(M <= x) = (1 - e^-x)^N; N need
not be whole. The class with the largest value is sought. The first 64 bits of each U nearly always tell, in
floats with a bound on their error; otherwise more bits of the same numbers are drawn, and decimal arithmetic
of as many digits as it takes decides. So the outcome is exact for the counts and the rate as they are given.
"""

from __future__ import annotations

import decimal
from collections.abc import Callable, Sequence
from decimal import Decimal
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from veil.core.arrays import Floats, Ints
from veil.core.errors import InvalidArgument
from veil.core.numerics.staircase import free_counts
from veil.core.random.exact_choice import sample_free_at_distances
from veil.core.random.streams import WORD, Rng, Words, one_word, random_words
from veil.words.numerics.counts import Counts, log_counts

Classes = NDArray[np.int64]
_AT_A_TIME = 2**18
# NumPy states errors of a few units in the last place, 2^-52, for its logarithms and exponentials. This is
# 256 of them, times the size of each number that goes into a value.
_SLACK = 2.0**-44
# Below this exponential's logarithm, log(1 - exp(-e^y)) is y within the slack.
_SMALL = -37.0


def sample_noisy_max(
    rng: Rng, *, counts: Counts | Sequence[int], rate: float | Fraction, size: int = 1
) -> Classes:
    """The class with the largest value, so many times; counts[l] candidates are in class l."""
    logs, exact = log_counts(counts), counts.exact() if isinstance(counts, Counts) else counts
    drawn = np.empty(size, dtype=np.int64)
    together = max(1, _AT_A_TIME // len(logs))
    for begin in range(0, size, together):
        rows = min(together, size - begin)
        alike = np.broadcast_to(logs, (rows, len(logs)))
        drawn[begin : begin + rows] = _drawn(rng, alike, [exact] * rows, rate)
    return drawn


def noisy_max_rows(rng: Rng, *, counts: Floats, rate: float | Fraction) -> Classes:
    """The same once for each row of counts."""
    drawn = np.empty(len(counts), dtype=np.int64)
    together = max(1, _AT_A_TIME // counts.shape[1])
    for begin in range(0, len(counts), together):
        some = counts[begin : begin + together]
        with np.errstate(divide="ignore"):
            logs = np.log(some)
        drawn[begin : begin + len(some)] = _drawn(rng, logs, some, rate)
    return drawn


def _drawn(rng: Rng, logs: Floats, exact: Sequence[Any] | Floats, rate: float | Fraction) -> Classes:
    if not 0.0 <= rate < float("inf"):
        raise InvalidArgument("rate", expected="a number of at least 0", found=repr(rate))
    words = random_words(rng, logs.size).reshape(logs.shape)
    values, slack = _values(logs, words, float(rate))
    least = (values - slack).max(axis=1)
    possible = values + slack >= least[:, None]
    winners: Classes = np.argmax(values, axis=1)
    for row in np.flatnonzero(possible.sum(axis=1) > 1).tolist():
        classes = np.flatnonzero(possible[row]).tolist()
        counts = {many: Fraction(exact[row][many]) for many in classes}
        uniforms = {many: int(words[row, many]) for many in classes}
        winners[row] = _settled(counts, Fraction(rate), uniforms, lambda: one_word(rng))
    return winners


def _values(logs: Floats, words: Words, rate: float) -> tuple[Floats, Floats]:
    """The value of each class in floats, and how far it may be off, whatever the later bits of U are.

    With E = -log U and y = log E - log N a value is -log(1 - exp(-e^y)) - rate l. Its derivative by y lies in
    [-1, 0], so it is off by no more than y is, and by its own rounding. A word leaves log E open by at most
    2 / word in the lower half, where E > 2/3, and by log(1 + 1 / rest) + 2^-63 in the upper one.
    """
    above = words.astype(np.float64)
    # How many words are above this one. U is below 1 by at least `rest` of 2^-64, and at most by one more.
    rest = (~words).astype(np.float64)
    unit = 2.0**-WORD
    with np.errstate(divide="ignore", over="ignore", invalid="ignore"):
        upper = words >= np.uint64(2 ** (WORD - 1))
        e = np.where(upper, -np.log1p(-(rest + 1.0) * unit), -np.log(np.maximum(above, 1.0) * unit))
        y = np.log(e) - logs
        largest = np.where(y < _SMALL, -y, -np.log(-np.expm1(-np.exp(y))))
        cost = rate * np.arange(logs.shape[1])
        # The word 0 says nothing about how small U is, nor the last word how close to 1: infinite slack.
        slack = _SLACK * (2.0 + np.abs(logs) + np.abs(largest) + cost) + 4.0 / rest + 4.0 / above
        empty = np.isneginf(logs)
        values = np.where(empty, -np.inf, largest - cost)
    return values, np.where(empty, 0.0, slack)


def _settled(
    counts: dict[int, Fraction], rate: Fraction, uniforms: dict[int, int], more: Callable[[], int]
) -> int:
    bits = WORD
    while True:
        bounds = {many: _bounds(counts[many], rate * many, uniforms[many], bits) for many in sorted(counts)}
        for many, (low, _) in bounds.items():
            if all(low > high for other, (_, high) in bounds.items() if other != many):
                return many
        uniforms = {many: uniforms[many] << WORD | more() for many in sorted(uniforms)}
        bits += WORD


def _bounds(count: Fraction, cost: Fraction, uniform: int, bits: int) -> tuple[Decimal, Decimal]:
    """Between what values the class lies if U lies in [uniform, uniform + 1) / 2^bits.

    The largest variable grows with U. Python's decimal ln and exp are correctly rounded, but differences lose
    digits: log U loses at most those of 2^bits (bits / 3 are more), and 1 - exp(-E / N) those of N as well.
    Of the rest 20 leave room for the roundings themselves. With x = E / N,
    0 <= log x - log(1 - exp(-x)) <= x / 2: for N > 2^(4 bits) that is below 10^-bits, as E < bits, and log x
    alone is enough.
    """
    # A decimal digit has more than 3 bits.
    large, wide = int(count).bit_length(), int(cost).bit_length() // 3 + 1
    huge = large > 4 * bits
    lost = bits // 3 + 1 + wide + (0 if huge else large // 3 + 1)
    digits = bits + 2 * lost + 40
    with decimal.localcontext(_context(digits)):
        margin = Decimal(10) ** -(digits - lost - 20) + (Decimal(10) ** -bits if huge else 0)
        shift = Decimal(cost.numerator) / Decimal(cost.denominator)
        low = _largest(count, uniform, bits, huge) - shift - margin
        high = _largest(count, uniform + 1, bits, huge) - shift + margin
    return low, high


def _context(digits: int) -> decimal.Context:
    return decimal.Context(
        prec=digits, Emin=decimal.MIN_EMIN, Emax=decimal.MAX_EMAX, rounding=decimal.ROUND_HALF_EVEN
    )


def _largest(count: Fraction, uniform: int, bits: int, huge: bool) -> Decimal:
    if uniform == 0:
        return Decimal(0)
    if uniform == 1 << bits:
        return Decimal("Infinity")
    e = -(Decimal(uniform) / Decimal(1 << bits)).ln()
    if huge:
        return Decimal(count.numerator).ln() - Decimal(count.denominator).ln() - e.ln()
    rest = 1 - (-e * Decimal(count.denominator) / Decimal(count.numerator)).exp()
    return -rest.ln()


def sample_free_permute_and_flip(rng: Rng, *, words: Ints, alphabet: int, rate: float | Fraction) -> Ints:
    """Permute-and-flip over all words of the alphabet, for each row of words."""
    given = np.asarray(words, dtype=np.int32)
    counts = free_counts(given.shape[1], alphabet)
    distances = sample_noisy_max(rng, counts=counts, rate=rate, size=len(given))
    return sample_free_at_distances(rng, words=given, alphabet=alphabet, distances=distances)
