"""From rows of a source to trips between places."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from veil.core.errors import InvalidData
from veil.trips.paths import Paths
from veil.trips.places.places import OUTSIDE, Places
from veil.trips.points.columns import Points
from veil.trips.points.splitting import Rules, split
from veil.trips.trip_table import Treatment, TripTable

# A part of all points beyond which something is wrong, rather than some points.
_MOST_OUTSIDE = 0.98


def trips_of(
    points: Points, places: Places, rules: Rules, *, longest: int, tell: Callable[[str], None]
) -> TripTable:
    """The trips of points, or of rows that are trips."""
    tell("finding places")
    left_out: dict[str, int] = {}
    is_trips = "to_lat" in points.names or "destination" in points.names
    here, known = _codes(points, places, "lat", "lng", "state")
    there, reached = _codes(points, places, "to_lat", "to_lng", "destination") if is_trips else (here, known)
    known = known & reached
    for role in ("by", "trip"):
        if role in points.keys:
            known &= points.keys[role] >= 0
    for role, seconds in points.seconds.items():
        if role == "order" or is_trips:
            known &= np.isfinite(seconds)
    _note(left_out, "rows without a place, a time or a name", ~known)
    inside = known & (here != OUTSIDE) & (there != OUTSIDE)
    _note(left_out, "points outside of all places", known & ~inside)
    if known.any() and not inside.any():
        _check_swapped(points, places, known)
        hint = "Is it south,west,north,east? Are these the right columns?"
        raise InvalidData("box", expected="points inside of it", found="none", hint=hint, names=("box",))
    if inside.sum() < (1.0 - _MOST_OUTSIDE) * known.sum():
        _check_swapped(points, places, known)
    kept = np.flatnonzero(inside)
    if not len(kept):
        raise InvalidData("source", expected="a row with a place and a time", found="none")
    about = _treatment(points, left_out)
    if is_trips:
        codes = np.stack([here[kept], there[kept]], axis=1).ravel()
        paths = Paths(codes, np.arange(len(kept) + 1) * 2)
        start = points.seconds["order"][kept] if "order" in points.seconds else None
        end = points.seconds["arrival"][kept] if "arrival" in points.seconds else None
        users = points.keys["by"][kept] if "by" in points.keys else None
        return TripTable(places, paths, users, start if end is not None else None, end, longest, about)
    tell("sorting")
    return _joined(points, places, rules, here, kept, longest, left_out, tell)


def _joined(
    points: Points,
    places: Places,
    rules: Rules,
    here: Any,
    kept: NDArray[np.int64],
    longest: int,
    left_out: dict[str, int],
    tell: Callable[[str], None],
) -> TripTable:
    second = points.seconds["order"][kept]
    users = points.keys["by"][kept] if "by" in points.keys else None
    is_whole = "trip" in points.keys
    if is_whole:
        key = points.keys["trip"][kept]
        if users is not None:
            # Trips of two users may have the same name.
            key = key * (int(users.max()) + 1) + users
    else:
        assert users is not None
        key = users
    moved = np.diff(key)
    if (moved < 0).any() or (np.diff(second)[moved == 0] < 0).any():
        order = np.lexsort((second, key))
        kept, key, second = kept[order], key[order], second[order]
    tell("splitting into trips")
    x, y = _metres(points, places, here, kept)
    parts = split(key, second, x, y, rules, is_whole=is_whole)
    left_out["points at the time of another one"] = parts.doubles
    left_out["points that nobody reaches that fast"] = parts.jumps
    used = parts.trip >= 0
    kept, trip, second = kept[used], parts.trip[used], second[used]
    sizes = np.bincount(trip)
    if not is_whole:
        # A single point is no trip.
        alone = sizes[trip] < 2
        _note(left_out, "single points between gaps", alone)
        kept, trip, second = kept[~alone], trip[~alone], second[~alone]
        if not len(kept):
            expected = "trips of two points or more"
            raise InvalidData(
                "gap",
                expected=expected,
                found="none after splitting",
                hint="Allow longer gaps.",
                names=("gap",),
            )
    first = np.concatenate([[0], np.flatnonzero(np.diff(trip)) + 1, [len(trip)]]).astype(np.int64)
    tell("joining places")
    whose = None if users is None else points.keys["by"][kept][first[:-1]]
    paths = Paths(here[kept].astype(np.int32), first)
    about = _treatment(points, left_out)
    return TripTable(places, paths, whose, second[first[:-1]], second[first[1:] - 1], longest, about)


def _codes(points: Points, places: Places, lat: str, lng: str, state: str) -> Any:
    """The place of each row, and whether the row says where it is."""
    if state not in points.names:
        degrees = points.degrees[lat], points.degrees[lng]
        known = np.isfinite(degrees[0]) & np.isfinite(degrees[1])
        return places.assign(np.where(known, degrees[0], 0.0), np.where(known, degrees[1], 0.0)), known
    number = {label: place for place, label in enumerate(places.labels)}
    found = [number.get(str(label), OUTSIDE) for label in points.labels[state]]
    outside = len(places) - 1 if places.labels[-1] == "elsewhere" else OUTSIDE
    codes = np.array([outside if place == OUTSIDE else place for place in found] or [OUTSIDE], dtype=np.int32)
    keys = points.keys[state]
    if not (codes != OUTSIDE).any():
        expected = "names of the places"
        raise InvalidData(
            points.names[state],
            expected=expected,
            found="none that is one",
            hint="See {label}.",
            names=("label",),
        )
    return codes[np.maximum(keys, 0)], keys >= 0


def _metres(points: Points, places: Places, here: Any, kept: Any) -> Any:
    if "lat" in points.names:
        return places.box.plane(points.degrees["lat"][kept], points.degrees["lng"][kept])
    return np.ascontiguousarray(places.centres[here[kept], 0]), np.ascontiguousarray(
        places.centres[here[kept], 1]
    )


def _check_swapped(points: Points, places: Places, known: Any) -> None:
    """An error where most points are in the box once latitude and longitude change places."""
    if "lat" not in points.names:
        return
    lat, lng = points.degrees["lat"][known], points.degrees["lng"][known]
    inner = getattr(places, "inside", places)
    if (inner.assign(lng, lat) != OUTSIDE).mean() > 0.5:
        expected = "latitudes inside the box"
        hint = f"Try {{lat={points.names['lng']}}} and {{lng={points.names['lat']}}}."
        raise InvalidData(
            "lat",
            expected=expected,
            found="longitudes: the two seem to be swapped",
            hint=hint,
            names=("lat", "lng"),
        )


def _treatment(points: Points, left_out: dict[str, int]) -> Treatment:
    named = tuple((reason, number) for reason, number in left_out.items() if number)
    return Treatment(named, points.layout_guessed, points.unchecked)


def _note(left_out: dict[str, int], reason: str, rows: Any) -> None:
    left_out[reason] = left_out.get(reason, 0) + int(np.count_nonzero(rows))
