"""Calibration: the result is safe by an independent figure, and nothing larger is."""

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from mpmath import mp, mpf

from veil.core.privacy.pairs import GammaPair, NormalPair, RandomizedResponses, SymmetricBetaPair
from veil.core.privacy.profile import NothingRevealed, PrivacyProfile, calibrate
from veil.errors import CannotCalibrate, InvalidArgument, NoGuarantee
from veil.vectors.two_entries import limit_as_k_vanishes

from ..oracles.hockey import gamma_hockey_stick, normal_hockey_stick, worst_case_dirichlet

EPSILONS = st.floats(0.05, 8.0)
DELTAS = st.floats(-40.0, -2.5).map(math.exp)


@dataclass(frozen=True)
class Mechanism:
    """A parameter and what it guarantees."""

    number: float
    make: Callable[[float], PrivacyProfile]
    refused: float = math.inf

    def profile(self, adjacency: Any = None) -> PrivacyProfile:
        if self.number > self.refused:
            raise InvalidArgument("number", expected=f"at most {self.refused:g}", found="more")
        return self.make(self.number)


def largest(make: Callable[[float], PrivacyProfile], **target: float) -> float:
    return calibrate(lambda number: Mechanism(number, make), None, **target).number


@pytest.mark.slow
@settings(derandomize=True, max_examples=40, deadline=None)
@given(st.floats(0.01, 0.3), st.floats(0.001, 0.3), EPSILONS, DELTAS)
def test_concentration_of_a_dirichlet_vector(floor: float, mass: float, epsilon: float, delta: float) -> None:
    mass = min(mass, 1.0 - 3.0 * floor)
    assume(mass > 0.0)
    limit = math.exp(limit_as_k_vanishes(floor, mass, epsilon))
    assume(abs(limit / delta - 1.0) > 1e-3)
    try:
        k = largest(lambda k: SymmetricBetaPair(k * floor, k * mass), epsilon=epsilon, delta=delta)
    except CannotCalibrate:
        assert limit > delta
        return
    with mp.workdps(40):
        assert worst_case_dirichlet(k, floor, mass, 3, epsilon) <= mpf(delta)
        assert worst_case_dirichlet(1.001 * k, floor, mass, 3, epsilon) > mpf(delta)


@pytest.mark.slow
@settings(derandomize=True, max_examples=30, deadline=None)
@given(st.floats(1.0, 300.0), EPSILONS, DELTAS)
def test_weight_of_a_record(alpha: float, epsilon: float, delta: float) -> None:
    r = largest(lambda r: GammaPair(alpha, r), epsilon=epsilon, delta=delta)

    def truth(weight: float) -> mpf:
        with mp.workdps(40):
            more = mpf(alpha) + mpf(weight)
            up = gamma_hockey_stick(more, alpha, epsilon)
            return max(up, gamma_hockey_stick(alpha, more, epsilon))

    assert truth(r) <= mpf(delta)
    assert truth(1.001 * r) > mpf(delta)


@pytest.mark.slow
@settings(derandomize=True, max_examples=40, deadline=None)
@given(EPSILONS, DELTAS)
def test_shift_of_a_normal_variable(epsilon: float, delta: float) -> None:
    shift = largest(NormalPair, epsilon=epsilon, delta=delta)
    assert normal_hockey_stick(shift, 1, epsilon) <= mpf(delta)
    assert normal_hockey_stick(shift * (1.0 + 1e-6), 1, epsilon) > mpf(delta)


@settings(derandomize=True, max_examples=60, deadline=None)
@given(st.floats(1e-3, 50.0), st.integers(1, 9))
def test_pure_privacy_uses_its_whole_budget_and_no_more(epsilon: float, times: int) -> None:
    each = largest(lambda each: RandomizedResponses(each, times), epsilon=epsilon)
    assert RandomizedResponses(each, times).pure_epsilon <= epsilon
    assert each * times >= epsilon * (1.0 - 1e-12)


def test_a_coarse_search_is_as_safe() -> None:
    fine = largest(NormalPair, epsilon=1.0, delta=1e-6)
    coarse = calibrate(
        lambda number: Mechanism(number, NormalPair), None, epsilon=1.0, delta=1e-6, relative=1e-2
    ).number
    assert fine * 0.97 <= coarse <= fine * (1.0 + 1e-12)


