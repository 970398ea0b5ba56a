"""Tables of transitions of many shapes, for tests of estimates and error bars."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray
from scipy.sparse.csgraph import connected_components

Integers = NDArray[np.int64]
Floats = NDArray[np.float64]


def table(shape: str, states: int, total: int, seed: int) -> Integers:
    """About `total` transitions; states that cannot reach all others are left out."""
    return table_and_means(shape, states, total, seed)[0]


def table_and_means(shape: str, states: int, total: int, seed: int) -> tuple[Integers, Floats]:
    """The same, and the mean of each cell."""
    rng = np.random.default_rng(seed)
    weights = SHAPES[shape](rng, states)
    means = total * weights / weights.sum()
    counts = rng.poisson(means).astype(np.int64)
    largest = connected(counts)
    return counts[np.ix_(largest, largest)], means[np.ix_(largest, largest)]


def connected(counts: Integers) -> NDArray[np.intp]:
    """The largest set of states that all reach each other."""
    _, parts = connected_components(counts > 0, directed=True, connection="strong")
    return np.flatnonzero(parts == np.bincount(parts).argmax())


def noisy(counts: Integers | Floats, epsilon: float, rng: np.random.Generator) -> Floats:
    """The counts with two-sided geometric noise."""
    each = -np.expm1(-epsilon)
    return np.asarray(counts + rng.geometric(each, counts.shape) - rng.geometric(each, counts.shape), float)


def _distances(rng: np.random.Generator, states: int) -> tuple[Floats, Floats]:
    places = rng.random((states, 2))
    return places, np.hypot(*(places[:, None] - places[None]).transpose(2, 0, 1))


def _outer(rng: np.random.Generator, states: int) -> Floats:
    """A busy centre; sparse outer zones that mostly return to themselves."""
    places, distances = _distances(rng, states)
    busy = np.exp(-12.0 * np.hypot(*(places - 0.5).T)) * rng.lognormal(0.0, 0.8, states)
    weights = busy[:, None] * busy * np.exp(-distances / 0.3)
    stays = np.minimum(rng.beta(1.0, 2.0, states) * np.clip(1.2 - busy / busy.max(), 0.05, 1.0), 0.97)
    np.fill_diagonal(weights, 0.0)
    np.fill_diagonal(weights, weights.sum(axis=1) * stays / (1.0 - stays))
    return np.asarray(weights + 1e-5 * weights.mean())


def _gravity(rng: np.random.Generator, states: int) -> Floats:
    busy = rng.lognormal(0.0, 1.5, states)
    return np.asarray(busy[:, None] * busy * np.exp(-_distances(rng, states)[1] / 0.15))


def _block(rng: np.random.Generator, states: int) -> Floats:
    block = rng.integers(0, max(2, states // 15), states)
    affinity = rng.lognormal(-2.0, 1.0, (block.max() + 1,) * 2) + 3.0 * np.eye(block.max() + 1)
    busy = rng.lognormal(0.0, 1.5, states)
    return np.asarray(busy[:, None] * busy * affinity[np.ix_(block, block)])


def _heavy(rng: np.random.Generator, states: int) -> Floats:
    busy = rng.lognormal(0.0, 1.5, states)
    return np.asarray(busy[:, None] * busy * rng.lognormal(0.0, 2.0, (states, states)))


def _independent(rng: np.random.Generator, states: int) -> Floats:
    busy = rng.lognormal(0.0, 1.5, states)
    return np.asarray(busy[:, None] * (busy * rng.lognormal(0.0, 0.5, states)))


def _trips(rng: np.random.Generator, states: int) -> Floats:
    """Short ways, and as many back as there, but for what a state sends out or draws in."""
    busy = rng.lognormal(0.0, 1.2, states)
    ties = np.triu(rng.lognormal(0.0, 1.0, (states, states)))
    weights = busy[:, None] * busy * np.exp(-_distances(rng, states)[1] / 0.12) * (ties + np.triu(ties, 1).T)
    return np.asarray(weights * rng.lognormal(0.0, 0.3, (states, 1)) * rng.lognormal(0.0, 0.3, states))


def _directed(rng: np.random.Generator, states: int) -> Floats:
    out, into = rng.normal(0.0, 1.0, (2, states, 4))
    busy = rng.lognormal(0.0, 1.2, (2, states))
    return np.asarray(busy[0][:, None] * busy[1] * np.exp(out @ into.T))


def _ring(rng: np.random.Generator, states: int) -> Floats:
    """A few neighbours to either side: slow mixing."""
    places = np.arange(states)
    away = np.abs(places[:, None] - places)
    away = np.minimum(away, states - away)
    return np.asarray(np.exp(-1.0 * away) * (away < 6) * rng.lognormal(0.0, 0.7, (states, states)))


def _streets(rng: np.random.Generator, states: int) -> Floats:
    """Crossings of a square grid of streets, each joined to its four neighbours."""
    side = int(np.sqrt(states))
    x, y = np.divmod(np.arange(side * side), side)
    away = np.abs(x[:, None] - x) + np.abs(y[:, None] - y)
    busy = rng.lognormal(0.0, 1.0, side * side)
    return np.asarray((away <= 1) * busy[:, None] * busy * rng.lognormal(0.0, 0.4, away.shape))


SHAPES: dict[str, Callable[[np.random.Generator, int], Floats]] = {
    "outer": _outer,
    "gravity": _gravity,
    "block": _block,
    "heavy": _heavy,
    "independent": _independent,
    "trips": _trips,
    "directed": _directed,
    "ring": _ring,
    "streets": _streets,
}
