"""Samplers that compute in floats: those of Veil 0.1 as they were, and worse ones.

Each takes a mechanism, a value that it would accept, a generator and a number of draws, and gives what the
mechanism would. Their laws are right to many digits; what they leave behind in the last bits, or in which
way they went, tells inputs apart.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Rng = np.random.Generator
_SMALL_SHAPE = 0.2
# The steps of a grid that is laid around the value.
_STEP = 2.0**-20


# The samplers of 0.1


def dirichlet_of_old(mechanism: Any, value: Floats, rng: Rng, size: int | None) -> Floats:
    """Dirichlet vectors by gamma variables; all of them in logarithms if any shape is small."""
    return _dirichlet(rng, _shapes(mechanism, value), size)


def laplace_of_old(mechanism: Any, value: Floats, rng: Rng, size: int | None) -> Floats:
    """Laplace noise added to a vector, then the nearest probability vector."""
    return _project(_normalised(value) + rng.laplace(0.0, mechanism.scale, _full(value, size)))


def gaussian_of_old(mechanism: Any, value: Floats, rng: Rng, size: int | None) -> Floats:
    """Gaussian noise likewise."""
    return _project(_normalised(value) + rng.normal(0.0, mechanism.sigma, _full(value, size)))


def _shapes(mechanism: Any, value: Floats) -> Floats:
    if hasattr(mechanism, "prior"):
        return np.asarray(mechanism.scale * value + mechanism.prior)
    vectors, floor = _normalised(value), mechanism.domain.floor
    if not mechanism.smooth:
        return np.asarray(mechanism.k * vectors)
    return np.asarray(mechanism.k * ((1.0 - mechanism.domain.size * floor) * vectors + floor))


def _dirichlet(rng: Rng, shapes: Floats, size: int | None) -> Floats:
    full = _full(shapes, size)
    positive = shapes > 0.0
    if np.min(shapes, where=positive, initial=np.inf) < _SMALL_SHAPE:
        return _dirichlet_in_logs(rng, np.broadcast_to(shapes, full))
    draws = rng.standard_gamma(shapes, size=full)
    draws /= draws.sum(axis=-1, keepdims=True)
    return draws


def _dirichlet_in_logs(rng: Rng, shapes: Floats) -> Floats:
    """G(a) = G(a + 1) U^(1/a) in law: with logarithms no shape is too small."""
    with np.errstate(divide="ignore", over="ignore"):
        logs = np.log(rng.standard_gamma(shapes + 1.0))
        logs -= rng.standard_exponential(shapes.shape) / shapes
    logs -= logs.max(axis=-1, keepdims=True)
    draws: Floats = np.exp(logs)
    draws /= draws.sum(axis=-1, keepdims=True)
    return draws


# Noise that is coarse


def laplace_of_single_precision(mechanism: Any, value: Floats, rng: Rng, size: int | None) -> Floats:
    """The noise is rounded to 24 bits before it is added."""
    noise = rng.laplace(0.0, mechanism.scale, _full(value, size))
    return _project(_normalised(value) + noise.astype(np.float32))


def laplace_on_a_grid_around_the_value(mechanism: Any, value: Floats, rng: Rng, size: int | None) -> Floats:
    """The noise is rounded to a grid, and the value is not."""
    noise = rng.laplace(0.0, mechanism.scale, _full(value, size))
    return _project(_normalised(value) + np.rint(noise / _STEP) * _STEP)


def laplace_from_short_uniforms(
    mechanism: Any, value: Floats, rng: Rng, size: int | None, *, bits: int
) -> Floats:
    """The distribution function is inverted at uniform numbers of few bits: it has holes, and ends."""
    shape = _full(value, size)
    uniform = (rng.integers(0, 2**bits, size=shape) + 0.5) / 2.0**bits
    signs = rng.integers(0, 2, size=shape) * 2 - 1
    return _project(_normalised(value) - signs * mechanism.scale * np.log(uniform))


def laplace_with_the_parity_of_the_value(mechanism: Any, value: Floats, rng: Rng, size: int | None) -> Floats:
    """The law is right, and the last bit of an entry says whether the true entry is above a quarter."""
    vectors = _normalised(value)
    drawn = _project(vectors + rng.laplace(0.0, mechanism.scale, _full(value, size)))
    odd = drawn.view(np.int64) & 1
    wanted = np.broadcast_to((vectors > 0.25).astype(np.int64), drawn.shape)
    return np.where(drawn > 0.0, (drawn.view(np.int64) - odd + wanted).view(np.float64), drawn)


# Noise on counts that is no longer what it should be


def geometric_cut_off(mechanism: Any, value: Floats, rng: Rng, size: int | None) -> Floats:
    """A loop that gives up after so many steps: noise never goes beyond four times its scale."""
    most = int(4.0 * mechanism.scale)
    noise = _geometric(mechanism, rng, _full(value, size))
    return _shares(value + np.clip(noise, -most, most))


def geometric_by_remainders(mechanism: Any, value: Floats, rng: Rng, size: int | None) -> Floats:
    """A table of 50,000 outcomes, and a place in it that is the remainder of a word of 16 bits."""
    places = 50_000
    reach = int(12.0 * mechanism.scale) + 1
    outcomes = np.arange(-reach, reach + 1)
    chances = np.cumsum(np.exp(-np.abs(outcomes) / mechanism.scale))
    table = outcomes[np.searchsorted(chances, (np.arange(places) + 0.5) / places * chances[-1])]
    words = rng.integers(0, 2**16, size=_full(value, size))
    return _shares(value + table[words % places])


# Items of a batch that are not drawn for themselves


def geometric_rounded_by_another_item(mechanism: Any, value: Floats, rng: Rng, size: int | None) -> Floats:
    """All items of a batch are rounded to 24 bits if one of them has an empty cell."""
    drawn = _shares(value + _geometric(mechanism, rng, _full(value, size)))
    return drawn.astype(np.float32).astype(np.float64) if (value == 0).any() else drawn


def geometric_with_words_of_another_item(mechanism: Any, value: Floats, rng: Rng, size: int | None) -> Floats:
    """An empty cell needs no word of its own, so that the next item gets the words of the one before."""
    noise = _geometric(mechanism, rng, _full(value, size))
    if value.ndim > 1 and (value[0] == 0).any():
        noise[..., 1, :] = noise[..., 0, :]
    return _shares(value + noise)


def _geometric(mechanism: Any, rng: Rng, shape: tuple[int, ...]) -> NDArray[np.int64]:
    success = -np.expm1(-1.0 / mechanism.scale)
    return rng.geometric(success, shape) - rng.geometric(success, shape)


# What they share


def _full(value: Floats, size: int | None) -> tuple[int, ...]:
    return value.shape if size is None else (size, *value.shape)


def _normalised(value: Floats) -> Floats:
    return np.asarray(value / value.sum(axis=-1, keepdims=True))


def _shares(counts: NDArray[Any]) -> Floats:
    kept = np.maximum(counts, 0).astype(np.float64)
    total = kept.sum(axis=-1, keepdims=True)
    uniform = np.full_like(kept, 1.0 / kept.shape[-1])
    return np.asarray(np.divide(kept, total, out=uniform, where=total > 0.0))


def _project(points: Floats) -> Floats:
    """The nearest probability vector, as 0.1 computed it."""
    ordered = -np.sort(-points, axis=-1)
    excess = np.cumsum(ordered, axis=-1) - 1.0
    ranks = np.arange(1, points.shape[-1] + 1)
    kept = np.count_nonzero(ordered - excess / ranks > 0.0, axis=-1, keepdims=True)
    level = np.take_along_axis(excess, kept - 1, axis=-1) / kept
    return _shares(points - level)
