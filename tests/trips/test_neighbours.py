"""Random neighbours, made from the sentences: no pair loses more than epsilon, and some nearly that much."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import numpy as np
import pytest

from tests.neighbours.trips import Travels, trip_edit, user_edit
from veil import trips
from veil.trips.mechanisms.shares import SIZES
from veil.trips.tables import UNIT, tables_of

GRID = trips.Grid(trips.Box(0.0, 0.0, 0.03, 0.03), 3, 3)
EPSILON = 0.7


def table(travels: Travels) -> trips.TripTable:
    users = np.array([user for user, _ in travels], dtype=np.int64)
    start = np.array([3_600.0 * (sum(way) % 24) for _, way in travels])
    return trips.TripTable(GRID, trips.Paths.of([way for _, way in travels]), users, start, start + 60.0)


def loss(mechanism: trips.PrivateTrips, size: str, first: Travels, second: Travels) -> Fraction:
    """The most that the noisy tables of two values can differ by, exactly: the sum over all cells."""
    names, shares = [*mechanism.shares(size)], mechanism.shares(size)
    one, other = (
        tables_of(table(side).counted(cap=mechanism.cap, salt="s"), mechanism.layout, names)
        for side in (first, second)
    )
    moved = {name: int(np.abs(one[name] - other[name]).sum()) for name in names}
    assert max(moved.values()) <= UNIT
    return sum((Fraction(moved[name], mechanism.scale(shares[name])) for name in names), Fraction(0))


@pytest.mark.parametrize("times", [False, True])
@pytest.mark.parametrize("size", SIZES)
@pytest.mark.parametrize("cap", [None, 2])
def test_no_neighbours_lose_more_than_epsilon(cap: int | None, size: str, times: bool) -> None:
    mechanism = trips.PrivateTrips(GRID, EPSILON, cap=cap, times=times, size=size)
    edit: Any = trip_edit if cap is None else user_edit
    rng, worst = np.random.default_rng(1), Fraction(0)
    long = tuple(int(place) for place in [0, 1, 2, 5, 8, 7, 6, 3] * 6)
    travels: Travels = ((0, (1, 2)), (0, (3,)), (1, (8, 0)), (2, (4,)), (2, long))
    for _ in range(40):
        other = edit(rng, travels)
        if other is not None and other != travels:
            worst = max(worst, loss(mechanism, size, travels, other))
            travels = other if len(other) < 12 else travels[:3]
    alone: Travels = ((9, long),) * (cap or 1)
    worst = max(worst, loss(mechanism, size, travels, (*travels, *alone)))
    assert worst <= Fraction("0.7")
    assert worst >= Fraction(EPSILON) * Fraction(95, 100)
