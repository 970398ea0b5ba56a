"""Synthetic users whose sequences are of two kinds, the second more frequent the longer they are."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from veil.core.numerics.denoise import Noise

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]


def geometric_noise(noise: Noise, shape: tuple[int, ...], rng: np.random.Generator) -> Integers:
    chance = -np.expm1(-1.0 / noise.scale)
    return rng.geometric(chance, shape) - rng.geometric(chance, shape)


def gap(truth: Floats | Integers, estimate: Floats | Integers) -> float:
    """Total variation between what is proportional to the two."""
    return float(0.5 * np.abs(truth / truth.sum() - estimate / estimate.sum()).sum())


@dataclass(frozen=True)
class Population:
    """All transitions: whose, after what (the number of states at the start), from where, to where.

    order: the place of each transition in a random order of its user's.
    """

    states: int
    lengths: Integers
    users: Integers
    before: Integers
    origin: Integers
    target: Integers
    order: Integers

    def second(self, cap: int | None = None) -> Integers:
        """Counts [before, from, to], of each user at most cap."""
        kept = self.order < (len(self.order) if cap is None else cap)
        cells = (self.before[kept] * self.states + self.origin[kept]) * self.states + self.target[kept]
        size = (self.states + 1, self.states, self.states)
        return np.bincount(cells, minlength=int(np.prod(size))).reshape(size)

    def strata(self, strata: tuple[tuple[int, int], ...]) -> Integers:
        """Counts [stratum, from, to]."""
        place = np.searchsorted([least for least, _ in strata], self.lengths[self.users], side="right") - 1
        kept = self.order < np.array([cap for _, cap in strata])[place]
        cells = (place[kept] * self.states + self.origin[kept]) * self.states + self.target[kept]
        size = (len(strata), self.states, self.states)
        return np.bincount(cells, minlength=int(np.prod(size))).reshape(size)


def population(lengths: Integers, flat: Integers, states: int, rng: np.random.Generator) -> Population:
    """Of sequences that stand one after another in `flat`."""
    users = np.repeat(np.arange(len(lengths)), lengths)
    place = np.arange(len(flat)) - np.repeat(np.cumsum(lengths) - lengths, lengths)
    at = np.flatnonzero(place > 0)
    before = np.where(place[at] > 1, flat[np.maximum(at - 2, 0)], states)
    shuffled = np.lexsort((rng.random(len(at)), users[at]))
    order = np.empty(len(at), dtype=np.int64)
    order[shuffled] = np.arange(len(at)) - np.repeat(np.cumsum(lengths - 1) - (lengths - 1), lengths - 1)
    return Population(states, lengths, users[at], before, flat[at - 1], flat[at], order)


def synthetic(states: int, lengths: Integers, rng: np.random.Generator) -> Population:
    """Second-order sequences, of two kinds."""
    laws = rng.dirichlet(np.full(states, 0.4), (2, states + 1, states)).cumsum(axis=-1)
    laws = 0.5 * laws + 0.5 * rng.dirichlet(np.full(states, 0.4), (2, 1, states)).cumsum(axis=-1)
    noise = rng.logistic(size=len(lengths))
    kind = (np.log(lengths / np.median(lengths)) > noise).astype(np.int64)
    flat = np.zeros(int(lengths.sum()), dtype=np.int64)
    first = np.cumsum(lengths) - lengths
    flat[first] = rng.integers(states, size=len(lengths))
    for step in range(1, int(lengths.max())):
        alive = np.flatnonzero(lengths > step)
        at = first[alive] + step
        before = flat[at - 2] if step > 1 else np.full(len(alive), states)
        chances = laws[kind[alive], before, flat[at - 1]]
        flat[at] = np.minimum((chances < rng.random((len(alive), 1))).sum(axis=1), states - 1)
    return population(lengths, flat, states, rng)
