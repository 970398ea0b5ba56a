"""Log gammas against arbitrary precision: near the truth, and within the errors that they state."""

import math

import numpy as np
import pytest
from mpmath import mp, mpf

from veil.core.numerics.balls import Ball
from veil.core.numerics.log_gamma import (
    HALF_LOG_TWO_PI,
    log_excess,
    log_gammas,
    log_rising,
    rising_excess,
    stirling_error,
)


def off(ball: Ball, truth: mpf) -> float:
    """The distance from the truth as a share of the stated error."""
    return float(abs(mpf(ball.value) - truth) / mpf(ball.error)) if ball.error else float(ball.value != truth)


def log_gamma(x: mpf) -> mpf:
    return mp.loggamma(x)


def test_stirling_error_of_any_argument() -> None:
    rng = np.random.default_rng(1)
    for x in [*(10.0 ** rng.uniform(-300.0, 0.0, 100)), *(10.0 ** rng.uniform(0.0, 30.0, 300)), 10.0, 16.0]:
        with mp.workdps(100):
            main = (mpf(x) - 0.5) * mp.log(mpf(x)) - mpf(x) + mp.log(2 * mp.pi) / 2
            found = stirling_error(float(x))
            assert off(found, log_gamma(mpf(x)) - main) <= 1.0
            assert found.error <= 5e-14 + 2e-15 * abs(math.log(x))


def test_the_error_covers_a_rounded_argument() -> None:
    for x in (1e-20, 0.3, 7.7, 15.9, 1e9):
        found = stirling_error(x)
        with mp.workdps(60):
            for share in (-1, 1):
                moved = mpf(x) * (1 + share * mpf(2) ** -53)
                main = (moved - 0.5) * mp.log(moved) - moved + mp.log(2 * mp.pi) / 2
                assert off(found, log_gamma(moved) - main) <= 1.0


def test_half_log_two_pi() -> None:
    with mp.workdps(30):
        assert pytest.approx(float(mp.log(2 * mp.pi) / 2), rel=1e-16) == HALF_LOG_TWO_PI


@pytest.mark.parametrize("span", [(-30.0, 30.0), (-3.0, 3.0), (0.8, 1.5)])
@pytest.mark.parametrize("steps", [(-30.0, 30.0), (-12.0, 2.0)])
def test_rising_over_all_orders_of_magnitude(span: tuple[float, float], steps: tuple[float, float]) -> None:
    rng = np.random.default_rng(2)
    for x, step in zip(10.0 ** rng.uniform(*span, 150), 10.0 ** rng.uniform(*steps, 150), strict=True):
        with mp.workdps(150):
            rising = log_gamma(mpf(x) + mpf(step)) - log_gamma(mpf(x))
            excess = rising / mpf(step) - mp.log(mpf(x) + mpf(step))
            found = rising_excess(float(x), float(step))
            assert off(found, excess) <= 1.0
            # Nothing is lost of a small number: that is what the widths of huge shapes need.
            assert found.error <= 2e-13 * abs(found.value)
            assert off(log_rising(float(x), float(step)), rising) <= 1.0


def test_the_excess_grows_with_the_argument() -> None:
    for step in (1e-6, 0.3, 40.0):
        values = [rising_excess(float(x), step).value for x in np.geomspace(1e-3, 1e9, 60)]
        assert values == sorted(values)


@pytest.mark.slow
def test_what_a_logarithm_lacks() -> None:
    for r in [*np.geomspace(1e-300, 1e30, 200), 0.5, math.nextafter(0.5, 0.0)]:
        with mp.workdps(700):
            truth = mpf(r) - mp.log1p(mpf(r))
            found = log_excess(Ball(float(r)))
            assert off(found, truth) <= 1.0 or float(truth) < 1e-300
            moved = log_excess(Ball(float(r), 1e-3 * float(r)))
            for share in (-1, 1):
                there = mpf(r) * (1 + share * mpf("0.00099"))
                assert off(moved, there - mp.log1p(there)) <= 1.0 or float(truth) < 1e-300


@pytest.mark.parametrize("scale", [1e-6, 1e-50, 1e-200, 1e-300])
def test_log_rising_where_both_arguments_vanish(scale: float) -> None:
    # Gamma(x) tends to 1/x, so the ratio tends to x / (x + step).
    found = log_rising(scale, 2.0 * scale)
    assert found.value == pytest.approx(-math.log(3.0), abs=4.0 * scale + 1e-13)


def test_log_rising_of_whole_steps_is_a_product() -> None:
    for x in (0.5, 3.0, 11.25, 1e6):
        product = math.fsum(math.log(x + j) for j in range(4))
        assert log_rising(x, 4.0).value == pytest.approx(product, rel=1e-14)
    assert log_rising(5.0, 0.0) == Ball(0.0)


def test_log_gammas_within_their_errors() -> None:
    rng = np.random.default_rng(3)
    near = np.concatenate([whole + rng.normal(0.0, 1e-8, 40) for whole in (1.0, 2.0, 16.0)])
    spread = [10.0 ** rng.uniform(-30.0, 30.0, 300), rng.uniform(0.0, 20.0, 300), near]
    points = np.concatenate([*spread, [5e-324, 1e-300, 1.0, 2.0, math.nextafter(16.0, 0.0), 16.0, 1e300]])
    values, errors = log_gammas(points)
    with mp.workdps(50):
        for x, value, error in zip(points.tolist(), values.tolist(), errors.tolist(), strict=True):
            assert abs(mpf(value) - log_gamma(mpf(x))) <= mpf(error)
            # So also for numbers that round to x.
            for moved in (mpf(x) * (1 - mpf(2) ** -52), mpf(x) * (1 + mpf(2) ** -52)):
                assert abs(mpf(value) - log_gamma(moved)) <= mpf(error)
    logs = np.abs(np.log(points))
    assert (errors <= 1e-13 * (points * logs + points + logs + 50.0)).all()
