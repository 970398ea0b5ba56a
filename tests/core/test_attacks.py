"""Inputs that once beat a printed guarantee, or broke it in another way. None may again."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest

import veil
from tests.oracles.hockey import normal_hockey_stick, two_entry_dirichlet
from tests.params import quick_first
from veil.core.privacy.pairs import NormalPair
from veil.errors import InvalidArgument, InvalidData
from veil.vectors.two_entries import TwoEntries


def test_a_vector_a_little_below_the_floor_is_refused() -> None:
    """A tolerance of 1e-12 let a zero through where the floor was 1e-12."""
    with pytest.raises(InvalidData, match="floor"):
        veil.vectors.Dirichlet(1e12, veil.vectors.Simplex(3, floor=1e-12)).sample([0.0, 0.5, 0.5])
    size = 10**6
    vector = np.full(size, 1e-6 - 0.99e-12)
    vector[0] = 1.0 - vector[1:].sum()
    with pytest.raises(InvalidData, match="floor"):
        veil.vectors.Simplex(size, floor=1e-6).validate(vector)


def test_rounding_below_the_floor_is_lifted_back() -> None:
    domain = veil.vectors.Simplex(3, floor=0.1)
    vector = domain.validate([np.nextafter(0.1, 0.0), 0.4, 0.5])
    assert vector.min() >= 0.1


def test_a_small_room_is_not_taken_for_none() -> None:
    domain = veil.vectors.Simplex(10**6, floor=(1 - 8e-10) / 1e6)
    assert domain.room == pytest.approx(8e-10, rel=1e-6)
    assert veil.vectors.Dirichlet(1e12, domain).profile(veil.vectors.Transfer(1e-6)).delta(0.0) > 0.1
    assert veil.vectors.Simplex(5, floor=0.2).room == 0.0


@pytest.mark.parametrize(
    ("epsilon", "times"), [(10.0, 50_000), (11.0, 50_000), (12.0, 50_000), (7.1418, 10_000)]
)
def test_long_compositions_are_not_below_the_truth(epsilon: float, times: int) -> None:
    step = np.sqrt(2.0) * 0.05 / 10.0
    composed = NormalPair(step).repeat(times)
    truth = float(normal_hockey_stick(step * times**0.5, 1.0, epsilon))
    assert composed.delta(epsilon) >= truth
    assert composed.delta(epsilon) <= 1.01 * truth + 2e-11


def test_repeating_often_is_not_a_long_list() -> None:
    assert NormalPair(1e-9).repeat(3 * 10**7).pure_epsilon == np.inf


@pytest.mark.slow
def test_two_entries_with_a_tiny_transfer() -> None:
    profile = veil.vectors.Dirichlet(1000.0, veil.vectors.Simplex(2, floor=0.1)).profile(
        veil.vectors.Transfer.from_records(1000)
    )
    truth = float(two_entry_dirichlet(1000.0, 0.1, 1e-3, 0.3))
    assert truth * (1 - 1e-9) <= profile.delta(0.3) <= truth * (1 + 3e-6)
    assert profile.delta(profile.epsilon(1e-6)) <= 1e-6


@pytest.mark.slow
def test_two_entries_at_a_huge_concentration() -> None:
    hard = TwoEntries(91733419280762.45, 0.4011041205888051, 1.1525458182229272e-11)
    epsilon = 0.006710745665827744
    truth = float(two_entry_dirichlet(hard.k, hard.floor, hard.mass, epsilon))
    assert hard.delta(epsilon) >= truth * (1 - 1e-12)


def test_an_underflow_is_never_taken_for_privacy() -> None:
    for shift in (1e3, 1e10, 1e150, 1e200):
        assert NormalPair(shift).delta(1.0) == pytest.approx(1.0)
    for bad in (1e-180, 1e300, 5e-324):
        with pytest.raises(InvalidArgument, match="sigma"):
            veil.vectors.Gaussian(bad, veil.vectors.Simplex(3))
        with pytest.raises(InvalidArgument, match="prior"):
            veil.vectors.DirichletCounts(1.0, bad, 3)
        with pytest.raises(InvalidArgument, match="k: expected"):
            veil.vectors.Dirichlet(bad, veil.vectors.Simplex(3, floor=0.1))


def test_a_tail_beyond_all_floats_is_nothing() -> None:
    assert NormalPair(1.0).delta(1e160) < 1e-300


def test_gaps_and_truth_values_are_not_numbers() -> None:
    with pytest.raises(InvalidData, match="masked"):
        veil.vectors.Counts(2).validate(np.ma.array([1, 2], mask=[False, True]))
    with pytest.raises(InvalidData, match="other things"):
        veil.vectors.Counts(2).validate([True, 2])


@pytest.mark.slow
def test_two_entries_compose() -> None:
    one = TwoEntries(20.0, 0.1, 0.05)
    both = one.repeat(2)
    assert one.delta(1.0) < both.delta(1.0) <= 2.0 * one.delta(0.5)


def test_the_edges_of_what_is_taken_work() -> None:
    for value in (1e-30, 1e30):
        assert (
            0.0
            <= veil.vectors.Gaussian(value, veil.vectors.Simplex(3))
            .profile(veil.vectors.Transfer(1.0))
            .delta(1.0)
            <= 1.0
        )
        assert (
            0.0
            <= veil.vectors.DirichletCounts(value, 1.0, 3).profile(veil.vectors.Records()).delta(1.0)
            <= 1.0
        )
        assert (
            0.0
            <= veil.vectors.DirichletCounts(1.0, value, 3).profile(veil.vectors.Records()).delta(1.0)
            <= 1.0
        )
        mechanism = veil.vectors.Dirichlet(value, veil.vectors.Simplex(3, floor=0.1))
        assert 0.0 <= mechanism.profile(veil.vectors.Transfer(0.1)).delta(1.0) <= 1.0
        assert np.isfinite(mechanism.sample([0.2, 0.3, 0.5], rng=1)).all()
    for scale in (1e-6, 1e12):
        assert veil.vectors.GeometricCounts(scale, 3).sample([1, 2, 3], rng=1).shape == (3,)


@pytest.mark.parametrize("sigma", quick_first([1e-3, 0.018, 1e5], quick=2))
@pytest.mark.parametrize("change", ["replace", "add-remove"])
def test_the_edges_of_discrete_gaussian_noise(sigma: float, change: str) -> None:
    profile = veil.vectors.DiscreteGaussianCounts(sigma, 3).profile(veil.vectors.Records(change))
    assert 0.0 <= profile.delta(1.0) <= 1.0
    assert profile.delta(profile.epsilon(1e-6)) <= 1e-6


def test_discrete_gaussian_just_below_a_loss() -> None:
    sigma, epsilon = 0.04259692466664848, 275.55831004749456
    delta = veil.vectors.DiscreteGaussianCounts(sigma, 3).profile(veil.vectors.Records()).delta(epsilon)
    # With so little noise the outcome is certain but for 1e-119: delta is the gap to the loss, exactly.
    gap = 1 / (2 * Fraction(sigma) ** 2) - Fraction(epsilon)
    assert float(gap) > 4e-14
    assert float(gap) * (1 - 1e-12) <= delta <= float(gap) * (1 + 1e-9)


@pytest.mark.slow
def test_error_bars_of_vectors_that_round_to_zero_and_one() -> None:
    truth = np.array([0.3, 0.7])
    mechanism = veil.vectors.Dirichlet(0.05, veil.vectors.Simplex(2, floor=0.1))
    release = veil.release(mechanism, truth, adjacency=veil.vectors.Transfer(0.1), delta=0.2, rng=1)
    limits = veil.vectors.intervals(replace(release, value=mechanism.sample(truth, rng=2, size=1000)))
    covered = ((limits[..., 0] <= truth) & (truth <= limits[..., 1])).mean()
    assert covered >= 0.94


def test_extreme_neighbours_can_be_audited() -> None:
    mechanism = veil.vectors.Laplace(1.0, veil.vectors.Simplex(3))
    assert not veil.audit(mechanism, [1, 0, 0], [0, 1, 0], samples=2000, rng=1).violated
