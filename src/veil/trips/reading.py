"""What can be asked of reading trips: columns, public places, and rules for points."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from veil.core.checks import on_progress
from veil.core.errors import InvalidArgument
from veil.core.kind import Progress
from veil.core.request import ReadRequest, option
from veil.tables.given import files_among
from veil.tables.source_options import query_option, table_option
from veil.tables.times import checked_format, time_format_option
from veil.trips.places.given import given_places
from veil.trips.points.columns import Points, read_points
from veil.trips.points.splitting import Rules
from veil.trips.points.trips_of_points import trips_of
from veil.trips.trip_table import LONGEST, TripTable

_INPUT, _PLACES, _TRIPS = "Input", "Places", "Trips"
OUTSIDE = ("drop", "elsewhere")
TIME_UNITS = ("s", "ms")


@dataclass(frozen=True, kw_only=True)
class TripRead(ReadRequest):
    """Read trips from GPS points, from a table of trips, or from check-ins."""

    source: Any = option(
        help="CSV, Parquet or JSON lines (globs too), a .duckdb file, or postgresql://...", secret=True
    )
    places: Any = option(
        help="The public places: grid:500m, grid:16x16, h3:8, a GeoJSON file (zones) or a CSV file (points).",
        group=_PLACES,
    )
    box: Any = option(
        None,
        help="The public area: south,west,north,east in degrees. Zones and points have one of their own.",
        group=_PLACES,
    )
    label: str | None = option(
        None, help="The property of zones, or the column of points, that is their name.", group=_PLACES
    )
    outside: str = option(
        "drop",
        help="Points outside: drop leaves them out, elsewhere makes one more place of all that is outside.",
        choices=OUTSIDE,
        group=_PLACES,
    )
    lat: str | None = option(None, help="Column of the latitude, in degrees.", group=_INPUT, column=True)
    lng: str | None = option(None, help="Column of the longitude, in degrees.", group=_INPUT, column=True)
    to_lat: str | None = option(
        None, help="Of a table of trips: column of the latitude where they end.", group=_INPUT, column=True
    )
    to_lng: str | None = option(
        None, help="Of a table of trips: column of the longitude where they end.", group=_INPUT, column=True
    )
    state: str | None = option(
        None, help="Instead of coordinates: column of the place, by its name.", group=_INPUT, column=True
    )
    destination: str | None = option(
        None,
        help="With {state}: column of the place where a trip ends, by its name.",
        flag="--to",
        group=_INPUT,
        column=True,
    )
    by: str | None = option(None, help="Column that says who: a user, a device.", group=_INPUT, column=True)
    trip: str | None = option(
        None,
        help="Column that tells trips apart; without it, points are split into trips.",
        group=_INPUT,
        column=True,
    )
    order: str | None = option(None, help="Column that says when.", group=_INPUT, column=True)
    arrival: str | None = option(
        None, help="Of a table of trips: column that says when they end.", group=_INPUT, column=True
    )
    time_format: str | None = time_format_option()
    time_unit: str = option("s", help="Of times that are numbers: s or ms.", choices=TIME_UNITS, group=_INPUT)
    table: str | None = table_option()
    query: str | None = query_option("read")
    gap: float = option(
        30.0,
        help="Without {trip}: a new trip after so long without a point; 0 for never.",
        unit="minutes",
        least=0,
        group=_TRIPS,
    )
    stop: float = option(
        10.0,
        help="Without {trip}: a new trip after a stop of so long; 0 for never.",
        unit="minutes",
        least=0,
        group=_TRIPS,
    )
    radius: float = option(
        150.0, help="A stop stays within so far of where it began.", unit="metres", least=0, group=_TRIPS
    )
    fastest: float = option(
        300.0,
        help="Points that are only reached faster are left out; 0 for no limit.",
        unit="km/h",
        least=0,
        group=_TRIPS,
    )
    longest: int = option(
        LONGEST, help="The most moves of a trip; longer ones are cut.", least=1, most=200, group=_TRIPS
    )

    @property
    def inputs(self) -> tuple[str, ...]:
        given = (
            None if isinstance(self.places, str) and self.places.startswith(("grid:", "h3:")) else self.places
        )
        return files_among(self.source, given)

    def check(self) -> None:
        super().check()
        for name, (_, mark, _) in self.options().items():
            given = getattr(self, name)
            if (
                (mark.column or name == "label")
                and given is not None
                and (not isinstance(given, str) or not given)
            ):
                raise InvalidArgument(name, expected="the name of a column", found=type(given).__name__)
        by_name = self.state is not None
        if by_name == (self.lat is not None or self.lng is not None):
            names = ("lat", "lng", "state")
            found = "both" if by_name else "neither"
            raise InvalidArgument(
                "lat", expected="either {lat} and {lng}, or {state}", found=found, names=names
            )
        for one, other in (("lat", "lng"), ("lng", "lat"), ("to_lat", "to_lng"), ("to_lng", "to_lat")):
            if getattr(self, one) is not None and getattr(self, other) is None:
                raise InvalidArgument(other, expected=f"it, with {{{one}}}", found="none", names=(one,))
        if self.destination is not None and not by_name:
            raise InvalidArgument("destination", expected="{state} with it", found="none", names=("state",))
        if self.to_lat is not None and by_name:
            raise InvalidArgument(
                "to_lat", expected="{lat} and {lng} with it", found="{state}", names=("lat", "lng", "state")
            )
        if self.is_trips and self.trip is not None:
            raise InvalidArgument(
                "trip", expected="none for a table of trips, each row of which is one", found="a column"
            )
        if self.arrival is not None and not (self.is_trips and self.order is not None):
            expected = "a table of trips, with {order}"
            raise InvalidArgument("arrival", expected=expected, found="others", names=("order",))
        if not self.is_trips and self.order is None:
            raise InvalidArgument("order", expected="the column that says when", found="none")
        if not self.is_trips and self.trip is None and self.by is None:
            expected = "a column of trips, or {by}, whose points are split into trips"
            raise InvalidArgument("trip", expected=expected, found="none", names=("by",))

    @property
    def is_trips(self) -> bool:
        """Whether each row of the source is a trip."""
        return self.to_lat is not None or self.destination is not None

    def read(self, progress: Progress | None = None) -> TripTable:
        self.check()
        tell = on_progress("progress", progress)
        time_format = checked_format(self.time_format)
        # Before anything is read: what is wrong with the call itself.
        places = given_places(self.places, self.box, label=self.label, elsewhere=self.outside == "elsewhere")
        roles = {
            role: getattr(self, role)
            for role in (
                "lat",
                "lng",
                "to_lat",
                "to_lng",
                "state",
                "destination",
                "by",
                "trip",
                "order",
                "arrival",
            )
            if getattr(self, role) is not None
        }
        points: Points = read_points(
            self.source,
            roles,
            table=self.table,
            query=self.query,
            time_format=time_format,
            milliseconds=self.time_unit == "ms",
            tell=tell,
        )
        rules = Rules(self.gap, self.stop, self.radius, self.fastest)
        return trips_of(points, places, rules, longest=self.longest, tell=tell)
