"""Which states may be named where one user has several: those whose noisy number of users is large.

Gaussian noise grows with the square root of how many states a user counts for; the best law for each state by
itself (selection.py) with their number. The proof is in selection.md.
"""

from __future__ import annotations

import math
from contextlib import suppress
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np

from veil.chains.sparse.noise import SparseNoise
from veil.chains.sparse.selection import LeakingProfile, Selection, needs_delta_for_names
from veil.core.arrays import Booleans
from veil.core.checks import integer
from veil.core.errors import CannotCalibrate, InvalidArgument
from veil.core.numerics.rounding import float_above, float_below
from veil.core.privacy.losses import Composed
from veil.core.privacy.profile import PrivacyProfile, calibrate
from veil.core.random.ideal import precisions
from veil.core.random.streams import Rng
from veil.vectors.contribution_profiles import gaussian_shift
from veil.vectors.counts import Integers

_SURE = 0.95


@dataclass(frozen=True, slots=True)
class NoisySelection:
    """States are named whose number of users, with Gaussian noise, reaches a threshold; never without users.

    scale: of the noise. states: those of one user, at most.
    """

    scale: float
    threshold: int
    states: int

    def __post_init__(self) -> None:
        object.__setattr__(self, "scale", self.noise.scale)
        object.__setattr__(self, "threshold", integer("threshold", self.threshold, least=2))
        object.__setattr__(self, "states", integer("states", self.states, least=1))

    @property
    def noise(self) -> SparseNoise:
        """The noise on the number of users of each state."""
        return SparseNoise("gaussian", self.scale)

    @property
    def leak(self) -> float:
        """At least the probability that a state with one user is named."""
        _, high = self.noise.tail(self.threshold - 1).chance(next(precisions()))
        return min(1.0, float_above(Fraction(high)))

    @property
    def surely(self) -> int:
        """The number of users from which on a state is named in 95 of 100 releases."""
        return max(1, math.ceil(self.threshold + self.noise.law.quantile(_SURE)))

    def describe(self) -> dict[str, float]:
        """Its parameters."""
        return {"scale": self.scale, "threshold": self.threshold, "states": self.states}

    def draw(self, rng: Rng, users: Integers) -> Booleans:
        """Which states are named."""
        named = np.zeros(len(users), dtype=bool)
        some = users > 0
        numbers = users[some]
        named[some] = numbers + self.noise.draw(rng, len(numbers)) >= self.threshold
        return named

    def profile_with(self, counting: PrivacyProfile, *, people: int = 1) -> PrivacyProfile:
        """Of the names and what is counted of the named states, together. people: 2 where one is replaced."""
        states = people * self.states
        numbers = gaussian_shift(states / Fraction(self.scale) ** 2)
        together = Composed.of((numbers, 1), (counting, 1), adaptive=True)
        none = (1 - Fraction(self.leak)) ** states
        return LeakingProfile(base=together, leak=float_above(1 - none))


@dataclass(frozen=True)
class _Numbers:
    rate: float
    states: int

    def profile(self, adjacency: object = None) -> PrivacyProfile:
        return gaussian_shift(Fraction(self.rate) ** 2 * self.states)


def noisy_selection(epsilon: float, delta: float, states: int, *, people: int = 1) -> NoisySelection:
    """The selection within this budget, half of delta for states with one user, half for the noise."""
    from scipy.special import ndtri

    half = float_below(Fraction(delta) / 2)
    found = calibrate(
        lambda rate: _Numbers(rate, people * states), None, epsilon=epsilon, delta=half, relative=1e-9
    )
    scale = float_above(1 / Fraction(found.rate))
    each = half / (people * states)
    # Of a continuous law it is half a unit more.
    threshold = max(2, 1 + math.floor(-float(ndtri(each)) * scale))
    while NoisySelection(scale, threshold, states).leak > each:
        threshold += 1
    return NoisySelection(scale, threshold, states)


def least_users(epsilon: float, delta: float, states: int, *, people: int = 1) -> Selection | NoisySelection:
    """Of the selections within this budget the one that surely names states with the fewest users."""
    if delta <= 0.0:
        raise needs_delta_for_names()
    # Equal shares: their sum is what the names cost, and the rest is for what is counted.
    each, leak = (float_below(Fraction(part) / (people * states)) for part in (epsilon, delta))
    found: list[Selection | NoisySelection] = [Selection(each, leak, states)]
    # Noise may be beyond what can be drawn: the other one is always there.
    with suppress(CannotCalibrate, InvalidArgument):
        found.append(noisy_selection(epsilon, delta, states, people=people))
    return min(found, key=lambda one: one.surely)


def given_selection(value: Any) -> Selection | NoisySelection:
    """A selection, or what `describe` says of one."""
    if isinstance(value, (Selection, NoisySelection)):
        return value
    if isinstance(value, dict) and set(value) == {"scale", "threshold", "states"}:
        return NoisySelection(**value)
    return Selection.given(value)
