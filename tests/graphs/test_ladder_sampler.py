"""Draws on a ladder against its law, far out as well."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy import stats

from tests.core.fit import ALPHA
from tests.graphs.numerics.small import rungs_of, total_weight
from veil.graphs.numerics.ladder import Ladder
from veil.graphs.samplers.ladder import sample_ladder

SIZE = 200_000
LADDERS = [
    Ladder(0, np.array([1]), Fraction(1, 2)),
    Ladder(3, np.array([4, 4, 5, 6, 6, 7]), Fraction(3 * 2**49, 2**53)),
    Ladder(0, np.array([2, 3, 4, 5, 6, 7, 8]), Fraction(7, 8)),
    Ladder(2, np.array([6] * 4 + [7]), Fraction(1, 2**20)),
]


def p_value(drawn: NDArray[np.int64], ladder: Ladder) -> float:
    """Every output on its own where enough are expected, the rest together."""
    reach = int(ladder.ends[-1]) + 60
    outputs = np.arange(-reach, reach + 1)
    law = np.array([float(ladder.decay) ** rung for rung in rungs_of(ladder, outputs).tolist()])
    expected = len(drawn) * law / float(total_weight(ladder))
    common = expected >= 10.0
    seen = np.bincount(drawn[np.abs(drawn) <= reach] + reach, minlength=len(outputs))[common]
    rest = len(drawn) - expected[common].sum()
    if rest < 10.0:
        # Too few to be tested by their number: none of them at all would be as likely as not.
        return float(stats.chisquare(seen, expected[common] * seen.sum() / expected[common].sum()).pvalue)
    seen, wanted = np.append(seen, len(drawn) - seen.sum()), np.append(expected[common], rest)
    return float(stats.chisquare(seen, wanted).pvalue)


@pytest.mark.parametrize("ladder", LADDERS, ids=["plain", "wide", "slow", "narrow"])
def test_law(ladder: Ladder) -> None:
    drawn = sample_ladder(np.random.default_rng(3), ladder=ladder, size=SIZE)
    assert p_value(drawn, ladder) > ALPHA


def test_power() -> None:
    """A decay or a width that is 5 % wrong is seen, and so is a ladder cut off at its last width."""
    ladder = Ladder(20, np.array([40, 41, 42, 43, 44]), Fraction(3, 4))
    rng = np.random.default_rng(4)
    assert p_value(sample_ladder(rng, ladder=ladder, size=SIZE), ladder) > ALPHA
    wrong = Ladder(20, np.array([40, 41, 42, 43, 44]), Fraction(int(0.7875 * 2**53), 2**53))
    assert p_value(sample_ladder(rng, ladder=wrong, size=SIZE), ladder) < ALPHA
    wrong = Ladder(20, np.array([42, 43, 44, 45, 46]), Fraction(3, 4))
    assert p_value(sample_ladder(rng, ladder=wrong, size=SIZE), ladder) < ALPHA
    drawn = sample_ladder(rng, ladder=ladder, size=SIZE)
    assert p_value(drawn[np.abs(drawn) <= ladder.ends[-1]], ladder) < ALPHA


def test_far_tail() -> None:
    """Beyond the last width the rungs follow a geometric law without end."""
    ladder = LADDERS[2]
    rungs = rungs_of(ladder, sample_ladder(np.random.default_rng(5), ladder=ladder, size=SIZE))
    beyond = rungs[rungs > 20] - 21
    law = (1 / 8) * (7 / 8) ** np.arange(40)
    seen = np.append(np.bincount(beyond, minlength=41)[:40], 0)
    seen[40] = len(beyond) - seen.sum()
    assert stats.chisquare(seen, len(beyond) * np.append(law, (7 / 8) ** 40)).pvalue > ALPHA
    wrong = 0.13 * 0.87 ** np.arange(40)
    assert stats.chisquare(seen, len(beyond) * np.append(wrong, 0.87**40)).pvalue < 0.05


def test_decay_must_be_drawable() -> None:
    with pytest.raises(ValueError, match="multiple"):
        sample_ladder(np.random.default_rng(1), ladder=Ladder(0, np.array([1]), Fraction(1, 3)), size=1)


def test_none() -> None:
    assert sample_ladder(np.random.default_rng(1), ladder=LADDERS[0], size=0).tolist() == []
