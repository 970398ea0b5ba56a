"""How many trips go from area to area, with intervals: an origin-destination matrix."""

from __future__ import annotations

import math
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from veil.core.checks import integer, within
from veil.core.errors import InvalidArgument
from veil.core.record import Release, checked_release
from veil.trips.model.trip_model import TripModel
from veil.trips.tables import UNIT


@dataclass(frozen=True, slots=True)
class Flow:
    """trips: estimated, from one area to another. low, high: where the true number is, at the stated level;
    None where that pair of areas was not measured.
    """

    origin: str
    destination: str
    trips: float
    low: float | None
    high: float | None

    def to_dict(self) -> dict[str, Any]:
        """By name."""
        return asdict(self)


def flows(release: Any, *, blocks: int | None = 8, level: float = 0.95) -> list[Flow]:
    """Trips from area to area, the largest first.

    blocks: areas are blocks of the box, 4 x 4 or 8 x 8, named row-column from the south-west; None takes the
        places themselves, without intervals. level: of the intervals, which come from the noise alone: for
        each pair of blocks that was measured, they hold the true number with this probability. Where users
        are hidden, it is the number of trips if every user's trips weighed the same.
    """
    checked: Release[TripModel] = checked_release(release)
    model = checked.value
    share = within("level", level, 0.5, 0.9999, expected="a number between 0.5 and 0.9999")
    if blocks is None:
        return _sorted(model.places.labels, model.flows, None, 0.0)
    if integer("blocks", blocks, least=4) not in (4, 8):
        raise InvalidArgument("blocks", expected="4 or 8, or None for places", found=str(blocks))
    mechanism: Any = checked.mechanism
    block = model.layout.blocks[blocks]
    size = int(block.max()) + 1
    key = (block[:, None].astype(np.int64) * size + block[None, :]).ravel()
    table = np.bincount(key, model.flows.ravel(), size * size).reshape(size, size)
    noisy, width = checked.tables.get(f"pairs of {blocks} x {blocks} blocks"), 0.0
    weight = 1.0 if model.users is None else model.number / model.users
    if noisy is not None:
        scale = mechanism.scales(checked.tables)[f"pairs of {blocks} x {blocks} blocks"]
        # P(|Z| > z) of geometric noise is at most exp(-z / scale) times a factor that one more covers.
        width = weight * (scale * -math.log(1.0 - share) + 1.0 / UNIT)
        noisy = weight * np.asarray(noisy, dtype=np.float64) / UNIT
    return _sorted(block_names(model, blocks), table, noisy, width)


def block_names(model: TripModel, side: int) -> list[str]:
    """Row and column of each block, from the south-west."""
    box, centres = model.places.box, model.places.centres
    column = np.clip((centres[:, 0] / box.width * side).astype(int), 0, side - 1)
    row = np.clip((centres[:, 1] / box.height * side).astype(int), 0, side - 1)
    block = model.layout.blocks[side]
    places = [int(np.flatnonzero(block == one)[0]) for one in range(int(block.max()) + 1)]
    return [f"{row[place]}-{column[place]}" for place in places]


def _sorted(names: Any, table: Any, noisy: Any, width: float) -> list[Flow]:
    found = []
    for one, other in zip(*np.nonzero(table > 0.0), strict=True):
        middle = None if noisy is None else float(noisy[one, other])
        low = None if middle is None else max(0.0, middle - width)
        high = None if middle is None else max(0.0, middle + width)
        found.append(Flow(str(names[one]), str(names[other]), float(table[one, other]), low, high))
    return sorted(found, key=lambda flow: -flow.trips)
