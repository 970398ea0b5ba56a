"""A made-up town: a million trips between 63 zones in one month, computed and never stored.

Passengers have a home and a work place. By day they go to work and back; their other trips start where
people are at that hour and end where people want to be, near places rather than far ones. Only the raw words
of PCG64 are used, whose stream NumPy keeps; the transforms are written out here.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from veil.core.checks import integer
from veil.samples import rows

if TYPE_CHECKING:
    import pyarrow as pa

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]

# Of a district: its centre in kilometres, how far it spreads, its homes, work places and places to go out to.
_NUMBERS = ("east", "north", "spread", "homes", "work", "outings")
# Homes, work places and places to go to of zones that are unlike their district; four have next to nothing.
_UNLIKE = {
    "Central Station": (1.0, 5.0, 9.0),
    "Airport": (0.02, 2.5, 5.0),
    "Airport Hotels": (0.05, 1.5, 3.0),
    "Forest Lodge": (0.02, 0.01, 0.1),
    "Reservoir": (0.01, 0.02, 0.05),
    "Quarry": (0.004, 0.08, 0.004),
    "Heron Island": (0.002, 0.004, 0.03),
}
# For each hour of a working day, in per cent: its share of the day's trips, and among its trips those to work
# and those back home. The other trips begin and end as in _MIXES.
_SHARE = (1, 1, 0.5, 0.5, 1, 2, 5, 8, 9, 6, 4, 4, 4.5, 4.5, 4, 5, 7, 9, 8, 5.5, 4, 3, 2, 1.5)
_TO_WORK = (0, 0, 0, 10, 30, 50, 60, 65, 60, 45, 20, 10, 5, 5, 5, 3, 2, 0, 0, 0, 0, 0, 0, 0)
_TO_HOME = (20, 15, 10, 5, 3, 0, 0, 0, 1, 2, 4, 6, 10, 10, 12, 25, 50, 60, 55, 45, 35, 30, 30, 25)
_WEEKEND_SHARE = (4, 4, 3, 2, 1, 1, 1, 1.5, 2.5, 4, 5, 6, 6, 6, 6, 5.5, 5, 5, 5, 5, 5, 6, 6, 5)
# Until which hour; where trips begin and where they end: weights of homes, work places and places to go to.
_MIXES = (
    (5, (0.2, 0.2, 1.0), (1.0, 0.0, 0.2)),
    (10, (1.0, 0.1, 0.1), (0.1, 1.0, 0.4)),
    (16, (0.3, 0.7, 0.8), (0.3, 0.7, 0.8)),
    (20, (0.3, 1.0, 0.4), (0.8, 0.1, 1.0)),
    (24, (0.3, 0.2, 1.0), (1.0, 0.0, 0.5)),
)
_FIRST_DAY, _DAYS, _HOURS = "2026-03-01", 31, 24
_MILLISECONDS = 3_600_000
# A trip of this many kilometres is e times rarer than a very short one; a zone is about 0.7 across.
_REACH, _INSIDE = 2.2, 0.7
# The pull of the airport does not depend on the distance.
_TO_AIRPORT = 0.12
_TRIPS_EACH = 1_000_000 / 60_000
# The number of a passenger's trips has a Pareto tail of this index, cut off at so many times its median.
_TAIL, _MOST_OFTEN = 1.3, 40.0


@dataclass(frozen=True)
class Town:
    """The zones, where they lie in kilometres east and north of the market square, and what draws people."""

    names: tuple[str, ...]
    districts: tuple[str, ...]
    places: Floats
    # Homes, work places and places to go to, a column each.
    pull: Floats


def city() -> Town:
    """All zones; the file lists those of a district from the busiest to the quietest."""
    names, districts, places, pull = [], [], [], []
    for row in rows("districts.csv"):
        district, x, y, spread, *weights = row["district"], *(float(row[name]) for name in _NUMBERS)
        for order, name in enumerate(row["zones"].split(", ")):
            # A spiral of golden angles fills a disc evenly.
            angle, radius = 2.39996 * order, spread * np.sqrt(order / 3.0)
            names.append(name)
            districts.append(district)
            places.append((x + radius * np.cos(angle), y + radius * np.sin(angle)))
            pull.append(_UNLIKE.get(name, tuple(weight * 0.82**order for weight in weights)))
    return Town(tuple(names), tuple(districts), np.array(places), np.array(pull, dtype=np.float64))


def zones() -> tuple[tuple[str, str], ...]:
    """The 63 zones, each with its district."""
    town = city()
    return tuple(zip(town.names, town.districts, strict=True))


def city_trips(trips: int = 1_000_000, *, seed: int = 63) -> pa.Table:
    """A pyarrow table, in order of time: passenger, pickup_time, hour, pickup and dropoff (names of zones).

    There is a passenger for every 17 trips or so. A million trips reach every zone from every other; a few
    thousand leave the smallest zones out.
    """
    import pyarrow as pa

    count, town = integer("trips", trips, least=1), city()
    stream = np.random.PCG64(integer("seed", seed, least=0))
    moments, weekend = _moments(stream, count)
    hours = moments // _MILLISECONDS % _HOURS
    passengers = max(1, round(count / _TRIPS_EACH))
    near = _near(town)
    homes = _pick(town.pull[:, :1].T, np.zeros(passengers, dtype=np.int64), _uniform(stream, passengers))
    works = _pick(near * town.pull[:, 1], homes, _uniform(stream, passengers))
    who = _pick(_activity(passengers), np.zeros(count, dtype=np.int64), _uniform(stream, count))
    home, work = homes[who], works[who]
    pickup, dropoff = _other_trips(stream, town, near, hours)
    kind = 100.0 * _uniform(stream, count)
    to_work = np.where(weekend, 0.15, 1.0) * np.array(_TO_WORK)[hours]
    out, back = kind < to_work, kind >= 100.0 - np.array(_TO_HOME)[hours]
    # Those who work in their own zone walk.
    out, back = out & (home != work), back & (home != work)
    pickup, dropoff = np.where(out, home, pickup), np.where(out, work, dropoff)
    # Back home from work on working days, from anywhere at weekends.
    pickup, dropoff = np.where(back & ~weekend, work, pickup), np.where(back, home, dropoff)
    labels = pa.array(town.names)
    start = np.datetime64(_FIRST_DAY, "us")
    return pa.table(
        {
            "passenger": pa.array((_shuffled(stream, passengers) + 1)[who].astype(np.int32)),
            "pickup_time": pa.array(start + (1000 * moments).astype("timedelta64[us]")),
            "hour": pa.array(hours.astype(np.int8)),
            "pickup": pa.DictionaryArray.from_arrays(pa.array(pickup.astype(np.int8)), labels),
            "dropoff": pa.DictionaryArray.from_arrays(pa.array(dropoff.astype(np.int8)), labels),
        }
    )


def write_city_trips(path: str | Path, *, trips: int = 1_000_000, seed: int = 63) -> None:
    """Write the trips as a Parquet file."""
    import pyarrow.parquet as pq

    pq.write_table(city_trips(trips, seed=seed), str(path), compression="zstd")


def _uniform(stream: np.random.PCG64, count: int) -> Floats:
    words = np.asarray(stream.random_raw(count), dtype=np.uint64)
    return np.asarray((words >> np.uint64(11)) * 2.0**-53)


def _shuffled(stream: np.random.PCG64, count: int) -> Integers:
    """Numbers in random order, so that a passenger's number does not tell how often they travel."""
    return np.argsort(_uniform(stream, count), kind="stable")


