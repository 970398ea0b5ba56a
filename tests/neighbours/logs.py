"""Neighbours of logs, sequences and trips: raw rows are edited as the sentence says, and counted again."""

from __future__ import annotations

from itertools import pairwise
from typing import NamedTuple

import numpy as np

from tests.neighbours.written import Written
from veil.chains import Transitions

STATES, GROUPS, USERS, TIMES = 5, 2, 4, 6


class Row(NamedTuple):
    """One row of a log."""

    who: int
    when: int
    state: int
    group: int


class Trip(NamedTuple):
    """One row of a table of trips."""

    who: int
    origin: int
    destination: int
    group: int


Log = tuple[Row, ...]
Trips = tuple[Trip, ...]
# Sequences of states: what a log is if only the order of a user's rows matters.
Sequences = tuple[tuple[int, ...], ...]


def any_row(rng: np.random.Generator) -> Row:
    who, when, state, group = rng.integers([USERS, TIMES, STATES, GROUPS]).tolist()
    return Row(who, when, state, group)


def any_log(rng: np.random.Generator, *, most: int = 14) -> Log:
    """Rows of a few users, many of them at the same time; now and then all of one user at one time."""
    log = tuple(any_row(rng) for _ in range(int(rng.integers(2, most))))
    return tuple(row._replace(who=0, when=0) for row in log) if rng.random() < 0.15 else log


def row_edit(rng: np.random.Generator, log: Log, change: str) -> Log:
    """ "one row of the log is added or removed", "one row of the log is replaced by any other", or
    "the state in one row of the log is replaced"."""
    place = int(rng.integers(len(log))) if log else None
    rest = log if place is None else (*log[:place], *log[place + 1 :])
    if change == "add-remove":
        return (*log, any_row(rng)) if place is None or rng.random() < 0.5 else rest
    if place is None:
        return log
    if change == "replace":
        return (*rest, any_row(rng))
    return (*rest, log[place]._replace(state=int(rng.integers(STATES))))


def user_edit(rng: np.random.Generator, log: Log, change: str) -> Log:
    """ "one person is added or removed with everything they contributed, of whom at most CAP transitions were
    counted", or "one person is replaced by another with everything they contributed, ...".

    All rows of a user go, rows of a new one come: any number of them, at any time. A new person has a name
    of their own; who comes back under the name of one who went is one of them too.
    """
    users = sorted({row.who for row in log})
    if change == "add-remove" and (not users or rng.random() < 0.5):
        return (*log, *new_user(rng, max(users, default=0) + 1))
    gone = users[int(rng.integers(len(users)))]
    rest = tuple(row for row in log if row.who != gone)
    if change == "add-remove":
        return rest
    name = gone if rng.random() < 0.5 else max(users) + 1
    return (*rest, *new_user(rng, name))


def new_user(rng: np.random.Generator, name: int) -> Log:
    rows = (any_row(rng) for _ in range(int(rng.integers(1, 12))))
    return tuple(row._replace(who=name) for row in rows)


def trip_edit(rng: np.random.Generator, trips: Trips, change: str) -> Trips:
    """ "one transition is added or removed; how many leave each state is not assumed public", or
    "one transition gets another destination; how many leave each state is public".

    In a table of trips a row is a transition.
    """
    place = int(rng.integers(len(trips)))
    rest = (*trips[:place], *trips[place + 1 :])
    if change == "replace":
        return (*rest, trips[place]._replace(destination=int(rng.integers(STATES))))
    return rest if rng.random() < 0.5 else (*trips, any_trip(rng))


def any_trip(rng: np.random.Generator) -> Trip:
    who, origin, destination, group = rng.integers([USERS, STATES, STATES, GROUPS]).tolist()
    return Trip(who, origin, destination, group)


def any_sequences(rng: np.random.Generator) -> Sequences:
    sizes = rng.integers(1, 6, size=int(rng.integers(1, 4))).tolist()
    return tuple(tuple(rng.integers(STATES, size=size).tolist()) for size in sizes)


def event_edit(rng: np.random.Generator, sequences: Sequences, change: str) -> Sequences:
    """The same sentences, of sequences of states.

    A transition that goes cuts its sequence in two, and one that comes may join two, or make one longer. With
    another destination it ends there, or goes on into a sequence that begins there. A state that is left
    without a transition may stay as a sequence of its own, or go.
    """
    if not sequences:
        return ((int(rng.integers(STATES)), int(rng.integers(STATES))),) if change == "add-remove" else ()
    long = [i for i, states in enumerate(sequences) if len(states) > 1]
    if change == "replace":
        return _redirected(rng, sequences, long) if long else sequences
    if long and rng.random() < 0.5:
        i = long[int(rng.integers(len(long)))]
        cut = int(rng.integers(1, len(sequences[i])))
        return _others(sequences, i) + _kept(rng, sequences[i][:cut], sequences[i][cut:])
    kind = rng.random()
    if kind < 0.4 and len(sequences) > 1:
        i, j = rng.choice(len(sequences), 2, replace=False).tolist()
        return (*_others(sequences, i, j), sequences[i] + sequences[j])
    i, state = int(rng.integers(len(sequences))), int(rng.integers(STATES))
    if kind < 0.6:
        return (*_others(sequences, i), (*sequences[i], state))
    if kind < 0.8:
        return (*_others(sequences, i), (state, *sequences[i]))
    return (*sequences, (state, int(rng.integers(STATES))))


