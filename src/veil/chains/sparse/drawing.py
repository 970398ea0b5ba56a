"""The noisy table's large cells, drawn without the others (proof in drawing.md)."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from veil.chains.sparse.tails import Tail
from veil.core.arrays import Places
from veil.core.errors import InvalidData
from veil.core.numerics.compiled import compiled
from veil.core.random.streams import Rng


class Kept(NamedTuple):
    """Cells, in their order, and their noisy counts."""

    cells: Places
    counts: Places


def draw_kept(rng: Rng, tail: Tail, *, cells: int, filled: Places, noisy: Places) -> Kept:
    """The cells of a table that reach the threshold once every cell has noise.

    cells: how many the table has. filled: those that are not empty, rising. noisy: their noisy counts.
    """
    if len(filled) and not (filled[0] >= 0 and filled[-1] < cells and (np.diff(filled) > 0).all()):
        raise InvalidData("cells", expected=f"rising numbers below {cells}", found="others")
    ranks = _passing(rng, tail, cells - len(filled))
    false = _of_ranks(ranks, filled)
    values = tail.draw(rng, len(false))
    above = noisy >= tail.threshold
    places = np.concatenate([filled[above], false])
    order = np.argsort(places, kind="stable")
    return Kept(places[order], np.concatenate([noisy[above], values])[order])


def _passing(rng: Rng, tail: Tail, empty: int) -> Places:
    """Which of so many empty cells reach the threshold: each by itself, with the same probability."""
    found, last = [], -1
    while last < empty:
        expected = (empty - 1 - last) * tail.rate
        skips = tail.skips.draw(rng, int(expected + 4.0 * expected**0.5) + 8)
        ranks = np.empty(len(skips), dtype=np.int64)
        count, last = _add_up(skips, last, empty, ranks)
        found.append(ranks[:count])
    return np.concatenate(found)


@compiled
def _add_up(skips: Places, last: int, empty: int, ranks: Places) -> tuple[int, int]:
    """The places after so many skipped ones each, up to the last; how many there are, and where they end."""
    for count in range(len(skips)):
        # Neither is above 2^61: their sum fits.
        last += skips[count] + 1
        if last >= empty:
            return count, empty
        ranks[count] = last
    return len(skips), last


def _of_ranks(ranks: Places, filled: Places) -> Places:
    """The empty cells with these ranks among the empty cells."""
    # As many empty cells come before the i-th filled one as its place less i.
    before = filled - np.arange(len(filled))
    return ranks + np.searchsorted(before, ranks, side="right")
