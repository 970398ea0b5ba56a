"""Trips as sequences of places, one after another in memory."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from veil.core.checks import items
from veil.core.errors import InvalidData
from veil.core.intake import numbers_of
from veil.trips.places.places import Codes, Places

Rows = NDArray[np.int64]
_LISTS = "lists of numbers of places"
_MOST_CODE = 2**31 - 1


@dataclass(frozen=True, eq=False, repr=False)
class Paths:
    """The places of all trips, one after another. Sensitive, unless they are synthetic.

    codes: the numbers of the places. first: where each trip begins; one more entry than trips.
    """

    codes: Codes
    first: Rows

    def __post_init__(self) -> None:
        codes, first = numbers_of("trips", self.codes), numbers_of("trips", self.first)
        if codes.ndim != 1 or first.ndim != 1 or "f" in (codes.dtype.kind, first.dtype.kind):
            raise InvalidData("trips", expected="numbers of places, and where trips begin", found="others")
        if not len(first) or first[0] != 0 or first[-1] != len(codes) or (first[1:] < first[:-1]).any():
            expected = "beginnings that rise from 0 to the number of places visited"
            raise InvalidData("trips", expected=expected, found="others")
        if len(codes) and codes.itemsize > 4 and not -_MOST_CODE <= codes.min() <= codes.max() <= _MOST_CODE:
            raise InvalidData("trips", expected="numbers of places", found="larger ones")
        object.__setattr__(self, "codes", codes.astype(np.int32, copy=False))
        object.__setattr__(self, "first", first.astype(np.int64, copy=False))

    @classmethod
    def of(cls, trips: Any) -> Paths:
        """From lists of numbers of places."""
        lists = [_codes_of(trip) for trip in items("trips", trips, expected=_LISTS)]
        first = np.concatenate([[0], np.cumsum([len(trip) for trip in lists], dtype=np.int64)]).astype(
            np.int64
        )
        return cls(np.concatenate([np.empty(0, dtype=np.int32), *lists]), first)

    def __len__(self) -> int:
        return len(self.first) - 1

    def __repr__(self) -> str:
        return "<trips.Paths>"

    def to_lists(self) -> list[list[int]]:
        """Each trip as a list of numbers of places."""
        return [self.codes[a:b].tolist() for a, b in zip(self.first[:-1], self.first[1:], strict=True)]

    @cached_property
    def sizes(self) -> Rows:
        """How many places each trip visits."""
        return np.diff(self.first)

    @cached_property
    def trip(self) -> Rows:
        """For each place that is visited the number of the trip."""
        return np.repeat(np.arange(len(self)), self.sizes)

    @property
    def starts(self) -> Codes:
        """The first place of each trip."""
        return self.codes[self.first[:-1]]

    @property
    def ends(self) -> Codes:
        """The last place of each trip."""
        return self.codes[self.first[1:] - 1]

    @property
    def inner(self) -> NDArray[np.bool_]:
        """For each place that is visited whether another one of the same trip follows."""
        follows = np.ones(len(self.codes), dtype=bool)
        follows[self.first[1:] - 1] = False
        return follows

    def taken(self, trips: Any) -> Paths:
        """Some of the trips, by their numbers."""
        rows = np.asarray(trips, dtype=np.int64)
        sizes = self.sizes[rows]
        first = np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64)
        places = np.arange(first[-1]) + np.repeat(self.first[rows] - first[:-1], sizes)
        return Paths(self.codes[places], first)

    def cut(self, most: int) -> Paths:
        """The first `most` places of each trip."""
        keep = np.arange(len(self.codes)) - np.repeat(self.first[:-1], self.sizes) < most
        first = np.concatenate([[0], np.cumsum(np.minimum(self.sizes, most))]).astype(np.int64)
        return Paths(self.codes[keep], first)

    def without_repeats(self) -> Paths:
        """Each run of the same place as one visit."""
        keep = np.ones(len(self.codes), dtype=bool)
        keep[1:] = self.codes[1:] != self.codes[:-1]
        keep[self.first[:-1][self.sizes > 0]] = True
        kept = np.concatenate([[0], np.cumsum(keep)])
        return Paths(self.codes[keep], kept[self.first].astype(np.int64))

    def joined(self, places: Places) -> Paths:
        """With the places between two that are not neighbours, along a shortest (on a grid, straight) way."""
        here = np.flatnonzero(self.inner)
        tails, heads = self.codes[here], self.codes[here + 1]
        gaps = here[(places.graph.move_numbers(tails, heads) < 0) & (tails != heads)]
        if len(gaps) == 0:
            return self
        size = len(places)
        keys, which = np.unique(
            self.codes[gaps].astype(np.int64) * size + self.codes[gaps + 1], return_inverse=True
        )
        ways = [places.walk(*divmod(int(key), size)) for key in keys]
        lengths = np.array([len(way) for way in ways])
        if (lengths == 0).any():
            raise InvalidData(
                "places", expected="places that are all connected", found="a trip between parts that are not"
            )
        flat = np.concatenate([np.asarray(way, dtype=np.int32) for way in ways])
        begins = np.concatenate([[0], np.cumsum(lengths)])[:-1]
        extra = np.zeros(len(self.codes), dtype=np.int64)
        extra[gaps] = lengths[which]
        moved = np.arange(len(self.codes)) + np.concatenate([[0], np.cumsum(extra)])[:-1]
        codes = np.empty(len(self.codes) + int(extra.sum()), dtype=np.int32)
        codes[moved] = self.codes
        counts = lengths[which]
        inside = np.arange(counts.sum()) - np.repeat(np.cumsum(counts) - counts, counts)
        codes[np.repeat(moved[gaps] + 1, counts) + inside] = flat[np.repeat(begins[which], counts) + inside]
        total = np.concatenate([[0], np.cumsum(extra)])
        return Paths(codes, (self.first + total[self.first]).astype(np.int64))


def _codes_of(trip: Any) -> Codes:
    """The places of one trip."""
    codes = numbers_of(
        "trips", trip if isinstance(trip, np.ndarray) else items("trips", trip, expected=_LISTS)
    )
    if codes.ndim != 1 or (len(codes) and codes.dtype.kind == "f"):
        raise InvalidData("trips", expected=_LISTS, found="something else")
    if len(codes) and not -_MOST_CODE <= codes.min() <= codes.max() <= _MOST_CODE:
        raise InvalidData("trips", expected=_LISTS, found="larger numbers")
    return codes.astype(np.int32)
