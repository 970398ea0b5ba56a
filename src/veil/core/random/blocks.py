"""Discrete noise drawn exactly and many at a time, by the two steps of exact_tables.py.

Three words of 64 bits make a proposal. They nearly always decide it, by comparisons in 64-bit whole numbers
whose rounding is bounded here. A row that they do not decide is settled with large whole numbers from the
same three words, and more bits of the same uniform numbers: its outcome is the one that the words stand for,
not a new draw. So a row's outcome is a fixed function of uniform real numbers, whichever code evaluates it,
and the settling causes no bias.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache, partial

import numpy as np
from numpy.typing import NDArray

from veil.core.random.exact_tables import WORD, Law, settle_block, settle_rejection, thresholds
from veil.core.random.streams import Rng

Words = NDArray[np.uint64]
Integers = NDArray[np.int64]
Booleans = NDArray[np.bool_]

# Rows worked on at a time: their arrays stay in the processor's cache.
_AT_A_TIME = 2**14
# A block of 2^50 and fewer than 2^11 blocks in a table stay far inside 64 bits.
MOST_BLOCK_BITS = 50
# Fixed point: offsets in parts of 2^-24 of a block, rates of 2^-36, exponents and probabilities of 2^-31.
_PART, _RATE, _UNIT = 24, 36, 31
# An exponent is at most this many units above its computed value (see _exponents).
_SLACK = 2**8


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


def sample_in_blocks(rng: Rng, law: Law, size: int) -> Integers:
    """Draw whole numbers z with P(z) proportional to w(|z|)."""
    drawn = np.empty(size, dtype=np.int64)
    found = 0
    while found < size:
        missing = size - found
        # Proposals are independent: the accepted ones in their order are too, wherever they are cut off.
        accepted = _accepted(rng, law, min(_AT_A_TIME, missing + missing // 8 + 8))[:missing]
        drawn[found : found + accepted.size] = accepted
        found += accepted.size
    return drawn


def _words(rng: Rng, count: int) -> Words:
    return rng.integers(0, 2**WORD, size=count, dtype=np.uint64)


def _word(rng: Rng) -> int:
    return int(_words(rng, 1)[0])


def _accepted(rng: Rng, law: Law, count: int) -> Integers:
    """The accepted ones among so many proposals."""
    table = _table(law)
    block_words, bit_words = _words(rng, count), _words(rng, count)
    offsets = (bit_words & np.uint64(2**law.block_bits - 1)).view(np.int64)
    negative = bit_words >= np.uint64(2 ** (WORD - 1))
    blocks = np.searchsorted(table.first, block_words, side="right")
    open_blocks = block_words <= table.last.take(blocks)
    for row in np.flatnonzero(open_blocks).tolist():
        blocks[row] = _settled_block(rng, law, int(block_words[row]))
    magnitudes = (blocks << law.block_bits) + offsets
    # A zero with a minus sign is rejected too: it would make zero twice as likely.
    kept = ~(negative & (magnitudes == 0))
    if law.block_bits:
        words = _words(rng, count)
        rejected, unsure = _rejected(law, table, blocks, offsets, words)
        # A settled block may lie beyond the table, where the rounding was not bounded.
        for row in np.flatnonzero(unsure | open_blocks).tolist():
            block, offset, word = int(blocks[row]), int(offsets[row]), int(words[row])
            rejected[row] = settle_rejection(law, block, offset, word, partial(_word, rng))
        kept &= ~rejected
    accepted: Integers = np.where(negative, -magnitudes, magnitudes)[kept]
    return accepted


def _settled_block(rng: Rng, law: Law, word: int) -> int:
    block = settle_block(law, word, partial(_word, rng))
    if block >= 2 ** (WORD - 2 - law.block_bits):
        raise OverflowError("a draw does not fit into 64 bits")
    return block


def _exponents(law: Law, table: _Table, blocks: Integers, offsets: Integers) -> Integers:
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
    found: Integers = parts * np.int64(table.rate) >> (_PART + _RATE - _UNIT)
    return found


def _rejected(
    law: Law, table: _Table, blocks: Integers, offsets: Integers, words: Words
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
