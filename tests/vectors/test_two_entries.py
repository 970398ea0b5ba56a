"""Vectors of two entries: the certified worst case."""

import math
from itertools import pairwise

import numpy as np
import pytest
from mpmath import mp, mpf

from tests.core.compare import log_excess
from veil.core.privacy.pairs import SymmetricBetaPair
from veil.vectors.two_entries import TwoEntries, limit_as_k_vanishes

from ..oracles.hockey import beta_hockey_stick, two_entry_dirichlet

CERTIFIED = 2e-6


def corner(k: float, floor: float, mass: float, epsilon: float) -> mpf:
    with mp.workdps(50):
        low, high = mpf(k) * mpf(floor), mpf(k) * (mpf(floor) + mpf(mass))
        shifted, plain = (high, mpf(k) - high), (low, mpf(k) - low)
        forth = beta_hockey_stick(*shifted, *plain, epsilon)
        return max(forth, beta_hockey_stick(*plain, *shifted, epsilon))


CASES = [
    (10.0, 0.1, 0.2, 1.0),
    pytest.param(40.0, 0.05, 0.1, 2.0, marks=pytest.mark.slow),
    (3.0, 0.2, 0.6, 0.5),
    pytest.param(300.0, 0.02, 0.01, 0.3, marks=pytest.mark.slow),
    pytest.param(5.0, 0.3, 0.05, 0.2, marks=pytest.mark.slow),
    (0.1, 0.1, 0.3, 1.0),
    pytest.param(25.0, 0.1, 0.8, 6.0, marks=pytest.mark.slow),
    pytest.param(60.0, 0.4, 0.1, 3.0, marks=pytest.mark.slow),
]


@pytest.mark.slow_for("10.0-0.1-0.2-1.0")
@pytest.mark.parametrize(("k", "floor", "mass", "epsilon"), CASES)
def test_not_below_any_pair_and_close_to_the_corner(
    k: float, floor: float, mass: float, epsilon: float
) -> None:
    found = TwoEntries(k, floor, mass)._log_delta(epsilon)
    assert log_excess(found, two_entry_dirichlet(k, floor, mass, epsilon, points=17)) >= -1e-15
    assert 0.0 <= log_excess(found, corner(k, floor, mass, epsilon)) <= CERTIFIED


@pytest.mark.parametrize("pairs", [6, pytest.param(30, marks=pytest.mark.slow)])
def test_many_random_pairs(pairs: int) -> None:
    rng = np.random.default_rng(1)
    compared = 0
    for _ in range(pairs):
        floor = 10.0 ** rng.uniform(-4.0, -0.4)
        mass = (1.0 - 2.0 * floor) * rng.uniform(0.01, 0.99)
        k, epsilon = 10.0 ** rng.uniform(-2.0, 1.5), 10.0 ** rng.uniform(-1.0, 1.0)
        found = TwoEntries(k, floor, mass)._log_delta(epsilon)
        if found > -600.0:
            compared += 1
            assert 0.0 <= log_excess(found, corner(k, floor, mass, epsilon)) <= CERTIFIED
    assert compared > 2 / 3 * pairs


def test_the_pair_of_three_entries_is_far_too_large_here() -> None:
    two, three = TwoEntries(60.0, 0.1, 0.02), SymmetricBetaPair(6.0, 1.2)
    assert two.delta(3.0) < 0.2 * three.delta(3.0)


@pytest.mark.parametrize(
    ("k", "floor", "mass", "epsilon"),
    [(1000.0, 0.3, 0.01, 0.3), (1e4, 0.3, 1e-3, 0.3), (5.0, 0.3, 1e-3, 0.01)],
)
def test_a_small_transfer_far_from_the_corner(k: float, floor: float, mass: float, epsilon: float) -> None:
    found = TwoEntries(k, floor, mass)._log_delta(epsilon)
    assert 0.0 <= log_excess(found, corner(k, floor, mass, epsilon)) <= CERTIFIED


@pytest.mark.parametrize("floor", [1e-3, 1e-6, 1e-9])
def test_the_whole_room_is_moved(floor: float) -> None:
    # From one corner to the other: Beta(k (1 - floor), k floor) against its mirror.
    k, mass = 5.0, 1.0 - 2.0 * floor
    profile = TwoEntries(k, floor, mass)
    for epsilon in (0.0, 1.0, 0.01 / floor):
        with mp.workdps(50):
            low = mpf(k) * mpf(floor)
            exact = beta_hockey_stick(mpf(k) - low, low, low, mpf(k) - low, epsilon)
        assert 0.0 <= log_excess(profile._log_delta(epsilon), exact) <= CERTIFIED


@pytest.mark.slow
def test_epsilon_is_safe_and_tight() -> None:
    profile = TwoEntries(20.0, 0.1, 0.05)
    values = []
    for delta in (1e-2, 1e-5, 1e-9):
        epsilon = profile.epsilon(delta)
        assert profile.delta(epsilon) <= delta < profile.delta(epsilon * (1.0 - 1e-5))
        with mp.workdps(50):
            assert corner(20.0, 0.1, 0.05, epsilon) <= mpf(delta)
        values.append(epsilon)
    assert all(later > earlier for earlier, later in pairwise(values))


def test_the_likely_curve_is_the_certified_one() -> None:
    profile = TwoEntries(20.0, 0.1, 0.05)
    for epsilon in (0.0, 0.7, 2.0):
        assert profile.likely_log_delta(epsilon) == pytest.approx(profile._log_delta(epsilon), abs=1e-12)


@pytest.mark.parametrize("k", [1e-3, 1e-6])
def test_a_vanishing_concentration_leaks_no_more_than_with_three_entries(k: float) -> None:
    found = TwoEntries(k, 0.1, 0.15).delta(2.3)
    assert 0.0 < found <= math.exp(limit_as_k_vanishes(0.1, 0.15, 2.3)) * (1.0 + 1e-3)


@pytest.mark.parametrize("floor", [1e-17, 1e-20])
def test_a_floor_below_the_rounding_of_one_protects_next_to_nothing(floor: float) -> None:
    assert TwoEntries(10.0, floor, 1.0 - 2.0 * floor).delta(1.0) >= 1.0 - 1e-9
