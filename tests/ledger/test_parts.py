"""Releases from different parts of a public partition do not add up; where neighbours move, two do."""

from __future__ import annotations

from fractions import Fraction
from uuid import uuid4

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import veil
from tests.ledger.places import COUNTS, MOSTLY_IN_A_FILE, NOISE
from veil.core.account import Charge
from veil.errors import BudgetExceeded, InvalidArgument
from veil.ledger.accounting import Rule
from veil.ledger.amounts import Amount
from veil.ledger.balance import Balance

PARTS = ("north", "south", "west")
SAID = {"name": "test"}
CHARGES = st.lists(
    st.tuples(st.sampled_from([None, *PARTS]), st.sampled_from(["0.1", "0.25", "0.3"])), max_size=14
)


def most_lost(charges: list[tuple[str | None, str]], *, moves: bool) -> Fraction:
    """The oracle: every person, or every move from one part to another, one by one."""
    whole = sum((Fraction(text) for part, text in charges if part is None), Fraction(0))
    each = {
        name: sum((Fraction(text) for part, text in charges if part == name), Fraction(0)) for name in PARTS
    }
    if not moves:
        return max(whole + each[name] for name in PARTS)
    # The new record may be in the same part.
    return max(whole + each[one] + each[other] for one in PARTS for other in PARTS)


@pytest.mark.slow
@MOSTLY_IN_A_FILE
@pytest.mark.parametrize("moves", [False, True])
@settings(
    max_examples=12,
    deadline=None,
    derandomize=True,
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
)
@given(charges=CHARGES)
def test_against_every_person(
    ledger: veil.Ledger, moves: bool, charges: list[tuple[str | None, str]]
) -> None:
    """Exactly what keeps everybody within the budget is allowed, and `remaining` says how much that is."""
    near = veil.vectors.Records("replace")
    dataset = ledger.open(uuid4().hex, epsilon=1, adjacency=near, parts=PARTS, moves=moves)
    made: list[tuple[str | None, str]] = []
    for part, text in charges:
        account = dataset if part is None else dataset.part(part)
        left = account.remaining.epsilon
        assert left is not None
        fits = most_lost([*made, (part, text)], moves=moves) <= 1
        records = 2 if moves and part is not None else 1
        assert fits == (records * Fraction(text) <= Fraction(left))
        charge = Charge(
            float(text), 0.0, SAID, veil.vectors.Records() if moves and part is not None else near
        )
        if fits:
            account.reserve_charge(charge)
            made.append((part, text))
        else:
            with pytest.raises(BudgetExceeded):
                account.reserve_charge(charge)
    assert Fraction(dataset.spent.epsilon or 0) == most_lost(made, moves=moves)
    assert ledger.verify()


@pytest.mark.slow_for("True")
@pytest.mark.parametrize("moves", [False, True])
@given(charges=CHARGES)
def test_balances(moves: bool, charges: list[tuple[str | None, str]]) -> None:
    """The same of the sums alone, on many more sequences."""
    balance, rule = Balance(moves=moves), Rule("basic", {"epsilon": Amount(1), "delta": Amount(0)})
    for part, text in charges:
        balance = balance.after({"epsilon": Amount(text), "delta": Amount(0)}, part)
    lost = most_lost(charges, moves=moves)
    assert Fraction(balance.totals().get("epsilon", 0)) == lost
    assert balance.fits(rule) == (lost <= 1)
    assert Balance.from_dict(balance.to_dict(), moves=moves) == balance


def test_orders_differ_from_part_to_part() -> None:
    """With "renyi" everybody needs an order that holds; it need not be the same one."""
    rule = Rule("renyi", {"order 2": Amount(1), "order 8": Amount(1)})
    low, high = (
        {"order 2": Amount("0.9"), "order 8": Amount(5)},
        {"order 2": Amount(5), "order 8": Amount("0.9")},
    )
    assert Balance().after(low, "north").after(high, "south").fits(rule)
    assert not Balance().after(low, "north").after(high, "north").fits(rule)
    assert not Balance().after(low, None).after(high, "south").fits(rule)


def test_a_part_as_an_account(ledger: veil.Ledger) -> None:
    dataset = ledger.open("trips", epsilon="0.3", adjacency=veil.vectors.Records(), parts=PARTS)
    for name in PARTS:
        for _ in range(3):
            veil.release(NOISE, COUNTS, adjacency=veil.vectors.Records(), ledger=dataset.part(name))
        with pytest.raises(BudgetExceeded):
            veil.release(NOISE, COUNTS, adjacency=veil.vectors.Records(), ledger=dataset.part(name))
    assert dataset.spent.epsilon == 0.3
    with pytest.raises(BudgetExceeded):
        veil.release(NOISE, COUNTS, adjacency=veil.vectors.Records(), ledger=dataset)
    with pytest.raises(InvalidArgument, match="part"):
        dataset.part("east")
    with pytest.raises(InvalidArgument, match="without parts"):
        ledger.open("plain", epsilon=1).part("north")
    assert "south" in repr(dataset.part("south"))


def test_a_part_that_somebody_moves_to_sees_one_more(ledger: veil.Ledger) -> None:
    """A replacement that crosses parts is an addition in one and a removal in the other."""
    dataset = ledger.open(
        "trips", epsilon=1, adjacency=veil.vectors.Records("replace"), parts=PARTS, moves=True
    )
    veil.release(NOISE, COUNTS, adjacency=veil.vectors.Records("add-remove"), ledger=dataset.part("north"))
    with pytest.raises(InvalidArgument, match="adjacency"):
        veil.release(NOISE, COUNTS, adjacency=veil.vectors.Records("replace"), ledger=dataset.part("north"))
    with pytest.raises(InvalidArgument, match="adjacency"):
        veil.release(NOISE, COUNTS, adjacency=veil.vectors.Records("add-remove"), ledger=dataset)
    veil.release(NOISE, COUNTS, adjacency=veil.vectors.Records("add-remove"), ledger=dataset.part("south"))
    assert dataset.spent.epsilon == 0.2
