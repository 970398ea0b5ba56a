"""Made-up trips in made-up cities of several shapes: for plans, tests, the demo and benchmarks.

A city has a density of homes, one of places to go to, and quick streets; trips take noisy shortest ways.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from veil.core.arrays import Floats
from veil.core.checks import choice, integer, positive, shown
from veil.core.errors import InvalidArgument, InvalidData
from veil.core.intake import as_floats
from veil.core.random.streams import reproducible
from veil.trips.paths import Paths
from veil.trips.places.grid import Grid
from veil.trips.trip_table import LONGEST, TripTable

SHAPES = ("centre", "ring", "two centres", "corridor", "suburbs")
# Sets of noisy travel times; each trip follows the shortest way of one of them.
_MOODS = 6
_PACE = 45.0
_MOST, _MOST_POINTS = 20_000_000, 200_000_000
# How likely trips start in each hour.
_HOURS = np.array(
    [1, 1, 1, 1, 2, 4, 9, 18, 20, 11, 8, 8, 10, 9, 9, 11, 16, 20, 16, 11, 8, 6, 4, 2], dtype=np.float64
)


@dataclass(frozen=True, eq=False)
class City:
    """homes, goals: the share of each that is in each cell. speed: of the streets in each cell."""

    grid: Grid
    homes: Floats
    goals: Floats
    speed: Floats

    def __post_init__(self) -> None:
        size = len(_checked_grid(self.grid))
        for name, least, most in (("homes", 0.0, 1.0), ("goals", 0.0, 1.0), ("speed", 1e-3, 1e3)):
            values = as_floats(name, getattr(self, name))
            if values.shape != (size,) or not ((values >= least) & (values <= most)).all():
                expected = f"{size} numbers between {least:g} and {most:g}"
                raise InvalidData(name, expected=expected, found="others")
            if most == 1.0 and abs(float(values.sum()) - 1.0) > 1e-9:
                raise InvalidData(name, expected="a sum of 1", found=f"{float(values.sum()):.6g}")
            object.__setattr__(self, name, values)

    @classmethod
    def of(cls, grid: Grid, shape: str = "centre", seed: int = 0) -> City:
        """A city of this shape."""
        _checked_grid(grid)
        choice("shape", shape, SHAPES)
        rng = reproducible(seed)
        row, column = np.divmod(np.arange(grid.rows * grid.columns), grid.columns)
        x, y = (column + 0.5) / grid.columns - 0.5, (row + 0.5) / grid.rows - 0.5
        radius = np.hypot(x, y)
        if shape == "ring":
            density, streets = np.exp(-((radius - 0.33) ** 2) / 0.006), np.abs(radius - 0.33) < 0.06
        elif shape == "two centres":
            density = _bumps(x, y, ((-0.25, -0.2), (0.25, 0.2)), 0.02)
            streets = np.abs(0.8 * x - y) < 0.05
        elif shape == "corridor":
            density, streets = np.exp(-(y**2) / 0.008), np.abs(y) < 0.05
        elif shape == "suburbs":
            towns = rng.random((9, 2)) - 0.5
            density = _bumps(x, y, towns, 0.003) + np.exp(-(radius**2) / 0.01)
            streets = (column % 4 == 1) | (row % 4 == 1)
        else:
            density, streets = np.exp(-(radius**2) / 0.05), (column % 3 == 1) | (row % 3 == 1)
        homes = (density + 0.01) * rng.gamma(1.5, 1.0, len(x))
        goals = (density + 0.005) ** 1.5 * rng.gamma(0.6, 1.0, len(x))
        return cls(
            grid,
            homes / homes.sum(),
            goals / goals.sum(),
            np.where(streets, 2.5, 1.0) * rng.uniform(0.7, 1.3, len(x)),
        )

    def trips(
        self, number: int, *, users: int | None = None, seed: int = 0, longest: int = LONGEST
    ) -> TripTable:
        """So many trips, of so many users; one trip each unless given."""
        rng = reproducible(seed)
        number = integer("number", number, least=1, most=_MOST)
        people = None if users is None else integer("users", users, least=1, most=_MOST)
        whose = np.arange(number) if people is None else _whose(number, people, rng)
        several = int(whose.max()) + 1
        home = rng.choice(len(self.homes), several, p=self.homes)
        work = rng.choice(len(self.goals), several, p=self.goals)
        others = rng.choice(len(self.goals), number, p=self.goals)
        hour = rng.choice(24, number, p=_HOURS / _HOURS.sum())
        goal = np.where(rng.random(number) < 0.5, work[whose], self._near(home[whose], others, rng))
        back = (hour > 12) != (rng.random(number) < 0.2)
        start, end = np.where(back, goal, home[whose]), np.where(back, home[whose], goal)
        ways = self._ways(rng)
        paths = _followed(start, end, rng.integers(0, _MOODS, number), ways)
        departure = 86_400.0 * rng.integers(0, 28, number) + 3_600.0 * hour + rng.random(number) * 3_600.0
        duration = np.maximum(paths.sizes - 1, 1) * _PACE * rng.gamma(8.0, 1.0 / 8.0, number)
        return TripTable(self.grid, paths, whose, departure, departure + duration, longest)

    def _near(self, home: Any, other: Any, rng: np.random.Generator) -> Any:
        """A goal that is rather near: of three random ones the nearest."""
        tries = np.stack([other, *(rng.choice(len(self.goals), len(home), p=self.goals) for _ in range(2))])
        apart = np.hypot(*(self.grid.centres[tries] - self.grid.centres[home]).transpose(2, 0, 1))
        return tries[apart.argmin(axis=0), np.arange(len(home))]

    def _ways(self, rng: np.random.Generator) -> Any:
        """[mood, to, from]: the next cell."""
        from scipy.sparse import csr_array
        from scipy.sparse.csgraph import shortest_path

        graph, size = self.grid.graph, len(self.grid)
        steps = self.grid.centres[graph.heads] - self.grid.centres[graph.tails]
        usual = np.hypot(steps[:, 0], steps[:, 1]) / (
            0.5 * (self.speed[graph.heads] + self.speed[graph.tails])
        )
        ways = []
        for _ in range(_MOODS):
            # The same both ways, so that what comes before is what comes next the other way round.
            mood = usual * rng.gamma(12.0, 1.0 / 12.0, graph.moves)
            mood = 0.5 * (mood + mood[graph.back])
            matrix = csr_array((mood, graph.heads, graph.first), shape=(size, size))
            ways.append(shortest_path(matrix, return_predecessors=True)[1])
        return np.stack(ways)


def _checked_grid(grid: Any) -> Grid:
    if not isinstance(grid, Grid):
        raise InvalidArgument("grid", expected="a trips.Grid", found=type(grid).__name__)
    return grid


def _bumps(x: Floats, y: Floats, centres: Any, width: float) -> Any:
    """A hill of this width around each centre."""
    return np.stack([np.exp(-((x - a) ** 2 + (y - b) ** 2) / width) for a, b in centres]).sum(axis=0)


def _whose(number: int, users: int, rng: np.random.Generator) -> Any:
    """Some people travel more than others."""
    often = rng.gamma(1.2, 1.0, users) + 0.05
    return rng.choice(users, number, p=often / often.sum())


def _followed(start: Any, end: Any, mood: Any, ways: Any) -> Paths:
    """Where the next cells lead."""
    at, rows = start.copy(), [start.copy()]
    left = at != end
    while left.any() and len(rows) < 1_000:
        at = np.where(left, ways[mood, end, at], at)
        rows.append(np.where(left, at, -1))
        left &= at != end
    table = np.stack(rows, axis=1)
    inside = table >= 0
    first = np.concatenate([[0], np.cumsum(inside.sum(axis=1))]).astype(np.int64)
    return Paths(table[inside].astype(np.int32), first)


def made_up_points(table: TripTable, *, every: float = 30.0, seed: int = 0) -> dict[str, Any]:
    """GPS points of made-up trips, one every so many seconds: columns trip, user, time, lat, lng."""
    rng, step = reproducible(seed), positive("every", every)
    if not isinstance(table, TripTable):
        raise InvalidArgument("table", expected="a trips.TripTable", found=type(table).__name__)
    if table.departures is None or table.arrivals is None or table.users is None:
        expected = "trips with users and times, such as those of a trips.City"
        raise InvalidData("table", expected=expected, found="others")
    paths, seconds = table.paths, table.arrivals - table.departures
    if float(np.maximum(seconds / step, 1.0).sum()) > _MOST_POINTS:
        raise InvalidArgument("every", expected=f"at most {_MOST_POINTS:,} points", found=shown(every))
    counts = np.maximum(np.ceil(seconds / step).astype(np.int64), 1) + 1
    trip = np.repeat(np.arange(len(table)), counts)
    number = np.arange(counts.sum()) - np.repeat(np.cumsum(counts) - counts, counts)
    share = np.minimum(number * step / np.maximum(seconds, 1.0)[trip], 1.0)
    lat, lng = table.places.within(rng, paths.codes)
    at = share * (paths.sizes - 1)[trip]
    low = np.minimum(at.astype(np.int64), np.maximum(paths.sizes - 2, 0)[trip])
    here = paths.first[trip] + low
    there = np.minimum(here + 1, paths.first[trip + 1] - 1)
    part = at - low
    return {
        "trip": trip,
        "user": table.users[trip],
        "time": np.round(table.departures[trip] + share * seconds[trip]).astype(np.int64),
        "lat": np.round(lat[here] + part * (lat[there] - lat[here]), 6),
        "lng": np.round(lng[here] + part * (lng[there] - lng[here]), 6),
    }