def _pick(weights: Floats, rows: Integers, uniform: Floats) -> Integers:
    """A column for each uniform number, with the weights of its row."""
    summed = np.cumsum(weights, axis=1)
    # Rows one after the other make a single increasing table.
    table = (summed / summed[:, -1:] + np.arange(len(weights))[:, None]).ravel()
    columns = np.searchsorted(table, rows + uniform, side="right") - rows * weights.shape[1]
    return np.asarray(np.minimum(columns, weights.shape[1] - 1))


def _moments(stream: np.random.PCG64, count: int) -> tuple[Integers, NDArray[np.bool_]]:
    """Milliseconds since the month began, in order, and whether they fall on a weekend."""
    days = np.datetime64(_FIRST_DAY, "D") + np.arange(_DAYS)
    free = ~np.is_busday(days)
    # Each hour of the month; fewer trips at weekends.
    profile = np.where(free[:, None], 0.75 * np.array(_WEEKEND_SHARE), np.array(_SHARE)).reshape(1, -1)
    slots = _pick(profile, np.zeros(count, dtype=np.int64), _uniform(stream, count))
    within = (_uniform(stream, count) * _MILLISECONDS).astype(np.int64)
    moments = np.sort(slots * _MILLISECONDS + within)
    return moments, free[moments // (_MILLISECONDS * _HOURS)]


def _near(town: Town) -> Floats:
    """How readily people go from one zone to another, by distance alone."""
    apart = town.places[:, None, :] - town.places[None, :, :]
    distance = np.sqrt((apart**2).sum(axis=2)) + _INSIDE
    near = np.exp(-distance / _REACH) * np.where(np.eye(len(town.names)) > 0.0, 0.5, 1.0)
    airport, station = town.names.index("Airport"), town.names.index("Central Station")
    near[airport, :] = near[:, airport] = _TO_AIRPORT
    # Hardly anybody takes a car from the station to the station.
    near[[airport, station], [airport, station]] = 0.01
    return np.asarray(near)


def _activity(passengers: int) -> Floats:
    """How often each passenger travels: evenly spaced quantiles of a Pareto distribution, cut off."""
    beyond = (np.arange(passengers) + 0.5) / passengers
    return np.minimum(beyond ** (-1.0 / _TAIL), _MOST_OFTEN)[None, :]


def _other_trips(
    stream: np.random.PCG64, town: Town, near: Floats, hours: Integers
) -> tuple[Integers, Integers]:
    """Where trips begin and end that have nothing to do with work."""
    starts = np.array([start for _, start, _ in _MIXES]) @ town.pull.T
    ends = np.array([end for _, _, end in _MIXES]) @ town.pull.T
    period = np.searchsorted([until for until, _, _ in _MIXES], hours, side="right")
    pickup = _pick(starts, period, _uniform(stream, len(hours)))
    table = (near[None, :, :] * ends[:, None, :]).reshape(-1, len(town.names))
    dropoff = _pick(table, period * len(town.names) + pickup, _uniform(stream, len(hours)))
    return pickup, dropoff
