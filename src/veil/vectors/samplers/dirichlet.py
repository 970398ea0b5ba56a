"""Dirichlet vectors, from shapes of any size."""

from __future__ import annotations

import numpy as np

from veil.core.arrays import Floats
from veil.core.random.streams import Rng

# Below this shape a gamma variable may underflow to zero in every entry at once.
_SMALL_SHAPE = 0.2


def sample_dirichlet(rng: Rng, *, shapes: Floats, size: int | None = None) -> Floats:
    """Draw x ~ Dirichlet(shapes) along the last axis; entries of shape zero stay zero.

    shapes: one vector or a batch; size: how many draws of it, along a new leading axis.
    """
    full = shapes.shape if size is None else (size, *shapes.shape)
    positive = shapes > 0.0
    if np.min(shapes, where=positive, initial=np.inf) < _SMALL_SHAPE:
        return _sample_in_logs(rng, np.broadcast_to(shapes, full))
    draws = rng.standard_gamma(shapes, size=full)
    draws /= draws.sum(axis=-1, keepdims=True)
    return draws


def _sample_in_logs(rng: Rng, shapes: Floats) -> Floats:
    """G(a) = G(a + 1) U^(1/a) in law: with logarithms no shape is too small."""
    with np.errstate(divide="ignore", over="ignore"):
        logs = np.log(rng.standard_gamma(shapes + 1.0))
        logs -= rng.standard_exponential(shapes.shape) / shapes
    logs -= logs.max(axis=-1, keepdims=True)
    draws: Floats = np.exp(logs)
    draws /= draws.sum(axis=-1, keepdims=True)
    return draws
