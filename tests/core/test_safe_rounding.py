"""What is printed or charged is never rounded down, also where a shorter number is near."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from veil.core.job import cost
from veil.core.numerics.rounding import charged_together, float_below, stated
from veil.core.privacy.losses import Composed
from veil.core.privacy.pairs import GammaPair, RandomizedResponses
from veil.core.privacy.profile import PrivacyProfile


def test_an_epsilon_is_never_rounded_down() -> None:
    profile = RandomizedResponses(0.37, times=6)
    for delta in np.geomspace(1e-6, 0.3, 40):
        assert profile.delta(profile.epsilon(float(delta))) <= delta


def test_a_charge_is_never_rounded_down() -> None:
    for each in np.linspace(0.1, 0.9, 41) / 3.0:
        profile = RandomizedResponses(float(each))
        assert cost(profile, None)[0] >= profile.pure_epsilon


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


@given(st.floats(1e-6, 1e3), st.lists(st.integers(1, 50), min_size=1, max_size=6))
@settings(derandomize=True, max_examples=300, deadline=None)
def test_shares_of_a_stated_epsilon_fit_into_it(epsilon: float, weights: list[int]) -> None:
    shares = [float_below(stated(epsilon) * Fraction(weight, sum(weights))) for weight in weights]
    assert charged_together([(share, 1) for share in shares]) <= epsilon
    assert sum(shares) >= epsilon * (1.0 - 1e-13)