def test_the_adjacency_is_handed_on() -> None:
    seen: list[Any] = []

    class Watching(Mechanism):
        def profile(self, adjacency: Any = None) -> PrivacyProfile:
            seen.append(adjacency)
            return NormalPair(self.number)

    calibrate(lambda number: Watching(number, NormalPair), "neighbours", epsilon=1.0, delta=1e-3)
    assert set(seen) == {"neighbours"}


@pytest.mark.parametrize("make", [lambda number: NormalPair(5.0), lambda number: NormalPair(2.0 + number)])
def test_no_number_is_safe(make: Callable[[float], PrivacyProfile]) -> None:
    with pytest.raises(CannotCalibrate, match="no parameter, however small"):
        largest(make, epsilon=0.1, delta=1e-6)


def test_a_vanishing_concentration_is_not_enough() -> None:
    # As k vanishes delta(2.3) tends to 0.0925 and not to zero.
    with pytest.raises(CannotCalibrate):
        largest(lambda k: SymmetricBetaPair(0.1 * k, 0.15 * k), epsilon=2.3, delta=0.09)
    assert largest(lambda k: SymmetricBetaPair(0.1 * k, 0.15 * k), epsilon=2.3, delta=0.095) > 0.0


def test_noise_without_a_pure_guarantee() -> None:
    with pytest.raises(CannotCalibrate):
        largest(NormalPair, epsilon=1.0, delta=0.0)


@pytest.mark.parametrize("make", [lambda number: NothingRevealed(), lambda number: NormalPair(1e-3)])
def test_every_number_is_safe(make: Callable[[float], PrivacyProfile]) -> None:
    with pytest.raises(CannotCalibrate, match="there is no largest one"):
        largest(make, epsilon=1.0, delta=1e-3)


@pytest.mark.parametrize("refused", [0.01, 0.5, 3.0, 1e5])
def test_a_number_that_the_mechanism_refuses_is_not_returned(refused: float) -> None:
    found = calibrate(
        lambda number: Mechanism(number, lambda x: NormalPair(1e-6 * x), refused),
        None,
        epsilon=1.0,
        delta=1e-3,
    )
    assert refused * (1.0 - 1e-9) <= found.number <= refused


def test_why_nothing_works_is_said() -> None:
    def broken(number: float) -> Mechanism:
        raise NoGuarantee("a floor of 0 protects nothing")

    with pytest.raises(CannotCalibrate, match="a floor of 0 protects nothing"):
        calibrate(broken, None, epsilon=1.0, delta=1e-3)


@pytest.mark.parametrize("error", [ZeroDivisionError, RuntimeError, ValueError])
def test_other_errors_of_the_factory_are_not_swallowed(error: type[Exception]) -> None:
    def broken(number: float) -> Mechanism:
        raise error("a fault in the caller's own code")

    with pytest.raises(error, match="a fault in the caller's own code"):
        calibrate(broken, None, epsilon=1.0, delta=1e-3)


@pytest.mark.parametrize(
    ("epsilon", "delta", "field"),
    [
        (0.0, 0.0, "epsilon"),
        (-1.0, 0.1, "epsilon"),
        (math.nan, 0.1, "epsilon"),
        (math.inf, 0.1, "epsilon"),
        ("1", 0.1, "epsilon"),
        (1.0, -0.1, "delta"),
        (1.0, 1.1, "delta"),
        (1.0, math.nan, "delta"),
        (1.0, None, "delta"),
    ],
)
def test_a_budget_that_is_none(epsilon: Any, delta: Any, field: str) -> None:
    with pytest.raises(InvalidArgument) as caught:
        largest(NormalPair, epsilon=epsilon, delta=delta)
    assert caught.value.field == field


def test_a_budget_of_delta_alone() -> None:
    shift = largest(NormalPair, epsilon=0.0, delta=1e-2)
    assert math.erf(shift / math.sqrt(8.0)) == pytest.approx(1e-2, rel=1e-9)
