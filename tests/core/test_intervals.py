"""Intervals hold the real number, and are as narrow as asked."""

from __future__ import annotations

from decimal import Context, Decimal
from fractions import Fraction

import numpy as np
import pytest

from veil.core.numerics.intervals import Arithmetic, Interval

FINE = Context(prec=200)


def _random(seed: int) -> Fraction:
    rng = np.random.default_rng(seed)
    return Fraction(float(rng.normal() * 10.0 ** rng.uniform(-6, 2)))


def _holds(interval: Interval, value: Decimal, digits: int) -> bool:
    wide = FINE.subtract(interval[1], interval[0])
    return interval[0] <= value <= interval[1] and wide <= abs(value) * Decimal(10) ** (3 - digits)


@pytest.mark.parametrize("digits", [10, 32])
@pytest.mark.parametrize("seed", range(60))
def test_operations_hold_the_real_number(digits: int, seed: int) -> None:
    a, (x, y) = Arithmetic(digits), (_random(2 * seed), _random(2 * seed + 1))
    size = abs(y) + Fraction(1, 7)
    one, other, positive = a.number(x), a.number(y), a.number(size)

    def fine(value: Fraction) -> Decimal:
        return FINE.divide(Decimal(value.numerator), Decimal(value.denominator))

    for found, exact in (
        (a.add(one, other), x + y),
        (a.subtract(one, other), x - y),
        (a.multiply(one, other), x * y),
        (a.negate(one), -x),
        (a.divide(one, positive), x / size),
    ):
        assert found[0] <= fine(exact) <= found[1]
    assert _holds(a.multiply(one, other), fine(x * y), digits)
    assert _holds(a.root(positive), FINE.sqrt(fine(size)), digits)
    assert _holds(a.exp(positive), FINE.exp(fine(size)), digits - 1)
    logs = a.log(positive)
    assert logs[0] <= FINE.ln(fine(size)) <= logs[1]


@pytest.mark.parametrize("width", [Fraction(1, 10**9), Fraction(1, 2), Fraction(30)])
def test_wide_arguments_hold_both_ends(width: Fraction) -> None:
    a = Arithmetic(30)
    wide = a.between(Fraction(1, 3), Fraction(1, 3) + width)
    for end in wide:
        assert a.exp(wide)[0] <= FINE.exp(end) <= a.exp(wide)[1]
        assert a.log(wide)[0] <= FINE.ln(end) <= a.log(wide)[1]


def test_a_minus_sign_rounds_nothing() -> None:
    # Decimal's own minus would leave 28 digits, and an interval that does not hold the number.
    third = Arithmetic(60).number(Fraction(1, 3))
    low, high = Arithmetic(60).negate(third)
    assert Fraction(low) < Fraction(-1, 3) < Fraction(high)
    assert Fraction(high) - Fraction(low) == Fraction(third[1]) - Fraction(third[0])


def test_what_is_far_too_small_is_not_lost() -> None:
    low, high = Arithmetic(20).exp(Arithmetic(20).number(-(10**30)))
    assert low == 0
    assert 0 < high < Decimal("1e-999999999999")
