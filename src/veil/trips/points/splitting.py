"""From points in the order of time to trips: gaps, stops, jumps and doubles have a stated treatment.

double      the same time twice: the first one counts
jump        faster than any vehicle from the point before: left out, unless three in a row agree
gap         more minutes than stated without a point: a new trip
stop        within a radius for as long as stated: the trip ends where it begins, and a new one starts
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from veil.core.arrays import Floats
from veil.core.numerics.compiled import compiled

# A jump of so many points in a row is a move: the points before were wrong, or somebody flew.
_JUMPS = 3


@dataclass(frozen=True)
class Rules:
    """Public rules. gap, stop: minutes; 0 for none. radius: metres. fastest: km/h; 0 for no limit."""

    gap: float = 30.0
    stop: float = 10.0
    radius: float = 150.0
    fastest: float = 300.0


@dataclass(frozen=True, eq=False)
class Split:
    """trip: for each point the number of its trip, -1 for one that is left out.

    doubles, jumps: how many were left out as such.
    """

    trip: NDArray[np.int64]
    doubles: int
    jumps: int


def split(key: Any, second: Floats, x: Floats, y: Floats, rules: Rules, *, is_whole: bool) -> Split:
    """Trips of points that are sorted by key and time.

    key: of the user, or of the trip where `is_whole`: then it is not split. second: NaN where order is all
    that is known. x, y: in metres.
    """
    trip = np.empty(len(key), dtype=np.int64)
    counts = np.zeros(2, dtype=np.int64)
    gap, stop = (0.0, 0.0) if is_whole else (60.0 * rules.gap, 60.0 * rules.stop)
    _split(
        np.ascontiguousarray(key, dtype=np.int64), second, x, y,
        gap, stop, rules.radius, rules.fastest / 3.6, is_whole, trip, counts,
    )  # fmt: skip
    return Split(trip, int(counts[0]), int(counts[1]))


@compiled
def _split(
    key: Any,
    second: Any,
    x: Any,
    y: Any,
    gap: float,
    stop: float,
    radius: float,
    fastest: float,
    is_whole: bool,
    trip: Any,
    counts: Any,
) -> None:
    number, before, anchor, jumps = -1, -1, -1, 0
    for point in range(len(key)):
        if before < 0 or key[point] != key[before]:
            number += 1
            trip[point] = number
            before, anchor, jumps = point, point, 0
            continue
        passed = second[point] - second[before]
        if passed == 0.0:
            trip[point] = -1
            counts[0] += 1
            continue
        way = np.sqrt((x[point] - x[before]) ** 2 + (y[point] - y[before]) ** 2)
        is_gap = gap > 0.0 and passed > gap
        if fastest > 0.0 and not is_gap and way > fastest * passed:
            jumps += 1
            if jumps < _JUMPS:
                trip[point] = -1
                counts[1] += 1
                continue
            # Three in a row: here is where it goes on.
            is_gap = True
        jumps = 0
        if is_gap and not is_whole:
            number += 1
            anchor = point
        elif stop > 0.0:
            apart = np.sqrt((x[point] - x[anchor]) ** 2 + (y[point] - y[anchor]) ** 2)
            if apart > radius:
                if second[before] - second[anchor] >= stop:
                    number += 1
                anchor = point
        trip[point] = number
        before = point
