"""The law of the fast exact samplers without a sample: every word is accounted for, every bound checked."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from typing import Any

import mpmath
import numpy as np
import pytest

from tests.core.scripted import ONES, Script, mutated, whole_law
from tests.params import quick_first
from veil.core.random import exact_tables
from veil.core.random.exact_tables import Law, exp_minus, settle_block, settle_rejection, thresholds

# A probability that comes from 64-bit words is known up to a few words.
WORD = mpmath.mpf(2) ** -64

LAWS = [
    pytest.param(Law.laplace(Fraction(0.05)), id="laplace 0.05"),
    pytest.param(Law.laplace(Fraction(1, 3)), id="laplace 1/3"),
    pytest.param(Law.laplace(Fraction(7.3)), id="laplace 7.3"),
    pytest.param(Law.laplace(Fraction(37.1)), id="laplace 37.1"),
    pytest.param(Law.gaussian(Fraction(0.3) ** 2), id="gaussian 0.3"),
    pytest.param(Law.gaussian(Fraction(7.3) ** 2), id="gaussian 7.3"),
    pytest.param(Law.gaussian(Fraction(100.7) ** 2), id="gaussian 100.7"),
]


def number(fraction: Fraction) -> Any:
    return mpmath.mpf(fraction.numerator) / fraction.denominator


def weights(law: Law, most: int) -> list[Any]:
    """The true weights of the magnitudes, to 50 digits."""
    length = 2**law.block_bits
    parts = [Fraction(m, length) for m in range(most * length)]
    return [mpmath.exp(-number(law.rate * (part**2 if law.squared else part))) for part in parts]


def distance(found: list[Fraction], law: Law, most: int) -> Any:
    true = weights(law, most)
    total, mass = sum(true), number(sum(found, Fraction(0)))
    return max(abs(number(p) / mass - w / total) for p, w in zip(found, true, strict=True))


@pytest.fixture(autouse=True)
def _digits() -> Any:
    with mpmath.workdps(50):
        yield


@pytest.mark.parametrize("law", quick_first(LAWS, quick=2))
def test_every_word_is_accounted_for(law: Law) -> None:
    # Blocks beyond 1 - 2^-44 have too few words to tell; test_thresholds_hold_the_true_ones sees them.
    most = max(1, sum(bound < 2**64 - 2**20 for bound in thresholds(law, 64)[0]))
    assert distance(whole_law(exact_tables, law, most), law, most) < 4 * WORD


@pytest.mark.mostly_slow(quick=1)
@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("least = x - (x * x >> (_UNIT + 1)) - 1", "least = x - 1"),
        ("x - (square >> 1) + ((square", "x - (square >> 1) - ((square"),
        ("_PART + _RATE - _UNIT", "_PART + _RATE - _UNIT - 1"),
        ("_SLACK = 2**8", "_SLACK = -(2**8)"),
        ("blocks << (_PART + 1)", "blocks << _PART"),
    ],
)
def test_faults_too_small_for_a_sample_are_seen(old: str, new: str) -> None:
    law = Law.gaussian(Fraction(100.7) ** 2)
    assert distance(whole_law(exact_tables, law, 40), law, 40) < 1e3 * WORD
    assert distance(whole_law(mutated(exact_tables, old, new), law, 40), law, 40) > 1e6 * WORD


def test_a_scale_wrong_by_three_percent_is_seen_at_a_tiny_scale() -> None:
    found = whole_law(exact_tables, Law.laplace(Fraction(0.05)), 2)
    assert distance(found, Law.laplace(Fraction(0.05) * Fraction(103, 100)), 2) > 1e6 * WORD


def accepted(
    law: Law, block_words: list[int], bit_words: list[int], words: list[int], **rest: Any
) -> list[int]:
    script: Any = Script(block_words, bit_words, *([words] if law.block_bits else []), **rest)
    return [int(z) for z in exact_tables._accepted(script, law, len(block_words))]


def test_signs_offsets_and_the_zero_with_a_minus() -> None:
    law = Law.laplace(Fraction(37))
    minus = 2**63
    assert accepted(law, [1] * 4, [0, minus, 3, minus + 3], [ONES] * 4) == [0, 3, -3]
    assert accepted(law, [1] * 4, [0, minus, 3, minus + 3], [0] * 4) == [0]
    narrow = Law.laplace(Fraction(2))
    middle = thresholds(narrow, 64)[0][0] + 2
    assert accepted(narrow, [1, 1, middle, middle], [5, minus + 5, 5, minus + 5], []) == [0, 1, -1]


def expansion(value: Any, words: int) -> list[int]:
    """The first words of a number between 0 and 1."""
    whole = int(mpmath.floor(value * mpmath.mpf(2) ** (64 * words)))
    return [whole >> 64 * (words - 1 - k) & ONES for k in range(words)]


@pytest.mark.parametrize("law", [Law.laplace(Fraction(7.3)), Law.gaussian(Fraction(100.7) ** 2)])
@pytest.mark.parametrize("block", [1, 2, 17, 60])
def test_an_open_block_is_settled_by_more_bits_of_the_same_number(law: Law, block: int) -> None:
    with mpmath.workdps(80):
        length = 2**law.block_bits
        true = weights(law, 4 * len(thresholds(law, 64)[0]))[::length]
        first, second, third = expansion(sum(true[:block]) / sum(true), 3)
    # The number is below the threshold, beyond it, and equal to it so far, then below, then beyond.
    for more, expected in (
        ([second - 1], block - 1),
        ([second + 1], block),
        ([second, third - 1], block - 1),
        ([second, third + 1], block),
    ):
        script: Any = Script([first] * 2, [0] * 2, [ONES] * 2, more=more * 2)
        drawn = exact_tables._accepted(script, law, 2)
        assert drawn.tolist() == [expected * length] * 2
        assert script.asked == 2 * len(more)


@pytest.mark.parametrize("block", [0, 5, 200])
def test_an_open_rejection_is_settled_by_more_bits_of_the_same_number(block: int) -> None:
    law = Law.gaussian(Fraction(100.7) ** 2)
    bounds = [0, *thresholds(law, 64)[0]]
    start = (bounds[block] + bounds[block + 1]) // 2
    with mpmath.workdps(80):
        first, second, third = expansion(1 - mpmath.exp(-number(law.exponent(block, 3))), 3)
    for more, kept in (
        ([second - 1], False),
        ([second + 1], True),
        ([second, third - 1], False),
        ([second, third + 1], True),
    ):
        drawn = accepted(law, [start] * 2, [3] * 2, [first] * 2, more=more * 2)
        assert drawn == [4 * block + 3] * 2 * kept


def test_a_number_beyond_the_table() -> None:
    # All ones, then zeros: 1 - 2^-64, 1 - 2^-128, ... The logarithm tells the block.
    for law in (Law.laplace(Fraction(7.3)), Law.laplace(Fraction(37.1)), Law.laplace(Fraction(0.05))):
        for words in (1, 2, 5):
            more = iter([ONES] * (words - 1) + [0] * 9)
            expected = int(64 * words * mpmath.log(2) / number(law.rate))
            assert settle_block(law, ONES, more.__next__) == expected
    wide = Law.laplace(Fraction(37.1))
    block = int(64 * mpmath.log(2) / number(wide.rate))
    assert accepted(wide, [ONES] * 2, [1] * 2, [ONES] * 2) == [4 * block + 1] * 2


@pytest.mark.slow
def test_a_draw_beyond_64_bits_is_an_error_not_a_wrap() -> None:
    law = Law.laplace(Fraction(2**53))
    with pytest.raises(OverflowError, match="64 bits"):
        accepted(law, [ONES] * 2, [1] * 2, [ONES] * 2, more=[ONES] * 12)


def test_no_offset_is_never_rejected() -> None:
    law = Law.laplace(Fraction(37))
    assert not settle_rejection(law, 3, 0, 0, lambda: 0)


@pytest.mark.parametrize("make", [Law.laplace, lambda scale: Law.gaussian(scale**2)])
@pytest.mark.parametrize("scale", [32, 33.3, 63.99, 1e3, 2.0**28 - 1, 2.0**29, 1e12, 2.0**53 - 1])
def test_exponents_are_bounded(make: Callable[[Fraction], Law], scale: float) -> None:
    law = make(Fraction(scale))
    table = exact_tables._table(law)
    rng = np.random.default_rng(1)
    most, length = len(table.first), 2**law.block_bits
    ends = [0, 1, length // 2, length - 1]
    block = np.concatenate([rng.integers(0, most + 1, 2000), np.repeat([0, 1, most], len(ends))])
    offset = np.concatenate([rng.integers(0, length, 2000), np.tile(ends, 3)])
    found = exact_tables._exponents(law, table, block, offset)
    for x, h, d in zip(found.tolist(), block.tolist(), offset.tolist(), strict=True):
        exact = law.exponent(h, d) * 2**31
        assert x <= exact <= x + exact_tables._SLACK
        assert exact < 2**31


def test_blocks_that_are_too_long_are_refused() -> None:
    with pytest.raises(ValueError, match="too long"):
        exact_tables._table(Law(Fraction(2), False, 3))


@pytest.mark.parametrize(
    "x",
    [0, 1e-30, 0.1, 1 / 3, 1, 19.9, 20, 63.9, 64, 1e6, Fraction(10**40 + 7, 3 * 10**39), Fraction(1, 3**80)],
)
@pytest.mark.parametrize("bits", [64, 128, 320])
def test_bounds_of_the_exponential(x: Any, bits: int) -> None:
    exact = Fraction(x)
    low, high = exp_minus(exact, bits)
    with mpmath.workdps(150):
        value = mpmath.exp(-number(exact)) * mpmath.mpf(2) ** bits
        assert low <= value <= high
    assert high - low <= 2**12


@pytest.mark.mostly_slow(quick=3)
@pytest.mark.parametrize("law", LAWS)
@pytest.mark.parametrize("bits", [8, 64, 192])
def test_thresholds_hold_the_true_ones(law: Law, bits: int) -> None:
    first, last = thresholds(law, bits)
    with mpmath.workdps(100):
        length = 2**law.block_bits
        true = weights(law, 3 * len(first) + 40)[::length]
        total, so_far = sum(true), mpmath.mpf(0)
        for k, (low, high) in enumerate(zip(first, last, strict=True)):
            so_far += true[k]
            # The guard bits leave at most two numbers open, but for the last threshold.
            assert low <= so_far / total * mpmath.mpf(2) ** bits <= high + 1
            assert high - low <= 1 or k == len(first) - 1
    assert last[-1] == 2**bits - 1
    assert first == sorted(first)
