"""Budgets are spent to the last digit: never beyond, and never refused while there is room."""

from __future__ import annotations

from decimal import Decimal
from fractions import Fraction
from typing import Any
from uuid import uuid4

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import veil
from tests.ledger.places import MOSTLY_IN_A_FILE, kinds, release
from veil.errors import BudgetExceeded, InvalidArgument
from veil.ledger.amounts import Amount, amount_of, charged

# Decimals that people write, and some that they do not; as text they stand for exactly themselves.
DECIMALS = st.decimals(min_value=0, max_value=2, places=6).map(str) | st.sampled_from(
    ["0.1", "0.3", "1e-30", "0.000000000000000000001", "1", "0", "0.333333333333333333333333333333"]
)
DELTAS = st.sampled_from(["0", "1e-6", "1e-9", "0.01"])
CHARGES = st.lists(st.tuples(DECIMALS, DELTAS), max_size=12)


def test_a_tenth_fits_ten_times(ledger: veil.Ledger) -> None:
    grades = ledger.open("grades", epsilon=1)
    for _ in range(10):
        release(grades)
    assert grades.spent.epsilon == 1
    assert str(grades.spent.epsilon) == "1"
    assert grades.remaining.epsilon == 0
    with pytest.raises(BudgetExceeded):
        release(grades)
    assert kinds(grades).count("reserve") == 10


def test_what_floats_lose(ledger: veil.Ledger) -> None:
    """0.1 + 0.7 is less than 0.8 in floats, 0.1 + 0.2 more than 0.3."""
    for name, budget, parts in (("up", 0.3, (0.1, 0.2)), ("down", 0.8, (0.1, 0.7)), ("even", 1, (0.1, 0.9))):
        dataset = ledger.open(name, epsilon=budget)
        for part in parts:
            dataset.reserve(epsilon=part, description={"name": "test"})
        assert dataset.spent.epsilon == budget
        with pytest.raises(BudgetExceeded):
            dataset.reserve(epsilon=1e-300, description={"name": "test"})
        dataset.reserve(epsilon=0.0, description={"name": "test"})


@pytest.mark.slow
@MOSTLY_IN_A_FILE
@settings(
    max_examples=20,
    deadline=None,
    derandomize=True,
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
)
@given(budget=DECIMALS.filter(lambda text: Fraction(text) > 0), delta=DELTAS, charges=CHARGES)
def test_against_fractions(
    ledger: veil.Ledger, budget: str, delta: str, charges: list[tuple[str, str]]
) -> None:
    """Exactly what a sum of fractions allows is allowed."""
    dataset = ledger.open(uuid4().hex, epsilon=budget, delta=delta)
    spent = [Fraction(0), Fraction(0)]
    for charge in charges:
        after = [total + Fraction(text) for total, text in zip(spent, charge, strict=True)]
        fits = after[0] <= Fraction(budget) and after[1] <= Fraction(delta)
        values: dict[str, Any] = {"epsilon": Decimal(charge[0]), "delta": Decimal(charge[1])}
        if fits:
            dataset.reserve(description={"name": "test"}, **values)
            spent = after
        else:
            with pytest.raises(BudgetExceeded):
                dataset.reserve(description={"name": "test"}, **values)
        found = dataset.spent
        assert [Fraction(found.epsilon or 0), Fraction(found.delta or 0)] == spent
    assert Fraction(dataset.remaining.epsilon or 0) == Fraction(budget) - spent[0]


@given(st.floats(0, 1e300))
def test_a_computed_charge_is_never_less(value: float) -> None:
    """A float of many digits was computed: what is charged is not below it."""
    found = Fraction(charged("epsilon", value))
    if len(Decimal(repr(value)).normalize().as_tuple().digits) > 15:
        assert found >= Fraction(value)
    assert found >= Fraction(Decimal(repr(value)))
    assert found <= Fraction(Decimal(repr(value))) * (1 + Fraction(1, 10**15))


@given(st.lists(st.floats(0, 1e9), max_size=30))
def test_sums_are_exact(values: list[float]) -> None:
    amounts = [amount_of("epsilon", value) for value in values]
    assert Fraction(sum(amounts, Amount(0))) == sum(map(Fraction, amounts), Fraction(0))
    assert Amount(str(sum(amounts, Amount(0)))) == sum(amounts, Amount(0))


def test_amounts_get_along_with_numbers() -> None:
    assert Amount("0.1") + 0.2 == Amount("0.3") == 0.3
    assert 1 - Amount("0.9") == 0.1
    assert Amount("0.1") * 3 == 0.3
    assert {Amount("0.3"), 0.3} == {0.3}
    assert Amount("0.3") < 0.5 < Amount("0.7")
    assert Amount("0.3") != "0.3"
    assert sorted([Amount("10"), Amount("9")]) == [9, 10]
    assert f"{Amount('1E+1')} {Amount('0.50'):.1f} {Amount('1e-7')!r}" == "10 0.5 Amount('0.0000001')"


def test_what_is_no_amount(ledger: veil.Ledger) -> None:
    dataset = ledger.open("even", epsilon=1)
    bad: list[Any] = [-1, -1e-9, float("nan"), float("inf"), True, None, "", "ten", [1], 1j, "1e999"]
    for odd in (*bad, Fraction(1, 3)):
        with pytest.raises(InvalidArgument, match="epsilon"):
            ledger.open("odd", epsilon=odd)
        with pytest.raises(InvalidArgument, match="epsilon"):
            dataset.reserve(epsilon=odd, description={"name": "test"})
    assert kinds(dataset) == ["open"]


def test_numbers_of_numpy(ledger: veil.Ledger) -> None:
    dataset = ledger.open("numbers", epsilon=np.float64(1.5), delta=np.float64(0.25))
    dataset.reserve(epsilon=np.float64(0.5), delta=np.float64(0.125), description={"name": "test"})
    one: Any = np.int64(1)
    dataset.reserve(epsilon=one, description={"name": "test"})
    assert dataset.remaining.epsilon == 0
    assert dataset.remaining.delta == 0.125
