"""A PostgreSQL server that hangs up, or whose answer is lost: asked again, and nothing is charged twice."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

import veil
from tests.ledger.clock import Clock
from tests.ledger.places import NEAR, NOISE, Elsewhere, Place, kinds, new_schema, release
from tests.ledger.points import AT_ONCE, POINTS, watching
from tests.tables.servers import Server
from veil.errors import BudgetExceeded
from veil.ledger.amounts import Amount

pytestmark = pytest.mark.xdist_group("postgres")

Trouble = Callable[[], object]
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


def disturbed(dataset: veil.ledger.dataset.Dataset, points: list[str], point: str, trouble: Trouble) -> None:
    """A release in whose middle there is trouble, once: it goes through, charged once and drawn once.

    If the trouble comes with the answer to a commit, then the answer is lost.
    """
    before, spent = kinds(dataset), dataset.spent.epsilon
    reached: list[str] = []

    def reach(now: str, driver: Any) -> None:
        reached.append(now)
        if now == point and reached.count(point) == 1:
            trouble()
            if point.endswith("committed"):
                # The driver's own error, in the place of the answer.
                driver.execute("SELECT 1")

    with watching(reach):
        release(dataset)
    passed = points.index(point) + 1
    assert reached[:passed] == points[:passed]
    assert reached.count("draw: made") == 1, point
    assert kinds(dataset) == [*before, "reserve", "confirm"], point
    assert dataset.spent.epsilon == spent + Amount("0.1"), point


@pytest.mark.parametrize("point", IN_THE_LEDGER)
def test_hung_up(place: Place, point: str, clock: Clock) -> None:
    place.ledger().open(point, epsilon=1)
    disturbed(place.ledger().dataset(point), IN_THE_LEDGER, point, lambda: hang_up(place))
    assert point in place.ledger().verify().datasets
    # Asked again once.
    assert len(clock.pauses) == 1


@pytest.mark.parametrize("point", AT_ONCE)
def test_hung_up_where_nobody_else_writes(place: Place, point: str, clock: Clock) -> None:
    dataset = place.ledger().open(f"alone {point}", epsilon=1)
    release(dataset)
    disturbed(dataset, AT_ONCE, point, lambda: hang_up(place))
    assert dataset.name in place.ledger().verify().datasets
    assert len(clock.pauses) == 1


def test_others_write_meanwhile(place: Place, elsewhere: Elsewhere) -> None:
    """What was taken for the newest entry is not: the server refuses the statement, and all is looked at."""
    mine, other = place.ledger().open("shared", epsilon="0.6"), place.ledger().dataset("shared")
    release(mine)
    reached: list[str] = []
    with watching(lambda point, _: reached.append(point)):
        release(mine)
    assert reached == AT_ONCE
    elsewhere()
    release(other)
    elsewhere()
    reached.clear()
    with watching(lambda point, _: reached.append(point)):
        release(mine)
    looked = ["reserve: locked", "reserve: entry read", "reserve: written", "reserve: commit"]
    assert reached[:6] == ["reserve: asked", "reserve: sent", *looked]
    release(other)
    release(other)
    with pytest.raises(BudgetExceeded):
        release(mine)
    assert kinds(other) == ["open", *["reserve", "confirm"] * 6]
    assert other.spent.epsilon == Amount("0.6")
    assert "shared" in place.ledger().verify().datasets


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
