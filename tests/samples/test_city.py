"""The made-up town: the same everywhere, and like a town."""

from __future__ import annotations

import zlib
from pathlib import Path
from typing import Any

import duckdb
import numpy as np
import pyarrow as pa
import pytest
from numpy.typing import NDArray
from scipy.sparse.csgraph import connected_components

from veil.errors import InvalidArgument
from veil.samples.city import city, city_trips, write_city_trips, zones

Integers = NDArray[np.int64]

NAMES = [name for name, _ in zones()]
DISTRICTS = np.array([district for _, district in zones()])
# Checksums of the table of counts and of the trips of each passenger, for the default seed.
COUNTS, PASSENGERS = 2181359177, 3994808756
pytestmark = pytest.mark.slow

TINY = {"Heron Island", "Quarry", "Reservoir", "Forest Lodge"}


def codes(table: Any, column: str) -> Integers:
    return np.asarray(table[column].combine_chunks().indices.to_numpy(), dtype=np.int64)


def count(table: Any) -> Integers:
    cells = codes(table, "pickup") * len(NAMES) + codes(table, "dropoff")
    return np.bincount(cells, minlength=len(NAMES) ** 2).reshape(len(NAMES), len(NAMES))


@pytest.fixture(scope="module")
def trips() -> Any:
    return city_trips()


@pytest.fixture(scope="module")
def counts(trips: Any) -> Integers:
    return count(trips)


def test_zones() -> None:
    assert len(NAMES) == len(set(NAMES)) == 63
    assert all(name.isascii() and 0 < len(name) <= 18 and name == name.strip() for name in NAMES)
    assert len(set(DISTRICTS)) == 9
    assert {"Airport", "Central Station"} <= set(NAMES)
    assert set(NAMES) >= TINY
    where = {name: (x, y) for name, (x, y) in zip(city().names, city().places.tolist(), strict=True)}
    assert list(where) == NAMES
    assert len(set(where.values())) == 63
    assert max(abs(x) + abs(y) for x, y in where.values()) < 25.0


def test_columns(trips: Any) -> None:
    assert trips.num_rows == 1_000_000
    assert trips.column_names == ["passenger", "pickup_time", "hour", "pickup", "dropoff"]
    assert all(trips[name].null_count == 0 for name in trips.column_names)
    times = trips["pickup_time"].to_numpy()
    assert (np.diff(times) >= np.timedelta64(0)).all()
    assert times[0] >= np.datetime64("2026-03-01")
    assert times[-1] < np.datetime64("2026-04-01")
    hours = times.astype("datetime64[h]").astype(np.int64) % 24
    assert (hours == trips["hour"].to_numpy()).all()


def test_the_same_trips_everywhere(trips: Any, counts: Integers) -> None:
    def checksum(numbers: Any) -> int:
        return zlib.crc32(np.ascontiguousarray(numbers).astype("<i8").tobytes())

    assert checksum(counts) == COUNTS
    assert checksum(np.bincount(trips["passenger"].to_numpy())) == PASSENGERS


def test_a_seed_repeats() -> None:
    first, again, other = (city_trips(5000, seed=seed) for seed in (1, 1, 2))
    assert first.equals(again)
    assert not first.equals(other)


@pytest.mark.parametrize("seed", [63, 0, 1])
def test_every_zone_is_reached_from_every_other(seed: int) -> None:
    counts = count(city_trips(seed=seed))
    assert (counts.sum(axis=0) > 0).all()
    assert (counts.sum(axis=1) > 0).all()
    assert connected_components(counts > 0, connection="strong")[0] == 1


def test_sizes_of_zones(counts: Integers) -> None:
    rows = dict(zip(NAMES, counts.sum(axis=1).tolist(), strict=True))
    assert max(rows, key=lambda name: rows[name]) == "Central Station"
    assert rows["Airport"] > 20_000
    assert {name for name, number in rows.items() if number < 500} == TINY
    # Few stay in their zone; nobody takes a car from the airport to the airport, or hardly.
    assert 0.01 < np.trace(counts) / counts.sum() < 0.05
    assert counts[NAMES.index("Airport"), NAMES.index("Airport")] < 0.02 * rows["Airport"]


def test_into_the_centre_in_the_morning_and_out_in_the_evening(trips: Any) -> None:
    centre, hours = DISTRICTS == "Centre", trips["hour"].to_numpy()
    into, out_of = centre[codes(trips, "dropoff")], centre[codes(trips, "pickup")]
    assert into[hours == 8].mean() > 3.0 * out_of[hours == 8].mean()
    assert out_of[hours == 17].mean() > 2.0 * into[hours == 17].mean()
    volume = np.bincount(hours, minlength=24)
    assert volume.min() == volume[3]
    assert volume[17] > 5 * volume[3]


def test_near_zones_exchange_more_trips(counts: Integers) -> None:
    where = city().places
    distance = np.sqrt(((where[:, None] - where[None, :]) ** 2).sum(axis=2))
    # Trips as a multiple of what the sizes of both zones alone would make.
    lift = counts / np.outer(counts.sum(axis=1), counts.sum(axis=0)) * counts.sum()
    town = DISTRICTS != "Outskirts"
    near, far = (distance > 0.0) & (distance < 1.5), distance > 5.0
    pairs = np.outer(town, town)
    assert np.median(lift[near & pairs]) > 2.0 * np.median(lift[far & pairs])


def test_a_few_passengers_travel_often(trips: Any) -> None:
    numbers = np.bincount(trips["passenger"].to_numpy())
    assert numbers[0] == 0
    numbers = np.sort(numbers[numbers > 0])
    assert 59_000 <= len(numbers) <= 60_000
    assert np.median(numbers) < 0.7 * numbers.mean()
    assert 150 < numbers[-1] < 400
    # The most active hundredth makes more than a tenth of the trips.
    assert numbers[-len(numbers) // 100 :].sum() > 0.1 * numbers.sum()


def test_no_passenger_starts_twice_at_once(trips: Any) -> None:
    # Sequences ordered by time would depend on how ties are broken.
    keys = trips["passenger"].to_numpy().astype(np.int64) << 45
    keys += trips["pickup_time"].to_numpy().astype("datetime64[ms]").astype(np.int64)
    assert len(np.unique(keys)) == trips.num_rows


def test_duckdb_reads_the_table_and_the_file(trips: Any, counts: Integers, tmp_path: Path) -> None:
    path = tmp_path / "city.parquet"
    write_city_trips(path)
    with duckdb.connect() as connection:
        connection.register("trips", trips)
        for source in ("trips", f"'{path}'"):
            found = connection.execute(
                f"SELECT pickup, dropoff, count(*) FROM {source} GROUP BY ALL HAVING count(*) > 0"
            ).fetchall()
            cells = {(NAMES[i], NAMES[j]): int(counts[i, j]) for i, j in zip(*counts.nonzero(), strict=True)}
            assert {(pickup, dropoff): number for pickup, dropoff, number in found} == cells


@pytest.mark.parametrize("number", [1, 2, 1000])
def test_few_trips(number: int) -> None:
    table = city_trips(number)
    assert isinstance(table, pa.Table)
    assert table.num_rows == number
    assert set(table["pickup"].to_pylist()) <= set(NAMES)


@pytest.mark.parametrize(("trips", "seed", "field"), [(0, 1, "trips"), (1.5, 1, "trips"), (10, -1, "seed")])
def test_what_is_refused(trips: Any, seed: int, field: str) -> None:
    with pytest.raises(InvalidArgument) as caught:
        city_trips(trips, seed=seed)
    assert caught.value.field == field
