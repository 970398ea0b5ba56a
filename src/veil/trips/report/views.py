"""What the workbench draws of released trips: a map, the largest flows, and where trips start and end."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from veil.core.arrays import Floats
from veil.core.record import Release
from veil.report.views import Bars, Flows, Look, View
from veil.report.views.links import Links
from veil.report.views.view import LISTED, nothing_found
from veil.trips.area_flows import block_names
from veil.trips.places.places import Places
from veil.trips.report.maps import block_flows, place_map


@dataclass(frozen=True, eq=False)
class PlaceMap(View):
    """Places shaded by how many trips visit them, and the largest flows; a search keeps some places."""

    title: str
    places: Places
    values: Floats
    lines: Any
    orders: ClassVar[tuple[str, ...]] = (LISTED,)

    def draw(self, look: Look) -> str:
        found = np.array([look.finds(label) for label in self.places.labels])
        if not found.any():
            return nothing_found(look)
        shown = np.where(found, self.values, 0.0)
        return place_map(self.places, shown, self.title, unit="visits", flows=self.lines)


def trip_views(release: Release[Any], visits: Floats) -> tuple[View, ...]:
    """The map, flows between blocks, and starts and ends."""
    model = release.value
    side = 8 if "pairs of 8 x 8 blocks" in release.tables else 4
    block = model.layout.blocks[side]
    size = int(block.max()) + 1
    key = block[:, None].astype(np.int64) * size + block[None, :]
    table = np.bincount(key.ravel(), model.flows.ravel(), size * size).reshape(size, size)
    labels = list(model.places.labels)
    return (
        PlaceMap("Map", model.places, visits, block_flows(model.places, model.flows, block)),
        Flows("Flows", Links.of_table(block_names(model, side), table.astype(np.float64)), of="trips"),
        Bars("Starts", labels, model.starts / model.starts.sum(), of="share of all trips"),
        Bars("Ends", labels, model.ends / model.ends.sum(), of="share of all trips"),
    )
