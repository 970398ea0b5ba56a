"""Simulated paths of a Markov chain, by alias tables: one uniform number and two look-ups a step.

Walker (ACM TOMS 3, 1977) cuts each row of d transitions into d cells of equal probability, each of which
holds at most two targets; Vose (IEEE Trans. Softw. Eng. 17, 1991) builds them in linear time.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from veil.core.arrays import Floats, Ints, Places
from veil.core.errors import InvalidArgument
from veil.core.numerics.compiled import compiled

Records = NDArray[np.void]

# What one step reads lies together, so that a large chain costs two cache misses a step and not four.
_ROW = np.dtype([("first", np.int64), ("width", np.float64)])
_CELL = np.dtype([("cut", np.float64), ("below", np.int32), ("above", np.int32)])
# Uniform numbers that are drawn at a time: they and the states they lead to stay in the cache.
_AT_A_TIME = 65_536


class Walks(Protocol):
    """What a chain can be walked with."""

    def paths(self, starts: Places, steps: int, rng: np.random.Generator) -> Ints:
        """One path a start: an array of len(starts) rows and steps + 1 columns, the first the starts."""
        ...


@dataclass(frozen=True, slots=True)
class Walker:
    """A chain that can be walked. rows: for each state its first cell and the number of its cells.

    A uniform number times the number of cells falls into a cell, and leads to the state `below` or `above`
    the cell's cut. Probabilities are exact to about 2^-53 times the number of transitions from a state.
    """

    rows: Records
    cells: Records

    @classmethod
    def of(cls, matrix: Any) -> Walker:
        """From a transition matrix: an array or a scipy.sparse array. Only the ratios in a row matter."""
        from scipy.sparse import csr_array

        given = csr_array(matrix, dtype=np.float64, copy=True)
        given.sum_duplicates()
        starts = np.repeat(np.arange(given.shape[0]), np.diff(given.indptr))
        _check(given, starts)
        kept = given.data > 0.0
        counts = np.bincount(starts[kept], minlength=given.shape[0])
        cells = np.empty(int(counts.sum()), dtype=_CELL)
        cells["cut"] = given.data[kept]
        cells["below"] = cells["above"] = given.indices[kept]
        rows = np.empty(len(counts), dtype=_ROW)
        rows["first"] = np.cumsum(counts) - counts
        rows["width"] = counts
        _fill_cells(rows["first"], counts, cells)
        return cls(rows, cells)

    def paths(self, starts: Places, steps: int, rng: np.random.Generator) -> Ints:
        """One path a start: an array of len(starts) rows and steps + 1 columns, the first the starts.

        The same generator in the same condition gives the same paths.
        """
        states = len(self.rows)
        starts = np.asarray(starts, dtype=np.int64)
        if len(starts) and not (starts.min() >= 0 and starts.max() < states):
            raise InvalidArgument("starts", expected=f"states from 0 to {states - 1}", found="others")
        if steps < 0:
            raise InvalidArgument("steps", expected="zero or more", found=str(steps))
        answer = np.empty((len(starts), steps + 1), dtype=np.int32)
        answer[:, 0] = starts
        together = min(len(starts), max(16, _AT_A_TIME // max(steps, 1)))
        for first in range(0, len(starts), max(together, 1)):
            walked = answer[first : first + together]
            length = max(1, _AT_A_TIME // len(walked))
            for done in range(0, steps, length):
                uniform = rng.random((min(length, steps - done), len(walked)))
                _walk(self.rows, self.cells, uniform, walked[:, done:])
        return answer


def _check(given: Any, starts: Places) -> None:
    if given.shape[0] != given.shape[1]:
        raise InvalidArgument("matrix", expected="as many rows as columns", found=f"shape {given.shape}")
    if not (np.isfinite(given.data).all() and (given.data >= 0.0).all()):
        raise InvalidArgument("matrix", expected="finite entries that are not negative", found="others")
    empty = np.flatnonzero(np.bincount(starts, weights=given.data, minlength=given.shape[0]) <= 0.0)
    if len(empty):
        found = f"none from {empty[0]}"
        raise InvalidArgument("matrix", expected="a transition from each state", found=found)


@compiled
def _fill_cells(firsts: Places, counts: Places, cells: Records) -> None:
    """Turn the weights in the cuts into cells, row by row.

    Scaled so that their mean is one, weights below one take the rest of their cell from one above.
    """
    waiting = np.empty(counts.max(), dtype=np.int64)
    cut, below, above = cells["cut"], cells["below"], cells["above"]
    for state in range(len(counts)):
        first, count = firsts[state], counts[state]
        scale = count / cut[first : first + count].sum()
        # Small cells wait at the front, large ones at the back.
        small, large = 0, count
        for cell in range(first, first + count):
            cut[cell] *= scale
            if cut[cell] < 1.0:
                waiting[small] = cell
                small += 1
            else:
                large -= 1
                waiting[large] = cell
        while small > 0 and large < count:
            cell, giver = waiting[small - 1], waiting[large]
            above[cell] = below[giver]
            cut[giver] = (cut[giver] + cut[cell]) - 1.0
            cut[cell] += cell - first
            if cut[giver] < 1.0:
                waiting[small - 1] = giver
                large += 1
            else:
                small -= 1
        # What is left differs from one by rounding only. Cuts count from the start of the row.
        for place in range(count):
            if place < small or place >= large:
                cut[waiting[place]] = waiting[place] - first + 1.0


@compiled
def _walk(rows: Records, cells: Records, uniform: Floats, walked: Ints) -> None:
    """Extend each path by as many steps as there are rows of uniform numbers."""
    steps, paths = uniform.shape
    for step in range(steps):
        for path in range(paths):
            row = rows[walked[path, step]]
            # Below the number of cells: the largest number, 1 - 2^-53, times an integer rounds below it.
            place = uniform[step, path] * row["width"]
            cell = cells[row["first"] + np.int64(place)]
            # Both are read before one is chosen: a branch would be guessed wrong too often.
            below, above = cell["below"], cell["above"]
            walked[path, step + 1] = above if place >= cell["cut"] else below
