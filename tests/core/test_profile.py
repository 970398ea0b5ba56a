"""What every profile promises, whatever it is made of."""

import math
from itertools import pairwise
from typing import Any

import numpy as np
import pytest

from veil.core.numerics.rounding import SMALLEST_POSITIVE
from veil.core.privacy.pairs import (
    DiscreteGaussianShift,
    GammaPair,
    NormalPair,
    RandomizedResponses,
    SymmetricBetaPair,
)
from veil.core.privacy.profile import LogDelta, NothingRevealed, PrivacyProfile
from veil.errors import InvalidArgument, NoGuarantee

PROFILES: list[PrivacyProfile] = [
    SymmetricBetaPair(1.5, 0.2),
    SymmetricBetaPair(1e-4, 2e-4),
    SymmetricBetaPair(3e6, 2e3),
    GammaPair(3.0, 1.0),
    GammaPair(0.3, 2.0),
    NormalPair(0.8),
    RandomizedResponses(0.5, 3),
    DiscreteGaussianShift(2.0, 1),
    DiscreteGaussianShift(0.7, 2),
    NormalPair(0.5).repeat(3),
    GammaPair(9.0, 0.5).compose(SymmetricBetaPair(20.0, 1.5)),
]
IDS = [f"{type(profile).__name__}-{index}" for index, profile in enumerate(PROFILES)]
each_profile = pytest.mark.parametrize("profile", PROFILES, ids=IDS)


@pytest.mark.mostly_slow(quick=3)
@each_profile
def test_delta_falls_with_epsilon(profile: PrivacyProfile) -> None:
    values = [profile.delta(epsilon) for epsilon in np.linspace(0.0, 6.0, 50)]
    assert all(0.0 <= value <= 1.0 for value in values)
    # A composition may waver by the rounding of its convolutions.
    assert all(later <= earlier * (1.0 + 1e-10) + 1e-15 for earlier, later in pairwise(values))
    assert values[-1] < values[0]


@each_profile
def test_delta_is_convex_in_the_likelihood_ratio(profile: PrivacyProfile) -> None:
    # As a function of e^epsilon a hockey stick is convex; the curve of a maximum of them as well.
    ratios = np.linspace(1.0, 30.0, 60)
    values = np.array([profile.delta(math.log(ratio)) for ratio in ratios])
    middle = 0.5 * (values[:-2] + values[2:])
    assert (values[1:-1] <= middle * (1.0 + 1e-8) + 3e-15).all()


@pytest.mark.mostly_slow(quick=5)
@each_profile
@pytest.mark.parametrize("delta", [0.1, 1e-3, 1e-6, 1e-9])
def test_epsilon_is_safe_and_tight(profile: PrivacyProfile, delta: float) -> None:
    epsilon = profile.epsilon(delta)
    assert math.isfinite(epsilon)
    assert profile.delta(epsilon) <= delta
    if epsilon > 0.0:
        assert profile.delta(epsilon * (1.0 - 1e-7)) > delta
    else:
        assert profile.delta(0.0) <= delta


@each_profile
def test_epsilon_falls_with_delta(profile: PrivacyProfile) -> None:
    values = [profile.epsilon(float(delta)) for delta in np.geomspace(1e-10, 1.0, 12)]
    assert all(later <= earlier for earlier, later in pairwise(values))
    assert values[-1] == 0.0


@each_profile
def test_the_ends(profile: PrivacyProfile) -> None:
    assert profile.epsilon(0.0) == profile.pure_epsilon
    assert profile.epsilon(1.0) == 0.0
    assert profile.delta(math.inf) == 0.0
    if math.isfinite(profile.pure_epsilon):
        assert profile.delta(profile.pure_epsilon) == 0.0
        assert profile.delta(0.99 * profile.pure_epsilon) > 0.0


@pytest.mark.parametrize(
    "profile",
    [SymmetricBetaPair(50.0, 1.0), GammaPair(50.0, 1.0), NormalPair(0.1), DiscreteGaussianShift(9.0, 1)],
)
@pytest.mark.parametrize("epsilon", [400.0, 1e4, 1e8])
def test_an_underflow_is_the_smallest_number_and_never_zero(profile: PrivacyProfile, epsilon: float) -> None:
    assert profile.delta(epsilon) == SMALLEST_POSITIVE


@pytest.mark.parametrize("profile", [SymmetricBetaPair(5.0, 1.0), GammaPair(5.0, 1.0), NormalPair(1.0)])
@pytest.mark.parametrize("delta", [1e-100, 1e-200, 1e-290, 1e-305])
def test_deltas_at_the_end_of_the_doubles(profile: PrivacyProfile, delta: float) -> None:
    epsilon = profile.epsilon(delta)
    assert math.isfinite(epsilon)
    assert profile.delta(epsilon) <= delta < profile.delta(epsilon * (1.0 - 1e-9))


@pytest.mark.parametrize("epsilon", [-1.0, math.nan, "1", None, True])
def test_a_bad_epsilon(epsilon: Any) -> None:
    with pytest.raises(InvalidArgument, match=r"^epsilon: "):
        NormalPair(1.0).delta(epsilon)


@pytest.mark.parametrize("delta", [-1e-9, 1.5, math.nan, "1", None, True])
def test_a_bad_delta(delta: Any) -> None:
    with pytest.raises(InvalidArgument, match=r"^delta: "):
        NormalPair(1.0).epsilon(delta)


@pytest.mark.parametrize("other", [None, 1.0, "profile"])
def test_composing_with_something_else(other: Any) -> None:
    with pytest.raises(InvalidArgument, match=r"^other: expected a PrivacyProfile"):
        NormalPair(1.0).compose(other)


@pytest.mark.parametrize("times", [0, -1, 1.5, "2", None, True])
def test_repeating_a_wrong_number_of_times(times: Any) -> None:
    with pytest.raises(InvalidArgument, match=r"^times: "):
        NormalPair(1.0).repeat(times)


def test_nothing_revealed() -> None:
    nothing = NothingRevealed()
    assert (nothing.delta(0.0), nothing.epsilon(0.0), nothing.epsilon(1e-300)) == (0.0, 0.0, 0.0)
    assert nothing.rdp(2.0) == 0.0
    assert isinstance(nothing.repeat(7), NothingRevealed)
    something = NormalPair(1.0)
    assert nothing.compose(something) is something
    assert something.compose(nothing) is something
    assert [nothing.tradeoff(rate) for rate in (0.0, 0.3, 1.0)] == pytest.approx([1.0, 0.7, 0.0])


class NeverPrivate(PrivacyProfile):
    """Half of all runs reveal everything."""

    def log_deltas(self) -> tuple[LogDelta, LogDelta]:
        return (lambda epsilon: math.log(0.5),) * 2


def test_a_profile_without_a_finite_epsilon() -> None:
    assert NeverPrivate().epsilon(0.4) == math.inf
    assert NeverPrivate().epsilon(0.6) == 0.0
    with pytest.raises(NoGuarantee):
        NeverPrivate().repeat(2).delta(1.0)
    with pytest.raises(NoGuarantee):
        NeverPrivate().rdp(2.0)


def test_a_profile_says_what_it_is() -> None:
    assert NormalPair(1.0).describe() == {"kind": "exact"}
    assert NormalPair(1.0, kind="upper bound").describe() == {"kind": "upper bound"}
    assert NormalPair(1.0).repeat(2).kind == "exact"
    assert GammaPair(4.0, 0.4).repeat(2).kind == "upper bound"
