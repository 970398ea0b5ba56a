"""Places: which points belong to them, and what is next to what."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from veil import trips
from veil.errors import InvalidArgument, InvalidData, UnreadableFile
from veil.trips.places.given import given_places, places_from

BOX = (48.10, 11.50, 48.172, 11.608)


def square(name: str, west: float, south: float, side: float = 0.01) -> dict[str, Any]:
    ring = [
        [west, south],
        [west + side, south],
        [west + side, south + side],
        [west, south + side],
        [west, south],
    ]
    return {
        "type": "Feature",
        "properties": {"name": name},
        "geometry": {"type": "Polygon", "coordinates": [ring]},
    }


ZONES = {
    "type": "FeatureCollection",
    "features": [square("a", 11.50, 48.10), square("b", 11.51, 48.10), square("c", 11.60, 48.15)],
}
HOLE = {
    "type": "FeatureCollection",
    "features": [
        {
            "type": "Feature",
            "properties": {"name": "around"},
            "geometry": {
                "type": "Polygon",
                "coordinates": [
                    [[0, 0], [0.03, 0], [0.03, 0.03], [0, 0.03]],
                    [[0.01, 0.01], [0.02, 0.01], [0.02, 0.02], [0.01, 0.02]],
                ],
            },
        },
        square("inside", 0.01, 0.01),
    ],
}
POINTS = {"name": ["x", "y", "z"], "lat": [48.11, 48.12, 48.16], "lng": [11.51, 11.55, 11.60]}


def test_grids() -> None:
    grid = given_places("grid:500m", BOX)
    assert grid.words == "a grid of 16 x 16 cells of 500 m x 501 m"
    assert given_places("grid:0.5km", BOX) == grid == given_places("grid:16x16", BOX)
    assert grid.assign([48.10, 48.172, 48.1001, np.nan], [11.50, 11.55, 11.6079, 11.5]).tolist() == [
        0,
        -1,
        15,
        -1,
    ]
    # A corner has 3 neighbours, a side 5, the inside 8.
    assert np.bincount(np.bincount(grid.graph.tails)).tolist() == [0, 0, 0, 4, 0, 56, 0, 0, 196]
    assert grid.graph.steps[0, 255] == 15
    assert grid.walk(0, 3) == [1, 2]


def test_opposite_moves_point_the_other_way() -> None:
    graph = given_places("grid:5x5", BOX).graph
    assert ((graph.sector - graph.sector[graph.back]) % 8 == 4).all()
    assert (graph.back[graph.back] == np.arange(graph.moves)).all()


def test_a_box_across_the_date_line() -> None:
    grid = given_places("grid:2x4", (-18.0, 179.0, -16.0, -179.0))
    assert grid.assign([-17.5] * 4, [179.2, 179.9, -179.9, -178.9]).tolist() == [0, 1, 2, -1]
    lat, lng = grid.within(np.random.default_rng(1), np.arange(8))
    assert (np.abs(lng) > 178.9).all()
    assert grid.assign(lat, lng).tolist() == list(range(8))


@pytest.mark.parametrize("given", ["grid:7x5", ZONES, POINTS, HOLE])
def test_random_points_of_places_are_inside_of_them(given: Any) -> None:
    places = given_places(given, BOX if isinstance(given, str) else None)
    codes = np.repeat(np.arange(len(places)), 30)
    lat, lng = places.within(np.random.default_rng(2), codes)
    assert (places.assign(lat, lng) == codes).all()


@pytest.mark.parametrize("elsewhere", [False, True])
@pytest.mark.parametrize("given", ["grid:7x5", ZONES, POINTS])
def test_descriptions_make_the_same_places(given: Any, elsewhere: bool) -> None:
    places = given_places(given, BOX, elsewhere=elsewhere)
    again = places_from(json.loads(json.dumps(places.describe())))
    assert again == places
    assert again.labels == places.labels
    assert (again.graph.heads == places.graph.heads).all()


def test_zones_with_holes_and_neighbours() -> None:
    places = given_places(HOLE, None)
    assert places.assign([0.015, 0.005, 0.05], [0.015, 0.005, 0.05]).tolist() == [1, 0, -1]
    zones = given_places(ZONES, None)
    assert zones.assign([48.105, 48.105, 48.155], [11.505, 11.515, 11.605]).tolist() == [0, 1, 2]
    # a and b share a side; c is an island, which is joined to what is near.
    assert zones.graph.steps[0, 1] == 1
    assert (zones.graph.steps >= 0).all()


def test_zones_against_matplotlib() -> None:
    """Many points in odd polygons: the same answer as another program's."""
    from matplotlib.path import Path as Outline

    rng = np.random.default_rng(3)
    features, outlines = [], []
    for number in range(12):
        turns = np.sort(rng.random(17)) * 2.0 * np.pi
        middle, reach = (number % 4, number // 4), 0.2 + 0.29 * rng.random(17)
        ring = np.stack([middle[0] + reach * np.cos(turns), middle[1] + reach * np.sin(turns)], axis=1) / 50.0
        outlines.append(Outline(ring, closed=False))
        geometry = {"type": "Polygon", "coordinates": [[*ring.tolist(), ring[0].tolist()]]}
        features.append({"type": "Feature", "properties": {"id": number}, "geometry": geometry})
    zones = given_places({"type": "FeatureCollection", "features": features}, None)
    points = rng.uniform(-0.01, 0.07, (4_000, 2))
    expected = np.full(len(points), -1)
    for number, outline in enumerate(outlines):
        expected[outline.contains_points(points)] = number
    inside = zones.assign(points[:, 1], points[:, 0])
    assert (inside == expected).mean() == 1.0


def test_points_take_what_is_nearest() -> None:
    places = given_places(POINTS, BOX)
    rng = np.random.default_rng(4)
    lat, lng = rng.uniform(48.10, 48.172, 500), rng.uniform(11.50, 11.608, 500)
    x, y = trips.Box(*BOX).plane(lat, lng)
    apart = np.hypot(x[:, None] - places.centres[:, 0], y[:, None] - places.centres[:, 1])
    assert (places.assign(lat, lng) == apart.argmin(axis=1)).all()


def test_elsewhere_is_a_place_next_to_the_border() -> None:
    places = given_places("grid:4x4", BOX, elsewhere=True)
    assert places.labels[-1] == "elsewhere"
    assert places.assign([0.0, 48.11], [0.0, 11.51]).tolist() == [16, 0]
    assert places.graph.steps[16, :4].tolist() == [1, 1, 1, 1]
    assert places.graph.steps[16, 5] == 2


def test_hexagons(monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("h3")
    places = given_places("h3:8", BOX)
    assert (np.bincount(places.graph.tails) <= 6).all()
    rng = np.random.default_rng(5)
    codes = rng.integers(0, len(places), 200)
    lat, lng = places.within(rng, codes)
    assert (places.assign(lat, lng) == codes).mean() > 0.97
    many = np.tile(lat, 50), np.tile(lng, 50)
    assert (places.assign(*many) == np.tile(places.assign(lat, lng), 50)).mean() > 0.97


@pytest.mark.parametrize(
    ("given", "box", "message"),
    [
        ("grid:500m", None, "box: expected south,west,north,east"),
        ("grid:500m", "48.2,11.5,48.1,11.6", "box: expected a south below its north"),
        ("grid:500m", "48.1,11.5,48.2", "box: expected south,west,north,east .*found 3 numbers"),
        ("grid:500m", (11.5, 48.1, 111.6, 48.2), "box: expected north: degrees between -90 and 90"),
        ("grid:500m", "a,b,c,d", "box: expected south,west,north,east"),
        ("grid:5m", BOX, "places: expected a grid of 2 to 2,500 cells"),
        ("grid:0m", BOX, "places: expected cells of at least 1 m"),
        ("grid:many", BOX, "places: expected grid:500m"),
        ("h3:99", BOX, "places: expected|h3 is needed|needs"),
        (7, BOX, "places: expected grid:500m"),
        ({"features": []}, None, "places: expected GeoJSON"),
        (
            {"features": [{"geometry": {"type": "Point"}}]},
            None,
            "places: expected features that are polygons",
        ),
        (
            {"name": ["a", "b"], "lat": ["48°", "49"], "lng": [1, 2]},
            None,
            "places: expected degrees as numbers",
        ),
        ({"name": ["a"], "lat": [1.0], "lng": [1.0]}, None, "places: expected at least two points"),
        ({"name": ["a", "b"], "lng": [1.0, 2.0]}, None, "places: expected a column lat"),
        ("no/such/file.csv", None, "expected a CSV file of points"),
    ],
)
def test_bad_places_are_refused(given: Any, box: Any, message: str) -> None:
    if given == "h3:99":
        pytest.importorskip("h3")
    with pytest.raises((InvalidArgument, InvalidData, UnreadableFile), match=message):
        given_places(given, box)


def test_zones_from_a_file(tmp_path: Path) -> None:
    file = tmp_path / "zones.geojson"
    file.write_text(json.dumps(ZONES))
    assert given_places(str(file), None).labels == ("a", "b", "c")
    with pytest.raises(InvalidData, match="label: expected a property 'nom'"):
        given_places(str(file), None, label="nom")
