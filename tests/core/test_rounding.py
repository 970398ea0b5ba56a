"""Rounding goes to the side it says, and no further than it must."""

import math
from fractions import Fraction

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from mpmath import mp, mpf

from veil.core.numerics.rounding import SMALLEST_POSITIVE, float_above, float_below, probability_above, stated

RATIONALS = st.builds(Fraction, st.integers(-(10**40), 10**40), st.integers(1, 10**40))


@pytest.mark.slow
@settings(derandomize=True, max_examples=300, deadline=None)
@given(st.floats(-708.0, 0.0))
def test_probability_above_is_above_and_near(log_probability: float) -> None:
    with mp.workdps(40):
        truth = mp.exp(mpf(log_probability))
        found = mpf(probability_above(log_probability))
        assert truth <= found
        assert found <= truth * (1 + mpf(2) ** -41)


@settings(derandomize=True, max_examples=200, deadline=None)
@given(st.floats(-744.4, -708.0))
def test_probability_above_among_subnormal_numbers(log_probability: float) -> None:
    with mp.workdps(40):
        truth = mp.exp(mpf(log_probability))
        found = probability_above(log_probability)
        assert truth <= mpf(found) <= truth + 3 * mpf(SMALLEST_POSITIVE) + truth * mpf(2) ** -40


@pytest.mark.parametrize("log_probability", [-744.45, -745.0, -800.0, -1e6, -1e300, -math.inf])
def test_a_probability_never_becomes_zero(log_probability: float) -> None:
    assert probability_above(log_probability) == SMALLEST_POSITIVE == 5e-324 > 0.0


@pytest.mark.parametrize("log_probability", [0.0, 1e-12, 3.0, math.inf])
def test_a_probability_never_exceeds_one(log_probability: float) -> None:
    assert probability_above(log_probability) == 1.0


@pytest.mark.parametrize("log_probability", [-1e-300, -1e-17, -(2.0**-54)])
def test_just_below_certainty(log_probability: float) -> None:
    assert probability_above(log_probability) == 1.0


@pytest.mark.slow
@settings(derandomize=True, max_examples=300, deadline=None)
@given(RATIONALS)
def test_floats_around_a_rational(exact: Fraction) -> None:
    below, above = float_below(exact), float_above(exact)
    assert Fraction(below) <= exact <= Fraction(above)
    assert Fraction(math.nextafter(below, math.inf)) > exact
    assert Fraction(math.nextafter(above, -math.inf)) < exact


@settings(derandomize=True, max_examples=200, deadline=None)
@given(st.floats(allow_nan=False, allow_infinity=False))
def test_a_float_rounds_to_itself(number: float) -> None:
    assert float_below(Fraction(number)) == number == float_above(Fraction(number))


def test_sums_that_floats_get_wrong() -> None:
    tenth = Fraction(1, 10)
    assert Fraction(float_below(tenth)) < tenth < Fraction(float_above(tenth))
    # The floats 0.1 are each above 1/10: three of them exceed 3/10, and the bound must say so.
    assert Fraction(float_above(3 * Fraction(0.1))) >= 3 * Fraction(0.1) > Fraction(3, 10)


@pytest.mark.parametrize("sign", [1, -1])
def test_rationals_nearer_to_zero_than_any_float(sign: int) -> None:
    tiny = Fraction(sign, 10**400)
    assert float_below(tiny) == (0.0 if sign > 0 else -SMALLEST_POSITIVE)
    assert float_above(tiny) == (SMALLEST_POSITIVE if sign > 0 else 0.0)


def test_what_is_stated_is_never_more_than_was_written() -> None:
    for number in (0.1, 0.3, 1.1, 1e-6, 2.0, 0.7, 1 / 3, 5e-324, 1e30):
        found = stated(number)
        assert found <= Fraction(number)
        assert found <= Fraction(repr(number))
        assert abs(found - Fraction(number)) <= Fraction(math.ulp(number))
    assert stated(0.1) == Fraction(1, 10)
    assert stated(0.3) < Fraction(3, 10)
