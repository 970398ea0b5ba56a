"""Read, plan and release trips."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from veil.core.account import Account
from veil.core.job import run_with_warnings
from veil.core.record import Release
from veil.trips.model.trip_model import TripModel
from veil.trips.planning import TripPlan
from veil.trips.reading import TripRead
from veil.trips.requests import TripPlanning, TripRelease
from veil.trips.trip_table import TripTable


def read(
    source: Any,
    *,
    places: Any,
    box: Any = None,
    label: str | None = None,
    outside: str = "drop",
    lat: str | None = None,
    lng: str | None = None,
    to_lat: str | None = None,
    to_lng: str | None = None,
    state: str | None = None,
    destination: str | None = None,
    by: str | None = None,
    trip: str | None = None,
    order: str | None = None,
    arrival: str | None = None,
    time_format: str | None = None,
    time_unit: str = "s",
    table: str | None = None,
    query: str | None = None,
    gap: float = 30.0,
    stop: float = 10.0,
    radius: float = 150.0,
    fastest: float = 300.0,
    longest: int = 48,
    progress: Callable[[str], None] | None = None,
) -> TripTable:
    """Read trips. They are sensitive data, not a release.

    source: a path or glob (CSV, Parquet, JSON lines, DuckDB), a pandas, Polars, Arrow, Ibis or Spark table, a
        DuckDB relation or connection, or a "postgresql://" address. table, query: which table of a database,
        or one SELECT, of a database, or of a file or frame, which it calls input.
    places: the public places: "grid:500m", "grid:16x16", "h3:8", a GeoJSON file of zones, a CSV file or a
        frame of points such as stations, or a `trips.Grid` and the like. box: the public area, (south, west,
        north, east) in degrees: never taken from the data. label: the property, or the column, that is the
        name of a zone or point. outside: "drop" leaves out points outside, "elsewhere" makes them one more
        place.
    lat, lng: columns of GPS points, in degrees. trip: the column that tells trips apart, which are then taken
        as they are; or by, the column of users, whose points are split into trips. order: the column of
        times.
    to_lat, to_lng: of a table of trips, one in each row, where they end; arrival: when. state: instead of
        coordinates the column of places by name (check-ins); with destination, of trips from one to the
        other.
    time_format: how times that are text are written, see `chains.read`. time_unit: of times that are numbers,
        "s" or "ms".
    gap, stop: without `trip`, a new trip begins after so many minutes without a point, or of staying within
        radius metres. fastest: points that are only reached faster (km/h) are left out. Points at the time of
        another one are left out too, and rows are put in the order of time.
    longest: the most moves between places; longer trips are cut. progress: called with what is being done.

    >>> from veil import trips
    >>> points = {"trip": [1, 1, 2, 2], "t": [0, 600, 0, 600], "lng": 4 * [0.01]}
    >>> points["lat"] = [0.01, 0.06, 0.09, 0.06]
    >>> box = (0.0, 0.0, 0.1, 0.1)
    >>> table = trips.read(points, places="grid:2x2", box=box, lat="lat", lng="lng", trip="trip", order="t")
    >>> table.paths.to_lists()
    [[0, 2], [2]]
    """
    return TripRead.given(locals()).read(progress)


def plan(
    *,
    places: Any,
    box: Any = None,
    trips: int,
    epsilon: float,
    unit: str = "trip",
    users: int | None = None,
    cap: int | None = None,
    times: bool = False,
    longest: int = 48,
) -> TripPlan:
    """What to expect of released trips, from public numbers alone: tried out on made-up cities.

    places, box: the public places, a grid, as for `read`. trips: about how many there are. epsilon: the cost.
    unit: what is hidden, "trip" or "user"; users: about how many there are; cap: the most trips counted of
    one.
    times: whether times are released as well. longest: the most moves of a trip.

    >>> from veil import trips
    >>> plan = trips.plan(places="grid:4x4", box=(0.0, 0.0, 0.1, 0.1), trips=5_000, epsilon=1.0)
    >>> plan.mean("density") < plan.mean("density", nothing=True)
    True
    """
    return TripPlanning.given(locals()).plan()


def release(
    trips: Any,
    *,
    epsilon: float,
    delta: float = 0.0,
    mechanism: str = "auto",
    unit: str = "trip",
    cap: int | None = None,
    times: bool = False,
    ledger: Account | None = None,
    rng: Any = None,
) -> Release[TripModel]:
    """Release a model of trips, from which synthetic trips, flows and maps come. By default one trip is
    hidden.

    trips: what `read` returned. epsilon: the total cost. delta: not needed, and nothing is spent on it.
    mechanism: "large" or "small", which tables are counted; "auto" lets the noisy number of trips decide.
    unit: what is hidden: "trip", or "user", a person with all their trips, of which at most `cap` are
    counted.
    times: also release when trips start and how long they take, under the same epsilon.
    ledger: the dataset to charge. rng: a seed for experiments, which makes the release not private.

    >>> from veil import trips
    >>> table = trips.City.of(trips.Grid((0.0, 0.0, 0.1, 0.1), 4, 4)).trips(5_000)
    >>> out = trips.release(table, epsilon=1.0, rng=1)
    >>> out.epsilon, len(out.value.places), len(trips.synthetic(out, 100, rng=1))
    (1.0, 16, 100)
    """
    job = TripRelease.given(locals()).prepare(trips, rng=rng)
    return run_with_warnings(job, ledger=ledger, rng=rng)
