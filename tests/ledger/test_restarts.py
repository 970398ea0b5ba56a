"""A PostgreSQL server that stops and starts while releases run: nothing lost, nothing charged twice."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator
from typing import Any

import pytest

import veil
from tests.ledger.places import COUNTS, NEAR, NOISE, Place, kinds, new_schema, release
from tests.tables.servers import Server
from veil.errors import LedgerUnavailable, PrivacyWarning
from veil.ledger.amounts import Amount
from veil.vectors.mechanisms.noisy_counts import GeometricCounts

pytestmark = pytest.mark.xdist_group("postgres")


@pytest.fixture
def place(postgres: Server) -> Iterator[Place]:
    yield new_schema(postgres)
    # Whatever a test did, the next one finds a server that runs.
    postgres.start()


@pytest.mark.parametrize("mode", ["fast", "immediate"])
def test_restarted_while_releases_run(postgres: Server, place: Place, mode: str) -> None:
    """Every release that began goes through, each with one charge, though the server was away twice."""
    ledger = place.ledger()
    dataset = ledger.open("trips", epsilon=10_000)
    release(dataset)
    ended = threading.Event()
    made: list[int] = []
    wrong: list[BaseException] = []

    def work() -> None:
        mine = ledger.dataset("trips")
        while not ended.is_set():
            try:
                made.append(release(mine).entry.number)
            except BaseException as error:
                wrong.append(error)
                return

    threads = [threading.Thread(target=work) for _ in range(4)]
    for thread in threads:
        thread.start()
    try:
        for _ in range(2):
            time.sleep(0.4)
            assert postgres.stop(mode)
            time.sleep(0.3)
            assert postgres.start()
        before = len(made)
        time.sleep(0.6)
    finally:
        ended.set()
        for thread in threads:
            thread.join()
    assert wrong == []
    assert len(made) > before
    reserved = [entry.number for entry in dataset.entries() if entry.kind == "reserve"]
    assert sorted(made) == reserved[1:]
    # Of what was on its way at a crash the note may be lost, never the charge.
    lost = len(reserved) - kinds(dataset).count("confirm")
    assert 0 <= lost <= (8 if mode == "immediate" else 0)
    assert dataset.spent.epsilon == Amount("0.1") * len(reserved)
    assert ledger.verify() == ["trips"]


def test_away_for_longer(postgres: Server, place: Place, monkeypatch: pytest.MonkeyPatch) -> None:
    """After some time of asking, an error that says so; and it works again once the server does."""
    monkeypatch.setattr("veil.ledger.store._RECONNECT", 0.3)
    ledger = place.ledger()
    dataset = ledger.open("trips", epsilon=1)
    release(dataset)
    assert postgres.stop()
    for attempt in (
        lambda: release(dataset),
        lambda: dataset.spent,
        lambda: ledger.verify(),
        lambda: place.ledger().open("grades", epsilon=1),
    ):
        with pytest.raises(LedgerUnavailable, match="does not answer") as caught:
            attempt()
        assert postgres.password not in str(caught.value)
    assert postgres.start()
    release(dataset)
    # A crash may take back a note, never a charge.
    assert [kind for kind in kinds(dataset) if kind != "confirm"] == ["open", "reserve", "reserve"]
    assert ledger.verify() == ["trips"]


def test_what_was_exported_outlives_a_crash(postgres: Server, place: Place) -> None:
    """Else an honest ledger would look as if its end had been cut."""
    ledger = place.ledger()
    dataset = ledger.open("trips", epsilon=1)
    for _ in range(3):
        release(dataset)
        kept = ledger.export(heads_only=True)
        assert postgres.stop("immediate")
        assert postgres.start()
        assert ledger.verify(against=kept) == ["trips"]


def test_gone_between_charge_and_note(
    postgres: Server, place: Place, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The value was paid for and drawn: it is handed out, with a warning that the note is missing."""
    monkeypatch.setattr("veil.ledger.store._RECONNECT", 0.3)
    dataset = place.ledger().open("trips", epsilon=1)
    plain = GeometricCounts.sample

    def sample(self: Any, value: Any, **more: Any) -> Any:
        postgres.stop()
        return plain(self, value, **more)

    monkeypatch.setattr(GeometricCounts, "sample", sample)
    with pytest.warns(PrivacyWarning, match="charged and made"):
        out = veil.release(NOISE, COUNTS, adjacency=NEAR, ledger=dataset)
    assert postgres.start()
    assert kinds(dataset) == ["open", "reserve"]
    dataset.confirm(out.entry)
    assert kinds(dataset) == ["open", "reserve", "confirm"]


def test_an_answer_that_was_lost(place: Place, monkeypatch: pytest.MonkeyPatch) -> None:
    """The charge was made, the connection broke before the answer: asked again, it is not charged twice."""
    from sqlalchemy.engine import Connection
    from sqlalchemy.exc import OperationalError

    dataset = place.ledger().open("trips", epsilon=1)
    release(dataset)
    plain = Connection._commit_impl
    left = [1]

    def commit(self: Any) -> None:
        plain(self)
        if left:
            left.pop()
            raise OperationalError("COMMIT", {}, Exception("server closed the connection unexpectedly"))

    monkeypatch.setattr(Connection, "_commit_impl", commit)
    release(dataset)
    assert left == []
    for act in (
        lambda: dataset.raise_budget(epsilon=2, why="approved"),
        lambda: dataset.batch([NOISE], adjacency=NEAR),
        lambda: place.ledger().open("grades", epsilon=1),
        lambda: dataset.close(why="ended"),
    ):
        left.append(1)
        act()
        assert left == []
    expected = ["open", *["reserve", "confirm"] * 2, "raise", "reserve", "confirm", "close"]
    assert kinds(dataset) == expected
    assert place.ledger().verify() == ["grades", "trips"]
