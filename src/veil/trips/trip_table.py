"""Trips as they were read: places in the order of time, and whose they are. Sensitive data."""

from __future__ import annotations

import hashlib
import secrets
from dataclasses import dataclass, field, replace
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from veil.core.arrays import Floats
from veil.core.checks import integer
from veil.core.errors import InvalidArgument, InvalidData
from veil.core.intake import numbers_of
from veil.core.mechanism import Domain
from veil.trips.paths import Paths
from veil.trips.places.places import Places
from veil.trips.tables import Counted

_DAY, _HOUR, _MINUTE = 86_400, 3_600, 60
# 1 January 1970 was a Thursday; Monday is 0.
_FIRST_WEEKDAY = 3
LONGEST = 48
# Of times: whole seconds up to this are told apart.
_MOST_SECONDS = 2**52


@dataclass(frozen=True)
class Treatment:
    """What was done with points that could not be used; counts of them are sensitive as well.

    left_out: how many, by the reason, in words. layout_guessed: how the file is laid out was found out from
    it.
    unchecked: the source is a query or a view of which it is not known that each record gives at most one
    row.
    """

    left_out: tuple[tuple[str, int], ...] = ()
    layout_guessed: bool = False
    unchecked: bool = False


@dataclass(frozen=True, eq=False, repr=False)
class TripTable:
    """Trips between public places. This is sensitive data, not a release.

    places: the public places. paths: the places of each trip, in order; repeats are dropped, places between
    two that are not neighbours are filled in, and a trip ends after `longest` moves.
    users: for each trip a number that stands for its user; None if nobody knows whose trips they are.
    departures, arrivals: seconds, for hours and weekdays; None where there are no times.
    """

    places: Places
    paths: Paths
    users: NDArray[Any] | None = None
    departures: Floats | None = None
    arrivals: Floats | None = None
    longest: int = LONGEST
    treatment: Treatment = field(default_factory=Treatment)

    def __post_init__(self) -> None:
        if not isinstance(self.places, Places):
            expected = "places such as trips.Grid"
            raise InvalidArgument("places", expected=expected, found=type(self.places).__name__)
        longest = integer("longest", self.longest, least=1, most=200)
        paths = self.paths if isinstance(self.paths, Paths) else Paths.of(self.paths)
        if (paths.sizes == 0).any():
            raise InvalidData("trips", expected="a place or more in each trip", found="an empty trip")
        if len(paths.codes) and not 0 <= paths.codes.min() <= paths.codes.max() < len(self.places):
            expected = f"places from 0 to {len(self.places) - 1}"
            raise InvalidData("trips", expected=expected, found="others")
        for name in ("users", "departures", "arrivals"):
            given = getattr(self, name)
            if given is not None:
                object.__setattr__(self, name, _each(name, given, len(paths)))
        if not isinstance(self.treatment, Treatment):
            found = type(self.treatment).__name__
            raise InvalidArgument("treatment", expected="what was done with points", found=found)
        object.__setattr__(self, "longest", longest)
        ready = paths.without_repeats().joined(self.places).cut(longest + 1)
        object.__setattr__(self, "paths", ready)

    def __len__(self) -> int:
        return len(self.paths)

    def __repr__(self) -> str:
        # No number that was counted: a repr ends up in logs.
        return f"<trips.TripTable over {len(self.places):,} places>"

    def taken(self, trips: Any) -> TripTable:
        """Some of the trips, by their numbers."""
        parts: dict[str, Any] = {
            name: None if getattr(self, name) is None else np.asarray(getattr(self, name))[trips]
            for name in ("users", "departures", "arrivals")
        }
        return replace(self, paths=self.paths.taken(trips), **parts)

    def has_more_than(self, cap: int | None) -> bool:
        """Whether somebody has more trips than so many."""
        if cap is None or self.users is None or not len(self.users):
            return False
        return int(np.unique(self.users, return_counts=True)[1].max()) > cap

    @property
    def _contents(self) -> Any:
        """A number for each trip that depends on this trip alone: its start, end, size and departure."""
        paths = self.paths
        ends = paths.starts.astype(np.uint64) * np.uint64(len(self.places)) + paths.ends.astype(np.uint64)
        contents = ends * np.uint64(1_024) + paths.sizes.astype(np.uint64)
        if self.departures is not None:
            moment = np.mod(np.floor(self.departures), 2.0**40).astype(np.uint64)
            contents = contents ^ (moment << np.uint64(24))
        return contents

    def counted(self, *, cap: int | None, salt: str | None = None) -> Counted:
        """The trips as they are counted. cap: of each user at most so many, in the order of a salted hash."""
        table, share = self, None
        if cap is not None:
            if self.users is None:
                expected, hint = "trips whose users are known", "Read them with {by}."
                raise InvalidData("users", expected=expected, found="none", hint=hint, names=("by",))
            table = self.taken(sampled(self.users, cap, salt, self._contents))
            assert table.users is not None
            _, which, counts = np.unique(table.users, return_inverse=True, return_counts=True)
            share = counts[which].astype(np.int64)
        times = {}
        if table.departures is not None and table.arrivals is not None:
            start = np.floor(table.departures)
            times = {
                "hour": (np.mod(start, _DAY) // _HOUR).astype(np.int64),
                "weekday": np.mod(start // _DAY + _FIRST_WEEKDAY, 7).astype(np.int64),
                "minutes": np.maximum(table.arrivals - table.departures, 0.0) / _MINUTE,
            }
        return Counted(table.paths, share, cap or 1, **times)


def _each(name: str, given: Any, trips: int) -> NDArray[Any]:
    """A number for each trip: of its user, or seconds."""
    array = numbers_of(name, given)
    if array.shape != (trips,):
        raise InvalidData(name, expected=f"one for each of {trips:,} trips", found="another number")
    if name == "users" and array.dtype.kind != "f":
        return array
    numbers = array.astype(np.float64, copy=False)
    if not (np.abs(numbers) <= _MOST_SECONDS).all():
        raise InvalidData(name, expected=f"numbers up to {_MOST_SECONDS:,}", found="others")
    return numbers


def sampled(users: Any, cap: int, salt: str | None = None, content: Any = None) -> NDArray[np.int64]:
    """The numbers of at most `cap` trips of each user, in their order.

    Which ones depends on the user's own trips alone (their order and what they are: `content`, a number for
    each), and on a salt: secret, unless it is given.
    """
    _, whose = np.unique(np.asarray(users), return_inverse=True)
    order = np.lexsort((np.arange(len(whose)), whose))
    first = np.concatenate([[0], np.flatnonzero(np.diff(whose[order])) + 1, [len(order)]])
    number = np.arange(len(order)) - np.repeat(first[:-1], np.diff(first))
    seed = hashlib.sha256((secrets.token_hex(32) if salt is None else f"trips {salt}").encode()).digest()
    own = np.zeros(len(order), dtype=np.uint64) if content is None else np.asarray(content, np.uint64)[order]
    keys = _mixed(own, number.astype(np.uint64), np.frombuffer(seed[:16], np.uint64))
    ranked = np.lexsort((number, keys, whose[order]))
    return np.sort(order[ranked[number < cap]])


def _mixed(contents: Any, numbers: Any, seed: Any) -> Any:
    """A hash of two numbers and a seed, in 64 bits (the finisher of SplitMix64, three times)."""
    with np.errstate(over="ignore"):
        state = contents * np.uint64(0x9E3779B97F4A7C15) + seed[0]
        for part in (numbers, seed[1], np.uint64(0)):
            state = (state ^ (state >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
            state = (state ^ (state >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
            state = (state ^ (state >> np.uint64(31))) + part * np.uint64(0xD1B54A32D192ED03)
        return state


@dataclass(frozen=True)
class TripsBetween(Domain):
    """Trips between places, of so many moves at most."""

    places: Places
    longest: int = LONGEST
    name: ClassVar[str] = "TripsBetween"
    kind: ClassVar[str] = "trips"

    def __post_init__(self) -> None:
        from veil.trips.places.given import places_from

        places = self.places if isinstance(self.places, Places) else places_from(self.places)
        object.__setattr__(self, "places", places)
        object.__setattr__(self, "longest", integer("longest", self.longest, least=1, most=200))

    @property
    def words(self) -> str:
        return f"trips of at most {self.longest} moves between {self.places.words}"

    def validate(self, value: Any) -> TripTable:
        """The value as a table of trips; lists of lists of numbers of places will do."""
        if not isinstance(value, TripTable):
            value = TripTable(self.places, Paths.of(value), longest=self.longest)
        if value.places != self.places or value.longest > self.longest:
            raise InvalidData("trips", expected=self.words, found=f"trips between {value.places.words}")
        table: TripTable = value
        return table

    def describe(self) -> dict[str, Any]:
        return {"name": self.name, "places": self.places.describe(), "longest": self.longest}
