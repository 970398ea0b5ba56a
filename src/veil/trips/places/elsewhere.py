"""One more place: everywhere outside."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, ClassVar

import numpy as np

from veil.core.arrays import Floats
from veil.core.errors import InvalidArgument
from veil.trips.places.box import Box
from veil.trips.places.place_graph import PlaceGraph
from veil.trips.places.places import OUTSIDE, Codes, Places, Ring

LABEL = "elsewhere"
# How far outside the box it is drawn, as a share of the box.
_BESIDE = 0.08


@dataclass(frozen=True, eq=False, repr=False)
class WithElsewhere(Places):
    """Places and, as the last one, all that is outside them. It is next to the places at the border."""

    inside: Places
    box: Box = field(init=False)
    form: ClassVar[str] = "elsewhere"

    def __post_init__(self) -> None:
        if not isinstance(self.inside, Places) or isinstance(self.inside, WithElsewhere):
            expected, found = "places, such as a trips.Grid", type(self.inside).__name__
            raise InvalidArgument("inside", expected=expected, found=found)
        object.__setattr__(self, "box", self.inside.box)

    @cached_property
    def labels(self) -> tuple[str, ...]:
        return (*self.inside.labels, LABEL)

    @cached_property
    def centres(self) -> Floats:
        beside = [[-_BESIDE * self.box.width, -_BESIDE * self.box.height]]
        return np.concatenate([self.inside.centres, beside])

    @cached_property
    def graph(self) -> PlaceGraph:
        graph, size = self.inside.graph, len(self.inside)
        pairs = np.stack([graph.tails, graph.heads], axis=1)
        degrees = np.bincount(graph.tails, minlength=size)
        border = np.flatnonzero(degrees < degrees.max())
        border = border if len(border) else np.arange(size)
        out = np.stack([border, np.full(len(border), size)], axis=1)
        # From the middle of the area, so that its moves lead away from it.
        made = PlaceGraph.of(self.centres, np.concatenate([pairs, out, out[:, ::-1]]))
        ways = self.centres - np.append(self.inside.centres.mean(axis=0), [])[None, :]
        sector = np.rint(np.arctan2(ways[:, 1], ways[:, 0]) / (2.0 * np.pi) * 8).astype(np.int32) % 8
        leaving, entering = made.heads == size, made.tails == size
        kept = np.where(
            leaving, sector[made.tails], np.where(entering, (sector[made.heads] + 4) % 8, made.sector)
        )
        return PlaceGraph(made.first, made.heads, kept.astype(np.int32))

    @property
    def words(self) -> str:
        return f"{self.inside.words}, and elsewhere"

    def assign(self, lat: Any, lng: Any) -> Codes:
        codes = self.inside.assign(lat, lng)
        return np.where(codes == OUTSIDE, len(self.inside), codes).astype(np.int32)

    def rings(self, place: int) -> list[Ring]:
        return self.inside.rings(place) if place < len(self.inside) else []

    def within(self, rng: np.random.Generator, codes: Any) -> tuple[Floats, Floats]:
        codes = np.asarray(codes)
        out = codes == len(self.inside)
        lat, lng = self.inside.within(rng, np.where(out, 0, codes))
        # Nobody knows where outside: no coordinates.
        return np.where(out, np.nan, lat), np.where(out, np.nan, lng)

    def describe(self) -> dict[str, Any]:
        return {**self.inside.describe(), "elsewhere": True}
