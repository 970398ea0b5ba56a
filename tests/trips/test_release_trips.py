"""Released trips: record, files, charge, command line, report, and how good they are."""

from __future__ import annotations

import json
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import veil
from tests.cli.conftest import Run, folder, run  # noqa: F401
from veil import trips
from veil.errors import BudgetExceeded, InvalidArgument, InvalidData, UnreadableFile
from veil.trips.made_up import SHAPES

BOX = trips.Box(48.10, 11.50, 48.15, 11.575)
GRID = trips.Grid(BOX, 8, 8)


@cache
def city(shape: str = "centre", users: int | None = 900) -> trips.TripTable:
    return trips.City.of(GRID, shape, 1).trips(5_000, users=users, seed=1)


@cache
def released(times: bool = True, unit: str = "trip") -> veil.Release[trips.TripModel]:
    return trips.release(city(), epsilon=2.0, times=times, unit=unit, rng=1)


def test_a_release_is_saved_and_read_again(tmp_path: Path) -> None:
    out = released()
    out.save(tmp_path / "model.json")
    again = veil.load(tmp_path / "model.json")
    assert again == out
    assert (out.epsilon, out.delta, out.assumptions) == (2.0, 0.0, ())
    assert abs(out.value.number - 5_000) < 200
    one, other = (trips.synthetic(release, 500, rng=3) for release in (out, again))
    assert one.paths.codes.tolist() == other.paths.codes.tolist()
    assert out.value.chain().matrix.shape == (64, 64)
    assert "trips" in out._repr_html_()


@pytest.mark.slow_for(*SHAPES[1:])
@pytest.mark.parametrize("shape", SHAPES)
def test_synthetic_trips_are_like_true_ones(shape: str) -> None:
    """Far from what knowing nothing gives, in cities of every shape."""
    table = city(shape, None)
    out = trips.release(table, epsilon=2.0, rng=1)
    found = trips.measures(table.paths, trips.synthetic(out, rng=1).paths, GRID)
    assert found.density < 0.02
    assert found.trip_4 < 0.02
    assert found.length < 0.01
    assert found.tau > 0.8
    assert found.patterns > 0.7


def test_users_are_hidden_as_a_whole() -> None:
    out = released(times=False, unit="user")
    model = out.value
    assert model.users is not None
    assert abs(model.users - len(np.unique(np.asarray(city().users)))) < 300
    assert out.adjacency == trips.WholeTrips("user", 20)
    assert trips.measures(city().paths, trips.synthetic(out, rng=1).paths, GRID).density < 0.05


def test_walks_follow_neighbours_and_end_where_they_should() -> None:
    made = trips.synthetic(released(), rng=2)
    here = np.flatnonzero(made.paths.inner)
    assert (GRID.graph.move_numbers(made.paths.codes[here], made.paths.codes[here + 1]) >= 0).all()
    assert made.paths.sizes.max() <= 49
    counts = np.bincount(made.paths.ends, minlength=64)
    assert np.abs(counts - released().value.ends * len(made) / released().value.ends.sum()).max() < 60


