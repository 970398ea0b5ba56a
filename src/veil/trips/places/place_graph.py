"""Which places are next to each other, in which direction, and how many steps apart: all public."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from veil.core.arrays import Floats

Whole = NDArray[np.int32]
# Directions are told apart by eighths of a turn: east, north-east, north and so on.
SECTORS = 8


@dataclass(frozen=True, eq=False)
class PlaceGraph:
    """Moves between neighbouring places.

    first: where the moves out of each place begin among all moves; one more entry than places. heads: the
    place that each move enters. sector: its direction, in eighths of a turn.
    """

    first: Whole
    heads: Whole
    sector: Whole

    @classmethod
    def of(cls, centres: Floats, pairs: Any) -> PlaceGraph:
        """From the places of centres (x, y) and the pairs of neighbours, each in both directions."""
        joined = np.unique(np.asarray(pairs, dtype=np.int64).reshape(-1, 2), axis=0)
        tails, heads = joined[:, 0], joined[:, 1]
        ways = centres[heads] - centres[tails]
        turns = np.arctan2(ways[:, 1], ways[:, 0]) / (2.0 * np.pi) * SECTORS
        first = np.searchsorted(tails, np.arange(len(centres) + 1))
        sector = np.rint(turns).astype(np.int32) % SECTORS
        return cls(first.astype(np.int32), heads.astype(np.int32), sector)

    def __len__(self) -> int:
        return len(self.first) - 1

    @property
    def moves(self) -> int:
        """How many moves there are."""
        return len(self.heads)

    @cached_property
    def tails(self) -> Whole:
        """The place that each move leaves."""
        return np.repeat(np.arange(len(self)), np.diff(self.first)).astype(np.int32)

    @cached_property
    def back(self) -> Whole:
        """The number of the opposite of each move."""
        size = len(self)
        keys = self.tails.astype(np.int64) * size + self.heads
        return np.searchsorted(keys, self.heads.astype(np.int64) * size + self.tails).astype(np.int32)

    @cached_property
    def steps(self) -> NDArray[np.int16]:
        """How many moves lead from one place to another, at least; -1 where none do."""
        from scipy.sparse import csr_array
        from scipy.sparse.csgraph import shortest_path

        size = len(self)
        matrix = csr_array((np.ones(self.moves), self.heads, self.first), shape=(size, size))
        found = shortest_path(matrix, unweighted=True)
        return np.where(np.isfinite(found), found, -1).astype(np.int16)

    def move_numbers(self, tails: Any, heads: Any) -> Whole:
        """The numbers of moves; -1 where two places are not neighbours."""
        size = len(self)
        keys = self.tails.astype(np.int64) * size + self.heads
        asked = np.asarray(tails, dtype=np.int64) * size + heads
        if not len(keys):
            return np.full(len(asked), -1, dtype=np.int32)
        at = np.minimum(np.searchsorted(keys, asked), len(keys) - 1)
        return np.where(keys[at] == asked, at, -1).astype(np.int32)
