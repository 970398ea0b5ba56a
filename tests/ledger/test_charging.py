"""What a dataset does when it is asked: charge, refuse, raise, close."""

from __future__ import annotations

import getpass
import pickle
from pathlib import Path
from typing import Any

import pytest

import veil
from tests.ledger.places import COUNTS, NEAR, NOISE, Place, kinds, new_file, release
from veil.errors import BudgetExceeded, InvalidArgument, LedgerUnavailable

SAID = {"name": "test"}


def test_the_refusal_says_all(ledger: veil.Ledger) -> None:
    dataset = ledger.open("trips", epsilon="0.75", delta="0.5")
    dataset.reserve(epsilon=0.5, delta=0.25, description=SAID)
    with pytest.raises(BudgetExceeded) as caught:
        dataset.reserve(epsilon=0.3, delta=0.1, description=SAID)
    refusal = caught.value
    assert refusal.spent == "epsilon = 0.5, delta = 0.25"
    assert refusal.asked == "epsilon = 0.3, delta = 0.1"
    assert refusal.remaining == "epsilon = 0.25, delta = 0.25"
    assert all(words in str(refusal) for words in (refusal.spent, refusal.asked, refusal.remaining))
    again = pickle.loads(pickle.dumps(refusal))
    assert (again.spent, again.asked, again.remaining, str(again)) == (
        refusal.spent,
        refusal.asked,
        refusal.remaining,
        str(refusal),
    )


def test_delta_has_a_limit_of_its_own(ledger: veil.Ledger) -> None:
    dataset = ledger.open("trips", epsilon=10, delta=1e-6)
    dataset.reserve(epsilon=0.1, delta=1e-6, description=SAID)
    with pytest.raises(BudgetExceeded, match="delta"):
        dataset.reserve(epsilon=0.1, delta=1e-12, description=SAID)
    dataset.reserve(epsilon=0.1, description=SAID)


def test_a_release_carries_its_entry(ledger: veil.Ledger, tmp_path: Any) -> None:
    dataset = ledger.open("trips", epsilon=1)
    out = release(dataset)
    reserved = dataset.entries()[1]
    assert out.entry == reserved.id
    assert str(out.entry) == "trips/2"
    out.save(tmp_path / "out.json")
    assert veil.load(tmp_path / "out.json").entry == reserved.id
    assert reserved.content["mechanism"]["name"] == "GeometricCounts"
    assert reserved.content["cost"] == {"epsilon": "0.1", "delta": "0"}
    # Nothing of the data, nothing of what came out.
    assert "[5,2,9]" not in reserved.body.replace(" ", "")


def test_a_closed_dataset(ledger: veil.Ledger) -> None:
    dataset = ledger.open("trips", epsilon=1)
    entry = dataset.reserve(epsilon=0.1, description=SAID)
    batch = dataset.batch([NOISE], adjacency=veil.vectors.Records())
    dataset.close(why="the study has ended", by="officer")
    assert dataset.closed
    for attempt in (
        lambda: release(dataset),
        lambda: release(batch),
        lambda: dataset.batch([NOISE], adjacency=veil.vectors.Records()),
        lambda: dataset.raise_budget(epsilon=5, why="more"),
        lambda: dataset.close(why="again"),
    ):
        with pytest.raises(InvalidArgument, match="closed"):
            attempt()
    # What was made before can still be noted.
    dataset.confirm(entry)
    last = dataset.entries()[-2]
    assert (last.kind, last.content["by"], last.content["why"]) == ("close", "officer", "the study has ended")
    assert ledger.verify().datasets == ["trips"]


def test_a_raised_budget(ledger: veil.Ledger) -> None:
    dataset = ledger.open("trips", epsilon="0.15")
    release(dataset)
    other = ledger.dataset("trips")
    with pytest.raises(BudgetExceeded):
        release(other)
    dataset.raise_budget(epsilon="0.2", why="approved by the board", by="officer")
    # Whoever holds the dataset sees it.
    release(other)
    assert other.spent.epsilon == other.budget.epsilon == 0.2
    with pytest.raises(BudgetExceeded):
        release(dataset)
    raised = dataset.entries()[3]
    assert (raised.kind, raised.content["by"]) == ("raise", "officer")
    dataset.raise_budget(delta=1e-6, why="a Gaussian")
    assert dataset.budget.epsilon == 0.2
    assert dataset.budget.delta == 1e-6
    for less in ({"epsilon": 0.1}, {"epsilon": 0.2}, {"delta": 0}, {}, {"epsilon": "x"}, {"delta": 2}):
        with pytest.raises(InvalidArgument):
            dataset.raise_budget(why="no", **less)
    odd: list[Any] = ["", "  ", "two\nlines", 5, "x" * 501]
    for why in odd:
        with pytest.raises(InvalidArgument, match="why"):
            dataset.raise_budget(epsilon=5, why=why)
    assert ledger.verify().datasets == ["trips"]


@pytest.mark.parametrize("accounting", ["zcdp", "renyi"])
def test_the_budget_of_a_filter_is_fixed(ledger: veil.Ledger, accounting: str) -> None:
    dataset = ledger.open("trips", epsilon=1, delta=1e-6, accounting=accounting)
    with pytest.raises(InvalidArgument, match="basic"):
        dataset.raise_budget(epsilon=2, why="more")


