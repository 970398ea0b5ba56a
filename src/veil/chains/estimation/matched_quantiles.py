"""Estimates of single counts whose sums are right (estimates.md, section 3).

Posterior medians have the least expected absolute error, cell by cell, and wrong sums: where most cells are
probably empty they leave out what a few of them hold. Of all estimates with given sums the least expected
error is that of posterior quantiles at one level per row and column: what is added goes where it is most
likely.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from veil.core.arrays import Floats
from veil.core.numerics.count_grid import Noise
from veil.core.numerics.count_laws import FLOOR

LEVELS = (0.2, 0.3, 0.4, 0.5, 0.55, 0.6, 0.65, 0.7, 0.75, 0.8, 0.85, 0.9, 0.95)
_MEDIAN = LEVELS.index(0.5)
# Beyond the last level, so many means more in every cell.
_MEANS_MORE = 4.0
# Rows and columns in turn; the halvings of the first turn and, around what was found, of the others.
_TURNS, _FIRST_HALVINGS, _HALVINGS = 5, 10, 6
_AROUND = 1.5
# How far sums go from those of medians to those of means, at little noise and at noise of scale 1 or more.
_FEWEST_MEANS, _MOST_MEANS = 0.2, 0.6
# Cells that are looked at together.
_BLOCK = 1_000_000
# No cell is below this part of its mean.
_LEAST_PART = 1e-3


def estimated_counts(quantiles: NDArray[np.floating[Any]], means: Floats, noise: Noise) -> Floats:
    """The estimate of counts [from, to] from their posterior quantiles and means: positive."""
    part = _FEWEST_MEANS + (_MOST_MEANS - _FEWEST_MEANS) * min(1.0, noise.scale)
    counts = matched_quantiles(quantiles, means, part)
    # Of rows that are lost in noise only sums are known.
    sizes = means.sum(axis=1, keepdims=True)
    lost = np.minimum(1.0, len(means) * noise.deviation**2 / sizes**2)
    return np.asarray(np.maximum(lost * means + (1.0 - lost) * counts, _LEAST_PART * means + FLOOR))


def matched_quantiles(quantiles: NDArray[np.floating[Any]], means: Floats, part: float) -> Floats:
    """[from, to]: quantiles whose sums of rows and columns go this part of the way from medians to means.

    quantiles: [level, from, to], at LEVELS.
    """
    last = (quantiles[-1:] + _MEANS_MORE * means).astype(quantiles.dtype)
    steps = np.concatenate([quantiles, last])
    np.maximum.accumulate(steps, axis=0, out=steps)
    medians = steps[_MEDIAN]
    wanted = [part * means.sum(axis=axis) + (1.0 - part) * medians.sum(axis=axis) for axis in (0, 1)]
    most = float(len(LEVELS))
    of_rows, of_columns = np.zeros(len(means)), np.full(len(means), float(_MEDIAN))
    for turn in range(_TURNS):
        for axis in (0, 1):
            now = of_columns if axis == 0 else of_rows
            reach, halvings = (most, _FIRST_HALVINGS) if turn == 0 else (_AROUND, _HALVINGS)
            low, high = now - reach, now + reach
            for _ in range(halvings):
                middle = 0.5 * (low + high)
                places = of_rows[:, None] + middle if axis == 0 else middle[:, None] + of_columns
                short = _between(steps, places).sum(axis=axis) < wanted[axis]
                low, high = np.where(short, middle, low), np.where(short, high, middle)
            now[:] = 0.5 * (low + high)
    return _between(steps, of_rows[:, None] + of_columns)


def _between(steps: NDArray[np.floating[Any]], places: Floats) -> Floats:
    """Between the two steps of each cell that are nearest its place."""
    found = np.empty(places.shape)
    some = max(1, _BLOCK // places.shape[1])
    for first in range(0, len(places), some):
        block = slice(first, first + some)
        flat, at = steps[:, block].reshape(len(steps), -1), np.clip(places[block], 0.0, len(steps) - 1.0)
        at = at.ravel()
        below: NDArray[np.intp] = np.minimum(at.astype(np.intp), len(steps) - 2)
        cells = np.arange(len(at))
        low, high = flat[below, cells], flat[below + 1, cells]
        found[block] = (low + (at - below) * (high - low)).reshape(-1, places.shape[1])
    return found
