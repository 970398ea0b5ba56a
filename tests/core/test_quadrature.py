"""Integrals whose value is known."""

import itertools
import math
from collections.abc import Callable

import numpy as np
import pytest

from veil.core.arrays import Floats
from veil.core.numerics.tilted import log_integral_of_log_concave

Curve = Callable[[Floats], Floats]
ACCURATE = 2e-12


def integral(
    log_value: Callable[[Floats], Floats], slope: Callable[[float], float], **places: float
) -> float:
    calls = itertools.count()

    def counted(v: Floats) -> Floats:
        assert next(calls) < 5_000, "the search for the peak or the end does not settle"
        return log_value(v)

    with np.errstate(divide="ignore"):
        return log_integral_of_log_concave(counted, slope, **places)[0]


@pytest.mark.parametrize("shape", [2.0, 3.0, 10.0, 300.0, 1e5])
@pytest.mark.parametrize("guess", [1e-3, 1.0, 1e4])
def test_gamma_function(shape: float, guess: float) -> None:
    found = integral(
        lambda v: (shape - 1.0) * np.log(v) - v, lambda v: (shape - 1.0) / v - 1.0, guess=guess, knee=0.0
    )
    assert found == pytest.approx(math.lgamma(shape), rel=ACCURATE, abs=ACCURATE)


@pytest.mark.parametrize("rate", [1e-8, 1e-3, 1.0, 1e4])
@pytest.mark.parametrize("tilt", [1e-9, 1e-2, 1.0, 1e6])
def test_difference_of_exponentials(rate: float, tilt: float) -> None:
    # the integral of (1 - e^-tilt v) e^-rate v is tilt / (rate (rate + tilt))
    found = integral(
        lambda v: np.log(-np.expm1(-tilt * v)) - rate * v,
        lambda v: (tilt / math.expm1(tilt * v) if tilt * v < 700.0 else 0.0) - rate,
        guess=1.0 / tilt,
        knee=0.0,
    )
    assert found == pytest.approx(math.log(tilt) - math.log(rate) - math.log(rate + tilt), abs=ACCURATE)


@pytest.mark.parametrize("scale", [1e-12, 1e-4, 1.0, 1e9])
def test_rayleigh(scale: float) -> None:
    # the integral of v e^{-v^2 / 2 scale^2} is scale^2, whatever the order of magnitude
    found = integral(
        lambda v: np.log(v) - 0.5 * (v / scale) ** 2, lambda v: 1.0 / v - v / scale**2, guess=1.0, knee=0.0
    )
    assert found == pytest.approx(2.0 * math.log(scale), abs=1e-10 * abs(math.log(scale)) + ACCURATE)


@pytest.mark.parametrize("knee", [-30.0, -1.5, 1.0, 3.0, 40.0, 2_000.0])
def test_a_knee_on_the_scale_of_one(knee: float) -> None:
    # v / (1 + e^{v - knee}): the Fermi-Dirac integral -Li_2(-e^knee), where
    # Li_2(-y) + Li_2(-1/y) = -pi^2/6 - log(y)^2 / 2 brings the argument below one
    def log_value(v: Floats) -> Floats:
        return np.asarray(np.log(v) - np.logaddexp(0.0, v - knee))

    def slope(v: float) -> float:
        return 1.0 / v - 1.0 / (1.0 + math.exp(min(knee - v, 700.0)))

    y = math.exp(-abs(knee))
    exact = math.fsum((-1) ** (n + 1) * y**n / n**2 for n in range(1, 60))
    if knee > 0.0:
        exact = math.pi**2 / 6.0 + knee**2 / 2.0 - exact
    assert integral(log_value, slope, guess=1.0, knee=knee) == pytest.approx(math.log(exact), abs=1e-11)


@pytest.mark.parametrize("depth", [30.0, 1e2, 383.6, 1e3, 4567.0, 1e5, 383_647.0])
def test_a_steep_edge_far_from_the_start(depth: float) -> None:
    # v e^{-e^{v - depth}} rises gently for long and then ends on the scale of one
    found = integral(
        lambda v: np.log(v) - np.exp(np.minimum(v - depth, 700.0)),
        lambda v: 1.0 / v - math.exp(min(v - depth, 700.0)),
        guess=1.0,
        knee=depth,
    )
    euler = 0.5772156649015329
    # by parts: half the second moment of v = depth + y, where -y is a Gumbel variable
    exact = 0.5 * ((depth - euler) ** 2 + math.pi**2 / 6.0)
    assert found == pytest.approx(math.log(exact), abs=1e-11)


def test_an_integrand_that_vanishes_everywhere() -> None:
    value, _ = log_integral_of_log_concave(
        lambda v: np.full_like(v, -math.inf), lambda v: 1.0 - v, guess=1.0, knee=0.0
    )
    assert value == -math.inf


def test_far_below_the_range_of_a_double() -> None:
    value, (left, mode, right) = log_integral_of_log_concave(
        lambda v: np.log(v) - v - 5e6, lambda v: 1.0 / v - 1.0, guess=1.0, knee=0.0
    )
    assert value == pytest.approx(-5e6, rel=1e-15)
    assert left < mode < right
    assert mode == pytest.approx(1.0, rel=0.2)
