"""Ten thousand random calibration targets, none of them unsafe by an independent oracle."""

from __future__ import annotations

import math
from functools import partial

import mpmath
import numpy as np
import pytest

import veil
from tests.oracles.hockey import beta_hockey_stick, gamma_hockey_stick
from veil.core.privacy.pairs import SymmetricBetaPair
from veil.errors import CannotCalibrate

PARTS, TARGETS = 20, 10_000


def _oracle_delta(a: float, s: float, epsilon: float) -> mpmath.mpf:
    """The oracle on the float shapes as they are, added in enough digits."""
    with mpmath.workdps(60):
        low, high = mpmath.mpf(a), mpmath.mpf(a) + mpmath.mpf(s)
        return beta_hockey_stick(high, low, low, high, epsilon)


def _target(rng: np.random.Generator) -> tuple[float, float, float, float]:
    floor = 10 ** rng.uniform(-6, -1)
    mass = floor * 10 ** rng.uniform(-3, 0.7)
    return floor, min(mass, 0.5), 10 ** rng.uniform(-2, 1.3), 10 ** rng.uniform(-12, -0.5)


def _check(seed: int, count: int) -> tuple[int, float]:
    rng = np.random.default_rng(seed)
    reached, largest = 0, 0.0
    while reached < count:
        floor, mass, epsilon, delta = _target(rng)
        # Where even k -> 0 is not private enough there is nothing to calibrate.
        if mass / (2 * floor + mass) * math.exp(-epsilon * floor / mass) > 0.5 * delta:
            continue
        domain = veil.vectors.Simplex(5, floor=floor)
        mechanism = veil.calibrate(
            partial(veil.vectors.Dirichlet, domain=domain),
            veil.vectors.Transfer(mass),
            epsilon=epsilon,
            delta=delta,
        )
        a, s = mechanism.k * floor, mechanism.k * min(mass, domain.room)
        truth = _oracle_delta(a, s, epsilon)
        assert truth <= delta, (floor, mass, epsilon, delta, mechanism.k)
        # The edge is that of entries which may have been rounded to floats: a little more mass moves.
        worst = mechanism.profile(veil.vectors.Transfer(mass))
        assert isinstance(worst, SymmetricBetaPair)
        edge = _oracle_delta(worst.shape, worst.tilt, epsilon)
        assert delta * (1 - 1e-6) <= edge <= delta, "safe, but far from the edge"
        largest = max(largest, mechanism.k * floor)
        reached += 1
    return reached, largest


@pytest.mark.parametrize("count", [5, pytest.param(100, marks=pytest.mark.slow)])
def test_some_random_targets(count: int) -> None:
    """A hundred miss a fault that one target in twenty shows with a probability of 0.6 %."""
    reached, _ = _check(1_000, count)
    assert reached == count


@pytest.mark.evidence
@pytest.mark.parametrize("part", range(PARTS))
def test_ten_thousand_random_targets(part: int) -> None:
    reached, largest = _check(part, TARGETS // PARTS)
    assert reached == TARGETS // PARTS
    # Both sides of the oracle's switch from incomplete betas to quadrature are visited.
    assert largest > 1e3


@pytest.mark.parametrize(
    "count", [pytest.param(100, marks=pytest.mark.slow), pytest.param(500, marks=pytest.mark.evidence)]
)
def test_random_targets_for_counts(count: int) -> None:
    rng = np.random.default_rng(77)
    for _ in range(count):
        prior, epsilon, delta = 10 ** rng.uniform(-1, 4), 10 ** rng.uniform(-2, 1), 10 ** rng.uniform(-12, -1)
        try:
            mechanism = veil.calibrate(
                partial(veil.vectors.DirichletCounts, prior=prior, size=4),
                veil.vectors.Records("add-remove"),
                epsilon=epsilon,
                delta=delta,
            )
        except CannotCalibrate:
            continue
        with mpmath.workdps(60):
            low, high = mpmath.mpf(prior), mpmath.mpf(prior) + mpmath.mpf(mechanism.scale)
            truth = max(gamma_hockey_stick(high, low, epsilon), gamma_hockey_stick(low, high, epsilon))
        assert delta * (1 - 1e-6) <= truth <= delta
