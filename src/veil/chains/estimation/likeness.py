"""What other cells say of a cell: the way back, ways by a third state, and what states have in common.

Of a table of estimated counts and the means of a model. A predictor of a cell holds the count of that cell
in nothing but sums of whole rows and columns (estimates.md, section 1).
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from veil.core.arrays import Booleans, Floats

Singles = NDArray[np.float32]

# Farther than this, as a logarithm, no cell is from its mean.
_FARTHEST = 20.0
# Parts of the noise's deviation below which the way back is about empty.
_ABOUT_EMPTY = (0.1, 1.0)
# What is added to every margin, and the part of a mean that every sum of products has.
_LEAST_MARGIN, _LEAST_PART = 0.5, 0.02
_TINY = 1e-9


def reverse_predictors(counts: Floats, means: Floats, model: Floats, deviation: float) -> list[Singles]:
    """Of [from, to]: by how much the count of [to, from] exceeds its mean; with its use for large cells.

    model: logarithms of means.
    """
    excess = np.clip(np.log(counts.T / means.T), -_FARTHEST, _FARTHEST)
    found = [excess, excess * model, np.maximum(excess, 0.0)]
    for part in _ABOUT_EMPTY:
        least = part * deviation
        damped = np.log((counts.T + least) / (means.T + least))
        found += [damped, damped * model]
    return [one.astype(np.float32) for one in found]


def common_predictors(counts: Floats, means: Floats, away: Booleans) -> list[Singles]:
    """Of [from, to], beside its mean: by a third state there, and back; from states alike to ones alike.

    Counts are divided by the roots of their margins. Then the products B B' (common ends), B' B (common
    starts), B B (a way by a third state) and B B' B (what states with the same ends have) are large where
    states are alike; of the last, what holds the cell's own count is taken away.
    """
    moving = np.where(away, counts, 0.0)
    leaving, arriving = (moving.sum(axis=axis) + _LEAST_MARGIN for axis in (1, 0))
    size = np.sqrt(leaving[:, None] * arriving)
    scaled = moving / size
    square, ways, ends = scaled**2, scaled @ scaled, scaled @ scaled.T
    own = scaled * (square.sum(axis=1, keepdims=True) + square.sum(axis=0) - square)
    found = []
    for product in (ends @ scaled - own, ways, ways.T, ends, scaled.T @ scaled):
        ratio = (np.maximum(product, 0.0) * size + _LEAST_PART * means + _TINY) / (means + _TINY)
        excess = np.log(ratio).astype(np.float32)
        found += [excess, np.maximum(excess - excess[away].mean(), 0.0)]
    return found
