"""Whole people who come, go or are replaced: their rows are edited, and Veil counts again with its caps."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

from tests.neighbours.claims import Tally
from tests.neighbours.logs import (
    GROUPS,
    STATES,
    Log,
    Row,
    Sequences,
    Trips,
    any_row,
    any_trip,
    new_user,
    user_edit,
)
from tests.neighbours.tables import counted, moved, read_grouped, read_log, read_sequences, read_trips
from veil.chains import PrivateChain, TransitionCounts, Transitions
from veil.chains.lengths import LengthBins
from veil.chains.mechanisms.private_chain import Part
from veil.vectors import GeometricCounts

BINS = LengthBins.default().least


def part(of: str, *shape: int, scale: float, **options: Any) -> Part:
    return Part(of, GeometricCounts(scale, int(np.prod(shape))), shape, **options)


def once() -> list[Part]:
    """What is counted once for each person."""
    return [
        part("starts", STATES, scale=1.0),
        part("ends", STATES, scale=2.0),
        part("lengths", len(BINS), scale=1.5, bins=BINS),
    ]


@dataclass(frozen=True)
class Counting:
    """A way to count people, and the mechanism that hides what was counted.

    cap: the largest of all caps. move: the most that each table moves by when a person comes or goes.
    """

    name: str
    read: Callable[[Any], TransitionCounts]
    mechanism: PrivateChain
    cap: int
    move: dict[str, int]


COUNTINGS = (
    Counting(
        "a cap, and one of its own for the second table",
        lambda log: read_log(log, cap=3, memory=2, second_cap=2, sequences=True),
        PrivateChain(
            STATES,
            [
                part("transitions", STATES, STATES, scale=4.0),
                part("second", STATES + 1, STATES, STATES, scale=3.0, cap=2),
                part("sizes", STATES, scale=5.0),
                *once(),
            ],
        ),
        3,
        {"transitions": 3, "second": 2, "sizes": 3, "starts": 1, "ends": 1, "lengths": 1},
    ),
    Counting(
        "strata",
        lambda log: read_log(log, strata=[(2, 1), (4, 3)], sequences=True),
        PrivateChain(
            STATES,
            [
                part("transitions", STATES, STATES, scale=2.0, least=2, cap=1),
                part("transitions", STATES, STATES, scale=4.0, least=4, cap=3),
                *once(),
            ],
        ),
        3,
        {"stratum 2": 1, "stratum 4": 3, "starts": 1, "ends": 1, "lengths": 1},
    ),
    Counting(
        "groups",
        lambda log: read_grouped(log, cap=2),
        PrivateChain(
            STATES,
            [part("transitions", GROUPS, STATES, STATES, scale=4.0)],
            groups=list(map(str, range(GROUPS))),
        ),
        2,
        {"groups": 2},
    ),
)


def any_people(rng: np.random.Generator) -> Log:
    rows: list[Row] = []
    for name in range(3):
        rows += new_user(rng, name)
    return tuple(rows)


def compare(counting: Counting, seed: int, *, logs: int, neighbours: int) -> None:
    rng = np.random.default_rng(seed)
    tallies, largest = {}, dict.fromkeys(counting.move, 0)
    for change in ("add-remove", "replace"):
        adjacency = Transitions("user", change, counting.cap)
        title = f"PrivateChain of {counting.name}, {change}"
        tallies[change] = Tally(title, counting.mechanism.profile(adjacency))
    for _ in range(logs):
        log = any_people(rng)
        before = counting.mechanism.validate(counting.read(log))
        for change, tally in tallies.items():
            for _ in range(neighbours):
                other = user_edit(rng, log, change)
                after = counting.mechanism.validate(counting.read(other))
                tally.pairs += 1
                tables = counted(before), counted(after)
                for name, most in counting.move.items():
                    gaps = sorted(moved(*tables, name))
                    largest[name] = max(largest[name], gaps[1])
                    assert gaps[1] <= most
                    assert gaps[0] <= (most if change == "replace" else 0)
                losses = (
                    Fraction(int(np.abs(one.counted(before) - one.counted(after)).sum()))
                    / Fraction(scale_of(one))
                    for one in counting.mechanism.parts
                )
                tally.add_loss(sum(losses, Fraction(0)), (log, other))
    assert largest == counting.move
    for change, tally in tallies.items():
        # Of two people that change places, one rarely has all and the other nothing in common with it.
        tally.close(least=0.95 if change == "add-remove" else 0.6)


def scale_of(one: Part) -> float:
    assert isinstance(one.mechanism, GeometricCounts)
    return one.mechanism.scale


@pytest.mark.mostly_slow(quick=1)
@pytest.mark.parametrize("counting", COUNTINGS, ids=lambda counting: counting.name)
def test_no_person_moves_more_than_is_charged(counting: Counting) -> None:
    compare(counting, 21, logs=1, neighbours=3)


@pytest.mark.slow
@pytest.mark.parametrize("counting", COUNTINGS, ids=lambda counting: counting.name)
def test_no_person_moves_more_in_a_long_search(counting: Counting) -> None:
    compare(counting, 22, logs=4, neighbours=6)


def test_people_who_make_trips() -> None:
    """All trips of one person go; at most the cap of each were counted."""
    rng, cap, largest = np.random.default_rng(23), 2, 0
    trips: Trips = tuple(any_trip(rng) for _ in range(18))
    options: dict[str, Any] = {"by": "who", "cap": cap}
    before = counted(read_trips(trips, **options))
    for who in sorted({trip.who for trip in trips})[:2]:
        after = counted(read_trips(tuple(trip for trip in trips if trip.who != who), **options))
        come, gone = moved(before, after, "transitions")
        assert come == 0
        assert gone <= cap
        largest = max(largest, gone)
    assert largest == Transitions("user", "add-remove", cap).on("transitions").total


def test_people_without_a_name() -> None:
    """A sequence goes, also one of several that are alike: nobody else's sample changes."""
    given: Sequences = (
        (0, 1, 2, 3, 4),
        (0, 1, 2, 3, 4),
        (2, 2, 2, 1),
        (4, 0),
        (0, 1, 2, 3, 4),
        (3, 1, 3, 1, 0),
    )
    before = counted(read_sequences(given, cap=2, memory=2, sequences=True))
    for place in (0, 2, 3, 4):
        rest = (*given[:place], *given[place + 1 :])
        after = counted(read_sequences(rest, cap=2, memory=2, sequences=True))
        for table, most in (("transitions", 2), ("second", 2), ("starts", 1), ("ends", 1), ("lengths", 1)):
            come, gone = moved(before, after, table)
            assert come == 0
            assert gone == min(most, max(len(given[place]) - 1, 1))


def test_a_cap_does_not_go_with_rows() -> None:
    """One row of a person changes which of their transitions are sampled: far more than is charged for a row.

    So counts with a cap are not taken for it.
    """
    rng = np.random.default_rng(24)
    log = tuple(any_row(rng)._replace(who=0, when=when) for when in range(12))
    before = read_log(log, cap=4)
    gaps = [
        sum(moved(counted(before), counted(read_log((*log[:i], *log[i + 1 :]), cap=4)), "transitions"))
        for i in (0, 5, 9)
    ]
    assert max(gaps) > Transitions("row").on("transitions").total
