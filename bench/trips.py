"""Private trips: a made-up city of 20,000 trips at several epsilons, users, and cities of other shapes.

Means over seeds of the measures of `trips.measures`. The city needs the data folder; the other cities are
made up here. Some minutes.
"""

from __future__ import annotations

import math
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from veil import trips
from veil.trips.made_up import SHAPES
from veil.trips.model.trip_model import fit
from veil.trips.synthetic_trips import drawn

CITY = Path(__file__).parents[2] / "shared" / "data" / "city_trips.csv.gz"
SEEDS = 5
_SIDE = 8_000.0
_METRES = 111_194.93
_SHOWN = (
    "density",
    "squares",
    "squares_touched",
    "tau",
    "trip_4",
    "trip_8",
    "diameter",
    "length",
    "patterns",
    "support",
)


def city() -> trips.TripTable:
    """The 20,000 trips on 16 x 16 cells of 500 m."""
    north = 48.10 + _SIDE / _METRES
    east = 11.50 + _SIDE / (_METRES * math.cos(math.radians(0.5 * (48.10 + north))))
    columns: dict[str, Any] = {"lat": "lat", "lng": "lng", "by": "user", "trip": "traj_id", "order": "t"}
    return trips.read(str(CITY), places="grid:16x16", box=(48.10, 11.50, north, east), **columns)


def measured(
    table: trips.TripTable, epsilon: float, *, cap: int | None = None, times: bool = False, seeds: int = SEEDS
) -> dict[str, float]:
    """Means of the measures of releases from seeds."""
    mechanism = trips.PrivateTrips(table.places, epsilon, cap=cap, longest=table.longest, times=times)
    found = []
    for seed in range(seeds):
        noisy = mechanism.sample(table, rng=seed)
        model = fit(noisy, mechanism.scales(noisy), mechanism.layout, cap=cap)
        made = drawn(model, max(1, round(model.number)), np.random.default_rng(seed))
        assert isinstance(table.places, trips.Grid)
        found.append(trips.measures(table.paths, made.paths, table.places).to_dict())
    return {name: float(np.mean([one[name] for one in found])) for name in _SHOWN}


def run() -> None:
    """Print one line for each case."""
    tell: Callable[[str], object] = sys.stdout.write
    tell(f"{'':24}" + "".join(f"{name:>16}" for name in _SHOWN) + "    seconds\n")
    cases: list[tuple[str, trips.TripTable, float, int | None, bool]] = []
    if CITY.exists():
        whole = city()
        cases += [(f"city, epsilon {epsilon:g}", whole, epsilon, None, False) for epsilon in (0.5, 1.0, 2.0)]
        cases += [("city, epsilon 1, times", whole, 1.0, None, True)]
        cases += [(f"users, cap {cap}", whole, 1.0, cap, False) for cap in (1, 3, 20)]
    grid = trips.Grid(trips.Box(48.10, 11.50, 48.172, 11.608), 16, 16)
    for shape in SHAPES:
        table = trips.City.of(grid, shape, 1).trips(20_000, seed=1)
        cases.append((f"{shape}, epsilon 1", table, 1.0, None, False))
    for name, table, epsilon, cap, times in cases:
        start = time.perf_counter()
        found = measured(table, epsilon, cap=cap, times=times)
        line = "".join(f"{found[one]:16.4f}" for one in _SHOWN)
        tell(f"{name:24}{line}{(time.perf_counter() - start) / SEEDS:11.1f}\n")
        sys.stdout.flush()


if __name__ == "__main__":
    run()
