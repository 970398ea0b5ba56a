"""Composition of releases fixed beforehand: never below the truth, and close to it."""

import math

import numpy as np
import pytest

from tests.params import quick_first
from veil.core.privacy.loss_measure import LossMeasure
from veil.core.privacy.losses import Composed, natural_interval
from veil.core.privacy.pairs import (
    DiscreteGaussianShift,
    GammaPair,
    NormalPair,
    RandomizedResponses,
    SymmetricBetaPair,
)
from veil.core.privacy.profile import PrivacyProfile
from veil.errors import NoGuarantee
from veil.matrices.row_profiles import worst_of

from ..oracles.hockey import normal_hockey_stick
from .test_responses import by_enumeration


def rounding(times: int) -> float:
    """What a composition may add for what is cut off at the ends of its grids."""
    return 2e-24 * (times + 2)


def convolved(*parts: tuple[PrivacyProfile, int]) -> Composed:
    """The composition by convolution, also where a closed form would do: there is a truth to compare with."""
    return Composed(tuple(parts))


def gaussian_truths(shift: float) -> list[tuple[float, float]]:
    """(epsilon, delta) of N(shift, 1) against N(0, 1), from large deltas down to 1e-14."""
    epsilons = [max(0.0, 0.5 * shift**2 + z * shift) for z in (-2.0, -0.5, 0.0, 1.0, 3.0, 5.0, 6.0, 6.8, 7.4)]
    return [(epsilon, float(normal_hockey_stick(shift, 1, epsilon))) for epsilon in epsilons]


@pytest.mark.slow
@pytest.mark.parametrize(("shift", "times"), quick_first([(1.0, 2), (0.1, 100), (3.0, 5)]))
def test_repeated_gaussian_noise_is_gaussian(shift: float, times: int) -> None:
    composed = convolved((NormalPair(shift), times))
    for epsilon, exact in gaussian_truths(shift * math.sqrt(times)):
        assert exact <= composed.delta(epsilon) <= exact * (1.0 + 2e-3) + rounding(times)


@pytest.mark.slow
@pytest.mark.parametrize(("shift", "times"), quick_first([(0.01, 10_000), (0.003, 100_000)]))
def test_many_repetitions_are_not_understated_by_rounding(shift: float, times: int) -> None:
    composed = convolved((NormalPair(shift), times))
    for epsilon, exact in gaussian_truths(shift * math.sqrt(times)):
        assert exact <= composed.delta(epsilon)


@pytest.mark.slow
def test_epsilons_of_many_repetitions_are_safe() -> None:
    composed = convolved((NormalPair(0.05), 400))
    for delta in (1e-6, 1e-9, 5e-11, 1e-18):
        epsilon = composed.epsilon(delta)
        assert float(normal_hockey_stick(1.0, 1, epsilon)) <= delta
        assert float(normal_hockey_stick(1.0, 1, 0.99 * epsilon)) > delta
    # Below what is cut off at the ends of the grids no epsilon is claimed, and nothing breaks.
    assert composed.epsilon(1e-25) == math.inf


@pytest.mark.slow
def test_gaussian_noise_of_several_sizes() -> None:
    shifts = [0.3, 1.0, 0.7, 0.3]
    composed = convolved(*((NormalPair(shift), 1) for shift in shifts))
    for epsilon, exact in gaussian_truths(math.hypot(*shifts)):
        assert exact <= composed.delta(epsilon) <= exact * (1.0 + 1e-3) + 1e-22
    # Power: a curve that is five per cent wider or narrower is another one.
    assert composed.delta(1.0) > float(normal_hockey_stick(math.hypot(*shifts) * 0.95, 1, 1.0)) * 1.01
    assert composed.delta(1.0) < float(normal_hockey_stick(math.hypot(*shifts) * 1.05, 1, 1.0)) * 0.99


@pytest.mark.parametrize(
    "each", quick_first([[0.5, 0.5], [0.3] * 6, [1.0, 0.25, 0.25, 2.0], [0.1] * 9], quick=2)
)
def test_randomised_responses_against_all_answers(each: list[float]) -> None:
    composed = convolved(*((RandomizedResponses(parameter), 1) for parameter in each))
    for share in (0.0, 0.1, 0.37, 0.6, 0.85, 0.98):
        epsilon = share * sum(each)
        exact = float(by_enumeration(each, epsilon))
        assert exact <= composed.delta(epsilon) <= exact * (1.0 + 5e-3) + 1e-22
    assert composed.pure_epsilon >= math.fsum(each)
    assert composed.delta(composed.pure_epsilon) == 0.0


@pytest.mark.parametrize(("each", "times"), quick_first([(0.05, 200), (0.01, 1000)]))
def test_many_responses_are_not_understated_by_rounding(each: float, times: int) -> None:
    composed, exact = convolved((RandomizedResponses(each), times)), RandomizedResponses(each, times)
    for epsilon in np.linspace(0.0, 10.0 * each * math.sqrt(times), 15):
        truth = exact.delta(float(epsilon)) * (1.0 - 1e-9)
        assert truth <= composed.delta(float(epsilon)) <= truth * (1.0 + 1e-3) + rounding(times)


