"""What is printed or charged is never rounded down, also where a shorter number is near."""

from __future__ import annotations

import numpy as np

from veil.core.job import cost
from veil.core.privacy.pairs import GammaPair, RandomizedResponses


def test_an_epsilon_is_never_rounded_down() -> None:
    profile = RandomizedResponses(0.37, times=6)
    for delta in np.geomspace(1e-6, 0.3, 40):
        assert profile.delta(profile.epsilon(float(delta))) <= delta


def test_a_charge_is_never_rounded_down() -> None:
    for each in np.linspace(0.1, 0.9, 41) / 3.0:
        profile = RandomizedResponses(float(each))
        assert cost(profile, None)[0] >= profile.pure_epsilon


def test_a_composition_never_claims_less_than_its_sums_resolve() -> None:
    composed = GammaPair(10.0, 0.1).repeat(50)
    # The true delta is far below what convolutions in floats can tell from zero.
    assert composed.delta(30.0) >= 1e-14
