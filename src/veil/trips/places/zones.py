"""Zones with names: polygons of a GeoJSON file."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any, ClassVar

import numpy as np

from veil.core.arrays import Floats
from veil.core.checks import items
from veil.core.errors import InvalidArgument, InvalidData
from veil.core.intake import as_floats
from veil.trips.places.box import Box
from veil.trips.places.place_graph import PlaceGraph
from veil.trips.places.places import OUTSIDE, Codes, Places, Ring, place_names
from veil.trips.places.stations import box_around, nearest_pairs
from veil.trips.places.zone_raster import in_rings, nearest_zone

_LABELS = ("name", "label", "zone", "id")
_MOST_CORNERS = 2_000_000
# Corners that are nearer than this, in metres, are the same: zones that share one are neighbours.
_SAME = 1.0
_TRIES = 40


@dataclass(frozen=True, eq=False, repr=False)
class Zones(Places):
    """Polygons with names. outlines: for each zone a list of rings of (lng, lat), holes among them.

    A point belongs to the zone that it is inside of, by the even-odd rule; of several, to the first.
    """

    box: Box
    names: tuple[str, ...]
    outlines: tuple[Any, ...]
    form: ClassVar[str] = "zones"

    def __post_init__(self) -> None:
        object.__setattr__(self, "box", Box.of(self.box))
        names = place_names(self.names, "zones")
        outlines = items("places", self.outlines, expected="an outline of each zone")
        if len(outlines) != len(names):
            expected = f"{len(names):,} outlines, one for each name"
            raise InvalidArgument("places", expected=expected, found=f"{len(outlines):,}")
        object.__setattr__(self, "names", names)
        object.__setattr__(self, "outlines", tuple(_rings(zone) for zone in outlines))

    @classmethod
    def rebuilt(cls, **fields: Any) -> Zones:
        """From its description."""
        return cls(**fields)

    @property
    def labels(self) -> tuple[str, ...]:
        return self.names

    @cached_property
    def _metres(self) -> list[list[Floats]]:
        """The rings of each zone in metres."""
        return [
            [np.stack(self.box.plane(np.array(ring)[:, 1], np.array(ring)[:, 0]), axis=1) for ring in zone]
            for zone in self.outlines
        ]

    @cached_property
    def _flat(self) -> tuple[Any, Any, Any]:
        """All sides of all rings [x, y, x, y], the first side of each zone, and the zones' bounds."""
        sides, first, bounds = [], [0], []
        for rings in self._metres:
            joined = [np.concatenate([ring, np.roll(ring, -1, axis=0)], axis=1) for ring in rings]
            sides.append(np.concatenate(joined))
            first.append(first[-1] + len(sides[-1]))
            bounds.append([*sides[-1][:, :2].min(axis=0), *sides[-1][:, :2].max(axis=0)])
        return np.concatenate(sides), np.array(first, dtype=np.int64), np.array(bounds)

    @cached_property
    def centres(self) -> Floats:
        return np.array([_centre(max(rings, key=_area)) for rings in self._metres])

    @cached_property
    def graph(self) -> PlaceGraph:
        """Zones that share a corner; one that touches no other is next to those that are nearest."""
        corner: dict[tuple[int, int], list[int]] = {}
        for zone, rings in enumerate(self._metres):
            for x, y in {
                tuple(point) for ring in rings for point in np.rint(ring / _SAME).astype(np.int64).tolist()
            }:
                corner.setdefault((x, y), []).append(zone)
        pairs = {(a, b) for zones in corner.values() for a in zones for b in zones if a != b}
        around = nearest_pairs(self.centres)
        linked = _parts(len(self.names), pairs)
        # Parts that touch nowhere, such as islands, are joined along the sides of triangles between centres.
        pairs |= {(a, b) for a, b in around if linked[a] != linked[b]}
        return PlaceGraph.of(self.centres, sorted(pairs))

    @property
    def words(self) -> str:
        return f"{len(self.names):,} zones"

    def assign(self, lat: Any, lng: Any) -> Codes:
        x, y = self.box.plane(lat, lng)
        sides, first, bounds = self._flat
        answer = np.full(len(x), OUTSIDE, dtype=np.int32)
        inside = (x >= 0.0) & (x <= self.box.width) & (y >= 0.0) & (y <= self.box.height)
        answer[inside] = nearest_zone(
            x[inside], y[inside], sides, first, bounds, self.box.width, self.box.height
        )
        return answer

    def rings(self, place: int) -> list[Ring]:
        return [[(float(x), float(y)) for x, y in ring] for ring in self._metres[place]]

    def within(self, rng: np.random.Generator, codes: Any) -> tuple[Floats, Floats]:
        codes = np.asarray(codes)
        sides, first, bounds = self._flat
        at = self.centres[codes].copy()
        left = np.arange(len(codes))
        for _ in range(_TRIES):
            low, high = bounds[codes[left], :2], bounds[codes[left], 2:]
            tries = low + rng.random((len(left), 2)) * (high - low)
            hit = in_rings(tries[:, 0], tries[:, 1], codes[left], sides, first)
            at[left[hit]] = tries[hit]
            left = left[~hit]
            if not len(left):
                break
        return self.box.degrees(at[:, 0], at[:, 1])

    def describe(self) -> dict[str, Any]:
        outlines = [[[list(point) for point in ring] for ring in zone] for zone in self.outlines]
        return {
            "form": self.form,
            "box": self.box.describe(),
            "names": list(self.names),
            "outlines": outlines,
        }


