"""A regular grid of squares."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property
from typing import Any, ClassVar

import numpy as np

from veil.core.arrays import Floats
from veil.core.checks import integer, within
from veil.core.errors import InvalidArgument
from veil.trips.places.box import Box
from veil.trips.places.place_graph import PlaceGraph
from veil.trips.places.places import MOST_PLACES, OUTSIDE, Codes, Places, Ring

_AROUND = [(row, column) for row in (-1, 0, 1) for column in (-1, 0, 1) if (row, column) != (0, 0)]

_CELLS = "cells of at least 1 m, such as grid:500m"


@dataclass(frozen=True, eq=False, repr=False)
class Grid(Places):
    """So many rows and columns of equal cells that fill a box, numbered from the south-west, row by row.

    >>> grid = Grid.of_size(Box.of("48.10,11.50,48.172,11.608"), 500.0)
    >>> grid.rows, grid.columns
    (16, 16)
    >>> grid.assign([48.1001, 48.0], [11.5001, 11.55]).tolist()
    [0, -1]
    """

    box: Box
    rows: int
    columns: int
    form: ClassVar[str] = "grid"

    def __post_init__(self) -> None:
        object.__setattr__(self, "box", Box.of(self.box))
        for name in ("rows", "columns"):
            object.__setattr__(self, name, integer(name, getattr(self, name), least=1))
        if not 2 <= self.rows * self.columns <= MOST_PLACES:
            raise InvalidArgument(
                "places",
                expected=f"a grid of 2 to {MOST_PLACES:,} cells in the box",
                found=f"{self.rows:,} x {self.columns:,}",
                hint="Take larger or smaller cells, or another box.",
            )

    @classmethod
    def of_size(cls, box: Box, metres: float) -> Grid:
        """The grid of whole cells whose sides are nearest to so many metres."""
        area, size = Box.of(box), within("places", metres, 1.0, expected=_CELLS)
        return cls(area, max(1, round(area.height / size)), max(1, round(area.width / size)))

    @classmethod
    def rebuilt(cls, **fields: Any) -> Grid:
        """From its description."""
        return cls(**fields)

    @cached_property
    def labels(self) -> tuple[str, ...]:
        return tuple(f"{row}-{column}" for row in range(self.rows) for column in range(self.columns))

    @property
    def cell(self) -> tuple[float, float]:
        """Width and height of a cell in metres."""
        return self.box.width / self.columns, self.box.height / self.rows

    @cached_property
    def centres(self) -> Floats:
        width, height = self.cell
        row, column = np.divmod(np.arange(self.rows * self.columns), self.columns)
        return np.stack([(column + 0.5) * width, (row + 0.5) * height], axis=1)

    @cached_property
    def graph(self) -> PlaceGraph:
        row, column = np.divmod(np.arange(self.rows * self.columns), self.columns)
        pairs = []
        for up, right in _AROUND:
            inside = (
                (row + up >= 0)
                & (row + up < self.rows)
                & (column + right >= 0)
                & (column + right < self.columns)
            )
            here = np.flatnonzero(inside)
            pairs.append(np.stack([here, here + up * self.columns + right], axis=1))
        places = np.stack([column, row], axis=1).astype(np.float64)
        return PlaceGraph.of(places, np.concatenate(pairs))

    @property
    def words(self) -> str:
        width, height = self.cell
        return f"a grid of {self.rows} x {self.columns} cells of {height:.0f} m x {width:.0f} m"

    def assign(self, lat: Any, lng: Any) -> Codes:
        box = self.box
        x = np.mod(np.asarray(lng, dtype=np.float64) - box.west, 360.0) * (self.columns / box.degrees_east)
        y = (np.asarray(lat, dtype=np.float64) - box.south) * (self.rows / (box.north - box.south))
        inside = (x < self.columns) & (y >= 0.0) & (y < self.rows)
        codes = np.where(inside, y, 0.0).astype(np.int32) * self.columns + np.where(inside, x, 0.0).astype(
            np.int32
        )
        return np.where(inside, codes, OUTSIDE).astype(np.int32)

    def rings(self, place: int) -> list[Ring]:
        width, height = self.cell
        row, column = divmod(place, self.columns)
        west, east, south, north = column * width, (column + 1) * width, row * height, (row + 1) * height
        return [[(west, south), (east, south), (east, north), (west, north)]]

    def within(self, rng: np.random.Generator, codes: Any) -> tuple[Floats, Floats]:
        row, column = np.divmod(np.asarray(codes), self.columns)
        width, height = self.cell
        x = (column + rng.random(len(row))) * width
        return self.box.degrees(x, (row + rng.random(len(row))) * height)

    def walk(self, one: int, other: int) -> list[int]:
        (row, column), (up, right) = divmod(one, self.columns), divmod(other, self.columns)
        steps = max(abs(up - row), abs(right - column))
        parts = [step / steps for step in range(1, steps)]
        # Halves go away from where it starts, so that there and back go the same way only by chance.
        return [
            math.floor(row + (up - row) * part + 0.5) * self.columns
            + math.floor(column + (right - column) * part + 0.5)
            for part in parts
        ]

    def describe(self) -> dict[str, Any]:
        return {"form": self.form, "box": self.box.describe(), "rows": self.rows, "columns": self.columns}
