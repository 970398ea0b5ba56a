"""Transitions of the real data at hand, as tables, for studies of estimates, error bars and plans."""

from __future__ import annotations

import zipfile
from collections.abc import Callable, Iterable
from pathlib import Path

import numpy as np

from tests.chains.shapes import Integers, connected

DATA = Path(__file__).parents[3] / "shared" / "data"
# The city's public corner, and the sides of its cells in degrees.
_SOUTH, _WEST, _SIDE, _CELLS = 48.10, 11.50, (0.0045, 0.0067), 16


def counted(origins: Iterable[int], ends: Iterable[int]) -> Integers:
    """The table of the states that all reach each other."""
    pairs = np.array([np.asarray(list(origins)), np.asarray(list(ends))])
    states = np.unique(pairs)
    table = np.zeros((len(states),) * 2, dtype=np.int64)
    np.add.at(table, tuple(np.searchsorted(states, pairs)), 1)
    largest = connected(table)
    return table[np.ix_(largest, largest)]


def _trips(name: str) -> Integers:
    import duckdb

    known = "PULocationID BETWEEN 1 AND 263 AND DOLocationID BETWEEN 1 AND 263"
    query = f"SELECT PULocationID AS a, DOLocationID AS b FROM '{DATA / name}' WHERE {known}"
    found = duckdb.sql(query).fetchnumpy()
    return counted(found["a"], found["b"])


def _city(*, steps: bool) -> Integers:
    """Trips between cells of the city, from first to last, or all their steps."""
    import duckdb

    query = f"SELECT traj_id, lat, lng FROM '{DATA / 'city_trips.csv.gz'}' ORDER BY traj_id, t"
    found = duckdb.sql(query).fetchnumpy()
    places = [(found["lat"] - _SOUTH) / _SIDE[0], (found["lng"] - _WEST) / _SIDE[1]]
    y, x = (np.clip(np.floor(place).astype(int), 0, _CELLS - 1) for place in places)
    trip, cell = found["traj_id"], y * _CELLS + x
    same = trip[1:] == trip[:-1]
    if steps:
        moves = same & (cell[1:] != cell[:-1])
        return counted(cell[:-1][moves], cell[1:][moves])
    first, last = np.flatnonzero(np.r_[True, ~same]), np.flatnonzero(np.r_[~same, True])
    return counted(cell[first], cell[last])


def _news() -> Integers:
    with zipfile.ZipFile(DATA / "msnbc990928.zip") as archive:
        lines = archive.read(archive.namelist()[0]).decode().split("\n")[7:]
    visits = [np.array(line.split(), dtype=int) for line in lines]
    before, after = (np.concatenate([one[some] for one in visits]) for some in (slice(-1), slice(1, None)))
    return counted(before, after)


def _portal(pages: int) -> Integers:
    """Steps between the busiest pages of a portal, and from and to the outside."""
    lines = (DATA / "kosarak_part.txt").read_text().splitlines()
    visits = [np.array(line.split(), dtype=int) for line in lines]
    busiest = np.argsort(-np.bincount(np.concatenate(visits)))[:pages]
    paths = [np.r_[0, one[np.isin(one, busiest)], 0] for one in visits]
    before, after = (np.concatenate([one[some] for one in paths]) for some in (slice(-1), slice(1, None)))
    return counted(before, after)


def _mail() -> Integers:
    of = dict(np.loadtxt(DATA / "email-Eu-core-department-labels.txt", dtype=int).tolist())
    sent = np.loadtxt(DATA / "email-Eu-core.txt", dtype=int)
    return counted([of[who] for who in sent[:, 0]], [of[who] for who in sent[:, 1]])


REAL: dict[str, Callable[[], Integers]] = {
    "taxi trips, green, 2020": lambda: _trips("nyc_green_trips_2020-03_2020-12.csv.gz"),
    "taxi trips, green, January 2024": lambda: _trips("green_tripdata_2024-01.parquet"),
    "city trips, first to last cell": lambda: _city(steps=False),
    "city trips, every step": lambda: _city(steps=True),
    "categories of news": _news,
    "pages of a portal, 100": lambda: _portal(100),
    "pages of a portal, 300": lambda: _portal(300),
    "mail between departments": _mail,
}
