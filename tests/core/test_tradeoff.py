"""Trade-off functions: what the best test reaches, never overstated in favour of privacy."""

import math
from itertools import pairwise
from typing import Any

import numpy as np
import pytest
from scipy import stats

from tests.params import quick_first
from veil.core.privacy.pairs import GammaPair, NormalPair, RandomizedResponses, SymmetricBetaPair
from veil.errors import InvalidArgument

RATES = [1e-6, 1e-3, 0.05, 0.2, 0.5, 0.9, 0.999]


@pytest.mark.parametrize("shift", quick_first([1.0, 0.05, 0.5, 3.0]))
def test_the_gaussian_curve(shift: float) -> None:
    for rate in RATES:
        exact = float(stats.norm.cdf(stats.norm.isf(rate) - shift))
        found = NormalPair(shift).tradeoff(rate)
        assert exact - 1e-6 <= found <= exact + 1e-12


@pytest.mark.slow
@pytest.mark.parametrize(("a", "s"), quick_first([(2.0, 0.5), (30.0, 8.0), (0.5, 0.1)]))
def test_the_curve_of_a_beta_pair(a: float, s: float) -> None:
    # The best test is a threshold on t, between Beta(a, a + s) and Beta(a + s, a).
    for rate in RATES:
        threshold = stats.beta.isf(rate, a, a + s)
        exact = float(stats.beta.cdf(threshold, a + s, a))
        found = SymmetricBetaPair(a, s).tradeoff(rate)
        assert exact - 2e-6 <= found <= exact + 1e-10


@pytest.mark.parametrize("each", [0.1, 1.0, 4.0])
def test_the_curve_of_a_randomised_response(each: float) -> None:
    for rate in RATES:
        exact = max(0.0, 1.0 - math.exp(each) * rate, math.exp(-each) * (1.0 - rate))
        found = RandomizedResponses(each).tradeoff(rate)
        assert exact - 1e-9 <= found <= exact + 1e-12


@pytest.mark.slow
def test_a_skewed_pair_is_bounded_by_both_of_its_curves() -> None:
    a, s = 1.0, 2.0
    for rate in RATES:
        above = stats.gamma.cdf(stats.gamma.isf(rate, a), a + s)
        below = stats.gamma.sf(stats.gamma.ppf(rate, a + s), a)
        found = GammaPair(a, s).tradeoff(rate)
        assert found <= min(above, below) + 1e-9


@pytest.mark.slow
@pytest.mark.parametrize(
    "profile", quick_first([NormalPair(1.0), SymmetricBetaPair(3.0, 1.0), GammaPair(4.0, 1.0)])
)
def test_falls_and_is_convex_and_lies_below_the_line_of_no_information(profile: Any) -> None:
    rates = np.linspace(0.0, 1.0, 9)
    values = np.array([profile.tradeoff(float(rate)) for rate in rates])
    assert all(later <= earlier + 1e-12 for earlier, later in pairwise(values))
    assert (values <= 1.0 - rates + 1e-12).all()
    assert (values[1:-1] <= 0.5 * (values[:-2] + values[2:]) + 1e-6).all()
    assert (values >= 0.0).all()
    assert values[0] == pytest.approx(1.0, abs=1e-9)
    assert values[-1] == 0.0


@pytest.mark.slow
def test_every_point_respects_every_guarantee() -> None:
    profile = SymmetricBetaPair(3.0, 1.0)
    for epsilon in (0.2, 1.0, 2.5):
        delta = profile.delta(epsilon)
        for rate in (0.01, 0.2, 0.6):
            line = max(1.0 - delta - math.exp(epsilon) * rate, math.exp(-epsilon) * (1.0 - delta - rate))
            assert profile.tradeoff(rate) >= line - 1e-6


def test_twice_as_far_is_told_apart() -> None:
    assert NormalPair(1.05).tradeoff(0.2) < NormalPair(1.0).tradeoff(0.2) - 1e-3


@pytest.mark.parametrize("rate", [-0.1, 1.1, math.nan, "0.5", None])
def test_a_rate_that_is_none(rate: Any) -> None:
    with pytest.raises(InvalidArgument, match=r"^false_positive: "):
        NormalPair(1.0).tradeoff(rate)
