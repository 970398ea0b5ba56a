"""How close synthetic trips are to true ones: the measures of the field, on one public grid.

They are computed from true trips, so they are sensitive themselves: for experiments on public data.
"""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import Any

import numpy as np

from veil.core.arrays import Floats
from veil.core.errors import InvalidArgument
from veil.trips.paths import Paths
from veil.trips.places.grid import Grid

_HOT_SPOTS = 20
_SQUARES = 200
_LEAST_SHARE = 0.01
_BINS = 20
_PATTERNS = 100
_PATTERN_SIZES = range(2, 9)
# Of the squares: they are the same for everybody.
_SEED = 20_000


@dataclass(frozen=True, slots=True)
class Measures:
    """Divergences are Jensen-Shannon divergences, with the natural logarithm: 0 is best, log 2 is worst.

    density: of the visits of cells. ndcg: how well the 20 most visited cells are found (1 is best).
    squares, squares_touched: mean relative error of the share of visits inside a random square, and of the
    share of trips that touch it. tau: Kendall's rank correlation of cells by trips that cover them (1 is
    best). trip_4, trip_8: of the pairs (start, end) on 4 x 4 and 8 x 8 blocks. diameter, length: of
    histograms.
    patterns: F1 score of the 100 most frequent patterns of 2 to 8 cells, patterns_of_4: of 4 cells (1 is
    best).
    support: mean relative error of how many trips show each of the true ones. transitions: of (cell, next).
    """

    density: float
    ndcg: float
    squares: float
    squares_touched: float
    tau: float
    trip_4: float
    trip_8: float
    diameter: float
    length: float
    patterns: float
    patterns_of_4: float
    support: float
    transitions: float

    def to_dict(self) -> dict[str, float]:
        """By name."""
        return {field.name: getattr(self, field.name) for field in fields(self)}

    def __str__(self) -> str:
        return "\n".join(f"{name:16} {value:8.4f}" for name, value in self.to_dict().items())


def measures(true: Any, synthetic: Any, grid: Grid) -> Measures:
    """Compare synthetic trips with true ones.

    true, synthetic: `trips.Paths` over the grid, or lists of lists of numbers of cells. Repeated cells are
        dropped, and cells between two that are not neighbours are filled in along a straight line.

    >>> from veil import trips
    >>> grid = trips.Grid((0.0, 0.0, 0.1, 0.1), 8, 8)
    >>> walks = [[0, 1, 2, 10], [9, 17, 25], [63]]
    >>> same = trips.measures(walks, walks, grid)
    >>> same.density, round(same.tau, 6), same.patterns
    (0.0, 1.0, 1.0)
    """
    if not isinstance(grid, Grid):
        raise InvalidArgument("grid", expected="a trips.Grid", found=type(grid).__name__)
    sides = [_Prepared(one, grid, name) for name, one in (("true", true), ("synthetic", synthetic))]
    (one, other) = sides
    inside = [side.in_squares(_squares(grid)) for side in sides]
    errors = [
        float(np.mean(np.abs(p - q) / np.maximum(p, _LEAST_SHARE))) for p, q in zip(*inside, strict=True)
    ]
    top, top_4 = [side.patterns() for side in sides], [side.patterns([4]) for side in sides]
    found = np.array([top[1].get(pattern, 0) for pattern in _frequent(top[0])]) / len(other.paths)
    wanted = np.array([top[0][pattern] for pattern in _frequent(top[0])]) / len(one.paths)
    return Measures(
        density=divergence(one.visits, other.visits),
        ndcg=_ndcg(one.visits, other.visits),
        squares=errors[0],
        squares_touched=errors[1],
        tau=_tau(one.covered, other.covered),
        trip_4=divergence(one.pairs(4), other.pairs(4)),
        trip_8=divergence(one.pairs(8), other.pairs(8)),
        diameter=_histogram_divergence(one.diameters, other.diameters),
        length=_histogram_divergence(one.lengths, other.lengths),
        patterns=_f1(*top),
        patterns_of_4=_f1(*top_4),
        support=float(np.mean(np.abs(found - wanted) / wanted)) if len(wanted) else 0.0,
        transitions=divergence(one.transitions, other.transitions),
    )


