"""Shares behind noisy numbers, where the noise is public: empirical Bayes instead of clipping.

Every entry of a vector, the empty ones too, was released as x + noise. Clipping at zero turns the noise of
empty entries into mass that was never there, and leaves entries that drown in the noise as they came out.
Here the law of the x is learnt from the noisy numbers themselves (empirical Bayes; Robbins, Proc. 3rd
Berkeley Symp., 1956): a histogram on a logarithmic scale, zero apart, of highest likelihood (by EM), kept
near a wide law around the mean entry that weighs as much as two entries. Large entries stay as they are; how
far the others are moved is learnt.

Of the posterior of each entry we return a mixture of the median, which has the least expected absolute error
(what total variation adds up), and the mean, which is never zero.

All of this is a function of the noisy numbers and the public noise: post-processing, and no random numbers.
Tables of counts, whose rows and columns tell of each other, have a richer model: `core/numerics/denoise.py`.
"""

from __future__ import annotations

from functools import lru_cache
from typing import Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from veil.core.arrays import Floats

# From so many noise scales on, a number is taken as it stands.
_REACH = 20.0
# How far the grid of true numbers goes beyond that, and its points to a noise scale.
_BEYOND, _PER_SCALE = 5.0, 4
# Up to this noise scale whole numbers are told apart.
_WHOLE_SCALE = 6.0
# The width of a bin of the histogram, as a logarithm.
_STEP = 0.7
# The law before anything is seen: its weight in entries, its width as a logarithm, and its share of zeros.
_PRIOR_ENTRIES, _PRIOR_WIDTH, _PRIOR_ZERO = 2.0, 1.5, 0.2
_ROUNDS = 30
# Weight of the posterior mean against the median, as measured for tables (core/numerics/denoise.py).
_MEAN_SHARE = 0.35
_SMALLEST = 1e-300
# No entry becomes smaller than this share of the noise's scale.
_FLOOR = 1e-12
# Numbers in one array at a time.
_ROOM = 4_000_000
# From so many entries on, those that are equal, or alike within a part of the noise, are taken together.
_MANY, _PARTS = 500, 64


class NoiseLaw(NamedTuple):
    """Noise z with density exp(-|z| / scale) if laplace, exp(-z^2 / (2 scale^2)) if normal.

    whole: it is on the whole numbers, as what it was added to.
    """

    kind: Literal["laplace", "normal"]
    scale: float
    whole: bool

    def likelihoods(self, gaps: Floats) -> Floats:
        """How likely each gap is, against the likeliest along the last axis."""
        ratios = gaps / self.scale
        logs = -np.abs(ratios) if self.kind == "laplace" else -0.5 * ratios**2
        return np.asarray(np.exp(logs - logs.max(axis=-1, keepdims=True)))


class _Grid(NamedTuple):
    """Where the true numbers may be.

    points: the numbers, zero first, each standing for an interval of the width `unit`. bins[point, bin]: how
    the weight of a bin is spread over its points. edges: of the bins above zero. reach: what is beyond it is
    taken as it stands.
    """

    points: Floats
    unit: float
    bins: Floats
    edges: Floats
    reach: float


@lru_cache(maxsize=16)
def _grid(noise: NoiseLaw) -> _Grid:
    in_whole = noise.whole and noise.scale <= _WHOLE_SCALE
    if in_whole:
        unit, reach = 1.0, _REACH * max(noise.scale, 1.0)
        above = np.arange(1.0, np.ceil(reach + _BEYOND * max(noise.scale, 1.0)) + 1.0)
    else:
        unit, reach = noise.scale / _PER_SCALE, _REACH * noise.scale
        above = (np.arange(int(_PER_SCALE * (_REACH + _BEYOND))) + 0.5) * unit
    places = np.floor(np.log(above / above[0]) / _STEP + 1e-9)
    starts = np.concatenate([[0], np.flatnonzero(np.diff(places)) + 1])
    numbers = np.zeros(len(above), dtype=np.intp)
    numbers[starts[1:]] = 1
    bins = np.zeros((len(above) + 1, len(starts) + 1))
    bins[0, 0] = 1.0
    bins[np.arange(1, len(bins)), 1 + np.cumsum(numbers)] = 1.0
    edges = np.append(np.maximum(above[starts] - 0.5 * unit, 0.0), above[-1] + 0.5 * unit)
    return _Grid(np.concatenate([[0.0], above]), unit, bins / bins.sum(axis=0), edges, reach)


