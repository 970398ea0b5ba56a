"""A list of points, such as stations: each place is what is nearest to one of them."""

from __future__ import annotations

import os
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise
from typing import Any, ClassVar

import numpy as np

from veil.core.arrays import Floats
from veil.core.errors import InvalidArgument, InvalidData, UnreadableFile
from veil.core.intake import as_floats
from veil.trips.places.box import Box
from veil.trips.places.place_graph import PlaceGraph
from veil.trips.places.places import OUTSIDE, Codes, Places, Ring, place_names

# Room around the outermost points, as a share of what they span, and at least so many degrees.
_MARGIN, _LEAST_MARGIN = 0.05, 0.002
_LATITUDES, _LONGITUDES = ("lat", "latitude", "y"), ("lng", "lon", "long", "longitude", "x")


@dataclass(frozen=True, eq=False, repr=False)
class Stations(Places):
    """Points with names. lat, lng: where they are. Points of trips belong to the nearest one.

    Those outside the box belong to none.
    """

    box: Box
    names: tuple[str, ...]
    lat: tuple[float, ...]
    lng: tuple[float, ...]
    form: ClassVar[str] = "points"

    def __post_init__(self) -> None:
        object.__setattr__(self, "box", Box.of(self.box))
        names = place_names(self.names, "points")
        object.__setattr__(self, "names", names)
        for side, most in (("lat", 90.0), ("lng", 180.0)):
            degrees = as_floats("places", getattr(self, side))
            if degrees.shape != (len(names),) or not (np.abs(degrees) <= most).all():
                raise InvalidArgument(
                    "places", expected=f"{side} between {-most:g} and {most:g} for each point", found="others"
                )
            object.__setattr__(self, side, tuple(degrees.tolist()))
        if len(set(zip(self.lat, self.lng, strict=True))) < len(names):
            raise InvalidArgument("places", expected="points at different places", found="two at the same")

    @classmethod
    def rebuilt(cls, **fields: Any) -> Stations:
        """From its description."""
        return cls(**fields)

    @property
    def labels(self) -> tuple[str, ...]:
        return self.names

    @cached_property
    def centres(self) -> Floats:
        return np.stack(self.box.plane(np.array(self.lat), np.array(self.lng)), axis=1)

    @cached_property
    def graph(self) -> PlaceGraph:
        return PlaceGraph.of(self.centres, nearest_pairs(self.centres))

    @property
    def words(self) -> str:
        return f"{len(self.names):,} points, each with what is nearest to it"

    @cached_property
    def _tree(self) -> Any:
        from scipy.spatial import KDTree

        return KDTree(self.centres)

    def assign(self, lat: Any, lng: Any) -> Codes:
        x, y = self.box.plane(lat, lng)
        inside = (x >= 0.0) & (x <= self.box.width) & (y >= 0.0) & (y <= self.box.height)
        answer = np.full(len(x), OUTSIDE, dtype=np.int32)
        if inside.any():
            answer[inside] = self._tree.query(np.stack([x[inside], y[inside]], axis=1))[1]
        return answer

    def rings(self, place: int) -> list[Ring]:
        x, y = self.centres[place]
        near = 0.35 * float(self._tree.query([x, y], k=2)[0][1])
        turns = np.linspace(0.0, 2.0 * np.pi, 13)[:-1]
        return [[(float(x + near * np.cos(turn)), float(y + near * np.sin(turn))) for turn in turns]]

    def within(self, rng: np.random.Generator, codes: Any) -> tuple[Floats, Floats]:
        """The points themselves: that is where trips of such a list are."""
        return np.array(self.lat)[np.asarray(codes)], np.array(self.lng)[np.asarray(codes)]

    def describe(self) -> dict[str, Any]:
        fields = {"names": list(self.names), "lat": list(self.lat), "lng": list(self.lng)}
        return {"form": self.form, "box": self.box.describe(), **fields}


def nearest_pairs(centres: Floats) -> Any:
    """Pairs of neighbours among points: the sides of the triangles between them (Delaunay), or a line."""
    from scipy.spatial import Delaunay, QhullError

    pairs: set[tuple[int, int]] = set()
    try:
        triangles = Delaunay(centres).simplices.tolist() if len(centres) > 3 else []
    except QhullError:
        triangles = []
    for a, b, c in triangles:
        pairs |= {(a, b), (b, c), (a, c)}
    if not pairs:
        # Too few, or all on one line: each is next to the one before it along that line.
        spread = centres - centres.mean(axis=0)
        way = np.linalg.svd(spread, full_matrices=False)[2][0]
        order = np.argsort(spread @ way).tolist()
        pairs = set(pairwise(order))
    both = pairs | {(b, a) for a, b in pairs}
    return sorted(both)


def box_around(lat: Any, lng: Any) -> Box:
    """A box with some room around public points."""
    low, high = (np.array([f(lat), f(lng)]) for f in (np.min, np.max))
    room = np.maximum(_MARGIN * (high - low), _LEAST_MARGIN)
    south, west = low - room
    north, east = high + room
    return Box(max(south, -90.0), max(west, -180.0), min(north, 90.0), min(east, 180.0))


def read_stations(given: Any, *, label: str | None, box: Any) -> Stations:
    """Points from a CSV file, a frame or {column: values}, with columns of latitude, longitude and a name."""
    columns = _columns(given)
    folded = {name.casefold(): name for name in columns}
    found = {}
    for field, names in (("lat", _LATITUDES), ("lng", _LONGITUDES)):
        name = next((folded[name] for name in names if name in folded), None)
        if name is None:
            expected = f"a column {' or '.join(names)} in the list of points"
            raise InvalidData("places", expected=expected, found=f"the columns {', '.join(columns)[:80]}")
        try:
            found[field] = np.array([float(cell) for cell in columns.pop(name)])
        except (TypeError, ValueError):
            raise InvalidData(
                "places", expected=f"degrees as numbers in {name}", found="something else"
            ) from None
    if label is not None and label not in columns:
        raise InvalidData(
            "label", expected=f"a column {label!r} in the list of points", found="none of that name"
        )
    name = label or next(iter(columns), None)
    labels = (
        list(map(str, range(len(found["lat"])))) if name is None else [str(cell) for cell in columns[name]]
    )
    if len(labels) < 2:
        raise InvalidData("places", expected="at least two points", found=f"{len(labels)}")
    area = box_around(found["lat"], found["lng"]) if box is None else Box.of(box)
    return Stations(area, tuple(labels), tuple(found["lat"]), tuple(found["lng"]))


def _columns(given: Any) -> dict[str, list[Any]]:
    if isinstance(given, (str, os.PathLike)):
        import pyarrow as pa
        import pyarrow.csv as pc

        try:
            table = pc.read_csv(os.fspath(given))
        except (OSError, pa.ArrowInvalid):
            expected = "a CSV file of points, a GeoJSON file of zones, grid:500m or h3:8"
            raise UnreadableFile(str(given), expected=expected, found="something else") from None
        return {name: table.column(name).to_pylist() for name in table.column_names}
    return {str(name): list(given[name]) for name in (given if isinstance(given, dict) else given.columns)}
