"""Noisy tables of trips (proof in private_trips.md)."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from functools import cached_property
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from veil.core.adjacency import Adjacency
from veil.core.checks import choice, integer, positive, truth
from veil.core.errors import InvalidData
from veil.core.mechanism import Described, adjacency_of
from veil.core.numerics.rounding import stated
from veil.core.privacy.pairs import RandomizedResponses
from veil.core.privacy.profile import PrivacyProfile
from veil.core.random.discrete import sample_discrete_laplace
from veil.core.random.streams import Rng
from veil.trips.adjacency import WholeTrips
from veil.trips.mechanisms.shares import SIZES, shares_of
from veil.trips.places.places import Places
from veil.trips.tables import UNIT, Counted, Layout, tables_of
from veil.trips.trip_table import LONGEST, TripsBetween, TripTable

# Trips that a release counts at most: sums of so many units fit into 64 bits.
MOST_TRIPS = 10_000_000_000
# Expected trips times epsilon from which the tables for large data are better.
LARGE_FROM = 600


@dataclass(frozen=True)
class PrivateTrips(Described):
    """Count trips in several tables, each with geometric noise, at epsilon in total.

    places: public, or their description. epsilon: the total cost. cap: the most trips of one user, who are
    then hidden as a whole; None hides single trips. longest: the most moves of a trip. times: whether hours,
    weekdays and durations are released too. size: which tables: "small" or "large", or "auto", which the
    noisy number of trips decides.
    """

    places: Any
    epsilon: float
    cap: int | None = None
    longest: int = LONGEST
    times: bool = False
    size: str = "auto"
    domain: TripsBetween = field(init=False, repr=False, compare=False)
    name: ClassVar[str] = "PrivateTrips"

    def __post_init__(self) -> None:
        object.__setattr__(self, "epsilon", positive("epsilon", self.epsilon, least=1e-6, most=1e4))
        cap = None if self.cap is None else integer("cap", self.cap, least=1, most=1_000)
        object.__setattr__(self, "cap", cap)
        object.__setattr__(self, "times", truth("times", self.times))
        choice("size", self.size, ("auto", *SIZES))
        object.__setattr__(self, "domain", TripsBetween(self.places, self.longest))
        object.__setattr__(self, "places", self.domain.places)
        object.__setattr__(self, "longest", self.domain.longest)

    @property
    def adjacency(self) -> WholeTrips:
        return WholeTrips("trip") if self.cap is None else WholeTrips("user", self.cap)

    @cached_property
    def layout(self) -> Layout:
        """The tables and their cells."""
        places: Places = self.places
        return Layout(places, self.longest, ("times",) if self.times else ())

    def shares(self, size: str) -> Mapping[str, Fraction]:
        """The part of epsilon that each table has; they add up to 1."""
        return shares_of(size, times=self.times)

    def scale(self, share: Fraction) -> int:
        """The scale of the noise of a table, rounded up: UNIT / (epsilon * share)."""
        return math.ceil(UNIT / (stated(self.epsilon) * share))

    def scales(self, tables: Mapping[str, Any]) -> dict[str, float]:
        """The scales of the noise of these tables, in trips."""
        shares = self.shares(size_of(tables))
        return {name: self.scale(shares[name]) / UNIT for name in tables}

    def validate(self, value: Any) -> TripTable:
        table = self.domain.validate(value)
        if self.cap is not None and table.users is None:
            raise InvalidData("trips", expected="trips whose users are known", found="trips without users")
        if self.times and (table.departures is None or table.arrivals is None):
            raise InvalidData("trips", expected="times of departure and arrival", found="none")
        if len(table) > MOST_TRIPS:
            raise InvalidData("trips", expected=f"at most {MOST_TRIPS:,} trips", found="more")
        return table

    def item_axes(self, valid: Any) -> int:
        return 0

    def _draw(self, rng: Rng, value: TripTable, size: int | None) -> Any:
        """The noisy tables: first the number of trips, which decides which others there are."""
        draws = size or 1
        # Where nobody has more trips than are counted, all draws count the same.
        again = draws if value.has_more_than(self.cap) else 1
        counted = [value.counted(cap=self.cap) for _ in range(again)]
        number = self._noisy(rng, counted, ["number"], self.shares("small"), draws)["number"]
        sizes = np.array([self._size(one) if self.size == "auto" else self.size for one in number])
        drawn: list[dict[str, NDArray[np.int64]]] = [{} for _ in range(draws)]
        for one in SIZES:
            rows = np.flatnonzero(sizes == one)
            if len(rows):
                shares = self.shares(one)
                used = counted if again == 1 else [counted[row] for row in rows]
                names = [name for name in shares if name != "number"]
                tables = self._noisy(rng, used, names, shares, len(rows))
                for place, row in enumerate(rows):
                    others = {name: table[place] for name, table in tables.items()}
                    drawn[row] = {"number": number[row]} | others
        return drawn[0] if size is None else drawn

    def _noisy(
        self, rng: Rng, counted: Sequence[Counted], names: Sequence[str], shares: Any, draws: int
    ) -> dict[str, NDArray[np.int64]]:
        """So many draws of tables; counted: the same trips for all, or trips for each."""
        tables = [tables_of(one, self.layout, names) for one in counted]
        noisy = {}
        for name in names:
            exact = np.stack([one[name] for one in tables])
            noise = self.noise(rng, shares[name], draws * exact[0].size)
            noisy[name] = exact + noise.reshape(draws, *exact.shape[1:])
        return noisy

    def _size(self, number: NDArray[np.int64]) -> str:
        """Which tables fit a noisy number: a function of what was released already."""
        people = float(number[0]) / UNIT * (1.0 if self.cap is None else 2.0)
        return "large" if people * self.epsilon >= LARGE_FROM else "small"

    def noise(self, rng: Rng, share: Fraction, size: int) -> NDArray[np.int64]:
        """Exact geometric noise for a table with this share of epsilon."""
        return sample_discrete_laplace(rng, scale=Fraction(self.scale(share)), size=size)

    def profile(self, adjacency: Adjacency | None = None) -> PrivacyProfile:
        adjacency_of(self, adjacency, WholeTrips)
        near = self.adjacency if adjacency is None else adjacency
        if near != self.adjacency:
            from veil.core.errors import InvalidArgument

            raise InvalidArgument("adjacency", expected=self.adjacency.words, found=near.words)
        return RandomizedResponses(self.epsilon, kind="upper bound")

    def describe(self) -> dict[str, Any]:
        parameters: dict[str, Any] = {"places": self.places.describe(), "epsilon": self.epsilon}
        defaults = {"cap": None, "longest": LONGEST, "times": False, "size": "auto"}
        for name, default in defaults.items():
            if getattr(self, name) != default:
                parameters[name] = getattr(self, name)
        return {"name": self.name, "parameters": parameters}


def size_of(tables: Any) -> str:
    """Which size these tables are of, by their names."""
    return "large" if "turns" in tables else "small"