def divergence(one: Any, other: Any) -> float:
    """The Jensen-Shannon divergence of two laws, given by what is proportional to them.

    >>> round(divergence([1, 0], [0, 1]), 4)
    0.6931
    """
    sums = [float(np.sum(side)) for side in (one, other)]
    if not all(sums):
        return 0.0 if not any(sums) else float(np.log(2.0))
    p, q = (
        np.asarray(side, dtype=np.float64).ravel() / total
        for side, total in zip((one, other), sums, strict=True)
    )
    middle = 0.5 * (p + q)
    parts = [np.sum(side[side > 0] * np.log(side[side > 0] / middle[side > 0])) for side in (p, q)]
    return max(0.0, float(0.5 * sum(parts)))


class _Prepared:
    """Trips on the grid, and what is counted of them."""

    def __init__(self, trips: Any, grid: Grid, field: str) -> None:
        paths = trips if isinstance(trips, Paths) else Paths.of(trips)
        size = grid.rows * grid.columns
        if len(paths) == 0 or (paths.sizes == 0).any():
            raise InvalidArgument(
                field, expected="trips, each of a cell or more", found="none, or an empty one"
            )
        if paths.codes.min() < 0 or paths.codes.max() >= size:
            raise InvalidArgument(field, expected=f"cells from 0 to {size - 1}", found="others")
        self.grid, self.size = grid, size
        self.paths = paths.without_repeats().joined(grid)
        self.visits = np.bincount(self.paths.codes, minlength=size)
        pairs = np.unique(self.paths.trip * size + self.paths.codes)
        self.touched_trip, self.touched_cell = np.divmod(pairs, size)
        self.covered = np.bincount(self.touched_cell, minlength=size)
        here = np.flatnonzero(self.paths.inner)
        self.tails, self.heads = self.paths.codes[here], self.paths.codes[here + 1]
        self.transitions = np.bincount(self.tails.astype(np.int64) * size + self.heads, minlength=size * size)
        row, column = np.divmod(np.arange(size), grid.columns)
        steps = np.hypot(row[self.tails] - row[self.heads], column[self.tails] - column[self.heads])
        self.lengths = np.bincount(self.paths.trip[here], weights=steps, minlength=len(self.paths))

    @property
    def diameters(self) -> Floats:
        """The largest distance between two cells of each trip, in cells."""
        row_of, column_of = np.divmod(np.arange(self.size, dtype=np.float64), self.grid.columns)
        row, column = row_of[self.paths.codes], column_of[self.paths.codes]
        answer = np.zeros(len(self.paths))
        # Trips of one size at a time, as arrays.
        long = self.paths.sizes > self.size
        for trip in np.flatnonzero(long):
            # Longer than there are cells: each cell once.
            cells = np.unique(self.paths.codes[self.paths.first[trip] : self.paths.first[trip + 1]])
            x, y = column_of[cells], row_of[cells]
            answer[trip] = np.sqrt(((x[:, None] - x) ** 2 + (y[:, None] - y) ** 2).max())
        for size in np.unique(self.paths.sizes[~long]):
            trips = np.flatnonzero(self.paths.sizes == size)
            at = self.paths.first[trips][:, None] + np.arange(size)
            for part in np.array_split(
                np.arange(len(trips)), max(1, len(trips) * int(size) ** 2 // 4_000_000)
            ):
                x, y = column[at[part]], row[at[part]]
                apart = (x[:, :, None] - x[:, None]) ** 2 + (y[:, :, None] - y[:, None]) ** 2
                answer[trips[part]] = np.sqrt(apart.max(axis=(1, 2)))
        return answer

    def pairs(self, side: int) -> Any:
        block = self.grid.blocks(side).astype(np.int64)
        key = block[self.paths.starts] * side * side + block[self.paths.ends]
        return np.bincount(key, minlength=side**4)

    def in_squares(self, squares: list[Any]) -> tuple[Floats, Floats]:
        visits, touched = [], []
        for inside in squares:
            visits.append(self.visits[inside].sum() / self.visits.sum())
            touched.append(len(np.unique(self.touched_trip[inside[self.touched_cell]])) / len(self.paths))
        return np.array(visits), np.array(touched)

    def patterns(self, sizes: Any = _PATTERN_SIZES) -> dict[tuple[int, ...], int]:
        """How many trips show each contiguous pattern; the most frequent ones."""
        return _patterns(self.paths, self.size, sizes)


def frequent_patterns(paths: Paths, places: int, size: int) -> list[tuple[tuple[int, ...], int]]:
    """The contiguous patterns of so many places that most trips show, and how many trips show them."""
    counts = _patterns(paths, places, [size])
    return [(pattern, counts[pattern]) for pattern in _frequent(counts)]


def _patterns(paths: Paths, places: int, sizes: Any) -> dict[tuple[int, ...], int]:
    codes, trip, found = paths.codes.astype(np.int64), paths.trip, {}
    # The number of each pattern of the size before, and where it begins.
    number, at = codes.copy(), np.arange(len(codes))
    for size in range(2, max(sizes) + 1):
        ends = at + size - 1
        keep = ends < len(codes)
        keep[keep] = trip[ends[keep]] == trip[at[keep]]
        number, at = number[keep], at[keep]
        _, number = np.unique(number * places + codes[at + size - 1], return_inverse=True)
        if size not in sizes or not len(number):
            continue
        kinds = int(number.max()) + 1
        once = np.unique(trip[at] * kinds + number, return_index=True)[1]
        counts = np.bincount(number[once], minlength=kinds)
        begins = np.empty(kinds, dtype=np.int64)
        begins[number] = at
        for one in np.argsort(-counts, kind="stable")[: 5 * _PATTERNS]:
            found[tuple(codes[begins[one] : begins[one] + size].tolist())] = int(counts[one])
    return found


def _frequent(counts: dict[tuple[int, ...], int]) -> list[tuple[int, ...]]:
    return sorted(counts, key=lambda pattern: (-counts[pattern], pattern))[:_PATTERNS]


def _f1(true: Any, synthetic: Any) -> float:
    one, other = set(_frequent(true)), set(_frequent(synthetic))
    return 2.0 * len(one & other) / max(1, len(one) + len(other))


def _squares(grid: Grid) -> list[Any]:
    rng = np.random.default_rng(_SEED)
    row, column = np.divmod(np.arange(grid.rows * grid.columns), grid.columns)
    squares = []
    for _ in range(_SQUARES):
        side = int(rng.integers(1, max(1, min(grid.rows, grid.columns) // 2) + 1))
        south, west = (int(rng.integers(0, size - side + 1)) for size in (grid.rows, grid.columns))
        squares.append((row >= south) & (row < south + side) & (column >= west) & (column < west + side))
    return squares


def _ndcg(true: Any, synthetic: Any) -> float:
    weights = 1.0 / np.log2(np.arange(2, 2 + min(_HOT_SPOTS, len(true))))
    best, found = (np.argsort(-side, kind="stable")[:_HOT_SPOTS] for side in (true, synthetic))
    ideal = float((true[best] * weights).sum())
    return float((true[found] * weights).sum()) / ideal if ideal else 1.0


def _tau(one: Any, other: Any) -> float:
    from scipy.stats import kendalltau

    tau = float(kendalltau(one, other).statistic)
    return tau if np.isfinite(tau) else float(np.array_equal(one, other))


def _histogram_divergence(true: Any, synthetic: Any) -> float:
    most = max(float(true.max()), 1e-9)
    counts = [
        np.histogram(np.minimum(side, most), bins=_BINS, range=(0.0, most))[0] for side in (true, synthetic)
    ]
    return divergence(*counts)
