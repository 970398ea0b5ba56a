"""Randomised responses, against the sum over all answers."""

import math
from fractions import Fraction
from itertools import product

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from mpmath import mp, mpf

from veil.core.privacy.pairs import RandomizedResponses

from ..oracles.brute import geometric_delta


def by_enumeration(each: list[float], epsilon: float) -> mpf:
    """delta(epsilon) of independent randomised responses: every combination of answers."""
    with mp.workdps(60):
        total = mpf(0)
        shares = [(mp.exp(mpf(e)) / (1 + mp.exp(mpf(e))), 1 / (1 + mp.exp(mpf(e)))) for e in each]
        for answers in product((0, 1), repeat=len(each)):
            p = mp.fprod(share[answer] for share, answer in zip(shares, answers, strict=True))
            q = mp.fprod(share[1 - answer] for share, answer in zip(shares, answers, strict=True))
            total += max(mpf(0), p - mp.exp(mpf(epsilon)) * q)
        return total


@pytest.mark.parametrize("each", [1e-3, 0.1, 0.7, 3.0])
@pytest.mark.parametrize("times", [1, 2, 3, 7])
def test_against_all_answers(each: float, times: int) -> None:
    profile = RandomizedResponses(each, times)
    for share in (0.0, 0.1, 0.45, 0.8, 0.99):
        epsilon = share * each * times
        exact = by_enumeration([each] * times, epsilon)
        with mp.workdps(40):
            assert exact <= mpf(profile.delta(epsilon)) <= exact * (1 + mpf("1e-10"))


@pytest.mark.slow
@settings(derandomize=True, max_examples=150, deadline=None)
@given(st.floats(0.01, 4.0), st.integers(1, 6), st.integers(0, 6), st.integers(-1, 1))
def test_never_below_the_truth_next_to_a_jump(each: float, times: int, answers: int, nudge: int) -> None:
    # At a loss that some combination of answers has exactly, one rounding decides whether it counts.
    epsilon = abs(2 * min(answers, times) - times) * each
    if nudge:
        epsilon = math.nextafter(epsilon, math.inf if nudge > 0 else 0.0)
    found = RandomizedResponses(each, times).delta(epsilon)
    exact = by_enumeration([each] * times, epsilon)
    with mp.workdps(60):
        assert exact < mpf("1e-40") or exact <= mpf(found)  # 60 digits leave 1e-60 of a zero


@pytest.mark.parametrize(("scale", "shifts"), [(3.0, (1,)), (0.7, (1,)), (5.0, (1, -1))])
def test_discrete_laplace_noise_is_randomised_response(scale: float, shifts: tuple[int, ...]) -> None:
    # Exact for one count; for two counts the middle losses make the noise a little better.
    profile = RandomizedResponses(1.0 / scale, len(shifts))
    for share in (0.0, 0.3, 0.6, 0.95):
        epsilon = share * len(shifts) / scale
        exact = geometric_delta(scale, shifts, epsilon)
        assert profile.delta(epsilon) >= exact * (1.0 - 1e-12)
        if len(shifts) == 1:
            assert profile.delta(epsilon) == pytest.approx(exact, rel=1e-9)


@settings(derandomize=True, max_examples=150, deadline=None)
@given(st.floats(1e-6, 50.0), st.integers(1, 1000))
def test_the_pure_epsilon_is_the_sum_rounded_up(each: float, times: int) -> None:
    profile = RandomizedResponses(each, times)
    exact = Fraction(each) * times
    assert Fraction(profile.pure_epsilon) >= exact
    # The next float but one where the decimal of the next one would be below.
    assert Fraction(math.nextafter(math.nextafter(profile.pure_epsilon, 0.0), 0.0)) < exact
    assert profile.delta(profile.pure_epsilon) == 0.0
    assert profile.epsilon(0.0) == profile.pure_epsilon


def test_ten_tenths() -> None:
    # The float 0.1 lies above 1/10, so ten of them exceed one, if only by a rounding.
    assert RandomizedResponses(0.1, 10).pure_epsilon == math.nextafter(1.0, 2.0)
    assert RandomizedResponses(0.25, 4).pure_epsilon == 1.0


@pytest.mark.parametrize(("each", "times"), [(0.01, 700), (0.5, 300), (200.0, 3), (800.0, 2)])
def test_large_numbers(each: float, times: int) -> None:
    profile = RandomizedResponses(each, times)
    values = [profile.delta(share * each * times) for share in (0.0, 0.01, 0.3)]
    assert 1.0 >= values[0] >= values[1] >= values[2] > 0.0
    assert profile.epsilon(1e-6) <= profile.pure_epsilon