def read_zones(given: Any, *, label: str | None, box: Any) -> Zones:
    """Zones from GeoJSON: a file or what was parsed from one. label: the property that is their name."""
    content = given
    if not isinstance(given, Mapping):
        from veil.tables.files import file_of, name_of, parse_json, text_bytes

        file = file_of(os.fspath(given))
        content = parse_json(text_bytes(file), name_of(file))
    features: Any = content.get("features") if isinstance(content, Mapping) else None
    if not isinstance(features, list) or not features:
        raise InvalidData("places", expected="GeoJSON with a list of features", found="something else")
    outlines = [_outline(feature) for feature in features]
    if sum(len(ring) for zone in outlines for ring in zone) > _MOST_CORNERS:
        raise InvalidData("places", expected=f"at most {_MOST_CORNERS:,} corners", found="more")
    about: list[Any] = [feature.get("properties") or {} for feature in features]
    found: str = label or next((name for name in _LABELS if all(name in one for one in about)), "")
    if label is not None and not all(label in one for one in about):
        raise InvalidData("label", expected=f"a property {label!r} of every zone", found="a zone without it")
    names = [str(one[found]) if found else str(number) for number, one in enumerate(about)]
    if box is None:
        points = np.concatenate([np.array(ring) for zone in outlines for ring in zone])
        box = box_around(points[:, 1], points[:, 0])
    return Zones(Box.of(box), tuple(names), tuple(outlines))


def _outline(feature: Any) -> list[Any]:
    geometry: Any = feature.get("geometry") if isinstance(feature, Mapping) else None
    form = geometry.get("type") if isinstance(geometry, Mapping) else None
    if form not in ("Polygon", "MultiPolygon"):
        raise InvalidData("places", expected="features that are polygons", found=str(form)[:40])
    parts = geometry["coordinates"] if form == "MultiPolygon" else [geometry["coordinates"]]
    return _rings([ring for part in parts for ring in part])


def _rings(rings: Any) -> list[Any]:
    checked, expected = [], "rings of (longitude, latitude)"
    for ring in items("places", rings, expected=expected):
        corners = items("places", ring, expected=expected)
        if len(corners) > _MOST_CORNERS:
            raise InvalidData("places", expected=f"at most {_MOST_CORNERS:,} corners", found="more")
        try:
            points = as_floats("places", [point[:2] for point in corners])
        except (TypeError, IndexError, KeyError):
            raise InvalidData("places", expected=expected, found="something else") from None
        if points.ndim != 2 or len(points) < 3 or not (np.abs(points) <= (180.0, 90.0)).all():
            hint = "GeoJSON has longitude first, in degrees."
            raise InvalidData(
                "places", expected="rings of 3 points or more, in degrees", found="others", hint=hint
            )
        if (points[0] == points[-1]).all() and len(points) > 3:
            points = points[:-1]
        checked.append(points.tolist())
    if not checked:
        raise InvalidData("places", expected="zones with an outline", found="one without")
    return checked


def _area(ring: Floats) -> float:
    after = np.roll(ring, -1, axis=0)
    return abs(0.5 * float((ring[:, 0] * after[:, 1] - after[:, 0] * ring[:, 1]).sum()))


def _centre(ring: Floats) -> Floats:
    after = np.roll(ring, -1, axis=0)
    cross = ring[:, 0] * after[:, 1] - after[:, 0] * ring[:, 1]
    area = float(cross.sum())
    if abs(area) < 1e-6:
        return np.asarray(ring.mean(axis=0))
    return np.asarray(((ring + after) * cross[:, None]).sum(axis=0) / (3.0 * area))


def _parts(size: int, pairs: Any) -> Any:
    from scipy.sparse import coo_array
    from scipy.sparse.csgraph import connected_components

    ends = np.array(sorted(pairs), dtype=np.int64).reshape(-1, 2)
    joined = coo_array((np.ones(len(ends)), (ends[:, 0], ends[:, 1])), shape=(size, size))
    return connected_components(joined, directed=False)[1]
