"""In which polygon points are: by the even-odd rule, with a raster that says which polygons are near."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from veil.core.numerics.compiled import compiled

_SIDE = 64


def nearest_zone(
    x: Any, y: Any, sides: Any, first: Any, bounds: Any, width: float, height: float
) -> NDArray[np.int32]:
    """The first polygon that each point is inside of; -1 for none. Points are inside the box."""
    lists: list[list[int]] = [[] for _ in range(_SIDE * _SIDE)]
    scale = np.array([_SIDE / width, _SIDE / height])
    for zone, bound in enumerate(bounds):
        low = np.clip((bound[:2] * scale).astype(np.int64), 0, _SIDE - 1)
        high = np.clip((bound[2:] * scale).astype(np.int64), 0, _SIDE - 1)
        for row in range(low[1], high[1] + 1):
            for column in range(low[0], high[0] + 1):
                lists[row * _SIDE + column].append(zone)
    starts = np.concatenate([[0], np.cumsum([len(one) for one in lists])]).astype(np.int64)
    near = np.array([zone for one in lists for zone in one] or [0], dtype=np.int64)
    found = np.full(len(x), -1, dtype=np.int32)
    _search(np.asarray(x, np.float64), np.asarray(y, np.float64), sides, first, starts, near, scale, found)
    return found


def in_rings(x: Any, y: Any, zones: Any, sides: Any, first: Any) -> NDArray[np.bool_]:
    """Whether each point is inside its polygon."""
    found = np.zeros(len(x), dtype=np.bool_)
    _inside_each(
        np.ascontiguousarray(x), np.ascontiguousarray(y), np.asarray(zones, np.int64), sides, first, found
    )
    return found


@compiled
def _inside(x: float, y: float, sides: Any, low: int, high: int) -> bool:
    odd = False
    for side in range(low, high):
        one, other = sides[side, 1], sides[side, 3]
        if (one > y) != (other > y):
            cut = sides[side, 0] + (y - one) / (other - one) * (sides[side, 2] - sides[side, 0])
            if x < cut:
                odd = not odd
    return odd


@compiled
def _inside_each(x: Any, y: Any, zones: Any, sides: Any, first: Any, found: Any) -> None:
    for point in range(len(x)):
        zone = zones[point]
        found[point] = _inside(x[point], y[point], sides, first[zone], first[zone + 1])


@compiled
def _search(x: Any, y: Any, sides: Any, first: Any, starts: Any, near: Any, scale: Any, found: Any) -> None:
    for point in range(len(x)):
        column = min(int(x[point] * scale[0]), 63)
        row = min(int(y[point] * scale[1]), 63)
        cell = row * 64 + column
        for place in range(starts[cell], starts[cell + 1]):
            zone = near[place]
            if _inside(x[point], y[point], sides, first[zone], first[zone + 1]):
                found[point] = zone
                break
