"""Hockey sticks of the three densities: never below the truth, and hardly above it."""

import math
from typing import Any

import numpy as np
import pytest
from mpmath import mp, mpf

from tests.params import quick_first
from veil.core.numerics.balls import Ball
from veil.core.numerics.densities import LogGamma, LogitBeta, StandardNormal
from veil.core.numerics.tilted import log_hockey_stick

from ..oracles.hockey import beta_hockey_stick, gamma_hockey_stick, normal_hockey_stick
from .compare import TIGHT, Bounded, log_excess

# Below 1e-290 the comparison stops: the doubles that the callers return end at 1e-308.
LOWEST = math.log(1e-290)
# With shapes of 1e12 the rounding of where the loss begins is what is left.
TIGHT_FOR_HUGE = 1e-8


def log_beta(a: mpf, b: mpf) -> mpf:
    return mp.loggamma(a) + mp.loggamma(b) - mp.loggamma(a + b)


def beta_truth(a: float, b: float, tilt: float, start: float, side: int) -> mpf:
    with mp.workdps(50):
        other_a, other_b = mpf(a) - side * mpf(tilt), mpf(b) + side * mpf(tilt)
        offset = log_beta(other_a, other_b) - log_beta(mpf(a), mpf(b))
        epsilon = side * mpf(tilt) * (mp.log(mpf(a) / mpf(b)) + mpf(start)) + offset
        return beta_hockey_stick(a, b, other_a, other_b, epsilon)


def gamma_truth(shape: float, tilt: float, start: float, side: int) -> mpf:
    with mp.workdps(50):
        other = mpf(shape) - side * mpf(tilt)
        offset = mp.loggamma(other) - mp.loggamma(mpf(shape))
        return gamma_hockey_stick(shape, other, side * mpf(tilt) * (mp.log(mpf(shape)) + mpf(start)) + offset)


def hockey(density: Any, tilt: float, start: float, side: int) -> float:
    return log_hockey_stick(Bounded(density), 0.0, tilt=tilt, zero=Ball(start), side=side)


def violations(cases: list[tuple[Any, ...]], density: Any, truth: Any, tight: float) -> list[tuple[Any, ...]]:
    """The cases (*shapes, tilt, start, side) whose result is below the truth, or too far above it."""
    found = []
    compared = 0
    for case in cases:
        *shapes, tilt, start, side = case
        value = hockey(density(*shapes), tilt, start, side)
        if value > LOWEST:
            compared += 1
            excess = log_excess(value, truth(*case))
            if not 0.0 <= excess <= tight:
                found.append((excess, case))
    assert compared > 0.6 * len(cases)
    return found


def beta_cases(rng: np.random.Generator, count: int, low: float, high: float) -> list[tuple[Any, ...]]:
    cases = []
    for _ in range(count):
        a, b = (10.0 ** rng.uniform(low, high) for _ in range(2))
        side = int(rng.choice([-1, 1]))
        tilt = (a if side > 0 else b) * (1.0 - 10.0 ** rng.uniform(-6.0, -1e-6))
        scale = math.sqrt(1.0 / a + 1.0 / b)
        far = rng.uniform(-4.0, 34.0) * scale
        if rng.random() < 0.3:
            far = rng.uniform(0.0, 640.0) / (b if side > 0 else a)
        cases.append((a, b, tilt, side * far, side))
    return cases


def gamma_cases(rng: np.random.Generator, count: int, low: float, high: float) -> list[tuple[Any, ...]]:
    cases: list[tuple[Any, ...]] = []
    for _ in range(count):
        shape = 10.0 ** rng.uniform(low, high)
        side = int(rng.choice([-1, 1]))
        tilt = shape * 10.0 ** rng.uniform(-6.0, -0.01 if side > 0 else 2.0)
        if side > 0:
            beyond = math.sqrt(shape) * rng.uniform(0.0, 30.0) + rng.choice([0.0, 300.0]) * rng.random()
            start = math.log1p(beyond / shape) if rng.random() < 0.7 else -rng.uniform(0.0, 20.0) / shape
        else:
            start = -rng.uniform(-2.0, 34.0) / math.sqrt(shape)
            if shape < 1.0:
                start = -rng.uniform(-1.0, 640.0) / shape
        cases.append((shape, tilt, start, side))
    return cases


SEEDS = quick_first([(0, 20), *((seed, 100) for seed in range(4))])


@pytest.mark.parametrize(("seed", "count"), SEEDS)
def test_beta_of_tiny_to_large_shapes(seed: int, count: int) -> None:
    cases = beta_cases(np.random.default_rng(seed), count, -6.0, 3.0)
    assert violations(cases, LogitBeta, beta_truth, TIGHT) == []


