"""The figures that the Dirichlet mechanism must reach, and its edges."""

from __future__ import annotations

import math

import numpy as np
import pytest

import veil
from tests.oracles.brute import dirichlet_pair_delta, worst_delta_by_search
from tests.oracles.hockey import two_entry_dirichlet, worst_case_dirichlet
from veil.errors import CannotCalibrate, InvalidArgument, InvalidData, NoGuarantee

GRADES = veil.vectors.Simplex(5, floor=0.073)
ONE_OF_98 = veil.vectors.Transfer.from_records(98)


def test_grade_example() -> None:
    mechanism = veil.vectors.Dirichlet(20.6, GRADES)
    published = mechanism.published(ONE_OF_98, gamma=4e-4)
    assert published.epsilon == pytest.approx(2.212, abs=5e-4)
    assert published.delta == pytest.approx(2e-3, rel=0.01)
    assert published.theorem == "data-driven chains paper, Theorem 1"
    assert published.violations == ()
    profile = mechanism.profile(ONE_OF_98)
    assert profile.kind == "exact"
    truth = float(worst_case_dirichlet(20.6, 0.073, 1 / 98, 5, 2.255))
    assert truth <= profile.delta(2.255) <= truth * (1 + 1e-9)
    assert profile.delta(2.255) == pytest.approx(2.456e-8, rel=0.01)
    assert profile.epsilon(0.0026) == pytest.approx(0.629, abs=5e-4)


def test_grade_example_calibrated() -> None:
    best = veil.calibrate(lambda k: veil.vectors.Dirichlet(k, GRADES), ONE_OF_98, epsilon=2.255, delta=0.0026)
    assert best.k >= 248
    assert float(worst_case_dirichlet(best.k, 0.073, 1 / 98, 5, 2.255)) <= 0.0026


@pytest.mark.slow
@pytest.mark.parametrize(
    ("k", "floor", "mass", "epsilon"), [(10.0, 0.1, 0.1, 0.5), (30.0, 0.15, 0.2, 1.0), (8.0, 0.2, 0.05, 0.1)]
)
def test_no_pair_of_neighbours_beats_the_worst_pair(
    k: float, floor: float, mass: float, epsilon: float
) -> None:
    claimed = (
        veil.vectors.Dirichlet(k, veil.vectors.Simplex(3, floor=floor))
        .profile(veil.vectors.Transfer(mass))
        .delta(epsilon)
    )
    found = worst_delta_by_search(k, floor, mass, epsilon, np.random.default_rng(1), 30)
    assert found <= claimed + 1e-6
    # The search knows nothing of the worst pair and comes near it: the claim is not idle.
    assert found >= 0.2 * claimed


def test_worst_pair_is_attained() -> None:
    k, floor, mass, epsilon = 12.0, 0.1, 0.15, 0.7
    p, q = np.array([0.25, 0.1, 0.65]), np.array([0.1, 0.25, 0.65])
    claimed = (
        veil.vectors.Dirichlet(k, veil.vectors.Simplex(3, floor=floor))
        .profile(veil.vectors.Transfer(mass))
        .delta(epsilon)
    )
    assert dirichlet_pair_delta(k * p, k * q, epsilon) == pytest.approx(claimed, abs=1e-6)


@pytest.mark.slow
@pytest.mark.parametrize("pairs", [5, pytest.param(40, marks=pytest.mark.slow)])
def test_smoothing_covers_vectors_with_zeros(pairs: int) -> None:
    k, floor, mass, epsilon = 15.0, 0.12, 0.3, 0.8
    mechanism = veil.vectors.Dirichlet(k, veil.vectors.Simplex(3, floor=floor), smooth=True)
    claimed = mechanism.profile(veil.vectors.Transfer(mass)).delta(epsilon)
    worst = 0.0
    rng = np.random.default_rng(2)
    for _ in range(pairs):
        p = rng.dirichlet([0.5, 0.5, 0.5])
        moved = min(mass, p[0])
        q = p + np.array([-moved, moved, 0.0])
        shapes = [k * mechanism.smoothed(v) for v in (p, q)]
        worst = max(worst, dirichlet_pair_delta(shapes[0], shapes[1], epsilon))
    corner = [k * mechanism.smoothed(np.array(v)) for v in ([mass, 0.0, 1 - mass], [0.0, mass, 1 - mass])]
    assert worst <= claimed + 1e-6
    assert dirichlet_pair_delta(corner[0], corner[1], epsilon) == pytest.approx(claimed, abs=1e-6)
    assert mechanism.assumptions() == ()


def test_transfer_is_capped_by_the_room() -> None:
    domain = veil.vectors.Simplex(4, floor=0.2)
    profile = veil.vectors.Dirichlet(10.0, domain).profile(veil.vectors.Transfer(1.0))
    same = veil.vectors.Dirichlet(10.0, domain).profile(veil.vectors.Transfer(0.2))
    # Sums are taken within a tolerance, which is in the guarantee.
    assert profile.delta(1.0) == pytest.approx(same.delta(1.0), rel=1e-7)
    full = veil.vectors.Dirichlet(10.0, veil.vectors.Simplex(4, floor=0.25)).profile(
        veil.vectors.Transfer(0.1)
    )
    assert 0.0 < full.delta(0.0) < 1e-8