def shrunk(noisy: Floats | NDArray[np.int64], noise: NoiseLaw, *, total: float | None = None) -> Floats:
    """Probability vectors, along the last axis, behind numbers to which this noise was added.

    total: what the true numbers sum to, where it is known. Every entry comes out positive.

    >>> import numpy as np
    >>> counts = np.array([400, 300, 200, 100, *96 * [0]])
    >>> noisy = counts + np.rint(np.random.default_rng(1).laplace(0.0, 10.0, 100)).astype(int)
    >>> clipped = np.maximum(noisy, 0) / np.maximum(noisy, 0).sum()
    >>> errors = [0.5 * float(np.abs(x - counts / 1000).sum()) for x in (shrunk(
    ...     noisy, NoiseLaw("laplace", 10.0, True)), clipped)]
    >>> errors[0] < 0.5 * errors[1]
    True
    """
    values = np.asarray(noisy, dtype=np.float64)
    size, grid = values.shape[-1], _grid(noise)
    rows = values.reshape(-1, size)
    estimates = np.empty_like(rows)
    some = 1 if size >= _MANY else max(1, _ROOM // (size * len(grid.points)))
    for first in range(0, len(rows), some):
        part = rows[first : first + some]
        means = _means(part, noise, total)
        if size < _MANY:
            estimates[first : first + some] = _posterior(part, np.ones_like(part), means, noise, grid)
        else:
            estimates[first] = _of_alike(part[0], means, noise, grid)
    estimates = np.maximum(estimates, _FLOOR * noise.scale)
    return np.asarray(estimates / estimates.sum(axis=-1, keepdims=True)).reshape(values.shape)


def _of_alike(row: Floats, means: Floats, noise: NoiseLaw, grid: _Grid) -> Floats:
    """The estimates of one long row, in which the same number occurs many times."""
    step = 1.0 if noise.whole and noise.scale <= _PARTS else noise.scale / _PARTS
    # Beyond the reach of the noise every number is taken as it stands.
    near = np.clip(np.rint(row / step), -np.ceil(grid.reach / step), np.ceil(grid.reach / step) + 1.0)
    steps, places, times = np.unique(near, return_inverse=True, return_counts=True)
    found = _posterior((steps * step)[None, :], times[None, :].astype(np.float64), means, noise, grid)[0]
    return np.where(row > grid.reach, row, found[places.reshape(row.shape)])


def _posterior(rows: Floats, times: Floats, means: Floats, noise: NoiseLaw, grid: _Grid) -> Floats:
    """The estimates of the true numbers in each row, from a law learnt for each row by itself.

    times: how many entries each number stands for. means: of the true numbers of each row, as far as known.
    """
    known = rows > grid.reach
    likelihoods = noise.likelihoods(np.where(known, grid.reach, rows)[..., None] - grid.points)
    law = _learnt(likelihoods @ grid.bins, np.where(known, 0.0, times), times, _prior(means, grid))
    joint = likelihoods * (law @ grid.bins.T)[:, None, :]
    joint /= np.maximum(joint.sum(axis=-1, keepdims=True), _SMALLEST)
    estimates = _MEAN_SHARE * (joint @ grid.points) + (1.0 - _MEAN_SHARE) * _medians(joint, grid)
    return np.asarray(np.where(known, rows, estimates))


def _means(rows: Floats, noise: NoiseLaw, total: float | None) -> Floats:
    """The mean entry of each row; a sum that the noise hides says only how large the noise is."""
    size = rows.shape[-1]
    totals = rows.sum(axis=-1) if total is None else np.full(len(rows), float(total))
    return np.asarray(np.maximum(totals, noise.scale * np.sqrt(0.5 * size)) / size)


def _prior(means: Floats, grid: _Grid) -> Floats:
    """For each row the wide law around its mean entry, zero first; what is beyond the grid is left out."""
    ratios = np.log(np.maximum(grid.edges, _SMALLEST)) - np.log(means)[:, None]
    tails = 0.5 * np.exp(-np.abs(ratios) / _PRIOR_WIDTH)
    below = np.where(ratios < 0.0, tails, 1.0 - tails)
    zeros = _PRIOR_ZERO + (1.0 - _PRIOR_ZERO) * below[:, :1]
    return np.hstack([zeros, (1.0 - _PRIOR_ZERO) * np.diff(below, axis=1)])


def _learnt(likelihoods: Floats, weights: Floats, times: Floats, prior: Floats) -> Floats:
    """The law of each row's numbers over the bins, by EM. weights: of each number, 0 of those beyond."""
    entries, law = times.sum(axis=-1, keepdims=True) + _PRIOR_ENTRIES, prior
    for _ in range(_ROUNDS):
        chances = np.maximum((likelihoods @ law[..., None])[..., 0], _SMALLEST)
        gains = ((weights / chances)[:, None, :] @ likelihoods)[:, 0, :]
        law = (law * gains + _PRIOR_ENTRIES * prior) / entries
    return law


def _medians(joint: Floats, grid: _Grid) -> Floats:
    """The median of the law over the points; within the interval of a point, where it stands for one."""
    heights = np.cumsum(joint, axis=-1)
    cells = np.minimum((heights < 0.5).sum(axis=-1), len(grid.points) - 1)
    if grid.unit == 1.0:
        return np.asarray(grid.points[cells])
    mass = np.take_along_axis(joint, cells[..., None], axis=-1)[..., 0]
    height = np.take_along_axis(heights, cells[..., None], axis=-1)[..., 0]
    part = np.clip(1.0 - (height - 0.5) / np.maximum(mass, _SMALLEST), 0.0, 1.0)
    return np.asarray(np.where(cells > 0, grid.points[cells] + (part - 0.5) * grid.unit, 0.0))