def test_times_come_back() -> None:
    table, made = city(), trips.synthetic(released(), rng=2)
    assert table.departures is not None
    assert made.departures is not None
    hours = [
        np.bincount((np.mod(t, 86_400) // 3_600).astype(int), minlength=24)
        for t in (table.departures, made.departures)
    ]
    assert 0.5 * np.abs(hours[0] / hours[0].sum() - hours[1] / hours[1].sum()).sum() < 0.06
    assert table.arrivals is not None
    assert abs(np.median(made.seconds) / np.median(table.arrivals - table.departures) - 1.0) < 0.2
    assert trips.synthetic(released(times=False), 10, rng=1).departures is None


def test_intervals_of_flows_cover() -> None:
    """Of the pairs of blocks 95 in 100, in several draws; with a half of the width they would not."""
    table = city()
    block = GRID.blocks(4)
    size = int(block.max()) + 1
    true = np.bincount(block[table.paths.starts] * size + block[table.paths.ends], minlength=size**2)
    mechanism = trips.PrivateTrips(GRID, 1.0, size="large")
    inside, near, number = 0, 0, 0
    for seed in range(4):
        tables = mechanism.sample(table, rng=seed)
        noisy = tables["pairs of 4 x 4 blocks"].ravel() / 720_720_000
        width = mechanism.scales(tables)["pairs of 4 x 4 blocks"] * np.log(20.0)
        inside += int((np.abs(noisy - true) <= width).sum())
        near += int((np.abs(noisy - true) <= 0.5 * width).sum())
        number += len(true)
    assert inside / number > 0.93
    assert near / number < 0.9
    found = trips.flows(released(), blocks=4)
    assert all(flow.low is not None and flow.high is not None and flow.low <= flow.high for flow in found)
    assert sum(flow.trips for flow in found) == pytest.approx(released().value.number, rel=1e-3)
    assert trips.flows(released(), blocks=None)[0].low is None


def test_no_trips_at_all_can_be_released() -> None:
    nobody = trips.TripTable(GRID, trips.Paths.of([]))
    out = trips.release(nobody, epsilon=1.0, rng=1)
    assert len(trips.synthetic(out, 20, rng=1)) == 20


def test_what_is_charged(tmp_path: Path) -> None:
    budget = veil.Ledger(tmp_path / "budget.db").open("city", epsilon=1.5, adjacency=trips.WholeTrips())
    small = replace(city().taken(np.arange(300)), users=None)
    out = trips.release(small, epsilon=1.0, ledger=budget)
    assert out.entry is not None
    with pytest.raises(BudgetExceeded):
        trips.release(small, epsilon=1.0, ledger=budget)


@pytest.mark.parametrize(
    ("more", "message"),
    [
        ({"epsilon": 0.0}, "epsilon"),
        ({"delta": 1e-6}, "delta: expected 0"),
        ({"unit": "people"}, "unit"),
        ({"cap": 3}, "cap: expected"),
        ({"mechanism": "gaussian"}, "mechanism"),
    ],
)
def test_bad_requests_are_refused(more: dict[str, Any], message: str) -> None:
    with pytest.raises(InvalidArgument, match=message):
        trips.release(city(), **{"epsilon": 1.0, **more})
    with pytest.raises(InvalidArgument, match=r"trips: expected what trips\.read returned"):
        trips.release([[0, 1]], epsilon=1.0)
    with pytest.raises(InvalidData, match="times: expected"):
        trips.release(trips.TripTable(GRID, trips.Paths.of([[0]])), epsilon=1.0, times=True)


def test_files_that_lie_are_refused(tmp_path: Path) -> None:
    released().save(tmp_path / "model.json")
    content = json.loads((tmp_path / "model.json").read_text())
    for path, wrong in (
        (("value", "flows"), "AAAA"),
        (("value", "moves"), content["value"]["turns"]),
        (("value", "number"), -1),
        (("value", "users"), 5),
        (("tables", "starts"), [1, 2]),
        (("mechanism", "parameters", "places", "form"), "sphere"),
    ):
        changed = json.loads(json.dumps(content))
        at = changed
        for key in path[:-1]:
            at = at[key]
        at[path[-1]] = wrong
        (tmp_path / "wrong.json").write_text(json.dumps(changed))
        with pytest.raises(UnreadableFile):
            veil.load(tmp_path / "wrong.json")


def test_outputs(tmp_path: Path) -> None:
    made = trips.synthetic(released(), 50, rng=1)
    geo = made.to_geojson()
    assert len(geo["features"]) == 50
    lng, lat = next(one for one in geo["features"] if one["geometry"]["type"] == "LineString")["geometry"][
        "coordinates"
    ][0]
    assert 48.0 < lat < 49.0
    assert 11.0 < lng < 12.0
    frame = made.to_pandas()
    assert list(frame.columns) == ["trip", "place", "lat", "lng", "second"]
    assert frame.groupby("trip").second.is_monotonic_increasing.all()
    released().save(tmp_path / "points.csv")
    assert (tmp_path / "points.csv").read_text().startswith("trip,place,lat,lng,second\n")
    assert released().plot() is not None


def test_the_report_shows_maps(tmp_path: Path) -> None:
    page = released().kind.page(released())
    for text in ("where people live", "where people work", "km", "Who travels often is hidden less", "<svg"):
        assert text in page
    assert "src=" not in page
    assert 'href="http' not in page.replace("xlink:href", "")
    without = released(times=False, unit="user")
    assert "Where trips start" in without.kind.page(without)


def test_the_command_line(run: Run, tmp_path: Path) -> None:  # noqa: F811
    import pyarrow as pa
    import pyarrow.csv as pc

    from veil.trips.made_up import made_up_points

    file = tmp_path / "points.csv"
    pc.write_csv(pa.table(made_up_points(city().taken(np.arange(400)))), file)
    asked = ["release", "trips", str(file), "--places", "grid:8x8", "--box", "48.10,11.50,48.15,11.575"]
    asked += ["--lat", "lat", "--lng", "lng", "--trip", "trip", "--order", "time", "--epsilon", "2"]
    done = run(*asked, "-o", str(tmp_path / "m.json"), "--report", str(tmp_path / "m.html"))
    assert done.code == 0, done.err
    assert "trips between 64 places" in done.out
    outputs = ["-o", str(tmp_path / "t.geojson"), "--flows", str(tmp_path / "f.csv")]
    done = run("trips", str(tmp_path / "m.json"), "-n", "30", *outputs)
    assert done.code == 0, done.err
    assert len(json.loads((tmp_path / "t.geojson").read_text())["features"]) == 30
    assert (tmp_path / "f.csv").read_text().startswith("from,to,trips,low,high\n")
    done = run(*asked[:5], *asked[7:])
    assert done.code != 0
    assert "--box" in done.err
