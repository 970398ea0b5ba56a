"""A PostgreSQL server that stops and starts while releases run: nothing lost, nothing charged twice."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from queue import Queue
from typing import Any

import pytest

import veil
from tests.ledger.clock import Clock
from tests.ledger.places import COUNTS, NEAR, NOISE, Place, kinds, new_schema, release
from tests.ledger.test_lost_connections import IN_THE_LEDGER, disturbed
from tests.ledger.workers import PATIENCE
from tests.tables.servers import Server
from veil.errors import LedgerUnavailable, PrivacyWarning
from veil.ledger.amounts import Amount
from veil.vectors.mechanisms.noisy_counts import GeometricCounts

pytestmark = pytest.mark.xdist_group("postgres")
BOTH_WAYS = pytest.mark.parametrize("mode", ["fast", "immediate"])


@pytest.fixture
def place(postgres: Server) -> Iterator[Place]:
    yield new_schema(postgres)
    # Whatever a test did, the next one finds a server that runs.
    if not postgres.answers():
        assert postgres.start()


@pytest.mark.slow
@BOTH_WAYS
def test_restarted_at_every_point(postgres: Server, place: Place, mode: str, clock: Clock) -> None:
    def restart() -> None:
        assert postgres.stop(mode)
        assert postgres.start()

    ledger = place.ledger()
    for point in IN_THE_LEDGER:
        # Its own connection may be of before the last restart.
        ledger.open(point, epsilon=1)
        clock.pauses.clear()
        disturbed(place.ledger().dataset(point), IN_THE_LEDGER, point, restart)
        # Asked again once.
        assert len(clock.pauses) == 1, point
    # A crash may take back notes that it was too soon for, never a charge.
    for point in IN_THE_LEDGER:
        assert kinds(ledger.dataset(point))[:2] == ["open", "reserve"]
    assert ledger.verify().datasets == sorted(IN_THE_LEDGER)


@pytest.mark.slow
@BOTH_WAYS
def test_restarted_while_releases_run(
    postgres: Server, place: Place, mode: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Every release that began goes through, each with one charge, though the server was away twice."""
    monkeypatch.setattr("veil.ledger.store._RECONNECT", PATIENCE)
    ledger = place.ledger()
    dataset = ledger.open("trips", epsilon=10_000)
    release(dataset)
    ended = threading.Event()
    made: Queue[Any] = Queue()

    def work() -> None:
        mine = ledger.dataset("trips")
        try:
            while not ended.is_set():
                made.put(release(mine).entry.number)
        except BaseException as error:
            made.put(error)

    threads = [threading.Thread(target=work) for _ in range(4)]
    for thread in threads:
        thread.start()
    numbers = []
    try:
        for away in (True, True, False):
            numbers += [made.get(timeout=PATIENCE) for _ in range(20)]
            if away:
                assert postgres.stop(mode)
                assert postgres.start()
    finally:
        ended.set()
        for thread in threads:
            thread.join()
    while not made.empty():
        numbers.append(made.get())
    reserved = [entry.number for entry in dataset.entries() if entry.kind == "reserve"]
    assert sorted(numbers) == reserved[1:]
    # A thread's next charge takes its note of the last release along: at each crash it loses one at most.
    lost = len(reserved) - kinds(dataset).count("confirm")
    assert 0 <= lost <= (8 if mode == "immediate" else 0)
    assert dataset.spent.epsilon == Amount("0.1") * len(reserved)
    assert ledger.verify().datasets == ["trips"]


@pytest.mark.slow
def test_away_for_a_while(postgres: Server, place: Place, clock: Clock) -> None:
    """Asked again and again, at longer and longer intervals, until the server is back."""
    dataset = place.ledger().open("trips", epsilon=1)
    release(dataset)
    assert postgres.stop()

    def back(number: int) -> None:
        if number == 5:
            assert postgres.start()

    clock.on_pause = back
    release(dataset)
    assert clock.pauses == [0.05, 0.1, 0.2, 0.4, 0.8]
    assert [kind for kind in kinds(dataset) if kind != "confirm"] == ["open", "reserve", "reserve"]


def test_away_for_longer(postgres: Server, place: Place, clock: Clock) -> None:
    """After some time of asking, an error that says so; and it works again once the server does."""
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
        began = clock.now
        with pytest.raises(LedgerUnavailable, match="does not answer") as caught:
            attempt()
        assert 15 <= clock.now - began <= 16
        assert postgres.password not in str(caught.value)
    assert postgres.start()
    release(dataset)
    # A crash may take back a note, never a charge.
    assert [kind for kind in kinds(dataset) if kind != "confirm"] == ["open", "reserve", "reserve"]
    assert ledger.verify().datasets == ["trips"]


@pytest.mark.slow
def test_what_was_exported_outlives_a_crash(postgres: Server, place: Place) -> None:
    """Else an honest ledger would look as if its end had been cut."""
    ledger = place.ledger()
    dataset = ledger.open("trips", epsilon=1)
    for _ in range(3):
        release(dataset)
        kept = ledger.export(heads_only=True)
        assert postgres.stop("immediate")
        assert postgres.start()
        assert ledger.verify(against=kept).datasets == ["trips"]


def test_gone_between_charge_and_note(
    postgres: Server, place: Place, clock: Clock, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The value was paid for and drawn: it is handed out, with a warning that the note is missing."""
    dataset = place.ledger().open("trips", epsilon=1)
    plain = GeometricCounts.sample_noisy

    def sample_noisy(self: Any, value: Any, **more: Any) -> Any:
        assert postgres.stop()
        return plain(self, value, **more)

    monkeypatch.setattr(GeometricCounts, "sample_noisy", sample_noisy)
    with pytest.warns(PrivacyWarning, match="charged and made"):
        out = veil.release(NOISE, COUNTS, adjacency=NEAR, ledger=dataset)
    assert clock.now >= 15
    assert postgres.start()
    assert kinds(dataset) == ["open", "reserve"]
    dataset.confirm(out.entry)
    assert kinds(dataset) == ["open", "reserve", "confirm"]
