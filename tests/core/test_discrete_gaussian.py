"""Discrete Gaussian noise on one or two counts, against sums over the lattice."""

import math

import numpy as np
import pytest
from mpmath import mp, mpf

from veil.core.privacy.pairs import DiscreteGaussianShift, NormalPair

from ..oracles.brute import discrete_gaussian_delta

SHIFTS = {1: (1,), 2: (1, -1)}


@pytest.mark.parametrize("cells", [1, 2])
@pytest.mark.parametrize("sigma", [0.3, 0.5, 1.0, 2.7, 12.0])
def test_against_the_sum_over_the_lattice(sigma: float, cells: int) -> None:
    profile = DiscreteGaussianShift(sigma, cells)
    compared = 0
    for distance in (0.0, 0.1, 0.5, 1.0, 2.0, 3.5, 5.0):
        epsilon = distance * math.sqrt(cells) / sigma
        exact = discrete_gaussian_delta(sigma, SHIFTS[cells], epsilon)
        if exact > 1e-14:
            compared += 1
            # Next to a jump a rounding of epsilon moves delta by its own size.
            assert exact * (1.0 - 1e-10) <= profile.delta(epsilon) <= exact * (1.0 + 1e-9) + 1e-14 * epsilon
    assert compared >= 4


@pytest.mark.parametrize("cells", [1, 2])
def test_the_oracle_tells_a_wrong_sigma_apart(cells: int) -> None:
    exact = discrete_gaussian_delta(2.0, SHIFTS[cells], 0.8)
    assert DiscreteGaussianShift(2.0 * 1.05, cells).delta(0.8) < exact * 0.99
    assert DiscreteGaussianShift(2.0, 3 - cells).delta(0.8) != pytest.approx(exact, rel=0.05)


def exact_one_cell(sigma: float, epsilon: float) -> mpf:
    with mp.workdps(60):
        variance, total = mpf(sigma) ** 2, mpf(0)
        first = int(mp.floor(variance * mpf(epsilon))) - 2
        reach = math.ceil(60 * sigma) + 60
        for z in range(first, first + reach):
            gap = (2 * mpf(z) - 1) / (2 * variance) - mpf(epsilon)
            if gap > 0:
                total += mp.exp(-(mpf(z - 1) ** 2) / (2 * variance)) * -mp.expm1(-gap)
        return total / mp.fsum(mp.exp(-(mpf(z) ** 2) / (2 * variance)) for z in range(-reach, reach + 1))


@pytest.mark.slow_for("1.9")
@pytest.mark.parametrize("sigma", [0.08, 0.2, 0.55, 1.0, 1.9])
def test_never_below_the_truth_next_to_a_jump(sigma: float) -> None:
    # At the loss of one outcome, one rounding decides whether that outcome counts.
    for outcome in (1, 2, 3):
        loss = (2 * outcome - 1) / (2.0 * sigma**2)
        for epsilon in (
            loss,
            math.nextafter(loss, 0.0),
            math.nextafter(loss, math.inf),
            loss * (1.0 - 1e-12),
        ):
            exact = exact_one_cell(sigma, epsilon)
            with mp.workdps(60):
                assert exact < mpf("1e-300") or exact <= mpf(DiscreteGaussianShift(sigma, 1).delta(epsilon))


@pytest.mark.parametrize("delta", [1e-20, 1e-100, 1e-290])
def test_tiny_deltas(delta: float) -> None:
    for sigma in (0.8, 5.0):
        epsilon = DiscreteGaussianShift(sigma, 1).epsilon(delta)
        with mp.workdps(60):
            assert exact_one_cell(sigma, epsilon) <= mpf(delta) < exact_one_cell(sigma, epsilon * (1 - 1e-6))


@pytest.mark.parametrize("cells", [1, 2])
@pytest.mark.parametrize("sigma", [5e3, 3e4])
def test_wide_noise_tends_to_the_normal_pair(sigma: float, cells: int) -> None:
    normal = NormalPair(math.sqrt(cells) / sigma)
    for distance in (0.0, 0.5, 2.5):
        found = DiscreteGaussianShift(sigma, cells).delta(distance / sigma)
        assert found == pytest.approx(normal.delta(distance / sigma), rel=2e-3)


@pytest.mark.parametrize("cells", [1, 2])
def test_the_noise_is_symmetric_in_direction(cells: int) -> None:
    forward, backward = DiscreteGaussianShift(1.3, cells).log_deltas()
    for epsilon in np.linspace(0.0, 3.0, 7):
        assert forward(float(epsilon)) == backward(float(epsilon))