@pytest.mark.slow
@pytest.mark.parametrize(("seed", "count"), SEEDS)
def test_gamma_of_tiny_to_large_shapes(seed: int, count: int) -> None:
    cases = gamma_cases(np.random.default_rng(seed), count, -6.0, 3.0)
    assert violations(cases, LogGamma, gamma_truth, TIGHT) == []


@pytest.mark.slow
@pytest.mark.parametrize("count", quick_first([7, 36]))
def test_beta_of_huge_shapes(count: int) -> None:
    rng = np.random.default_rng(11)
    cases = []
    for _ in range(count):
        a = 10.0 ** rng.uniform(6.0, 12.0)
        b = a * 10.0 ** rng.uniform(-1.0, 1.0) if rng.random() < 0.3 else a + math.sqrt(a) * rng.normal()
        side = int(rng.choice([-1, 1]))
        tilt = math.sqrt(a) * 10.0 ** rng.uniform(-3.0, 1.5)
        far = rng.uniform(-4.0, 34.0) * math.sqrt(1.0 / a + 1.0 / b)
        cases.append((a, b, tilt, side * far, side))
    assert violations(cases, LogitBeta, beta_truth, TIGHT_FOR_HUGE) == []


@pytest.mark.slow
@pytest.mark.parametrize("count", quick_first([7, 36]))
def test_gamma_of_huge_shapes(count: int) -> None:
    rng = np.random.default_rng(12)
    cases: list[tuple[Any, ...]] = []
    for _ in range(count):
        shape = 10.0 ** rng.uniform(6.0, 12.0)
        side = int(rng.choice([-1, 1]))
        tilt = math.sqrt(shape) * 10.0 ** rng.uniform(-3.0, 1.5)
        far = rng.uniform(-4.0, 34.0) / math.sqrt(shape)
        cases.append((shape, tilt, side * far, side))
    assert violations(cases, LogGamma, gamma_truth, TIGHT_FOR_HUGE) == []


def test_normal() -> None:
    rng = np.random.default_rng(13)
    found = []
    for _ in range(300):
        side, tilt = int(rng.choice([-1, 1])), 10.0 ** rng.uniform(-6.0, 2.0)
        start = side * rng.uniform(-5.0, 36.0)
        with mp.workdps(50):
            epsilon = side * mpf(tilt) * mpf(start) + mpf(tilt) ** 2 / 2
        excess = log_excess(
            hockey(StandardNormal(), tilt, start, side), normal_hockey_stick(tilt, 1, epsilon)
        )
        if not 0.0 <= excess <= TIGHT:
            found.append((excess, tilt, start, side))
    assert found == []


@pytest.mark.parametrize(
    ("density", "tilt"), [(LogitBeta(3.0, 2.0), 1.0), (LogGamma(2.0), 1.5), (StandardNormal(), 2.0)]
)
@pytest.mark.parametrize("side", [1, -1])
def test_decreases_as_the_start_moves_away(density: Any, tilt: float, side: int) -> None:
    values = [hockey(density, tilt, side * float(start), side) for start in np.linspace(-6.0, 6.0, 40)]
    assert all(np.diff(values) < 0.0)
    assert values[0] <= 1e-8


@pytest.mark.parametrize("density", [LogitBeta(30.0, 20.0), LogGamma(50.0), StandardNormal()])
@pytest.mark.parametrize("side", [1, -1])
def test_an_uncertain_start_is_charged_for(density: Any, side: int) -> None:
    # What is returned for a start known to 1e-3 covers every start that near.
    start = 0.4 * side
    wide = log_hockey_stick(density, 0.0, tilt=2.0, zero=Ball(start, 1e-3), side=side)
    for moved in (start - 1e-3, start, start + 1e-3):
        assert hockey(density, 2.0, moved, side) <= wide


@pytest.mark.parametrize(
    "density", [LogitBeta(1e-3, 40.0), LogitBeta(7.0, 2.5), LogGamma(0.3), LogGamma(1e8)]
)
def test_slope_is_the_derivative_of_the_log_density(density: Any) -> None:
    scale = 1.0 / math.sqrt(getattr(density, "shape", 1.0))
    for w in np.array([-9.0, -2.0, -0.3, 0.2, 0.9, 1.1, 3.0]) * scale:
        step = 1e-4 * scale
        ahead, behind = density.log_above(np.array([w + step, w - step]))
        assert (ahead - behind) / (2.0 * step) == pytest.approx(density.slope(w), rel=1e-5)
