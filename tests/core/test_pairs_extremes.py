"""Concentrations that vanish or explode: the answer is neither lost nor understated."""

import math

import pytest
from mpmath import mp, mpf

from tests.core.compare import bounded
from tests.params import quick_first
from veil.core.privacy.pairs import SymmetricBetaPair
from veil.vectors.two_entries import limit_as_k_vanishes

from ..oracles.hockey import beta_hockey_stick


def truth(a: float, s: float, epsilon: mpf) -> mpf:
    with mp.workdps(50):
        return beta_hockey_stick(mpf(a) + mpf(s), a, a, mpf(a) + mpf(s), epsilon, "quad")


@pytest.mark.parametrize("k", [1e-6, 1e-9, 1e-30, 1e-100, 1e-250])
@pytest.mark.parametrize(("floor", "mass", "epsilon"), [(0.1, 0.15, 2.3), (0.05, 0.3, 1.0), (0.1, 0.02, 4.0)])
def test_a_vanishing_concentration_still_leaks(k: float, floor: float, mass: float, epsilon: float) -> None:
    found = bounded(SymmetricBetaPair(k * floor, k * mass)).delta(epsilon)
    limit = math.exp(limit_as_k_vanishes(floor, mass, epsilon))
    assert found == pytest.approx(limit, rel=10.0 * k + 1e-9)
    assert found > 0.0


def test_the_known_figure_of_the_limit() -> None:
    assert math.exp(limit_as_k_vanishes(0.1, 0.15, 2.3)) == pytest.approx(0.0925, rel=1e-3)
    assert SymmetricBetaPair(1e-13, 1.5e-13).delta(2.3) == pytest.approx(0.0925, rel=1e-3)


@pytest.mark.parametrize("mass", quick_first([1e-6, 1e-9, 1e-3, 0.1, 0.3]))
@pytest.mark.parametrize(("k", "floor"), [(1e12, 1e-9), (1e12, 1e-3)])
def test_a_huge_concentration_at_a_tiny_delta(k: float, floor: float, mass: float) -> None:
    a, s, delta = k * floor, k * mass, 1e-200
    epsilon = bounded(SymmetricBetaPair(a, s)).epsilon(delta)
    assert math.isfinite(epsilon)
    with mp.workdps(50):
        assert truth(a, s, mpf(epsilon)) <= mpf(delta)
        assert truth(a, s, mpf(epsilon) * (1 - mpf("1e-6"))) > mpf(delta)


@pytest.mark.parametrize("k", [1e6, 1e9, 1e12])
@pytest.mark.parametrize("epsilon", [0.0, 2.3, 100.0])
def test_a_huge_concentration_reveals_a_large_transfer(k: float, epsilon: float) -> None:
    # The two vectors are thousands of standard deviations apart: delta is one to every digit.
    assert bounded(SymmetricBetaPair(0.1 * k, 0.15 * k)).delta(epsilon) == 1.0


@pytest.mark.parametrize("k", [1e3, 1e6, 1e9, 1e12])
def test_the_middle_of_the_range_at_every_concentration(k: float) -> None:
    # A transfer of one standard deviation: delta tends to the normal pair's, and never jumps.
    a = 0.1 * k
    s = math.sqrt(a)
    profile = SymmetricBetaPair(a, s)
    for epsilon in (0.5, 1.0, 3.0):
        exact = truth(a, s, mpf(epsilon))
        with mp.workdps(30):
            assert 0 <= mpf(profile.delta(epsilon)) / exact - 1 < mpf("1e-6")
