"""Discrete noise on counts, drawn exactly, then back to a probability vector."""

from __future__ import annotations

import math
from abc import abstractmethod
from dataclasses import KW_ONLY, dataclass
from fractions import Fraction
from typing import Any, ClassVar

import numpy as np

from veil.core.adjacency import Adjacency
from veil.core.arrays import Floats
from veil.core.checks import choice, integer, positive
from veil.core.mechanism import Described, adjacency_of, batch_shape
from veil.core.numerics.rounding import charge_above
from veil.core.privacy.pairs import DiscreteGaussianShift, RandomizedResponses
from veil.core.privacy.profile import PrivacyProfile
from veil.core.random.discrete import sample_discrete_gaussian, sample_discrete_laplace
from veil.core.random.streams import Rng, generator
from veil.vectors.contribution_profiles import gaussian_contributions
from veil.vectors.counts import Contributions, Counts, Integers, Records
from veil.vectors.projection import ONTO, brought_onto
from veil.vectors.shrinkage import NoiseLaw


@dataclass(frozen=True)
class _NoisyCounts(Described):
    """Whole-number noise on every count; the noisy counts are made a vector by post-processing.

    onto: "normalisation" (negative counts become zero, then divide by the sum), "projection" (the nearest
        vector) or "shrinkage" (the counts that are likely behind the noisy ones, `vectors/shrinkage.py`).
    """

    size: int
    _: KW_ONLY
    onto: str = "normalisation"

    def __post_init__(self) -> None:
        object.__setattr__(self, "size", integer("size", self.size, least=2))
        choice("onto", self.onto, ONTO)

    @property
    def domain(self) -> Counts:
        return Counts(self.size)

    def validate(self, value: Any) -> Integers:
        return self.domain.validate(value)

    @abstractmethod
    def noise(self, rng: Rng, shape: tuple[int, ...]) -> Integers:
        """Exact noise of this shape."""

    @abstractmethod
    def simulated_noise(self, rng: Rng, shape: tuple[int, ...]) -> Integers:
        """The same in floating point and much faster, for plans; never for a release."""

    @property
    @abstractmethod
    def law(self) -> NoiseLaw:
        """The law of the noise."""

    def _draw(self, rng: Rng, value: Any, size: int | None) -> Floats:
        return self.to_vector(self._noisy(rng, value, size))

    def _noisy(self, rng: Rng, value: Integers, size: int | None) -> Integers:
        return value + self.noise(rng, batch_shape(value, size))

    def sample_noisy(self, value: Any, *, rng: Any = None) -> Integers:
        """Draw the noisy counts: `sample` is what `to_vector` makes of them, and the guarantee is theirs."""
        return self._noisy(generator(rng), self.validate(value), None)

    def simulate(self, value: Any, *, rng: Rng, size: int) -> Floats:
        """Draws for plans and comparisons on public typical counts."""
        return self.to_vector(self.simulate_noisy(value, rng=rng, size=size))

    def simulate_noisy(self, value: Any, *, rng: Rng, size: int) -> Integers:
        """The noisy counts of such draws."""
        valid = self.validate(value)
        return valid + self.simulated_noise(rng, batch_shape(valid, size))

    def to_vector(self, noisy: Integers) -> Floats:
        """The probability vector that noisy counts stand for."""
        counts = noisy.astype(np.float64)
        if self.onto == "projection":
            counts = counts / np.maximum(counts.sum(axis=-1, keepdims=True), 1.0)
        return brought_onto(self.onto, counts, self.law)


@dataclass(frozen=True, init=False)
class GeometricCounts(_NoisyCounts):
    """Two-sided geometric noise, P(z) ~ exp(-|z|/scale), on every count: pure privacy."""

    scale: float
    name: ClassVar[str] = "GeometricCounts"

    def __init__(self, scale: float, size: int, *, onto: str = "normalisation") -> None:
        object.__setattr__(self, "scale", positive("scale", scale, least=1e-6, most=1e12))
        super().__init__(size, onto=onto)

    @property
    def law(self) -> NoiseLaw:
        return NoiseLaw("laplace", self.scale, whole=True)

    def noise(self, rng: Rng, shape: tuple[int, ...]) -> Integers:
        return sample_discrete_laplace(rng, scale=Fraction(self.scale), size=math.prod(shape)).reshape(shape)

    def simulated_noise(self, rng: Rng, shape: tuple[int, ...]) -> Integers:
        # The difference of two geometric variables.
        success = -np.expm1(-1.0 / self.scale)
        return rng.geometric(success, shape) - rng.geometric(success, shape)

    def profile(self, adjacency: Adjacency | None = None) -> PrivacyProfile:
        """Each count that moves by one, two where a record is replaced, has a loss of +-1/scale: exact.

        Of several records the loss is at most the L1 distance over the scale, wherever they fall.
        """
        change = adjacency_of(self, adjacency, Records, Contributions)
        if isinstance(change, Records):
            change = change.contributions
        added, removed = change.added, change.removed
        is_exact = added == 1 and removed <= 1
        # The noise is drawn for the scale as it is: the float, and not the decimal that it is written as.
        if is_exact:
            each = charge_above(1 / Fraction(self.scale))
            return RandomizedResponses(each, times=added + removed)
        loss = charge_above((added + removed) / Fraction(self.scale))
        return RandomizedResponses(loss, kind="upper bound")


@dataclass(frozen=True, init=False)
class DiscreteGaussianCounts(_NoisyCounts):
    """Discrete Gaussian noise, P(z) ~ exp(-z^2 / 2 sigma^2), on every count."""

    sigma: float
    name: ClassVar[str] = "DiscreteGaussianCounts"

    def __init__(self, sigma: float, size: int, *, onto: str = "normalisation") -> None:
        object.__setattr__(self, "sigma", positive("sigma", sigma, least=1e-3, most=1e5))
        super().__init__(size, onto=onto)

    @property
    def law(self) -> NoiseLaw:
        return NoiseLaw("normal", self.sigma, whole=True)

    def noise(self, rng: Rng, shape: tuple[int, ...]) -> Integers:
        variance = Fraction(self.sigma) ** 2
        return sample_discrete_gaussian(rng, variance=variance, size=math.prod(shape)).reshape(shape)

    def simulated_noise(self, rng: Rng, shape: tuple[int, ...]) -> Integers:
        # By inversion of the tabulated distribution; a rounded normal where the table would be long.
        if self.sigma > 1e4:
            return np.rint(rng.normal(0.0, self.sigma, shape)).astype(np.int64)
        reach = int(np.ceil(12.0 * self.sigma)) + 2
        support = np.arange(-reach, reach + 1)
        cumulative = np.cumsum(np.exp(-0.5 * (support / self.sigma) ** 2))
        drawn: Integers = support[np.searchsorted(cumulative, rng.random(shape) * cumulative[-1])]
        return drawn

    def profile(self, adjacency: Adjacency | None = None) -> PrivacyProfile:
        """One count moves by one, two do where a record is replaced, or several by more (noisy_counts.md)."""
        change = adjacency_of(self, adjacency, Records, Contributions)
        if isinstance(change, Records):
            change = change.contributions
        if change.added == 1 and change.removed <= 1:
            return DiscreteGaussianShift(self.sigma, change.added + change.removed)
        return gaussian_contributions(self.sigma, change)
