"""Report noisy max: floats against decimal numbers, and draws against the law."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from scipy import stats

from tests.core.fit import ALPHA
from tests.core.scripted import ONES, Script
from veil.core.numerics.staircase import free_counts
from veil.errors import InvalidArgument
from veil.words.numerics.counts import Counts, log_counts
from veil.words.numerics.errors import permute_and_flip_pmf
from veil.words.samplers import noisy_max
from veil.words.samplers.noisy_max import noisy_max_rows, sample_noisy_max

COUNTS = [1, 100, 0, 5000, 2 * 10**5, 10**9]


def rounded(values: list[int]) -> Counts:
    """The whole numbers, rounded to 53 bits."""
    shifts = [max(0, value.bit_length() - 1000) for value in values]
    found = Counts.of(np.array([float(value >> shift) for value, shift in zip(values, shifts, strict=True)]))
    return Counts(found.mantissa, (found.exponent + np.array(shifts)).astype(np.int32))


def p_value(drawn: Any, law: Any) -> float:
    seen = np.bincount(drawn, minlength=len(law))
    assert not seen[law == 0.0].any()
    kept = law > 0.0
    return float(stats.chisquare(seen[kept], law[kept] * len(drawn)).pvalue)


@pytest.mark.slow
def test_law() -> None:
    rng = np.random.default_rng(5)
    law = permute_and_flip_pmf(COUNTS, 3.0)
    assert p_value(sample_noisy_max(rng, counts=COUNTS, rate=3.0, size=200_000), law) > ALPHA
    assert p_value(sample_noisy_max(rng, counts=COUNTS, rate=Fraction(31, 10), size=200_000), law) < ALPHA
    rows = np.tile(np.array(COUNTS, dtype=float), (200_000, 1))
    assert p_value(noisy_max_rows(rng, counts=rows, rate=3.0), law) > ALPHA


@pytest.mark.slow
def test_law_of_huge_counts() -> None:
    rng = np.random.default_rng(6)
    # At this rate distances from 0 to about 700 are all possible.
    counts = free_counts(2000, 5)
    law = permute_and_flip_pmf(counts, 8.0)
    drawn = sample_noisy_max(rng, counts=counts, rate=8.0, size=2000)
    mean = law @ np.arange(2001)
    spread = np.sqrt(law @ (np.arange(2001) - mean) ** 2 / 2000)
    assert abs(drawn.mean() - mean) < spread * stats.norm.isf(ALPHA / 2)
    same = sample_noisy_max(np.random.default_rng(6), counts=rounded(counts), rate=8.0, size=2000)
    assert (same == drawn).all()


@pytest.mark.parametrize(
    "count",
    [1, 2, 17, 10**6, 2**60 + 1, 10**40, 2**255, 2**260, 10**1000],
    ids=lambda count: f"2^{count.bit_length()}",
)
@pytest.mark.parametrize("rate", [0.0, 0.7, 30.0])
def test_floats_are_within_their_slack(count: int, rate: float) -> None:
    """Every value that a word leaves possible lies within the slack of the float."""
    rng = np.random.default_rng(11)
    special = [1, 2, 3, 10, 2**32, 2**63 - 1, 2**63, 2**63 + 1, ONES - 2**40, ONES - 9, ONES - 1]
    words = np.array([*special, *rng.integers(0, 2**64, size=20, dtype=np.uint64).tolist()], dtype=np.uint64)
    logs = np.zeros((len(words), 3))
    logs[:, 2] = log_counts([count])[0]
    values, slack = noisy_max._values(logs, np.tile(words[:, None], (1, 3)), rate)
    for word, value, off in zip(words.tolist(), values[:, 2].tolist(), slack[:, 2].tolist(), strict=True):
        low, high = noisy_max._bounds(Fraction(count), Fraction(rate) * 2, word, 64)
        assert Fraction(low) >= Fraction(value) - Fraction(off)
        assert Fraction(high) <= Fraction(value) + Fraction(off)
    # Random words are decided to ten digits at least.
    assert slack[len(special) :].max() < 1e-9


@pytest.mark.slow
def test_settled_draws_are_those_that_floats_make(monkeypatch: pytest.MonkeyPatch) -> None:
    fast = sample_noisy_max(np.random.default_rng(3), counts=COUNTS, rate=3.0, size=100)
    monkeypatch.setattr(noisy_max, "_SLACK", 0.2)
    settled = sample_noisy_max(np.random.default_rng(3), counts=COUNTS, rate=3.0, size=100)
    assert (fast == settled).all()


def test_more_bits_decide() -> None:
    """Two classes of one candidate each at rate 0 are compared by their uniform numbers alone."""

    def drawn(first: int, second: int, *more: int) -> int:
        script: Any = Script(np.array([first, second], dtype=np.uint64), more=list(more))
        return int(sample_noisy_max(script, counts=[1, 1], rate=0.0)[0])

    assert drawn(5, 9) == 1
    assert drawn(9, 9, 4, 3) == 0
    assert drawn(9, 9, 3, 4) == 1
    assert drawn(0, 0, 3, 4) == 1
    assert drawn(ONES, ONES, 4, 3) == 0
    assert drawn(ONES, ONES, ONES, ONES, 1, 2) == 1
    assert drawn(ONES, 0) == 0
    # Equal twice, then not.
    assert drawn(2**40, 2**40, 7, 7, 8, 7) == 0


def test_rate_is_checked() -> None:
    with pytest.raises(InvalidArgument, match="rate"):
        sample_noisy_max(np.random.default_rng(1), counts=[1, 2], rate=-1.0)
