"""GPS points of made-up trips in a made-up city: homes, offices, rush hours, quick streets."""

from __future__ import annotations

from pathlib import Path

from veil.trips.made_up import City, made_up_points
from veil.trips.places.box import Box
from veil.trips.places.grid import Grid

# South, west, north, east: 8 km x 8 km, on a grid of cells of 500 m.
AREA = "48.10,11.50,48.172,11.608"
CELLS = "grid:500m"
_TRIPS, _USERS, _SEED = 4_000, 900, 7


def write_points(path: Path, *, trips: int = _TRIPS) -> None:
    """Points of trips as CSV: trip, user, time (seconds since 1970), lat, lng; one every 30 seconds."""
    import pyarrow as pa
    import pyarrow.csv as pc

    city = City.of(Grid.of_size(Box.of(AREA), 500.0), "centre", _SEED)
    table = city.trips(trips, users=max(1, trips * _USERS // _TRIPS), seed=_SEED)
    pc.write_csv(pa.table(made_up_points(table, seed=_SEED)), path)
