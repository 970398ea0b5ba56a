"""A PostgreSQL server that hangs up, or whose answer is lost: asked again, and nothing is charged twice."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

import veil
from tests.ledger.clock import Clock
from tests.ledger.places import NEAR, NOISE, Place, kinds, new_schema, release
from tests.ledger.points import POINTS, watching
from tests.tables.servers import Server

pytestmark = pytest.mark.xdist_group("postgres")

IN_THE_LEDGER = [point for point in POINTS["postgresql"] if not point.startswith("file")]


@pytest.fixture(scope="module")
def place(postgres: Server) -> Place:
    return new_schema(postgres)


def hang_up(place: Place) -> None:
    """End all connections of the ledger, and return once they are gone."""
    place.sql(
        "SELECT pg_terminate_backend(pid, 600000) FROM pg_stat_activity "
        "WHERE usename = current_user AND pid <> pg_backend_pid()"
    )


def disturbed(ledger: veil.Ledger, point: str, trouble: Callable[[], object]) -> None:
    """A release in whose middle there is trouble, once: it goes through, charged once and drawn once.

    If the trouble comes with the answer to a commit, then the answer is lost.
    """
    dataset = ledger.open(point, epsilon=1)
    reached: list[str] = []

    def reach(now: str, connection: Any) -> None:
        reached.append(now)
        if now == point and reached.count(point) == 1:
            trouble()
            if point.endswith("committed"):
                # The driver's own error, in the place of the answer.
                connection.connection.driver_connection.execute("SELECT 1")

    with watching(reach):
        release(dataset)
    before = IN_THE_LEDGER.index(point) + 1
    assert reached[:before] == IN_THE_LEDGER[:before]
    assert reached.count("draw: made") == 1, point
    assert kinds(dataset) == ["open", "reserve", "confirm"], point
    assert dataset.spent.epsilon == 0.1, point


@pytest.mark.parametrize("point", IN_THE_LEDGER)
def test_hung_up(place: Place, point: str, clock: Clock) -> None:
    ledger = place.ledger()
    disturbed(ledger, point, lambda: hang_up(place))
    assert point in ledger.verify().datasets
    # Asked again once.
    assert len(clock.pauses) == 1


def test_an_answer_that_was_lost(place: Place, clock: Clock) -> None:
    """The change was made, the connection broke before the answer: asked again, it is not made twice."""
    from psycopg import OperationalError

    lost: list[str] = []

    def reach(point: str, _: Any) -> None:
        if point.endswith(": committed") and point not in lost:
            lost.append(point)
            raise OperationalError("server closed the connection unexpectedly")

    with watching(reach):
        dataset = place.ledger().open("trips", epsilon=1)
        release(dataset)
        dataset.raise_budget(epsilon=2, why="approved")
        lost.clear()
        batch = dataset.batch([NOISE], adjacency=NEAR)
        release(batch)
        dataset.close(why="ended")
    assert [point.partition(":")[0] for point in lost] == ["reserve", "confirm", "use", "close"]
    expected = ["reserve", "confirm", "raise", "reserve", "confirm", "use", "confirm", "close"]
    assert kinds(dataset) == ["open", *expected]
    assert len(clock.pauses) == 9
    assert "trips" in place.ledger().verify().datasets
