"""From noisy numbers back to probability vectors."""

from __future__ import annotations

import numpy as np

from veil.core.arrays import Floats
from veil.vectors.shrinkage import NoiseLaw, shrunk


def project(points: Floats) -> Floats:
    """The nearest probability vector in Euclidean distance, along the last axis."""
    ordered = -np.sort(-points, axis=-1)
    excess = np.cumsum(ordered, axis=-1) - 1.0
    ranks = np.arange(1, points.shape[-1] + 1)
    kept = np.count_nonzero(ordered - excess / ranks > 0.0, axis=-1, keepdims=True)
    level = np.take_along_axis(excess, kept - 1, axis=-1) / kept
    return normalise(points - level)


def normalise(points: Floats) -> Floats:
    """Negative entries become zero, then all are divided by their sum; uniform if nothing is left."""
    kept = np.maximum(points, 0.0)
    total = kept.sum(axis=-1, keepdims=True)
    uniform = np.full_like(kept, 1.0 / points.shape[-1])
    shares: Floats = np.divide(kept, total, out=uniform, where=total > 0.0)
    return shares


# The ways back from noisy numbers to a vector, by their names in files.
ONTO = ("normalisation", "projection", "shrinkage")


def brought_onto(onto: str, noisy: Floats, noise: NoiseLaw, *, total: float | None = None) -> Floats:
    """The probability vectors that noisy numbers stand for, in the named way.

    total: what the true numbers sum to, where that is known; for a projection it must be 1.
    """
    if onto == "shrinkage":
        return shrunk(noisy, noise, total=total)
    return project(noisy) if onto == "projection" else normalise(noisy)
