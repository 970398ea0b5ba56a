"""Log gammas against arbitrary precision."""

import math

import numpy as np
import pytest
from mpmath import mp, mpf

from veil.core.numerics.tilted import HALF_LOG_TWO_PI, log_rising, stirling_error

from .compare import relative_error


def exact_rising(x: float, step: float) -> mpf:
    with mp.workdps(60):
        return mp.loggamma(mpf(x) + mpf(step)) - mp.loggamma(mpf(x))


def rising_error(x: float, step: float) -> float:
    """The error over the size of the derivative's largest part: the result itself may cross zero."""
    with mp.workdps(60):
        size = mpf(step) * (1 + abs(mp.psi(0, mpf(x) + mpf(step))))
        return float(abs(mpf(log_rising(x, step)) - exact_rising(x, step)) / size)


def test_stirling_error_of_any_argument() -> None:
    rng = np.random.default_rng(1)
    for x in [*(10.0 ** rng.uniform(-300.0, 0.0, 100)), *(10.0 ** rng.uniform(0.0, 15.0, 300)), 10.0]:
        with mp.workdps(60):
            main = (mpf(x) - 0.5) * mp.log(mpf(x)) - mpf(x) + mp.log(2 * mp.pi) / 2
            truth = mp.loggamma(mpf(x)) - main
        assert relative_error(stirling_error(float(x)), truth) < 2e-12


def test_half_log_two_pi() -> None:
    with mp.workdps(30):
        assert pytest.approx(float(mp.log(2 * mp.pi) / 2), rel=1e-16) == HALF_LOG_TWO_PI


def worst_rising_error(seed: int, exponents: tuple[float, float], steps: tuple[float, float]) -> float:
    rng = np.random.default_rng(seed)
    cases = zip(10.0 ** rng.uniform(*exponents, 400), 10.0 ** rng.uniform(*steps, 400), strict=True)
    return max(rising_error(float(x), float(step)) for x, step in cases)


def test_log_rising_over_all_orders_of_magnitude() -> None:
    assert worst_rising_error(2, (-8.0, 13.0), (-3.0, 7.0)) < 2e-12


def test_log_rising_keeps_the_digits_of_a_tiny_step() -> None:
    assert worst_rising_error(3, (-3.0, 12.0), (-12.0, -3.0)) < 1e-11


@pytest.mark.parametrize("scale", [1e-6, 1e-50, 1e-200, 1e-300])
def test_log_rising_where_both_arguments_vanish(scale: float) -> None:
    # Gamma(x) tends to 1/x, so the ratio tends to x / (x + step).
    assert log_rising(scale, 2.0 * scale) == pytest.approx(-math.log(3.0), abs=4.0 * scale + 1e-15)


def test_log_rising_of_whole_steps_is_a_product() -> None:
    for x in (0.5, 3.0, 11.25, 1e6):
        product = math.fsum(math.log(x + j) for j in range(4))
        assert log_rising(x, 4.0) == pytest.approx(product, rel=1e-14)
    assert log_rising(5.0, 0.0) == 0.0
