"""The chain behind the large cells of a noisy table: their counts, and a law for all the others.

Most cells that pass a low threshold are empty ones. Which ones is a matter of how busy the two states are:
of the pairs of rare states there are very many, all empty, and of those of busy states few, many of them
filled. So cells are put into classes by the product of the two margins. Of each class it is known how many
cells it has, hence how many empty ones reach each value, and the rest are cells that hold something:

    seen(v) ~ cells P(Z = v) + sum_k often(k) P(k + Z = v),   v >= threshold,

where often(k), the number of cells that hold k, is found by maximal likelihood (for a Poisson number of each
value: Richardson 1972, Lucy 1974). The estimate of a cell is its posterior mean. What a row has beyond its
own cells goes wherever the others go, beyond theirs. All of it is a function of the release alone.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from veil.chains.sparse.margins import count_points, law_of
from veil.core.arrays import Floats, Places
from veil.core.numerics.denoise import Noise

# Width of a class of cells, as a logarithm of the product of the margins.
_WIDTH = 0.5
_ROUNDS = 200
# What of a row at least goes by the law, and of the visits to a state at least makes the law. Both matter
# where noise, or several visits of one user, make a row or a column look full.
_LEAST_ELSEWHERE, _LEAST_SHARED = 0.15, 0.2
# As many transitions of a row with own cells go to states that it was never seen to go to.
_UNSEEN = 3.0
# Cells with an expected count below it have no step of their own.
_LEAST = 0.02
# Beyond so many deviations above the threshold a count is what it is.
_CLEAR = 12.0


class KeptCells(NamedTuple):
    """The cells that were kept, by state left and entered, with their noisy counts."""

    origins: Places
    ends: Places
    counts: Places


def behind(kept: KeptCells, margins: tuple[Floats, Floats], noise: Noise, threshold: int) -> Floats:
    """The expected count of each kept cell. margins: of how often states are left, and entered."""
    left, entered = (np.floor(np.log(margin) / _WIDTH).astype(np.int64) for margin in margins)
    lowest = int(left.min() + entered.min())
    often = [np.bincount(each - each.min()).astype(np.float64) for each in (left, entered)]
    sizes = np.convolve(often[0], often[1])
    classes = left[kept.origins] + entered[kept.ends] - lowest
    order = np.argsort(classes, kind="stable")
    found = np.empty(len(order))
    bounds = np.searchsorted(classes[order], np.arange(len(sizes) + 1))
    for size, first, last in zip(sizes, bounds[:-1], bounds[1:], strict=True):
        if last > first:
            some = order[first:last]
            found[some] = _of_class(kept.counts[some], float(size), noise, threshold)
    return found


def _of_class(counts: Places, cells: float, noise: Noise, threshold: int) -> Floats:
    """The expected counts of the kept cells among so many of one class."""
    values, places, often = np.unique(counts, return_inverse=True, return_counts=True)
    known = values.astype(np.float64)
    doubtful = values <= threshold + _CLEAR * max(noise.deviation, 1.0)
    seen, heights = known[doubtful], often[doubtful].astype(np.float64)
    if len(seen):
        points = count_points(noise, float(seen[-1]) + 4.0 * noise.deviation)[1:]
        chances = law_of(noise, seen[:, None] - points)
        passing = np.maximum(_reach(noise, threshold - points), 1e-12)
        empty = cells * law_of(noise, seen)
        excess = max(float(heights.sum() - empty.sum()), 1.0)
        held = np.full(len(points), excess / len(points))
        for _ in range(_ROUNDS):
            held *= ((heights / (empty + chances @ held)) @ chances) / passing
        joint = chances * held
        known[doubtful] = (joint @ points) / (empty + joint.sum(axis=1))
    return known[places]


def _reach(noise: Noise, least: Floats) -> Floats:
    """P(Z >= least), for whole numbers and between them."""
    span = int(np.ceil(40.0 * max(noise.deviation, 1.0)))
    grid = np.arange(-span, span + 1.0)
    above = np.cumsum(law_of(noise, grid)[::-1])[::-1]
    return np.asarray(np.interp(least, grid, above))


def chain_behind(
    kept: KeptCells, margins: tuple[Floats, Floats], noise: Noise, threshold: int
) -> tuple[Any, Floats]:
    """The likely steps and the law of a chain with so many states as the margins have."""
    from scipy.sparse import csr_array

    left, entered = margins
    size = len(left)
    counts = behind(kept, margins, noise, threshold)
    rows = np.bincount(kept.origins, counts, minlength=size)
    columns = np.bincount(kept.ends, counts, minlength=size)
    cells = np.bincount(kept.origins, minlength=size)
    further = np.maximum(left - rows, _LEAST_ELSEWHERE * left) + _UNSEEN * (cells > 0)
    law = np.maximum(entered - columns, _LEAST_SHARED * entered)
    law = law / law.sum()
    some = counts > _LEAST
    shares = (counts / (rows + further)[kept.origins])[some]
    likely = csr_array((shares, (kept.origins[some], kept.ends[some])), shape=(size, size))
    return likely, law
