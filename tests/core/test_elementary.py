"""Logarithms and exponentials whose error is proved: never above the bound, and the bound is not idle."""

from __future__ import annotations

import math
from collections.abc import Callable
from decimal import Context, Decimal

import numpy as np
import pytest

from veil.core.numerics import elementary
from veil.core.numerics.elementary import EXCESS, EXP, LOG

DIGITS = Context(prec=120)


def _near(centres: list[float], steps: int = 40) -> list[float]:
    """Floats around each centre, one by one, where branches meet."""
    found = []
    for centre in centres:
        up = down = centre
        for _ in range(steps):
            up, down = math.nextafter(up, math.inf), math.nextafter(down, -math.inf)
            found += [up, down]
    return found


def _arguments(seed: int) -> list[float]:
    rng = np.random.default_rng(seed)
    close = rng.normal(size=1_500) * 10.0 ** -rng.uniform(0, 16, 1_500)
    return [*rng.uniform(-700, 700, 1_500), *rng.normal(size=1_500), *close]


def _worst(
    function: Callable[[float], float], true: Callable[[Decimal], Decimal], points: list[float]
) -> float:
    return max(
        float(abs(DIGITS.divide(DIGITS.subtract(Decimal(function(x)), true(Decimal(x))), true(Decimal(x)))))
        for x in points
    )


def _excess(y: Decimal) -> Decimal:
    return DIGITS.subtract(DIGITS.subtract(DIGITS.exp(y), Decimal(1)), y)


@pytest.mark.slow
def test_log_keeps_its_bound() -> None:
    rng = np.random.default_rng(1)
    points = [*(2.0 ** rng.uniform(-1_000, 1_000, 2_000)), *rng.random(2_000)]
    points += [1.0 + x for x in rng.normal(size=1_000) * 10.0 ** -rng.uniform(1, 15, 1_000)]
    points += _near([1.0, math.sqrt(0.5), math.sqrt(2.0), 0.5, 2.0, 2.0**-64])
    worst = _worst(elementary.log, DIGITS.ln, [x for x in points if x != 1.0])
    assert LOG / 12.0 < worst <= LOG
    assert elementary.log(1.0) == 0.0


@pytest.mark.slow
def test_exp_keeps_its_bound() -> None:
    points = [*_arguments(2), *_near([0.5, -0.5, 0.5 * math.log(2.0), 708.0, -707.9], 10)]
    assert EXP / 12.0 < _worst(elementary.exp, DIGITS.exp, [x for x in points if abs(x) <= 708.0]) <= EXP


@pytest.mark.slow
@pytest.mark.parametrize("place", [0, 1])
def test_exp_and_excess_keep_their_bounds(place: int) -> None:
    points = [y for y in [*_arguments(3), *_near([0.5, -0.5])] if abs(y) > 1e-30]
    true, bound = (DIGITS.exp, EXP) if place == 0 else (_excess, EXCESS)
    assert _worst(lambda y: elementary.exp_and_excess(y)[place], true, points) <= bound


def test_log_2_is_split_exactly() -> None:
    high, low = elementary._LOG_2_HIGH, elementary._LOG_2_LOW
    assert float(high * 2.0**42).is_integer()
    both = DIGITS.add(Decimal(high), Decimal(low))
    assert abs(DIGITS.subtract(both, DIGITS.ln(Decimal(2)))) < Decimal(2) ** -95
