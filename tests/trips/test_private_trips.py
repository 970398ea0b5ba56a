"""The tables of trips: what one trip or user adds, the noise on them, and faults that audits must find."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

import veil
from veil import trips
from veil.core.audit.suite import audit_suite
from veil.errors import InvalidArgument, InvalidData
from veil.trips.mechanisms.private_trips import size_of
from veil.trips.mechanisms.shares import SIZES, shares_of
from veil.trips.tables import UNIT, Layout, tables_of

GRID = trips.Grid(trips.Box(0.0, 0.0, 0.04, 0.04), 4, 4)
LAYOUT = Layout(GRID, 48, ("times",))
NAMES = [*LAYOUT.shapes]
ALPHA = 1e-6

some_trips = st.lists(st.lists(st.integers(0, 15), min_size=1, max_size=60), min_size=1, max_size=7)


def table(walks: Any, users: Any = None) -> trips.TripTable:
    # By what the trip is, not by its number: that changes when another one goes.
    start = np.array([3_600.0 * (len(walk) % 24) for walk in walks])
    return trips.TripTable(GRID, trips.Paths.of(walks), users, start, start + 600.0)


def counted(of: trips.TripTable, cap: int | None = None) -> dict[str, Any]:
    return tables_of(of.counted(cap=cap, salt="x"), LAYOUT, NAMES)


@settings(max_examples=60, deadline=None)
@given(some_trips, st.integers(0, 6))
def test_a_trip_adds_at_most_one_to_each_table(walks: list[list[int]], gone: int) -> None:
    gone %= len(walks)
    without = walks[:gone] + walks[gone + 1 :]
    whole, less = counted(table(walks)), counted(table(without))
    for name in NAMES:
        change = whole[name] - less[name]
        assert (change >= 0).all()
        assert change.sum() <= UNIT, name


@settings(max_examples=60, deadline=None)
@given(some_trips, st.integers(1, 5), st.data())
def test_a_user_adds_at_most_one_to_each_table(walks: list[list[int]], cap: int, data: st.DataObject) -> None:
    users = np.array(data.draw(st.lists(st.integers(0, 2), min_size=len(walks), max_size=len(walks))))
    # The last user, so that the numbers of the others stay.
    kept = [number for number, user in enumerate(users) if user != users.max()]
    whole = counted(table(walks, users), cap)
    less = counted(table([walks[number] for number in kept], users[kept]), cap)
    for name in NAMES:
        change = whole[name] - less[name]
        assert (change >= 0).all()
        assert change.sum() <= UNIT, name


def test_tables_by_hand() -> None:
    """0 -> 1 -> 6: east, then north-east; 2 moves, one turn of an eighth to the left, distance 2."""
    found = counted(table([[0, 1, 6]]))
    assert found["number"].tolist() == [UNIT, 0]
    assert found["starts"][0] == found["ends"][6] == UNIT
    assert sorted(found["moves"][found["moves"] > 0].tolist()) == [UNIT // 2, UNIT // 2]
    assert found["turns"].tolist() == [0, UNIT // 2, 0, 0, 0, 0, 0, 0]
    assert found["detours"][2, 0] == UNIT
    assert found["visits of 4 x 4 blocks"][[0, 1, 6]].tolist() == [UNIT // 3] * 3
    assert counted(table([[5]]))["moves"].sum() == 0


def test_trips_of_users_share_one_weight() -> None:
    found = counted(table([[0, 1], [0, 1], [0, 1], [2, 3]], np.array([1, 1, 1, 2])), cap=4)
    assert found["starts"][0] == 3 * (UNIT // 3)
    assert found["starts"][2] == UNIT
    assert found["number"].tolist() == [3 * (UNIT // 6) + UNIT // 2, 4 * (UNIT // 8)]
    capped = counted(table([[0, 1], [0, 1], [0, 1], [2, 3]], np.array([1, 1, 1, 2])), cap=2)
    assert capped["starts"][0] == UNIT


@pytest.mark.parametrize("times", [False, True])
@pytest.mark.parametrize("size", SIZES)
def test_shares_and_scales_never_promise_too_much(size: str, times: bool) -> None:
    shares = shares_of(size, times=times)
    assert sum(shares.values()) == 1
    assert shares["number"] == shares_of("small")["number"]
    for epsilon in (0.1, 1.0, 0.3, 7.7, 1e-4):
        mechanism = trips.PrivateTrips(GRID, epsilon, times=times, size=size)
        loss = sum(Fraction(UNIT, mechanism.scale(share)) for share in shares.values())
        assert loss <= Fraction(str(epsilon))
        assert mechanism.profile().epsilon(0.0) == epsilon


def test_the_noise_has_the_stated_law() -> None:
    """Kolmogorov-Smirnov at a level of a millionth; a scale that is off by 10 % is refused."""
    mechanism = trips.PrivateTrips(GRID, 1.0, size="large")
    share = mechanism.shares("large")["moves"]
    noise = mechanism.noise(np.random.default_rng(1), share, 40_000) / mechanism.scale(share)
    assert stats.kstest(noise, stats.laplace.cdf).pvalue > ALPHA
    assert stats.kstest(noise * 1.1, stats.laplace.cdf).pvalue < ALPHA


def test_every_cell_of_every_table_has_noise() -> None:
    mechanism = trips.PrivateTrips(GRID, 1.0, times=True)
    draws = mechanism.sample(table([[0, 1]]), rng=1, size=3)
    for name in draws[0]:
        assert (np.stack([draw[name] for draw in draws]).std(axis=0) > 0).all(), name


def test_the_number_decides_which_tables_there_are() -> None:
    mechanism = trips.PrivateTrips(GRID, 1.0)
    assert size_of(mechanism.sample(table([[0, 1]]), rng=1)) == "small"
    assert size_of(mechanism.sample(table([[0, 1]] * 2_000), rng=1)) == "large"
    with_users = trips.PrivateTrips(GRID, 1.0, cap=5)
    of_one = table([[0, 1]] * 2_000, np.zeros(2_000, dtype=int))
    assert size_of(with_users.sample(of_one, rng=1)) == "small"


class Faulty(trips.PrivateTrips):
    """With an eighth of the noise."""

    def noise(self, rng: Any, share: Fraction, size: int) -> Any:
        return super().noise(rng, share * 8, size)


class Forgetful(trips.PrivateTrips):
    """One table goes out as it is."""

    def noise(self, rng: Any, share: Fraction, size: int) -> Any:
        drawn = super().noise(rng, share, size)
        return 0 * drawn if share == self.shares("large")["turns"] else drawn


class Unshared(trips.PrivateTrips):
    """Of users, every trip counts in full."""

    def _draw(self, rng: Any, value: Any, size: int | None) -> Any:
        whole = trips.PrivateTrips(self.places, self.epsilon, longest=self.longest, size=self.size)
        return whole._draw(rng, replace(value, users=None), size)


@pytest.mark.slow
@pytest.mark.parametrize("cap", [None, 3])
def test_audits_find_nothing(cap: int | None) -> None:
    assert not audit_suite(
        trips.PrivateTrips(GRID, 2.0, cap=cap, size="large"), samples=1_000, rng=1
    ).violated


@pytest.mark.slow
@pytest.mark.parametrize(("fault", "cap"), [(Faulty, None), (Forgetful, None), (Unshared, 3)])
def test_audits_find_planted_faults(fault: Any, cap: int | None) -> None:
    assert audit_suite(fault(GRID, 1.0, cap=cap, size="large"), samples=1_000, rng=1).violated


def test_samples_of_users_are_uniform() -> None:
    """Each of five trips of a user is among two with the same probability, whoever else is there."""
    from veil.trips.trip_table import sampled

    users = np.repeat(np.arange(400), 5)
    hits = np.zeros(5)
    for salt in range(10):
        hits += np.bincount(sampled(users, 2, str(salt), np.arange(2_000)) % 5, minlength=5)
    assert stats.chisquare(hits).pvalue > ALPHA
    assert sampled(users, 7).tolist() == list(range(2_000))
    assert (
        stats.chisquare(
            hits * (1.0, 1.0, 1.0, 1.0, 1.3) * 4000 * 2 / (hits * (1.0, 1.0, 1.0, 1.0, 1.3)).sum()
        ).pvalue
        < ALPHA
    )


def test_descriptions_and_refusals() -> None:
    mechanism = trips.PrivateTrips(GRID, 0.7, cap=3, times=True)
    from veil.core.kind import kind_named
    from veil.core.registry import mechanism_from

    assert mechanism_from(mechanism.describe(), kind_named("trips")) == mechanism
    with pytest.raises(InvalidData, match="users are known"):
        mechanism.validate(table([[0]]))
    with pytest.raises(InvalidData, match="departure"):
        mechanism.validate(trips.TripTable(GRID, trips.Paths.of([[0]]), np.zeros(1)))
    with pytest.raises(InvalidData, match="trips: expected trips of at most"):
        trips.PrivateTrips(trips.Grid(GRID.box, 3, 3), 1.0).validate(table([[0]]))
    with pytest.raises(InvalidArgument, match="adjacency"):
        mechanism.profile(trips.WholeTrips("trip"))
    assert veil.errors.InvalidArgument is InvalidArgument
