"""Ledgers of an older schema are brought up to date when they are first written to; newer ones left alone."""

from __future__ import annotations

import pickle
from collections.abc import Callable
from typing import Any

import pytest
from sqlalchemy import Connection
from sqlalchemy.exc import DBAPIError

from tests.ledger.forging import written_by_0_1
from tests.ledger.places import MOSTLY_IN_A_FILE, Place, release
from veil.errors import LedgerUnavailable
from veil.ledger import schema
from veil.ledger.address import Address
from veil.ledger.ledger import dataset_of


def first_schema(place: Place) -> list[Any]:
    """A ledger as the first version made it: filled, then without what came later."""
    dataset = place.ledger().open("trips", epsilon=1)
    for _ in range(3):
        release(dataset)
    place.drop_watches()
    written_by_0_1(place)
    if place.kind == "postgresql":
        for name in ("lock", "add", "amount", "taken"):
            place.sql(f"DROP FUNCTION veil_ledger_{name}")
        place.sql("DROP TABLE veil_ledger_queue")
    place.sql("ALTER TABLE veil_ledger_entries DROP COLUMN mac")
    place.sql("ALTER TABLE veil_ledger_datasets DROP COLUMN parts")
    place.sql("DELETE FROM veil_ledger WHERE key = 'earlier'")
    place.sql("UPDATE veil_ledger SET value = '1' WHERE key = 'schema'")
    return all_rows(place)


def all_rows(place: Place) -> list[Any]:
    columns = "dataset, number, sha256, token, body"
    return place.sql(f"SELECT {columns} FROM veil_ledger_entries ORDER BY dataset, number")


def version(place: Place) -> str:
    return str(place.sql("SELECT value FROM veil_ledger WHERE key = 'schema'")[0][0])


def watched(place: Place) -> bool:
    """Whether the database refuses changes."""
    try:
        place.sql("UPDATE veil_ledger_entries SET token = token")
    except DBAPIError:
        return True
    return False


READS: dict[str, Callable[[Place], object]] = {
    "dataset": lambda place: place.ledger().dataset("trips").entries(),
    "datasets": lambda place: place.ledger().datasets(),
    "verify": lambda place: place.ledger().verify(),
    "export": lambda place: place.ledger().export(),
}
WRITES: dict[str, Callable[[Place, bytes], object]] = {
    "open": lambda place, kept: place.ledger().open("grades", epsilon=1),
    "raise": lambda place, kept: place.ledger().dataset("trips").raise_budget(epsilon=2, why="approved"),
    "a copy that travelled": lambda place, kept: release(pickle.loads(kept)),
}


@MOSTLY_IN_A_FILE
@pytest.mark.parametrize("way", READS)
def test_reading_changes_nothing(place: Place, way: str) -> None:
    before = first_schema(place)
    READS[way](place)
    assert version(place) == "1"
    assert not watched(place)
    assert all_rows(place) == before


@MOSTLY_IN_A_FILE
@pytest.mark.parametrize("way", WRITES)
def test_brought_up_to_date(place: Place, way: str) -> None:
    before = first_schema(place)
    kept = pickle.dumps(dataset_of(Address.of(place.url), (), (), "trips", None))
    assert not watched(place)
    WRITES[way](place, kept)
    assert version(place) == str(schema.version_now())
    assert watched(place)
    assert set(before) <= set(all_rows(place))
    assert "trips" in place.ledger().verify().datasets
    spent = place.ledger().dataset("trips").spent.epsilon
    assert spent == (0.4 if way == "a copy that travelled" else 0.3)
    release(place.ledger().dataset("trips"))


@MOSTLY_IN_A_FILE
def test_what_is_not_known_is_refused(place: Place) -> None:
    dataset = place.ledger().open("trips", epsilon=1)
    before = all_rows(place)
    for found in (str(schema.version_now() + 1), "99", "0", "-1", "", "two", "²", "1.0"):
        place.sql("UPDATE veil_ledger SET value = :found WHERE key = 'schema'", found=found)
        for attempt in (
            lambda: place.ledger().dataset("trips"),
            lambda: place.ledger().open("grades", epsilon=1),
            lambda: release(pickle.loads(pickle.dumps(dataset))),
            lambda: place.ledger().verify(),
        ):
            with pytest.raises(LedgerUnavailable, match="schema"):
                attempt()
        assert all_rows(place) == before
        assert version(place) == found


def test_an_interrupted_migration_leaves_the_old_one(place: Place, monkeypatch: pytest.MonkeyPatch) -> None:
    before = first_schema(place)
    steps = list(schema.MIGRATIONS)

    def broken(connection: Connection) -> None:
        steps[0](connection)
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(schema, "MIGRATIONS", [broken, *steps[1:]])
        with pytest.raises(KeyboardInterrupt):
            release(place.ledger().dataset("trips"))
    assert version(place) == "1"
    assert not watched(place)
    assert all_rows(place) == before
    # And the next one succeeds.
    release(place.ledger().dataset("trips"))
    assert place.ledger().verify().datasets == ["trips"]
    assert version(place) == str(schema.version_now())


def test_every_step_leads_to_the_present(place: Place) -> None:
    """A new ledger has gone through all of them."""
    place.ledger().open("trips", epsilon=1)
    assert version(place) == str(schema.version_now()) == str(len(schema.MIGRATIONS) + 1)
    assert watched(place)
