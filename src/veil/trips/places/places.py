"""Places: what every sort of them offers."""

from __future__ import annotations

from abc import ABC, abstractmethod
from functools import cached_property
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from veil.core.arrays import Floats
from veil.core.checks import items, plain_texts, shown
from veil.core.errors import InvalidArgument
from veil.trips.places.box import Box
from veil.trips.places.place_graph import PlaceGraph

Codes = NDArray[np.int32]
# Outside all places.
OUTSIDE = -1
# More places than a table of pairs of places holds comfortably.
MOST_PLACES = 2_500
# Of names that are numbers.
_MOST_NUMBER = 10**18
Ring = list[tuple[float, float]]


class Places(ABC):
    """A public list of places inside a public box, numbered from 0.

    box: the area. labels: their names. centres: of each place, in metres east and north of the box's corner.
    graph: which are next to each other.
    """

    form: ClassVar[str]
    box: Box

    @property
    @abstractmethod
    def labels(self) -> tuple[str, ...]:
        """The names of the places."""

    @property
    @abstractmethod
    def centres(self) -> Floats:
        """Where the places are, in metres."""

    @property
    @abstractmethod
    def graph(self) -> PlaceGraph:
        """Which places are next to each other."""

    @property
    @abstractmethod
    def words(self) -> str:
        """What the places are, in words."""

    @abstractmethod
    def assign(self, lat: Any, lng: Any) -> Codes:
        """The place of each point; -1 outside."""

    @abstractmethod
    def rings(self, place: int) -> list[Ring]:
        """The outline of a place in metres, for maps."""

    @abstractmethod
    def within(self, rng: np.random.Generator, codes: Any) -> tuple[Floats, Floats]:
        """A random point in each of these places, as latitudes and longitudes."""

    @abstractmethod
    def describe(self) -> dict[str, Any]:
        """Plain data, from which `places_from` makes them again."""

    def __len__(self) -> int:
        return len(self.labels)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Places) and self.describe() == other.describe()

    def __hash__(self) -> int:
        return hash((self.form, self.box))

    def __repr__(self) -> str:
        return f"<{len(self):,} places: {self.words}>"

    def blocks(self, side: int) -> Codes:
        """The block of each place, of side x side equal blocks of the box; numbered without gaps."""
        width, height = self.box.width, self.box.height
        column = np.clip((self.centres[:, 0] / width * side).astype(np.int64), 0, side - 1)
        row = np.clip((self.centres[:, 1] / height * side).astype(np.int64), 0, side - 1)
        return np.asarray(np.unique(row * side + column, return_inverse=True)[1], dtype=np.int32)

    @cached_property
    def lat_lng(self) -> tuple[Floats, Floats]:
        """The centres as latitudes and longitudes."""
        return self.box.degrees(self.centres[:, 0], self.centres[:, 1])

    def walk(self, one: int, other: int) -> list[int]:
        """The places between two that are not neighbours, along a shortest way."""
        return _between(self, one, other)

    @cached_property
    def _next(self) -> NDArray[np.int32]:
        """[to, from]: the next place on a shortest way, by metres."""
        from scipy.sparse import csr_array
        from scipy.sparse.csgraph import shortest_path

        graph, size = self.graph, len(self)
        ways = self.centres[graph.heads] - self.centres[graph.tails]
        metres = np.maximum(np.hypot(ways[:, 0], ways[:, 1]), 1e-6)
        matrix = csr_array((metres, graph.heads, graph.first), shape=(size, size))
        # Moves go both ways: what comes before on the way from `to` is what comes next on the way to it.
        _, before = shortest_path(matrix, return_predecessors=True)
        return np.where(before < 0, -1, before).astype(np.int32)


def place_names(given: Any, what: str) -> tuple[str, ...]:
    """The names of places: texts or numbers, a few at least, and all different."""
    listed = items("places", given, expected="a list of names")
    if not 2 <= len(listed) <= MOST_PLACES:
        raise InvalidArgument("places", expected=f"2 to {MOST_PLACES:,} {what}", found=f"{len(listed):,}")
    names = tuple(map(_as_text, listed))
    plain_texts("places", names)
    if len(set(names)) < len(names):
        hint = "Name a {label} that tells them apart."
        expected = f"{what} of different names"
        raise InvalidArgument("places", expected=expected, found="two of one", hint=hint, names=("label",))
    return names


def _as_text(name: Any) -> str:
    if isinstance(name, str):
        return name
    if isinstance(name, (int, np.integer)) and not isinstance(name, bool) and abs(int(name)) < _MOST_NUMBER:
        return str(name)
    raise InvalidArgument("places", expected="names that are text or numbers", found=shown(name))


def _between(places: Places, one: int, other: int) -> list[int]:
    way, at = [], one
    while at != other:
        at = int(places._next[other, at])
        if at < 0:
            return []
        way.append(at)
    return way[:-1]
