"""What is counted of trips: tables of whole numbers, to each of which one trip (or user) adds at most UNIT.

Proof in mechanisms/private_trips.md.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from veil.trips.paths import Paths, Rows
from veil.trips.places.places import Codes, Places

Integers = NDArray[np.int64]
# What stands for 1. Divisible by all numbers up to 16, and so large that rounding down loses nothing.
UNIT = 720_720_000
# The least distance (in moves) of each bin, and the least detour (moves beyond the distance).
DISTANCES = (0, 1, 2, 4, 7, 11, 16)
DETOURS = (0, 1, 2, 3, 4, 5, 7, 10)
HOURS, DAYS = 24, 7
# The least minutes of each bin of durations.
DURATIONS = (0, 1, 2, 3, 5, 7, 10, 15, 20, 30, 45, 60, 90, 120)
_BLOCKS = 4


@dataclass(frozen=True, eq=False)
class Layout:
    """The tables over these places, and which place, move or pair each cell stands for; all public.

    times: whether hours, weekdays and durations are counted too.
    """

    places: Places
    longest: int
    times: tuple[str, ...] = ()
    shapes: Mapping[str, tuple[int, ...]] = field(init=False)

    def __post_init__(self) -> None:
        few, many = int(self.blocks[4].max()) + 1, int(self.blocks[8].max()) + 1
        size = len(self.places)
        shapes: dict[str, tuple[int, ...]] = {
            "number": (2,),
            "pairs of 4 x 4 blocks": (few, few),
            "pairs of 8 x 8 blocks": (many, many),
            "starts": (size,),
            "ends": (size,),
            "detours": (len(DISTANCES), len(DETOURS)),
            "visits of 4 x 4 blocks": (few,),
            "visits of 8 x 8 blocks": (many,),
            "moves": (self.places.graph.moves,),
            "turns": (8,),
            "hours and starts": (HOURS, few),
            "hours and ends": (HOURS, few),
            "weekdays": (DAYS,),
            "durations": (3, len(DURATIONS)),
        }
        object.__setattr__(self, "shapes", shapes)

    @cached_property
    def blocks(self) -> dict[int, Codes]:
        """The block of each place, of 4 x 4 and of 8 x 8 of them."""
        return {side: self.places.blocks(side) for side in (4, 8)}

    @cached_property
    def distance_bin(self) -> NDArray[np.int32]:
        """The bin of each distance in moves."""
        return bins(DISTANCES, max(self.longest, int(self.places.graph.steps.max())) + 1)

    @cached_property
    def detour_bin(self) -> NDArray[np.int32]:
        """The bin of each detour in moves."""
        return bins(DETOURS, self.longest + 1)


def bins(least: tuple[int, ...], size: int) -> NDArray[np.int32]:
    """The bin of each number from 0 on."""
    return (np.searchsorted(least, np.arange(size), side="right") - 1).astype(np.int32)


@dataclass(frozen=True, eq=False, repr=False)
class Counted:
    """Trips as they are counted. paths: over the places, simplified, each move to a neighbour.

    share: for each trip, how many trips of the same user are counted; None where trips are hidden one by one.
    cap: the most trips of one user. hour, weekday, minutes: of each trip, where times are counted.
    """

    paths: Paths
    share: Rows | None = None
    cap: int = 1
    hour: NDArray[Any] | None = None
    weekday: NDArray[Any] | None = None
    minutes: NDArray[Any] | None = None


def tables_of(trips: Counted, layout: Layout, names: Any) -> dict[str, Integers]:
    """The tables of these names."""
    counting = _Counting(trips, layout)
    return {name: counting.table(name) for name in names}


class _Counting:
    def __init__(self, trips: Counted, layout: Layout) -> None:
        self.trips, self.layout, self.paths = trips, layout, trips.paths
        number = len(self.paths)
        self.weight = np.full(number, UNIT, dtype=np.int64) if trips.share is None else UNIT // trips.share
        self.moves = self.paths.sizes - 1
        here = np.flatnonzero(self.paths.inner)
        self.here, self.trip = here, self.paths.trip[here]
        # Of each move; rounded down, so that all moves of a trip add at most its weight.
        self.of_move = (self.weight // np.maximum(self.moves, 1))[self.trip]
        self.move = layout.places.graph.move_numbers(self.paths.codes[here], self.paths.codes[here + 1])

    def table(self, name: str) -> Integers:
        shape = self.layout.shapes[name]
        keys, weights = _KEYS[name](self, shape)
        return _sums(keys, weights, int(np.prod(shape))).reshape(shape)


def _sums(keys: Any, weights: Any, size: int) -> Integers:
    """Exact sums of whole numbers by key: floats would round."""
    table = np.zeros(size, dtype=np.int64)
    np.add.at(table, np.asarray(keys, dtype=np.int64), weights)
    return table


def _number(one: _Counting, shape: Any) -> Any:
    """Trips; or, of users, one half for how many there are and one half for how many trips they have."""
    share = one.trips.share
    if share is None:
        return np.zeros(len(one.paths), dtype=np.int64), one.weight
    half = UNIT // 2
    users = np.concatenate([np.zeros(len(share), dtype=np.int64), np.ones(len(share), dtype=np.int64)])
    # A user of m trips adds half // m for each: at most half of the unit.
    return users, np.concatenate([half // share, np.full(len(share), half // one.trips.cap)])


def _pairs(side: int) -> Any:
    def keys(one: _Counting, shape: Any) -> Any:
        block = one.layout.blocks[side].astype(np.int64)
        return block[one.paths.starts] * shape[1] + block[one.paths.ends], one.weight

    return keys


def _visits(side: int) -> Any:
    def keys(one: _Counting, shape: Any) -> Any:
        block = one.layout.blocks[side]
        return block[one.paths.codes], (one.weight // one.paths.sizes)[one.paths.trip]

    return keys


def _detours(one: _Counting, shape: Any) -> Any:
    layout, paths = one.layout, one.paths
    apart = layout.places.graph.steps[paths.starts, paths.ends].astype(np.int64)
    rows, columns = layout.distance_bin[apart], layout.detour_bin[np.maximum(one.moves - apart, 0)]
    return rows.astype(np.int64) * shape[1] + columns, one.weight


def _turns(one: _Counting, shape: Any) -> Any:
    same = one.trip[1:] == one.trip[:-1]
    sector = one.layout.places.graph.sector[one.move]
    return ((sector[1:] - sector[:-1]) % shape[0])[same], one.of_move[1:][same]


def _hours(end: str) -> Any:
    def keys(one: _Counting, shape: Any) -> Any:
        block = one.layout.blocks[_BLOCKS]
        at = one.paths.starts if end == "starts" else one.paths.ends
        return np.asarray(one.trips.hour, dtype=np.int64) * shape[1] + block[at], one.weight

    return keys


def _durations(one: _Counting, shape: Any) -> Any:
    """By how many moves a trip has: few, some, many."""
    long = np.searchsorted(LENGTHS, one.moves, side="right") - 1
    minutes = np.searchsorted(DURATIONS, np.asarray(one.trips.minutes), side="right") - 1
    return long.astype(np.int64) * shape[1] + np.maximum(minutes, 0), one.weight


LENGTHS = (0, 5, 12)
_KEYS: dict[str, Any] = {
    "number": _number,
    "pairs of 4 x 4 blocks": _pairs(4),
    "pairs of 8 x 8 blocks": _pairs(8),
    "starts": lambda one, shape: (one.paths.starts, one.weight),
    "ends": lambda one, shape: (one.paths.ends, one.weight),
    "detours": _detours,
    "visits of 4 x 4 blocks": _visits(4),
    "visits of 8 x 8 blocks": _visits(8),
    "moves": lambda one, shape: (one.move, one.of_move),
    "turns": _turns,
    "hours and starts": _hours("starts"),
    "hours and ends": _hours("ends"),
    "weekdays": lambda one, shape: (np.asarray(one.trips.weekday, dtype=np.int64), one.weight),
    "durations": _durations,
}
