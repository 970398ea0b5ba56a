"""The hexagons of H3 in a box."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any, ClassVar

import numpy as np

from veil.core.arrays import Floats
from veil.core.checks import integer
from veil.core.errors import InvalidArgument, optional
from veil.trips.places.box import Box
from veil.trips.places.place_graph import PlaceGraph
from veil.trips.places.places import MOST_PLACES, OUTSIDE, Codes, Places, Ring, place_names

_FINEST = 15
_CACHE = 20


@dataclass(frozen=True, eq=False, repr=False)
class Hexagons(Places):
    """The H3 cells of one resolution whose centres are in a box. Needs the package h3 (veil[h3])."""

    box: Box
    resolution: int
    cells: tuple[str, ...]
    form: ClassVar[str] = "h3"

    def __post_init__(self) -> None:
        h3 = optional("h3", "h3")
        object.__setattr__(self, "box", Box.of(self.box))
        level = integer("places", self.resolution, least=0, most=_FINEST)
        object.__setattr__(self, "resolution", level)
        object.__setattr__(self, "cells", place_names(self.cells, "cells"))
        if not all(h3.is_valid_cell(cell) and h3.get_resolution(cell) == level for cell in self.cells):
            expected = f"names of H3 cells of resolution {level}"
            raise InvalidArgument("places", expected=expected, found="others")

    @classmethod
    def in_box(cls, box: Box, resolution: int) -> Hexagons:
        """All cells of a box, by their names."""
        h3, box = optional("h3", "h3"), Box.of(box)
        level = integer("places", resolution, least=0, most=_FINEST)
        area = h3.average_hexagon_area(level, unit="m^2")
        expected = f"2 to {MOST_PLACES:,} cells in the box"
        if box.width * box.height / area > 4 * MOST_PLACES:
            raise InvalidArgument("places", expected=expected, found="more", hint="Take a lower resolution.")
        if box.west > box.east:
            hint = "Take a grid, which may cross it."
            raise InvalidArgument(
                "box", expected="one that does not cross the date line", found="one that does", hint=hint
            )
        corners = [(box.south, box.west), (box.south, box.east), (box.north, box.east), (box.north, box.west)]
        cells = tuple(sorted(h3.polygon_to_cells(h3.LatLngPoly(corners), level)))
        if not 2 <= len(cells) <= MOST_PLACES:
            raise InvalidArgument("places", expected=expected, found=f"{len(cells):,}")
        return cls(box, level, cells)

    @classmethod
    def rebuilt(cls, box: Any, resolution: Any) -> Hexagons:
        """From its description."""
        return cls.in_box(Box.of(box), resolution)

    @property
    def labels(self) -> tuple[str, ...]:
        return self.cells

    @cached_property
    def centres(self) -> Floats:
        h3 = optional("h3", "h3")
        points = np.array([h3.cell_to_latlng(cell) for cell in self.cells])
        return np.stack(self.box.plane(points[:, 0], points[:, 1]), axis=1)

    @cached_property
    def graph(self) -> PlaceGraph:
        h3 = optional("h3", "h3")
        number = {cell: place for place, cell in enumerate(self.cells)}
        pairs = [
            (number[cell], number[other])
            for cell in self.cells
            for other in h3.grid_disk(cell, 1)
            if other != cell and other in number
        ]
        return PlaceGraph.of(self.centres, pairs)

    @property
    def words(self) -> str:
        return f"{len(self.cells):,} H3 cells of resolution {self.resolution}"

    def assign(self, lat: Any, lng: Any) -> Codes:
        """By H3 itself for few points; else by a fine raster, each cell of which H3 is asked for once."""
        h3 = optional("h3", "h3")
        number = {cell: place for place, cell in enumerate(self.cells)}
        lat, lng = np.asarray(lat, dtype=np.float64), np.asarray(lng, dtype=np.float64)
        answer = np.full(len(lat), OUTSIDE, dtype=np.int32)
        known = np.flatnonzero((np.abs(lat) <= 90.0) & (np.abs(lng) <= 180.0))
        # Points of one twentieth of a cell go together: their middle decides.
        fine = self.box.height / max(1.0, np.sqrt(len(self.cells))) / _CACHE / 111_194.93
        rows, columns = (np.floor(side[known] / fine).astype(np.int64) for side in (lat, lng))
        if len(known) <= MOST_PLACES:
            found = [
                number.get(h3.latlng_to_cell(a, b, self.resolution), OUTSIDE)
                for a, b in zip(lat[known], lng[known], strict=True)
            ]
            answer[known] = found
            return answer
        keys, which = np.unique(rows * 10**10 + (columns + 10**9), return_inverse=True)
        middles = ((keys // 10**10 + 0.5) * fine, (keys % 10**10 - 10**9 + 0.5) * fine)
        cells = [
            number.get(h3.latlng_to_cell(min(max(a, -90.0), 90.0), b, self.resolution), OUTSIDE)
            for a, b in zip(*(side.tolist() for side in middles), strict=True)
        ]
        answer[known] = np.array(cells, dtype=np.int32)[which]
        return answer

    def rings(self, place: int) -> list[Ring]:
        h3 = optional("h3", "h3")
        corners = np.array(h3.cell_to_boundary(self.cells[place]))
        x, y = self.box.plane(corners[:, 0], corners[:, 1])
        return [list(zip(x.tolist(), y.tolist(), strict=True))]

    def within(self, rng: np.random.Generator, codes: Any) -> tuple[Floats, Floats]:
        codes = np.asarray(codes)
        corners = [np.array(self.rings(place)[0]) for place in range(len(self))]
        # A random point of the triangle between the centre and a random side.
        side = (rng.random(len(codes)) * np.array([len(ring) for ring in corners])[codes]).astype(np.int64)
        most = max(len(ring) for ring in corners)
        again = [np.repeat(ring[:1], most + 1 - len(ring), axis=0) for ring in corners]
        closed = [np.concatenate(pair) for pair in zip(corners, again, strict=True)]
        padded = np.stack(closed)
        one, other, centre = padded[codes, side], padded[codes, side + 1], self.centres[codes]
        a, b = np.sqrt(rng.random(len(codes)))[:, None], rng.random(len(codes))[:, None]
        point = (1.0 - a) * centre + a * ((1.0 - b) * one + b * other)
        return self.box.degrees(point[:, 0], point[:, 1])

    def describe(self) -> dict[str, Any]:
        return {"form": self.form, "box": self.box.describe(), "resolution": self.resolution}