def _redirected(rng: np.random.Generator, sequences: Sequences, long: list[int]) -> Sequences:
    i = long[int(rng.integers(len(long)))]
    cut = int(rng.integers(1, len(sequences[i])))
    head, tail = sequences[i][:cut], sequences[i][cut:]
    destination = int(rng.integers(STATES))
    if destination == tail[0]:
        return sequences
    joined = [j for j, states in enumerate(sequences) if j != i and states[0] == destination]
    if joined and rng.random() < 0.7:
        j = joined[int(rng.integers(len(joined)))]
        return (*_others(sequences, i, j), head + sequences[j], *_kept(rng, tail))
    return (*_others(sequences, i), (*head, destination), *_kept(rng, tail))


def _others(sequences: Sequences, *places: int) -> Sequences:
    return tuple(states for place, states in enumerate(sequences) if place not in places)


def _kept(rng: np.random.Generator, *parts: tuple[int, ...]) -> Sequences:
    return tuple(part for part in parts if len(part) > 1 or rng.random() < 0.5)


def _transitions(sequences: Sequences) -> list[tuple[int, int]]:
    return sorted(pair for states in sequences for pair in pairwise(states))


def _apart(first: list[object], second: list[object]) -> tuple[int, int]:
    """How many items came, and how many went."""
    left = list(first)
    came = 0
    for item in second:
        if item in left:
            left.remove(item)
        else:
            came += 1
    return came, len(left)


def _events_apart(first: Sequences, second: Sequences) -> tuple[int, int]:
    return _apart(list(_transitions(first)), list(_transitions(second)))


def _rows_apart(first: Log, second: Log) -> tuple[int, int]:
    return _apart(list(first), list(second))


def _users_apart(first: Log, second: Log) -> tuple[int, int]:
    """How many people have other rows."""
    people = [
        sorted((who, sorted(row for row in log if row.who == who)) for who in {row.who for row in log})
        for log in (first, second)
    ]
    return _apart(list(people[0]), list(people[1]))


_LOG: Log = (Row(0, 0, 1, 0), Row(0, 1, 2, 0), Row(0, 1, 3, 1), Row(1, 0, 1, 0), Row(2, 2, 4, 1))
_SEQUENCES: Sequences = ((0, 1, 2), (3, 4), (2, 2, 0, 1))

WRITTEN = (
    Written(
        Transitions("event", "add-remove"),
        "one transition is added or removed; how many leave each state is not assumed public",
        lambda rng, sequences: event_edit(rng, sequences, "add-remove"),
        _SEQUENCES,
        lambda first, second: _events_apart(first, second) in ((1, 0), (0, 1)),
    ),
    Written(
        Transitions("event", "replace"),
        "one transition gets another destination; how many leave each state is public",
        lambda rng, sequences: event_edit(rng, sequences, "replace"),
        _SEQUENCES,
        lambda first, second: _events_apart(first, second) in ((1, 1), (0, 0)),
    ),
    Written(
        Transitions("row", "add-remove"),
        "one row of the log is added or removed",
        lambda rng, log: row_edit(rng, log, "add-remove"),
        _LOG,
        lambda first, second: _rows_apart(first, second) in ((1, 0), (0, 1)),
    ),
    Written(
        Transitions("row", "replace"),
        "one row of the log is replaced by any other",
        lambda rng, log: row_edit(rng, log, "replace"),
        _LOG,
        lambda first, second: _rows_apart(first, second) in ((1, 1), (0, 0)),
    ),
    Written(
        Transitions("row", "replace-state"),
        "the state in one row of the log is replaced",
        lambda rng, log: row_edit(rng, log, "replace-state"),
        _LOG,
        lambda first, second: (
            _rows_apart(first, second) in ((1, 1), (0, 0))
            and sorted(row[:2] for row in first) == sorted(row[:2] for row in second)
        ),
    ),
    Written(
        Transitions("user", "add-remove", 3),
        "one person is added or removed with everything they contributed, of whom at most 3 transitions "
        "were counted",
        lambda rng, log: user_edit(rng, log, "add-remove"),
        _LOG,
        lambda first, second: _users_apart(first, second) in ((1, 0), (0, 1)),
    ),
    Written(
        Transitions("user", "add-remove", 1),
        "one person is added or removed with everything they contributed, of whom at most 1 transition "
        "was counted",
        lambda rng, log: user_edit(rng, log, "add-remove"),
        _LOG,
        lambda first, second: _users_apart(first, second) in ((1, 0), (0, 1)),
    ),
    Written(
        Transitions("user", "replace", 3),
        "one person is replaced by another with everything they contributed, of whom at most 3 transitions "
        "were counted",
        lambda rng, log: user_edit(rng, log, "replace"),
        _LOG,
        lambda first, second: _users_apart(first, second) in ((1, 1), (0, 0)),
    ),
)
