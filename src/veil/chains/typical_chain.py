"""Public stand-ins for counted transitions, on which plans measure errors."""

from __future__ import annotations

import numpy as np

from veil.core.arrays import Floats
from veil.vectors.counts import Integers

_SEED = 63
# How strongly sizes of rows differ: the largest of 60 has about thirty times what the median one has.
_SPREAD = 1.2
_NEAR = 0.25


def typical_tables(states: int, records: int, *, seed: int = _SEED) -> tuple[Integers, ...]:
    """Two tables of so many transitions, the same every time: of travel, and of anything at all.

    In the first, states lie in a plane and near and popular ones attract; many cells are empty. In the
    second, rows are spread evenly over all distributions. Sizes of rows differ in both.
    """
    rng = np.random.default_rng(seed)
    return tuple(_counted(rng, rows, records) for rows in (_travel(rng, states), _anything(rng, states)))


def _travel(rng: np.random.Generator, states: int) -> Floats:
    places = rng.random((states, 2))
    popular = np.exp(_SPREAD * rng.standard_normal(states))
    far = np.hypot(*(places[:, None, :] - places[None, :, :]).transpose(2, 0, 1))
    weights = popular * np.exp(-far / _NEAR)
    return np.asarray(weights / weights.sum(axis=1, keepdims=True))


def _anything(rng: np.random.Generator, states: int) -> Floats:
    weights = rng.standard_exponential((states, states))
    return np.asarray(weights / weights.sum(axis=1, keepdims=True))


def _counted(rng: np.random.Generator, rows: Floats, records: int) -> Integers:
    sizes = np.exp(_SPREAD * rng.standard_normal(len(rows)))
    split = rng.multinomial(records, sizes / sizes.sum())
    return np.asarray(rng.multinomial(split, rows), dtype=np.int64)