@pytest.mark.slow
def test_a_small_loss_beside_a_large_one() -> None:
    composed = convolved((NormalPair(2.0), 1), (NormalPair(0.01), 1))
    for epsilon, exact in gaussian_truths(math.hypot(2.0, 0.01)):
        assert exact <= composed.delta(epsilon) <= exact * (1.0 + 2e-2) + 1e-22


@pytest.mark.slow
def test_the_order_and_the_grouping_do_not_matter() -> None:
    a, b = GammaPair(4.0, 0.4), RandomizedResponses(0.3)
    first = a.compose(b).compose(a)
    second = b.compose(a.repeat(2))
    assert isinstance(first, Composed)
    assert isinstance(second, Composed)
    assert sorted(times for _, times in first.parts) == sorted(times for _, times in second.parts) == [1, 2]
    for epsilon in (0.2, 1.0, 2.0):
        assert first.delta(epsilon) == pytest.approx(second.delta(epsilon), rel=1e-8)


def test_compositions_are_flattened() -> None:
    pair = GammaPair(4.0, 0.4)
    assert pair.repeat(2).compose(pair).repeat(2) == pair.repeat(6)
    assert pair.repeat(1) is pair


@pytest.mark.slow
@pytest.mark.parametrize(
    ("first", "second"),
    quick_first(
        [(NormalPair(0.5), RandomizedResponses(0.3)), (GammaPair(5.0, 0.5), RandomizedResponses(0.3))]
    ),
)
def test_between_the_parts_and_basic_composition(first: PrivacyProfile, second: PrivacyProfile) -> None:
    composed = first.compose(second)
    for epsilon in (0.1, 0.6, 1.5):
        assert composed.delta(epsilon) >= max(first.delta(epsilon), second.delta(epsilon)) * (1.0 - 1e-9)
        basic = first.delta(epsilon) + second.delta(epsilon)
        assert composed.delta(2.0 * epsilon) <= basic * (1.0 + 1e-3) + 1e-22


@pytest.mark.parametrize("interval", quick_first([1e-2, None]))
def test_one_loss_distribution_is_pessimistic(interval: float | None) -> None:
    profile = SymmetricBetaPair(12.0, 1.0)
    distribution = profile.pld(interval)
    for epsilon in (0.0, 0.1234, 0.5, 1.7):
        found = float(distribution.get_delta_for_epsilon(epsilon))
        assert profile.delta(epsilon) * (1.0 - 1e-9) <= found <= profile.delta(epsilon) * (1.0 + 1e-2) + 1e-15


def test_a_grid_that_would_be_far_too_fine() -> None:
    assert natural_interval(NormalPair(1.0)) < 0.01
    with pytest.raises(NoGuarantee, match="grid points"):
        NormalPair(5.0).pld(1e-6)


def test_closed_forms_are_used_where_they_exist() -> None:
    """Normal pairs add their squared shifts, randomised responses their numbers; to the safe side."""
    several = NormalPair(0.3).compose(NormalPair(1.0)).compose(NormalPair(0.7)).repeat(3)
    assert isinstance(several, NormalPair)
    exact = math.sqrt(3.0) * math.hypot(0.3, 1.0, 0.7)
    assert exact <= several.tilt <= exact * (1.0 + 1e-15)
    answers = RandomizedResponses(0.3, 2).compose(RandomizedResponses(0.3)).repeat(4)
    assert answers == RandomizedResponses(0.3, 12)
    bounded = NormalPair(0.3, kind="upper bound").compose(NormalPair(1.0))
    assert bounded.kind == "upper bound"
    mixed = NormalPair(0.3).repeat(2).compose(GammaPair(4.0, 0.4)).compose(NormalPair(0.4))
    assert isinstance(mixed, Composed)
    assert len(mixed.parts) == 2


@pytest.mark.slow
def test_the_worst_of_compositions_can_be_composed_again() -> None:
    first, second = DiscreteGaussianShift(8.0, 1).repeat(2), DiscreteGaussianShift(7.0, 2)
    together = worst_of([first, second]).compose(RandomizedResponses(0.1))
    alone = second.compose(RandomizedResponses(0.1))
    for epsilon in (0.3, 1.0):
        assert alone.delta(epsilon) * (1.0 - 1e-9) <= together.delta(epsilon) <= 1.1 * alone.delta(epsilon)


def test_equal_parts_are_put_on_a_grid_once(monkeypatch: pytest.MonkeyPatch) -> None:
    first = convolved((GammaPair(3.25, 1.0), 2)).delta(1.0)
    monkeypatch.setattr(LossMeasure, "of_curves", lambda *_: pytest.fail("computed again"))
    assert convolved((GammaPair(3.25, 1.0), 2)).delta(1.0) == first


def test_profiles_without_a_hash_are_composed_too() -> None:
    class Listed(NormalPair):
        __hash__ = None  # type: ignore[assignment]

    assert convolved((Listed(0.5), 2)).delta(1.0) == convolved((NormalPair(0.5), 2)).delta(1.0)
