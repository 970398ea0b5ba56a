"""What to expect of released trips, from public numbers alone: the whole way, on made-up cities."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any, ClassVar

import numpy as np

from veil.core.baseline import Baseline
from veil.core.checks import on_progress
from veil.core.errors import InvalidArgument
from veil.core.kind import Progress
from veil.core.plan import Plan
from veil.trips.made_up import City
from veil.trips.measuring import Measures, measures
from veil.trips.mechanisms.private_trips import PrivateTrips
from veil.trips.model.trip_model import fit
from veil.trips.places.grid import Grid
from veil.trips.places.places import Places
from veil.trips.synthetic_trips import drawn

# Of each user at most so many trips are counted, unless given. The noise does not grow with it, since all
# trips of a user together weigh as much as one: it only bounds how well the number of trips is known.
_CAP = 20
# More trips are as good as fewer at a larger epsilon: so many are made up.
_MOST = 30_000
_SHAPES = ("centre", "two centres", "suburbs")
_TRIPS_OF_USER = 5
_ROUNDS = 12
_MEASURED = {"density": "visits of places", "trip_8": "starts and ends on 8 x 8 areas"}


def planned_cap() -> int:
    """The most trips of one user that are counted, where the user does not say."""
    return _CAP


@dataclass(frozen=True)
class TripPlan(Plan):
    """What to expect.

    expected: the measures on each made-up city. nothing: those of trips that use no data.
    """

    epsilon: float
    best: PrivateTrips
    trips: int
    users: int | None
    expected: dict[str, Measures]
    nothing: dict[str, Measures]
    baselines: tuple[Baseline, ...] = ()
    assumes: str = ""
    printer: ClassVar[str] = "veil.trips.report.console:print_trip_plan"

    @classmethod
    def of(
        cls,
        mechanism: PrivateTrips,
        trips: int,
        users: int | None,
        expected: dict[str, Measures],
        nothing: dict[str, Measures],
    ) -> TripPlan:
        """With the errors of answers that use no data, and a sentence about what was tried."""
        lines = tuple(
            Baseline(
                f"error of {words} (Jensen-Shannon divergence)",
                "trips that use no data",
                _mean(nothing, name),
                _mean(expected, name),
            )
            for name, words in _MEASURED.items()
        )
        assumes = f"Tried on made-up cities ({', '.join(expected)}); no data was read."
        return cls(mechanism.epsilon, mechanism, trips, users, expected, nothing, lines, assumes)

    def mean(self, name: str, *, nothing: bool = False) -> float:
        """A measure on average over the cities."""
        return _mean(self.nothing if nothing else self.expected, name)

    def to_dict(self) -> dict[str, Any]:
        return {
            "epsilon": self.epsilon,
            "trips": self.trips,
            "users": self.users,
            "adjacency": self.best.adjacency.describe(),
            "expected": {name: asdict(one) for name, one in self.expected.items()},
            "knowing_nothing": {name: asdict(one) for name, one in self.nothing.items()},
            "assumes": self.assumes,
        }


def _mean(measured: dict[str, Measures], name: str) -> float:
    return float(np.mean([getattr(one, name) for one in measured.values()]))


def plan_trips(
    places: Places,
    *,
    trips: int,
    epsilon: float,
    users: int | None,
    cap: int | None,
    times: bool,
    longest: int,
    progress: Progress | None = None,
) -> TripPlan:
    """The whole way on made-up cities: trips, noisy tables, model, synthetic trips, measures."""
    if not isinstance(places, Grid):
        hint = "Take a grid with cells of about the same size."
        raise InvalidArgument(
            "places", expected="a grid, on which trips are made up", found=places.words, hint=hint
        )
    tell = on_progress("progress", progress)
    people = None if cap is None else users or max(1, trips // _TRIPS_OF_USER)
    # The errors of tables depend on the product of epsilon and trips.
    shrink = max(1.0, trips / _MOST)
    number, some = max(1, round(trips / shrink)), None if people is None else max(1, round(people / shrink))
    mechanism = PrivateTrips(places, epsilon, cap=cap, longest=longest, times=times)
    tried = PrivateTrips(places, min(epsilon * shrink, 1e4), cap=cap, longest=longest, times=times)
    expected, nothing = {}, {}
    for seed, shape in enumerate(_SHAPES):
        tell(f"trying a made-up city: {shape}")
        table = City.of(places, shape, seed).trips(number, users=some, seed=seed, longest=longest)
        noisy = tried.sample(table, rng=seed)
        model = fit(noisy, tried.scales(noisy), tried.layout, cap=cap, rounds=_ROUNDS)
        rng = np.random.default_rng(seed)
        expected[shape] = measures(table.paths, drawn(model, number, rng).paths, places)
        empty = {name: np.zeros_like(table) for name, table in noisy.items()}
        empty["number"] = noisy["number"]
        blank = fit(empty, tried.scales(noisy), tried.layout, cap=cap, rounds=1)
        nothing[shape] = measures(table.paths, drawn(blank, number, rng).paths, places)
    return TripPlan.of(mechanism, trips, people, expected, nothing)