def test_two_entries_are_exact_and_below_the_general_bound() -> None:
    mechanism = veil.vectors.Dirichlet(30.0, veil.vectors.Simplex(2, floor=0.1))
    delta = mechanism.profile(veil.vectors.Transfer(0.1)).delta(1.0)
    truth = float(two_entry_dirichlet(30.0, 0.1, 0.1, 1.0, points=9))
    assert truth * (1 - 1e-12) <= delta <= truth * (1 + 2e-6)
    assert delta < 0.75 * float(worst_case_dirichlet(30.0, 0.1, 0.1, 5, 1.0))


def test_small_k_does_not_buy_any_privacy() -> None:
    profile = veil.vectors.Dirichlet(1e-9, veil.vectors.Simplex(3, floor=0.1)).profile(
        veil.vectors.Transfer(0.15)
    )
    assert profile.delta(2.3) == pytest.approx(0.0925, abs=5e-5)
    with pytest.raises(CannotCalibrate, match="floor"):
        veil.calibrate(
            lambda k: veil.vectors.Dirichlet(k, veil.vectors.Simplex(3, floor=0.1)),
            veil.vectors.Transfer(0.15),
            epsilon=2.3,
            delta=0.05,
        )


def test_a_floor_of_zero_protects_nothing_and_says_so() -> None:
    with pytest.raises(NoGuarantee, match="floor of 0 protects nothing"):
        veil.vectors.Dirichlet(10.0, veil.vectors.Simplex(3)).profile(veil.vectors.Transfer(0.1))


def test_huge_k_and_tiny_delta() -> None:
    profile = veil.vectors.Dirichlet(1e12, veil.vectors.Simplex(10, floor=1e-9)).profile(
        veil.vectors.Transfer(1e-10)
    )
    epsilon = profile.epsilon(1e-200)
    assert math.isfinite(epsilon)
    assert float(worst_case_dirichlet(1e12, 1e-9, 1e-10, 10, epsilon)) <= 1e-200
    assert float(worst_case_dirichlet(1e12, 1e-9, 1e-10, 10, epsilon * (1 - 1e-5))) > 1e-200


def test_unprotected_entries_may_be_zero_and_stay_zero() -> None:
    domain = veil.vectors.Simplex(4, floor=0.1, protected=(0, 1, 2))
    draws = veil.vectors.Dirichlet(20.0, domain).sample([0.2, 0.5, 0.3, 0.0], rng=1, size=50)
    assert (draws[:, 3] == 0.0).all()
    assert np.allclose(draws.sum(axis=1), 1.0)


def test_mean_and_variance() -> None:
    # alpha: each z below 5 in absolute value, 10 of them: false alarms below 1e-5; power: see the last line
    p, k = np.array([0.1, 0.2, 0.3, 0.25, 0.15]), 20.6
    draws = veil.vectors.Dirichlet(k, GRADES).sample(p, rng=3, size=200_000)
    variance = p * (1 - p) / (k + 1)
    z = (draws.mean(axis=0) - p) / np.sqrt(variance / len(draws))
    ratio = draws.var(axis=0) / variance
    assert (np.abs(z) < 5).all()
    assert (np.abs(ratio - 1) < 0.02).all()
    wrong = p * (1 - p) / (1.05 * k + 1)
    assert (np.abs(draws.var(axis=0) / wrong - 1) > 0.02).all()


@pytest.mark.parametrize("k", [0.0, -1.0, math.nan, math.inf, "3", None, True])
def test_bad_k(k: object) -> None:
    with pytest.raises(InvalidArgument, match="k: expected a positive number"):
        veil.vectors.Dirichlet(k, GRADES)  # type: ignore[arg-type]


def test_other_bad_arguments() -> None:
    with pytest.raises(InvalidArgument, match="domain"):
        veil.vectors.Dirichlet(3.0, 5)  # type: ignore[arg-type]
    with pytest.raises(InvalidArgument, match="smooth"):
        veil.vectors.Dirichlet(3.0, GRADES, smooth=1)  # type: ignore[arg-type]
    with pytest.raises(InvalidArgument, match=r"domain\.floor"):
        veil.vectors.Dirichlet(3.0, veil.vectors.Simplex(4, floor=0.25), smooth=True)
    with pytest.raises(InvalidData, match="floor"):
        veil.vectors.Dirichlet(3.0, GRADES).sample([0.9, 0.025, 0.025, 0.025, 0.025])
    with pytest.raises(InvalidArgument, match="size"):
        veil.vectors.Dirichlet(3.0, GRADES).sample([0.2] * 5, size=0)
    with pytest.raises(InvalidArgument, match="gamma"):
        veil.vectors.Dirichlet(3.0, GRADES).published(ONE_OF_98)


def test_conditional_form_lists_its_assumption() -> None:
    assert "at least 0.073" in veil.vectors.Dirichlet(20.6, GRADES).assumptions()[0]
    domain = veil.vectors.Simplex(5, floor=0.05, protected=(0, 1), slack=0.2)
    partly = veil.vectors.Dirichlet(20.6, domain).assumptions()
    assert len(partly) == 3
    assert "0.2 of the mass lies outside" in partly[1]
    assert "not protected are public" in partly[2]
    assert veil.vectors.Dirichlet(20.6, domain, smooth=True).assumptions() == partly[1:]
