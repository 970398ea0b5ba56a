"""A plan that was approved for one release is charged once, however often and by however many it is tried."""

from __future__ import annotations

import pickle
from concurrent.futures import ThreadPoolExecutor

import pytest

import veil
from tests.ledger.places import MOSTLY_IN_A_FILE, Place, kinds, release
from veil.errors import BudgetExceeded, InvalidArgument, LedgerCorrupt

PLAN = "0123456789abcdef" * 4
OTHER = "f" * 64


def test_the_entry_says_which_plan_was_charged(ledger: veil.Ledger) -> None:
    dataset = ledger.open("trips", epsilon=1)
    assert dataset.charged_plan(PLAN) is None
    planned = dataset.noting(by="A. Analyst", plan=PLAN)
    out = release(pickle.loads(pickle.dumps(planned)))
    entry = dataset.charged_plan(PLAN)
    assert entry is not None
    assert entry.id == out.entry
    assert entry.content["plan"] == PLAN
    assert dataset.charged_plan(OTHER) is None
    assert ledger.verify().datasets == ["trips"]


def test_a_plan_is_charged_once(ledger: veil.Ledger) -> None:
    dataset = ledger.open("trips", epsilon=1)
    release(dataset.noting(plan=PLAN))
    with pytest.raises(InvalidArgument, match="charged as trips/2"):
        release(dataset.noting(plan=PLAN))
    # Another plan, and releases without one, are charged as ever.
    release(dataset.noting(plan=OTHER))
    release(dataset)
    release(dataset)
    assert kinds(dataset).count("reserve") == 4
    assert dataset.spent.epsilon == veil.ledger.amounts.Amount("0.4")


def test_many_who_try_at_once_charge_once(ledger: veil.Ledger) -> None:
    dataset = ledger.open("trips", epsilon=1)

    def attempt(_: int) -> bool:
        try:
            release(veil.Ledger(ledger._store.address).dataset("trips").noting(plan=PLAN))
            return True
        except InvalidArgument:
            return False

    with ThreadPoolExecutor(8) as pool:
        done = list(pool.map(attempt, range(8)))
    assert sum(done) == 1
    assert kinds(dataset).count("reserve") == 1


def test_a_refused_plan_can_be_tried_again(ledger: veil.Ledger) -> None:
    dataset = ledger.open("trips", epsilon=0.05)
    with pytest.raises(BudgetExceeded):
        release(dataset.noting(plan=PLAN))
    assert dataset.charged_plan(PLAN) is None
    dataset.raise_budget(epsilon=1, why="granted")
    release(dataset.noting(plan=PLAN))
    assert dataset.charged_plan(PLAN) is not None


@pytest.mark.parametrize("plan", ["", "0" * 63, "G" * 64, "A" * 64, 5])
def test_only_hashes_are_plans(ledger: veil.Ledger, plan: object) -> None:
    dataset = ledger.open("trips", epsilon=1)
    with pytest.raises(InvalidArgument, match="plan"):
        dataset.noting(plan=plan)  # type: ignore[arg-type]
    with pytest.raises(InvalidArgument, match="plan"):
        dataset.charged_plan(plan)  # type: ignore[arg-type]


@MOSTLY_IN_A_FILE
def test_another_token_is_found_out(place: Place) -> None:
    """Who writes a second charge of a plan past Veil has to give it another token, which shows."""
    ledger = place.ledger()
    release(ledger.open("trips", epsilon=1).noting(plan=PLAN))
    place.drop_watches()
    place.sql("UPDATE veil_ledger_entries SET token = 'plan' WHERE number = 2")
    with pytest.raises(LedgerCorrupt, match="trips/2"):
        place.ledger().verify()
