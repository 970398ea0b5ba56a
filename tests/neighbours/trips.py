"""Neighbours of trips, made by doing what the sentences say."""

from __future__ import annotations

from typing import Any

import numpy as np

from tests.neighbours.written import Written
from veil.trips.adjacency import WholeTrips

# Pairs of a user and the places of one of their trips, in order.
Travels = tuple[tuple[int, tuple[int, ...]], ...]
_TRAVELS: Travels = ((0, (1, 2)), (0, (3,)), (1, (2, 1)), (2, (4, 4)), (2, (1,)), (2, (5, 1)))


def trip_edit(rng: np.random.Generator, travels: Travels) -> Travels | None:
    """One trip more, of anybody, or one less."""
    if travels and rng.random() < 0.5:
        gone = int(rng.integers(len(travels)))
        return travels[:gone] + travels[gone + 1 :]
    places = tuple(int(place) for place in rng.integers(0, 6, rng.integers(1, 4)))
    return (*travels, (int(rng.integers(0, 9)), places))


def user_edit(rng: np.random.Generator, travels: Travels) -> Travels | None:
    """One person more, with some trips, or one less with all of theirs."""
    users = sorted({user for user, _ in travels})
    if users and rng.random() < 0.5:
        gone = users[int(rng.integers(len(users)))]
        return tuple(trip for trip in travels if trip[0] != gone)
    new = max(users, default=0) + 1
    return (*travels, *((new, (int(rng.integers(6)),)) for _ in range(int(rng.integers(1, 5)))))


def _trips_apart(first: Travels, second: Travels) -> int:
    left = list(second)
    for trip in first:
        if trip in left:
            left.remove(trip)
        else:
            return 1 if sorted(first) == sorted([*second, trip]) else 2
    return len(left)


def _users_apart(first: Travels, second: Travels) -> int:
    def of(travels: Travels, user: int) -> list[Any]:
        return sorted(trip for trip in travels if trip[0] == user)

    return sum(of(first, user) != of(second, user) for user in {one for one, _ in (*first, *second)})


def _gone(first: Travels, second: Travels) -> bool:
    """One person more or less, whole."""
    one, other = ({user for user, _ in travels} for travels in (first, second))
    return _users_apart(first, second) == 1 and len(one ^ other) == 1


WRITTEN = (
    Written(
        WholeTrips("trip"),
        "one trip is added or removed, from its first place to its last",
        trip_edit,
        _TRAVELS,
        lambda first, second: _trips_apart(first, second) == 1,
    ),
    Written(
        WholeTrips("user", 3),
        "one person is added or removed with all their trips, of which at most 3 trips are counted",
        user_edit,
        _TRAVELS,
        _gone,
    ),
)