def test_confirming(ledger: veil.Ledger) -> None:
    dataset, other = ledger.open("trips", epsilon=1), ledger.open("grades", epsilon=1)
    entry = dataset.reserve(epsilon=0.1, description=SAID)
    dataset.confirm(entry)
    dataset.confirm(entry)
    assert kinds(dataset) == ["open", "reserve", "confirm"]
    foreign = other.reserve(epsilon=0.1, description=SAID)
    others: list[Any] = [foreign, dataset.entries()[0].id, dataset.entries()[2].id, None, 2, "trips/2"]
    for odd in others:
        with pytest.raises(InvalidArgument, match="entry"):
            dataset.confirm(odd)


def test_names(ledger: veil.Ledger) -> None:
    bad: list[Any] = ["", "  ", "two\nlines", "bell\a", "x" * 201, "x" + " " * 300, 5, None, "\ud800"]
    for odd in bad:
        with pytest.raises(InvalidArgument, match="name"):
            ledger.open(odd, epsilon=1)
    good = [
        "trips",
        "trips 2026",
        "Fahrten übers Land",
        "東京",
        "a/b",
        "'; DROP TABLE x; --",
        "x" * 200,
    ]
    for name in good:
        assert ledger.open(name, epsilon=1).name == name
    assert ledger.datasets() == sorted(good)
    assert ledger.verify().datasets == sorted(good)
    with pytest.raises(InvalidArgument, match="taken"):
        ledger.open("trips", epsilon=5)
    # Names that people take for each other would be two budgets for the same data.
    for alike in (
        "Trips",
        "TRIPS",
        "trlps",
        "tr1ps",
        "ｔｒｉｐｓ",
        "tгips".replace("г", "r"),
        "trірs",
        "trips\u00a02026",
    ):
        with pytest.raises(InvalidArgument, match=r"look|taken|name"):
            ledger.open(alike, epsilon=1)
    assert ledger.dataset("trips").budget.epsilon == 1
    strangers: list[Any] = ["nobody", "TRIPS", "", "\ud800", "a\x00b", "x" * 1000, 5]
    for unknown in strangers:
        with pytest.raises(InvalidArgument, match=r"dataset|name"):
            ledger.dataset(unknown)


def test_a_ledger_that_is_not_there(place: Place) -> None:
    for attempt in (
        lambda: place.ledger().dataset("trips"),
        lambda: place.ledger().datasets(),
        lambda: place.ledger().verify(),
        lambda: place.ledger().export(),
    ):
        with pytest.raises(LedgerUnavailable, match="veil ledger open"):
            attempt()
    # Asking did not make one.
    with pytest.raises(LedgerUnavailable):
        place.ledger().datasets()


def test_terms_that_make_no_sense(ledger: veil.Ledger) -> None:
    for odd in (
        {"epsilon": 0},
        {"epsilon": 1, "delta": 1},
        {"epsilon": 1, "delta": -0.1},
        {"epsilon": 1, "adjacency": "records"},
        {"epsilon": 1, "accounting": "advanced"},
        {"epsilon": 1, "accounting": "zcdp"},
        {"epsilon": 1, "orders": [2.0]},
        {"epsilon": 1, "delta": 1e-6, "accounting": "renyi", "orders": [1.0]},
        {"epsilon": 1, "delta": 1e-6, "accounting": "renyi", "orders": []},
        {"epsilon": 1, "parts": ["one"]},
        {"epsilon": 1, "parts": ["a", "a"]},
        {"epsilon": 1, "parts": "ab"},
        {"epsilon": 1, "parts": ["a", 5]},
        {"epsilon": 1, "moves": True},
        {"epsilon": 1, "delta": 1e-6, "accounting": "renyi", "parts": ["a", "b"], "moves": True},
        {"epsilon": 1, "parts": ["a", "b"], "moves": True, "adjacency": veil.vectors.Records("add-remove")},
        {"epsilon": 1, "why": "two\nlines"},
        {"epsilon": 1, "by": ""},
    ):
        with pytest.raises(InvalidArgument):
            ledger.open("trips", **odd)


def test_a_ledger_is_no_account(ledger: veil.Ledger) -> None:
    ledger.open("trips", epsilon=1)
    whole: Any = ledger
    with pytest.raises(InvalidArgument, match=r"ledger\.dataset"):
        veil.release(NOISE, COUNTS, adjacency=veil.vectors.Records(), ledger=whole)


def test_who_released_and_why(ledger: veil.Ledger) -> None:
    """Noted with charges and with releases of a batch, by copies and by parts of the budget too."""
    trips = ledger.open("trips", epsilon=1, parts=["north", "south"])
    told = pickle.loads(pickle.dumps(trips.noting(by="R. Steward", why="the board"))).part("north")
    release(told)
    release(told.batch([NOISE], adjacency=NEAR))
    release(trips)
    said = [(entry.content.get("by"), entry.content.get("why")) for entry in trips.entries()[1:]]
    steward, nobody, user = ("R. Steward", "the board"), (None, None), (getpass.getuser(), None)
    assert said == [steward, nobody, steward, nobody, steward, nobody, user, nobody]
    assert "trips" in ledger.verify().datasets
    for name in ("by", "why"):
        with pytest.raises(InvalidArgument, match=name):
            trips.noting(**{name: " "})


@pytest.mark.parametrize("user", ["  ", "a\x1b[31mb", "x" * 501])
def test_a_user_whose_name_is_none(folder: Path, monkeypatch: pytest.MonkeyPatch, user: str) -> None:
    """What the environment says of the user may not spoil the history."""
    ledger = new_file(folder).ledger()
    trips = ledger.open("trips", epsilon=1)
    monkeypatch.setenv("LOGNAME", user)
    release(trips)
    assert trips.entries()[1].content["by"] == "unknown"
    assert ledger.verify().findings == ()
