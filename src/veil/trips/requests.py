"""What can be asked of trips: releasing them, and what to expect."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from veil.core.checks import positive
from veil.core.errors import InvalidArgument, InvalidData
from veil.core.job import Job
from veil.core.kind import Progress
from veil.core.mechanism import LAYOUT_IS_PUBLIC, ROW_BY_ROW
from veil.core.preview import Preview
from veil.core.request import PlanRequest, ReleaseRequest, option
from veil.tables.given import files_among
from veil.trips.adjacency import UNITS
from veil.trips.mechanisms.private_trips import MOST_TRIPS, PrivateTrips
from veil.trips.model.trip_model import TripModel
from veil.trips.places.given import given_places
from veil.trips.planning import TripPlan, plan_trips, planned_cap
from veil.trips.trip_table import LONGEST, TripTable

SIZES = ("auto", "small", "large")
USERS_SEEN = (
    "the data says who made each trip, but the unit 'trip' hides one trip at a time: someone with many of "
    "them, such as the same way every morning, is hidden less. The unit 'user' hides all trips of one person"
)
_UNIT = "What is hidden: trip (one trip) or user (a person with all their trips)."
_CAP = "With {unit=user}: the most trips counted of one, sampled at random; planned unless given."
_USERS = "With {unit=user}: about how many users there are; public."
_PURE = "0, since these mechanisms are pure"


@dataclass(frozen=True, kw_only=True)
class TripRelease(ReleaseRequest):
    """Release a private model of trips, with synthetic trips, flows and maps.

    What is hidden is one trip, or with the unit user a person with all of their trips.
    """

    examples = (
        (
            "",
            {
                "source": "points.csv",
                "places": "grid:500m",
                "box": "48.10,11.50,48.172,11.608",
                "lat": "lat",
                "lng": "lng",
                "trip": "traj_id",
                "order": "t",
                "epsilon": 1,
                "output": "model.json",
                "report": "map.html",
            },
        ),
        (
            "Whole users, and the points split into trips",
            {
                "source": "points.parquet",
                "places": "zones.geojson",
                "lat": "lat",
                "lng": "lng",
                "by": "user",
                "order": "time",
                "unit": "user",
                "epsilon": 2,
                "output": "model.json",
            },
        ),
    )

    mechanism: str = option(
        "auto",
        help="Which tables: large, small, or auto, which the noisy number of trips decides.",
        short="-m",
        choices=SIZES,
        group="Mechanism",
    )
    unit: str = option("trip", help=_UNIT, choices=UNITS, group="Privacy")
    cap: int | None = option(None, help=_CAP, least=1, most=1_000, group="Privacy")
    times: bool = option(
        False,
        help="Also release when trips start and how long they take, under the same epsilon.",
        group="Output",
    )

    def prepare(self, data: Any, *, rng: Any = None, progress: Progress | None = None) -> Job[TripModel]:
        self.check()
        check_unit(self.unit, self.cap)
        if self.delta != 0.0:
            raise InvalidArgument("delta", expected=_PURE, found=f"{self.delta:g}")
        if not isinstance(data, TripTable):
            expected, hint = "what trips.read returned, or a trips.TripTable", "Read the points first."
            raise InvalidArgument("trips", expected=expected, found=type(data).__name__, hint=hint)
        if self.times and (data.departures is None or data.arrivals is None):
            expected = "trips whose departure and arrival are known"
            raise InvalidData("times", expected=expected, found="none", names=("order", "arrival"))
        cap = (self.cap or planned_cap()) if self.unit == "user" else None
        mechanism = PrivateTrips(
            data.places, self.epsilon, cap=cap, longest=data.longest, times=self.times, size=self.mechanism
        )
        about = data.treatment
        assumed = {ROW_BY_ROW: about.unchecked, LAYOUT_IS_PUBLIC: about.layout_guessed}
        capped = f"at most {cap} trips of each user are counted" if cap is not None else ""
        return Job.prepare(
            mechanism,
            data,
            epsilon=float(self.epsilon),
            assumptions=tuple(text for text, applies in assumed.items() if applies),
            chosen=self.mechanism,
            why="the noisy number of trips decides which tables" if self.mechanism == "auto" else "as asked",
            warnings=(USERS_SEEN,) if self.unit == "trip" and data.users is not None else (),
            notes=(capped[0].upper() + capped[1:],) if capped else (),
            request=self,
            source=data,
        )


@dataclass(frozen=True, kw_only=True)
class TripPlanning(PlanRequest):
    """What to expect of released trips, from public numbers alone: tried out on made-up cities."""

    examples = (
        ("", {"places": "grid:500m", "box": "48.10,11.50,48.172,11.608", "trips": 20_000, "epsilon": 1}),
        (
            "Whole users",
            {
                "places": "grid:16x16",
                "box": "0,0,0.1,0.1",
                "trips": 20_000,
                "unit": "user",
                "users": 4_000,
                "epsilon": 1,
            },
        ),
    )

    places: Any = option(help="The public places, a grid: grid:500m or grid:16x16.")
    box: Any = option(None, help="The public area: south,west,north,east in degrees.")
    trips: int = option(
        help="About how many trips there are, as far as public.", short="-n", least=1, most=MOST_TRIPS
    )
    epsilon: float = option(help="Privacy loss; smaller is more private.", short="-e")
    unit: str = option("trip", help=_UNIT, choices=UNITS)
    users: int | None = option(None, help=_USERS, least=1, most=MOST_TRIPS)
    cap: int | None = option(None, help=_CAP, least=1, most=1_000)
    times: bool = option(False, help="Whether times are released as well.")
    longest: int = option(LONGEST, help="The most moves of a trip.", least=1, most=200)

    @property
    def inputs(self) -> tuple[str, ...]:
        given = (
            None if isinstance(self.places, str) and self.places.startswith(("grid:", "h3:")) else self.places
        )
        return files_among(given)

    def check(self) -> None:
        super().check()
        positive("epsilon", self.epsilon, least=1e-6, most=1e4)
        check_unit(self.unit, self.cap)
        if self.users is not None and self.unit != "user":
            raise InvalidArgument(
                "users", expected="{unit=user} with it", found=f"{{unit={self.unit}}}", names=("unit",)
            )

    def plan(self, progress: Progress | None = None) -> TripPlan:
        self.check()
        return plan_trips(
            given_places(self.places, self.box),
            trips=self.trips,
            epsilon=self.epsilon,
            users=self.users,
            cap=(self.cap or planned_cap()) if self.unit == "user" else None,
            times=self.times,
            longest=self.longest,
            progress=progress,
        )

    def preview(self, plan: TripPlan) -> Preview | None:
        from veil.trips.preview import preview_trips

        return preview_trips(plan)


def check_unit(unit: str, cap: int | None) -> None:
    """A cap belongs to users."""
    if cap is not None and unit != "user":
        raise InvalidArgument(
            "cap", expected="{unit=user} with it", found=f"{{unit={unit}}}", names=("unit",)
        )
