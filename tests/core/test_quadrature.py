"""Integrals whose value is known: never below it, and hardly above."""

import math
from collections.abc import Callable

import numpy as np
import pytest
from mpmath import mp, mpf

from veil.core.arrays import Floats
from veil.core.numerics import quadrature
from veil.core.numerics.quadrature import NODES, WEIGHTS, log_integral_above

Bound = Callable[[Floats, Floats, Floats], tuple[Floats, Floats]]
ACCURATE = 1e-12


def nearest(left: Floats, right: Floats, place: float) -> Floats:
    return np.minimum(np.maximum(left, place), right)


def normal(middle: float, spread: float) -> Bound:
    """|exp(-z^2/2)| = exp(-(x^2 - y^2)/2)"""

    def bounds(left: Floats, right: Floats, height: Floats) -> tuple[Floats, Floats]:
        away = (nearest(left, right, middle) - middle) / spread
        return -0.5 * away**2 + 0.5 * (height / spread) ** 2, np.ones_like(left)

    return bounds


def rational(width: float) -> Bound:
    """1 / (width^2 + z^2), with poles at a distance of `width` from the line."""

    def bounds(left: Floats, right: Floats, height: Floats) -> tuple[Floats, Floats]:
        least = width**2 + nearest(left, right, 0.0) ** 2 - height**2
        with np.errstate(divide="ignore", invalid="ignore"):
            return np.zeros_like(left), np.where(least > 0.0, 1.0 / np.maximum(least, 0.0), np.inf)

    return bounds


def decay(rate: float) -> Bound:
    def bounds(left: Floats, right: Floats, height: Floats) -> tuple[Floats, Floats]:
        return -rate * left, np.ones_like(left)

    return bounds


@pytest.mark.parametrize("spread", [1e-9, 1e-3, 1.0, 1e6])
@pytest.mark.parametrize("panels", [1, 2, 30])
def test_a_normal_density(spread: float, panels: int) -> None:
    middle = 20.0 * spread
    found = log_integral_above(normal(middle, spread), np.linspace(0.0, 40.0 * spread, panels + 1).tolist())
    truth = math.log(math.sqrt(2.0 * math.pi) * spread)
    # 4 is what the comparison itself loses.
    assert -4e-16 * abs(truth) <= found - truth <= ACCURATE


@pytest.mark.parametrize("rate", [1e-12, 1.0, 1e9])
@pytest.mark.parametrize("end", [1e-3, 5.0, 300.0])
def test_an_exponential(rate: float, end: float) -> None:
    found = log_integral_above(decay(rate), [0.0, 0.1 * end / rate, end / rate])
    with mp.workdps(40):
        truth = mp.log(-mp.expm1(-mpf(end / rate) * mpf(rate)) / mpf(rate))
        assert 0 <= mpf(found) - truth <= mpf(ACCURATE)


@pytest.mark.parametrize("width", [1e-6, 0.1, 3.0])
def test_poles_next_to_the_line(width: float) -> None:
    found = log_integral_above(rational(width), [0.0, 1.0, 8.0])
    with mp.workdps(40):
        truth = mp.log(mp.atan(8 / mpf(width)) / mpf(width))
        assert 0 <= mpf(found) - truth <= mpf(ACCURATE)


def test_far_below_the_range_of_a_double() -> None:
    def bounds(left: Floats, right: Floats, height: Floats) -> tuple[Floats, Floats]:
        logs, ones = decay(1.0)(left, right, height)
        return logs - 5e6, ones

    assert log_integral_above(bounds, [0.0, 1.0, 40.0]) == pytest.approx(-5e6, rel=1e-14)


def test_nothing_is_known_where_nothing_is_bounded() -> None:
    def bounds(left: Floats, right: Floats, height: Floats) -> tuple[Floats, Floats]:
        return np.zeros_like(left), np.full_like(left, np.inf)

    assert log_integral_above(bounds, [0.0, 1.0]) == math.inf


def test_nodes_and_weights() -> None:
    with mp.workdps(40):
        for node, weight in zip(NODES.tolist(), WEIGHTS.tolist(), strict=True):
            exact = mp.findroot(lambda x: mp.legendre(16, x), mpf(node))
            slope = 16 * (exact * mp.legendre(16, exact) - mp.legendre(15, exact)) / (exact**2 - 1)
            assert abs(mpf(node) - exact) <= mpf(2) ** -53
            assert abs(mpf(weight) * (1 - exact**2) * slope**2 / 2 - 1) <= mpf(2) ** -52


def test_the_remainder_is_not_left_out() -> None:
    """Where sixteen points on one panel are not enough, the remainder is what makes the bound hold."""
    width, end = 0.3, 2.0
    half = 0.5 * end
    rule = half * float(WEIGHTS @ (1.0 / (width**2 + (half + half * NODES) ** 2)))
    truth = math.atan(end / width) / width
    assert abs(rule - truth) > 1e-9 * truth
    assert math.exp(log_integral_above(rational(width), [0.0, end])) >= truth


@pytest.mark.parametrize("rho", [2.3, 2.9, 3.8, 6.0])
def test_the_constant_of_the_remainder(rho: float) -> None:
    """Chebyshev polynomials of even degree from 32 on, scaled to 1 on the ellipse: worst cases."""
    column = int(np.argmin(np.abs(quadrature._RHO - rho)))
    allowed = quadrature._REMAINDERS[1 + column] / 1.01
    signs = []
    for degree in range(32, 64, 2):
        size = 0.5 * (rho**degree + rho**-degree)
        rule = float(WEIGHTS @ np.cos(degree * np.arccos(NODES)))
        assert abs(rule - 2.0 / (1.0 - degree**2)) / size <= allowed
        signs.append(rule)
    assert max(abs(sign) for sign in signs) > 1.0
