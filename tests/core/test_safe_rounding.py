"""What is printed or charged is never rounded down, also where a shorter number is near."""

from __future__ import annotations

import math
import sys
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from veil.bits.mechanisms.staircase_xor import LazyResponse
from veil.core.errors import InvalidArgument
from veil.core.job import cost
from veil.core.numerics.rounding import charged_below, charged_together, float_above, float_below, stated
from veil.core.privacy.losses import Composed
from veil.core.privacy.pairs import GammaPair, NormalPair, RandomizedResponses
from veil.core.privacy.profile import PrivacyProfile


def test_an_epsilon_is_never_rounded_down() -> None:
    profile = RandomizedResponses(0.37, times=6)
    for delta in np.geomspace(1e-6, 0.3, 40):
        assert profile.delta(profile.epsilon(float(delta))) <= delta


def test_a_charge_is_never_rounded_down() -> None:
    for each in np.linspace(0.1, 0.9, 41) / 3.0:
        profile = RandomizedResponses(float(each))
        assert cost(profile, None)[0] >= profile.pure_epsilon


@pytest.mark.slow
def test_a_composition_never_claims_less_than_is_cut_off() -> None:
    composed = GammaPair(10.0, 0.1).repeat(50)
    # The true delta is far below what is cut off at the ends of the grids.
    assert 1e-24 <= composed.delta(30.0) <= 1e-20


@pytest.mark.parametrize(
    "profile",
    [
        RandomizedResponses(0.23050840503642148).repeat(2),
        RandomizedResponses(2.726).compose(RandomizedResponses(4.5806)),
    ],
)
def test_a_sum_of_charges_is_not_below_their_decimals(profile: PrivacyProfile) -> None:
    parts = profile.parts if isinstance(profile, Composed) else ((profile, 1),)
    each = [(part.each, part.times * times) for part, times in parts if isinstance(part, RandomizedResponses)]
    assert stated(profile.pure_epsilon) >= sum(times * stated(charge) for charge, times in each)
    assert Fraction(profile.pure_epsilon) >= sum(times * Fraction(charge) for charge, times in each)


@pytest.mark.slow
@given(st.floats(1e-6, 1e3), st.lists(st.integers(1, 50), min_size=1, max_size=6))
@settings(derandomize=True, max_examples=300, deadline=None)
def test_shares_of_a_stated_epsilon_fit_into_it(epsilon: float, weights: list[int]) -> None:
    shares = [float_below(stated(epsilon) * Fraction(weight, sum(weights))) for weight in weights]
    assert charged_together([(share, 1) for share in shares]) <= epsilon
    assert sum(shares) >= epsilon * (1.0 - 1e-13)


def test_what_is_charged_as_a_decimal_is_covered_as_a_decimal() -> None:
    """Next to a pure loss the last digit of epsilon is a large share of delta."""
    profile = RandomizedResponses(8.7)
    # This float is above its decimal, and the decimal is charged.
    epsilon = 8.69999999999999
    assert Fraction(epsilon) > Fraction(repr(epsilon))
    tight = profile.delta(epsilon)
    assert not profile.covers(epsilon, tight)
    assert profile.covers(epsilon, 2.0 * tight)
    for delta in np.geomspace(1e-9, 1e-3, 20):
        found = RandomizedResponses(0.7).epsilon(float(delta))
        assert RandomizedResponses(0.7).delta(charged_below(found)) <= delta
    parts = [(RandomizedResponses(each), 1) for each in (0.5541359471298585, 0.36586405287014157)]
    composed = Composed.of(*parts)
    assert composed.pure_epsilon > 0.92
    assert not composed.covers(0.92, 0.0)
    assert composed.covers(composed.pure_epsilon, 0.0)


def test_covers_takes_any_epsilon_and_refuses_what_is_none() -> None:
    composed = RandomizedResponses(0.5).compose(RandomizedResponses(0.3, 2))
    assert composed.covers(math.inf, 1e-6)
    for wrong in (math.nan, -1.0, "much"):
        with pytest.raises(InvalidArgument, match="epsilon"):
            composed.covers(wrong, 1e-6)  # type: ignore[arg-type]


@pytest.mark.slow
@pytest.mark.parametrize("large", [1e4, 300.0])
def test_a_composition_is_not_worse_than_adding(large: float) -> None:
    normal = NormalPair(1.0)
    composed = normal.compose(RandomizedResponses(large))
    alone = normal.epsilon(1e-6)
    assert composed.epsilon(1e-6) <= (large + alone) * (1.0 + 1e-12)
    assert normal.compose(RandomizedResponses(0.5)).epsilon(1e-25) <= 0.5 + normal.epsilon(1e-25) + 1e-9


def test_losses_beyond_any_grid_have_their_sum() -> None:
    composed = Composed.of((LazyResponse(1e6, 0.5), 3), (RandomizedResponses(3e3), 2))
    assert composed.epsilon(1e-6) == composed.pure_epsilon == 3_006_000.0


def test_numbers_of_numpy_are_numbers() -> None:
    assert RandomizedResponses(np.float64(0.1)).pure_epsilon == 0.1
    assert charged_together([(np.float64(0.1), 2)]) >= 0.2


def test_sums_beyond_all_floats_are_infinite() -> None:
    assert float_above(Fraction(10) ** 400) == math.inf
    assert float_below(Fraction(10) ** 400) == sys.float_info.max
    assert RandomizedResponses(1e308, 2).pure_epsilon == math.inf
