"""The certified divergences: against the oracle in arbitrary precision, and against one another."""

from __future__ import annotations

import math

import numpy as np
import pytest
from flint import arb
from mpmath import mp, mpf

from tests.oracles.hockey import beta_hockey_stick, gamma_hockey_stick, normal_hockey_stick
from tests.review.divergences import (
    ball,
    beta_divergence,
    gamma_divergence,
    is_below,
    is_known,
    is_log_below,
    normal_divergence,
)
from tests.review.peaks import beta_peak, gamma_peak
from tests.review.tails import Beta, Gamma, precision

SHAPES = [(0.3, 0.7, 0.2), (2.0, 30.0, 1.0), (5.0, 5.0, 40.0), (1e-3, 4.0, 0.01), (900.0, 300.0, 25.0)]
EPSILONS = [0.0, 0.01, 0.7, 4.0]


def agrees(found: arb, known: mpf) -> bool:
    """To the digits that the oracle in arbitrary precision claims."""
    with mp.workdps(40):
        exact = mpf(found.mid().str(40, radius=False))
        return bool(abs(exact - known) <= mpf("1e-17") * abs(known) + mpf("1e-330"))


def near(first: arb, second: arb, *, digits: int) -> bool:
    with precision(128):
        return bool(abs(first / second - 1) < arb(10) ** -digits)


@pytest.mark.parametrize("epsilon", EPSILONS)
@pytest.mark.parametrize(("low", "rest", "tilt"), SHAPES)
def test_beta_and_gamma_against_arbitrary_precision(
    low: float, rest: float, tilt: float, epsilon: float
) -> None:
    with mp.workdps(50):
        exact = beta_hockey_stick(mpf(low) + mpf(tilt), rest, low, mpf(rest) + mpf(tilt), epsilon, "closed")
    assert agrees(beta_divergence(low, rest, tilt, epsilon), exact)
    with mp.workdps(50):
        more, less = mpf(low) + mpf(tilt), mpf(low)
        pair = gamma_hockey_stick(more, less, epsilon), gamma_hockey_stick(less, more, epsilon)
    assert agrees(gamma_divergence(low, tilt, epsilon, more=True), pair[0])
    assert agrees(gamma_divergence(low, tilt, epsilon, more=False), pair[1])


@pytest.mark.parametrize("epsilon", EPSILONS)
@pytest.mark.parametrize("shift", [1e-6, 0.1, 1.0, 6.0])
def test_normal_against_arbitrary_precision(shift: float, epsilon: float) -> None:
    assert agrees(normal_divergence(shift, epsilon), normal_hockey_stick(shift, 1, epsilon))


@pytest.mark.parametrize("epsilon", [0.0, 0.5, 6.0])
@pytest.mark.parametrize(("low", "rest", "tilt"), [(2e5, 3e5, 400.0), (4e6, 2e5, 10.0), (3e5, 3e5, 0.25)])
def test_series_and_integral_agree(low: float, rest: float, tilt: float, epsilon: float) -> None:
    """Two ways to the same ball: tails by series, and the peak by integration."""
    tails = beta_divergence(low, rest, tilt, epsilon)
    assert is_known(tails)
    with precision(256):
        a, b, s, e = (ball(number) for number in (low, rest, tilt, epsilon))
        first, second = Beta(a + s, b), Beta(a, b + s)
        start = ((e + first.log_constant - second.log_constant) / s).mid()
        peak = beta_peak(first, start, s)
    assert is_known(peak)
    # The peak leaves tails of e^-50 out.
    assert near(peak, tails, digits=18)


@pytest.mark.parametrize("more", [False, True])
def test_series_and_integral_agree_for_gamma(more: bool) -> None:
    tails = gamma_divergence(1e4, 80.0, 0.5, more=more)
    with precision(256):
        a, s, e = ball(1e4), ball(80.0), ball(0.5 if more else -0.5)
        start = ((e + Gamma(a + s).log_constant - Gamma(a).log_constant) / s).mid()
        peak = gamma_peak(Gamma(a + s) if more else Gamma(a), start, s, 1 if more else -1)
    assert near(peak, tails, digits=18)


@pytest.mark.slow
def test_extreme_shapes_are_settled() -> None:
    rng = np.random.default_rng(8)
    for _ in range(30):
        low, rest = (float(x) for x in 10.0 ** rng.uniform(-8.0, 30.0, 2))
        tilt, epsilon = float(10.0 ** rng.uniform(-6.0, 3.0)), float(10.0 ** rng.uniform(-3.0, 1.0))
        assert is_known(beta_divergence(low, rest, tilt, epsilon))
        assert is_known(gamma_divergence(low, tilt, epsilon, more=True))
        assert is_known(gamma_divergence(low, tilt, epsilon, more=False))


def test_large_shapes_tend_to_the_normal() -> None:
    a = 1e24
    found = beta_divergence(a, a, a**0.5, 1.0)
    normal = normal_divergence(2.0**0.5, 1.0)
    assert near(found, normal, digits=11)


def test_a_claim_a_hair_below_is_seen() -> None:
    truth = beta_divergence(2.0, 3.0, 1.0, 0.5)
    exact = float(truth.mid())
    assert is_below(exact * (1 - 1e-15), truth)
    assert not is_below(exact * (1 + 1e-15), truth)
    log = math.log(exact)
    assert is_log_below(log - 1e-14, truth)
    assert not is_log_below(log + 1e-14, truth)
