"""From rows to trips: every oddity has its stated treatment, or an error that names it."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from veil import trips
from veil.errors import InvalidArgument, InvalidData

BOX = (0.0, 0.0, 0.1, 0.1)
WAY: dict[str, Any] = {"lat": "lat", "lng": "lng", "places": "grid:5x5", "box": BOX}


def points(**columns: Any) -> dict[str, Any]:
    size = len(columns["t"])
    return {"lat": [0.01] * size, "lng": [0.01] * size, **columns}


def read(table: Any, **more: Any) -> trips.TripTable:
    return trips.read(table, **{**WAY, "trip": "trip", "order": "t", **more})


def test_rows_come_in_any_order() -> None:
    table = {
        "trip": ["b", "a", "a", "b"],
        "t": [9, 60, 0, 5],
        "lat": [0.03, 0.03, 0.01, 0.01],
        "lng": [0.01] * 4,
    }
    assert read(table, fastest=0).paths.to_lists() == [[0, 5], [0, 5]]


def test_gaps_between_cells_are_filled_and_repeats_dropped() -> None:
    table = points(trip=[1] * 4, t=[0, 600, 1200, 1800], lat=[0.01, 0.01, 0.05, 0.05])
    assert read(table).paths.to_lists() == [[0, 5, 10]]


def test_doubles_jumps_and_gaps_in_rows() -> None:
    table = points(
        trip=[1] * 6,
        t=[0, 60, 60, 120, 180, None],
        lat=[0.01, 0.01, 0.09, 0.09, 0.012, 0.05],
    )
    found = read(table, fastest=100)
    assert found.paths.to_lists() == [[0]]
    assert dict(found.treatment.left_out) == {
        "rows without a place, a time or a name": 1,
        "points at the time of another one": 1,
        "points that nobody reaches that fast": 1,
    }


def test_three_points_that_agree_are_no_jump() -> None:
    table = points(trip=[1] * 5, t=[0, 1, 2, 3, 4], lat=[0.01, 0.09, 0.09, 0.09, 0.09])
    assert read(table, fastest=100).paths.to_lists() == [[0, 5, 10, 15, 20]]


def test_points_are_split_by_gaps_and_stops() -> None:
    minutes = [0, 5, 10, 50, 55, 60, 65, 70, 75, 80]
    lat = [0.01, 0.03, 0.05, 0.05, 0.07, 0.0702, 0.0701, 0.0702, 0.09, 0.05]
    table = points(who=["u"] * 10, t=[60 * m for m in minutes], lat=lat)
    found = trips.read(table, **WAY, by="who", order="t", gap=30, stop=10, radius=150)
    # A gap of 40 minutes, then a stop of 15 minutes at 0.07; the next trip starts where the stop was left.
    assert found.paths.to_lists() == [[0, 5, 10], [10, 15], [20, 15, 10]]
    assert found.users is not None
    assert set(found.users.tolist()) == {0}
    assert len(trips.read(table, **WAY, by="who", order="t", gap=0, stop=0)) == 1


def test_a_user_with_a_million_points() -> None:
    size = 1_000_000
    rng = np.random.default_rng(1)
    lat = 0.05 + 0.04 * np.sin(np.arange(size) / 300.0)
    table = {
        "who": np.zeros(size, dtype=int),
        "t": np.arange(size) * 20,
        "lat": lat,
        "lng": 0.05 + 0.001 * rng.random(size),
    }
    found = trips.read(table, **WAY, by="who", order="t")
    assert len(found) >= 1
    assert found.paths.sizes.max() <= 49
    counted = found.counted(cap=5, salt="1")
    assert counted.share is not None
    assert counted.share.max() <= 5


def test_tables_of_trips_and_check_ins() -> None:
    rides = {
        "a": [0.01, 0.05],
        "b": [0.01, 0.01],
        "c": [0.05, 0.05],
        "d": [0.01, 0.09],
        "on": [0, 10],
        "off": [600, 700],
    }
    found = trips.read(
        rides, places="grid:5x5", box=BOX, lat="a", lng="b", to_lat="c", to_lng="d", order="on", arrival="off"
    )
    assert found.paths.to_lists() == [[0, 5, 10], [10, 11, 12, 13, 14]]
    assert found.arrivals is not None
    stops = {"name": ["x", "y", "z"], "lat": [0.01, 0.05, 0.09], "lng": [0.01, 0.05, 0.09]}
    visits = {"who": [1, 1, 1, 2], "t": [0, 600, 900, 0], "at": ["x", "y", "nowhere", "z"]}
    checked = trips.read(visits, places=stops, state="at", by="who", order="t", stop=0)
    assert checked.paths.to_lists() == [[0, 1]]
    legs = trips.read({"o": ["x"], "d": ["y"]}, places=stops, state="o", destination="d")
    assert legs.paths.to_lists() == [[0, 1]]


def test_outside() -> None:
    table = points(trip=[1] * 3, t=[0, 600, 1200], lat=[0.01, 0.5, 0.03])
    assert read(table, fastest=0).paths.to_lists() == [[0, 5]]
    assert read(table, fastest=0, outside="elsewhere").paths.to_lists() == [[0, 25, 5]]


def test_texts_and_times_of_a_file(tmp_path: Path) -> None:
    file = tmp_path / "points.csv"
    file.write_text("trip,t,lat,lng\n7,2026-01-05 07:10,0.01,0.01\n7,2026-01-05 07:40,0.05,0.01\n")
    found = read(str(file))
    counted = found.counted(cap=None)
    assert counted.hour is not None
    assert counted.weekday is not None
    assert counted.minutes is not None
    # A Monday.
    assert (counted.hour.tolist(), counted.weekday.tolist(), counted.minutes.tolist()) == ([7], [0], [30.0])


@pytest.mark.parametrize(
    ("table", "more", "message"),
    [
        (points(trip=[1], t=[0], lat=["48°08'N"]), {}, "lat: expected degrees as plain numbers"),
        (points(trip=[1], t=[0], lat=["48,1"]), {}, "lat: expected degrees as plain numbers"),
        (points(trip=[1], t=[0], lat=[120.0]), {}, "lat: expected degrees between -90 and 90.*swapped"),
        (points(trip=[1], t=[0], lng=[190.0]), {}, "lng: expected degrees between -180 and 180"),
        (points(trip=[1], t=[0], lat=[5.0]), {}, "box: expected points inside"),
        (points(trip=[1], t=[None]), {}, "t: expected times"),
        (points(trip=[1], t=["soon"]), {}, "t: expected"),
        (points(trip=[None], t=[0]), {}, "source: expected a row"),
        (points(t=[0]), {}, "trip: expected a column 'trip'"),
        (points(trip=[1], t=[0]), {"trip": None}, "trip: expected a column of trips, or by"),
        (points(trip=[1], t=[0]), {"order": None}, "order: expected the column"),
        (points(trip=[1], t=[0]), {"lat": None}, "lat: expected"),
        (points(trip=[1], t=[0]), {"outside": "far"}, "outside: expected"),
        (points(trip=[1], t=[0]), {"longest": 0}, "longest: expected"),
    ],
)
def test_bad_input_is_named(table: Any, more: dict[str, Any], message: str) -> None:
    with pytest.raises((InvalidData, InvalidArgument), match=message):
        read(table, **more)


def test_swapped_columns_are_noticed() -> None:
    table = {"trip": [1, 1], "t": [0, 60], "lat": [11.51, 11.52], "lng": [48.11, 48.12]}
    with pytest.raises(InvalidData, match=r'lat: expected latitudes.*swapped.*lat="lng"'):
        trips.read(
            table,
            places="grid:5x5",
            box=(48.10, 11.50, 48.172, 11.608),
            lat="lat",
            lng="lng",
            trip="trip",
            order="t",
        )
