"""Synthetic trips that nobody took, drawn from a released model: free of further cost."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from veil.core.arrays import Floats
from veil.core.checks import integer
from veil.core.random.streams import reproducible
from veil.core.record import checked_release
from veil.trips.model.routes import Expectation
from veil.trips.model.trip_model import TripModel
from veil.trips.model.walks import random_walks
from veil.trips.paths import Paths
from veil.trips.places.places import Places

# Without measured times: a walk through a place takes so many seconds for each metre between centres.
_SECONDS_PER_METRE = 0.12
_DAY = 86_400


@dataclass(frozen=True, eq=False, repr=False)
class SyntheticTrips:
    """Trips that nobody took.

    paths: the places of each trip. departures: seconds after Monday 0:00, or None where times were not
    released.
    seconds: how long each takes; without released times, at a usual pace.
    """

    places: Places
    paths: Paths
    departures: Floats | None
    seconds: Floats
    seed: int

    def __len__(self) -> int:
        return len(self.paths)

    def __repr__(self) -> str:
        return f"<trips.SyntheticTrips: {len(self):,} trips between {len(self.places):,} places>"

    @cached_property
    def points(self) -> dict[str, Any]:
        """Columns of points: trip, place (its label), lat, lng, second (since departure, or since Monday
        0:00).

        Each point is random within its place.
        """
        rng = np.random.default_rng(self.seed)
        paths = self.paths
        lat, lng = self.places.within(rng, paths.codes)
        place_in_trip = np.arange(len(paths.codes)) - np.repeat(paths.first[:-1], paths.sizes)
        share = place_in_trip / np.repeat(np.maximum(paths.sizes - 1, 1), paths.sizes)
        second = share * np.repeat(self.seconds, paths.sizes)
        if self.departures is not None:
            second = second + np.repeat(self.departures, paths.sizes)
        labels = np.asarray(self.places.labels, dtype=object)
        return {
            "trip": paths.trip,
            "place": labels[paths.codes],
            "lat": np.round(lat, 6),
            "lng": np.round(lng, 6),
            "second": np.round(second).astype(np.int64),
        }

    def to_pandas(self) -> Any:
        """The points as a DataFrame."""
        import pandas

        return pandas.DataFrame(self.points)

    def to_arrow(self) -> Any:
        """The points as an Arrow table."""
        import pyarrow

        return pyarrow.table(self.points)

    def to_geojson(self) -> dict[str, Any]:
        """The trips as lines (of one place: as points), in the order of GeoJSON: longitude, latitude."""
        points, features = self.points, []
        both = np.stack([points["lng"], points["lat"]], axis=1)
        for trip, (a, b) in enumerate(zip(self.paths.first[:-1], self.paths.first[1:], strict=True)):
            line = both[a:b].tolist()
            geometry = (
                {"type": "LineString", "coordinates": line}
                if b - a > 1
                else {"type": "Point", "coordinates": line[0]}
            )
            about: dict[str, Any] = {"trip": trip, "seconds": int(self.seconds[trip])}
            if self.departures is not None:
                about["departure"] = int(self.departures[trip])
            features.append({"type": "Feature", "properties": about, "geometry": geometry})
        return {"type": "FeatureCollection", "features": features}

    def to_geopandas(self) -> Any:
        """The trips as a GeoDataFrame, where GeoPandas is installed."""
        from veil.core.errors import optional

        geopandas = optional("geopandas", "geopandas")
        return geopandas.GeoDataFrame.from_features(self.to_geojson()["features"], crs="EPSG:4326")


def synthetic(release: Any, n: int | None = None, *, rng: Any = None) -> SyntheticTrips:
    """Draw synthetic trips from a release: post-processing, so without further cost.

    n: how many; about as many as there were, unless given. rng: a seed, to draw the same again.
    """
    model: TripModel = release if isinstance(release, TripModel) else checked_release(release).value
    number = max(1, round(model.number)) if n is None else integer("n", n, least=1, most=20_000_000)
    return drawn(model, number, reproducible(rng))


def drawn(model: TripModel, number: int, rng: np.random.Generator) -> SyntheticTrips:
    """So many trips of a model."""
    trips = _pairs(model, number, rng)
    expectation, graph = Expectation(model.layout), model.places.graph
    codes, sizes = [], []
    for end in np.unique(trips[:, 1]):
        origins = trips[trips[:, 1] == end, 0].astype(np.int32)
        expectation.towards(int(end), model.routes)
        rows = np.zeros((len(origins), model.longest + 1), dtype=np.int32)
        moves = np.zeros(len(origins), dtype=np.int64)
        # One point in each of equal parts of 0 to 1: lengths are spread as evenly as they can be.
        points = (rng.permutation(len(origins)) + rng.random(len(origins))) / len(origins)
        random_walks(
            int(rng.integers(2**31)), model.longest, origins, points, graph.first, graph.heads, graph.sector,
            model.routes.moves, model.routes.turns, expectation.sums, expectation.laws, rows, moves,
        )  # fmt: skip
        inside = np.arange(model.longest + 1)[None, :] <= moves[:, None]
        codes.append(rows[inside])
        sizes.append(moves + 1)
    first = np.concatenate([[0], np.cumsum(np.concatenate(sizes))]).astype(np.int64)
    paths = Paths(np.concatenate(codes), first)
    paths = paths.taken(rng.permutation(len(paths)))
    return _timed(model, paths, rng)


def _pairs(model: TripModel, number: int, rng: np.random.Generator) -> Any:
    """Start and end of each trip: every pair as often as expected, rounded up or down at random.

    The pairs are lined up so that neighbours in the line are neighbours on the map, and every trip takes an
    equal piece of the line: sums over areas are then rounded only once, too.
    """
    flows, layout = model.flows, model.layout
    origin, end = np.nonzero(flows > 0.0)
    few, many = layout.blocks[4], layout.blocks[8]
    order = np.lexsort((end, origin, many[end], many[origin], few[end], few[origin]))
    sums = np.cumsum(flows[origin[order], end[order]])
    points = (np.arange(number) + rng.random()) * (sums[-1] / number)
    chosen = order[np.minimum(np.searchsorted(sums, points, side="right"), len(order) - 1)]
    return np.stack([origin[chosen], end[chosen]], axis=1)


def _timed(model: TripModel, paths: Paths, rng: np.random.Generator) -> SyntheticTrips:
    seed = int(rng.integers(2**31))
    if model.times is not None:
        block = model.layout.blocks[4]
        days, second, seconds = model.times.draw(rng, block[paths.starts], block[paths.ends], paths.sizes - 1)
        return SyntheticTrips(model.places, paths, days * _DAY + second.astype(np.float64), seconds, seed)
    here = np.flatnonzero(paths.inner)
    ways = model.places.centres[paths.codes[here + 1]] - model.places.centres[paths.codes[here]]
    metres = np.bincount(paths.trip[here], np.hypot(ways[:, 0], ways[:, 1]), len(paths))
    return SyntheticTrips(model.places, paths, None, np.maximum(metres * _SECONDS_PER_METRE, 1.0), seed)
