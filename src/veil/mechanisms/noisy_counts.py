"""Discrete noise on counts, drawn exactly, then back to a probability vector."""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import KW_ONLY, dataclass
from fractions import Fraction
from math import prod
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from veil.domains.adjacency import Adjacency, Records
from veil.domains.checks import choice, integer, positive
from veil.domains.counts import Counts
from veil.domains.intake import Floats
from veil.mechanisms.base import Described, adjacency_of, batch_shape
from veil.privacy.discrete_gaussian import DiscreteGaussianShift
from veil.privacy.profile import PrivacyProfile
from veil.privacy.responses import RandomizedResponses
from veil.samplers.approximate import simulate_discrete_gaussian, simulate_discrete_laplace
from veil.samplers.discrete import sample_discrete_gaussian, sample_discrete_laplace
from veil.samplers.randomness import Rng
from veil.samplers.simplex import ONTO


@dataclass(frozen=True)
class _NoisyCounts(Described):
    """Whole-number noise on every count; the noisy counts are made a vector by post-processing.

    onto: "normalisation" (negative counts become zero, then divide by the sum) or "projection".
    """

    spread: float
    size: int
    _: KW_ONLY
    onto: str = "normalisation"
    spread_name: ClassVar[str] = "spread"

    def __post_init__(self) -> None:
        object.__setattr__(self, "spread", positive(self.spread_name, self.spread))
        object.__setattr__(self, "size", integer("size", self.size, least=2))
        choice("onto", self.onto, tuple(ONTO))

    @property
    def domain(self) -> Counts:
        return Counts(self.size)

    @abstractmethod
    def noise(self, rng: Rng, shape: tuple[int, ...]) -> NDArray[np.int64]:
        """Exact noise of this shape."""

    @abstractmethod
    def simulated_noise(self, rng: Rng, shape: tuple[int, ...]) -> NDArray[np.int64]:
        """The same in floating point and much faster, for plans; never for a release."""

    def noisy_counts(self, counts: Any, *, rng: Rng, size: int | None = None) -> NDArray[np.int64]:
        """The counts with their noise, before they become a vector."""
        valid = self.domain.validate(counts)
        return valid + self.noise(rng, batch_shape(valid, size))

    def _draw(self, rng: Rng, value: Any, size: int | None) -> Floats:
        return self.to_vector(value + self.noise(rng, batch_shape(value, size)))

    def simulate(self, value: Any, *, rng: Rng, size: int) -> Floats:
        """Draws for plans and comparisons on public typical counts."""
        valid = self.domain.validate(value)
        return self.to_vector(valid + self.simulated_noise(rng, batch_shape(valid, size)))

    def to_vector(self, noisy: NDArray[np.int64]) -> Floats:
        """The probability vector that noisy counts stand for."""
        counts = noisy.astype(np.float64)
        if self.onto == "projection":
            counts = counts / np.maximum(counts.sum(axis=-1, keepdims=True), 1.0)
        return ONTO[self.onto](counts)

    def describe(self) -> dict[str, Any]:
        parameters = {self.spread_name: self.spread, "size": self.size, "onto": self.onto}
        return {"name": self.name, "parameters": parameters}


class GeometricCounts(_NoisyCounts):
    """Two-sided geometric noise, P(z) ~ exp(-|z|/scale), on every count: pure privacy."""

    name: ClassVar[str] = "GeometricCounts"
    spread_name: ClassVar[str] = "scale"

    def __init__(self, scale: float, size: int, *, onto: str = "normalisation") -> None:
        super().__init__(scale, size, onto=onto)

    @property
    def scale(self) -> float:
        return self.spread

    def noise(self, rng: Rng, shape: tuple[int, ...]) -> NDArray[np.int64]:
        return sample_discrete_laplace(rng, scale=Fraction(self.spread), size=prod(shape)).reshape(shape)

    def simulated_noise(self, rng: Rng, shape: tuple[int, ...]) -> NDArray[np.int64]:
        return simulate_discrete_laplace(rng, scale=self.spread, size=shape)

    def profile(self, adjacency: Adjacency | None = None) -> PrivacyProfile:
        """A count that moves by one has a loss of +-1/scale, never anything between: exact."""
        records: Records = adjacency_of(self, adjacency, Records)
        # 1/scale must not round down: the noise is drawn for the scale as it is.
        each = 1.0 / self.spread
        if Fraction(each) < 1 / Fraction(self.spread):
            each = float(np.nextafter(each, np.inf))
        return RandomizedResponses(each, times=2 if records.change == "replace" else 1)


class DiscreteGaussianCounts(_NoisyCounts):
    """Discrete Gaussian noise, P(z) ~ exp(-z^2 / 2 sigma^2), on every count."""

    name: ClassVar[str] = "DiscreteGaussianCounts"
    spread_name: ClassVar[str] = "sigma"

    def __init__(self, sigma: float, size: int, *, onto: str = "normalisation") -> None:
        super().__init__(sigma, size, onto=onto)

    @property
    def sigma(self) -> float:
        return self.spread

    def noise(self, rng: Rng, shape: tuple[int, ...]) -> NDArray[np.int64]:
        variance = Fraction(self.spread) ** 2
        return sample_discrete_gaussian(rng, variance=variance, size=prod(shape)).reshape(shape)

    def simulated_noise(self, rng: Rng, shape: tuple[int, ...]) -> NDArray[np.int64]:
        return simulate_discrete_gaussian(rng, sigma=self.spread, size=shape)

    def profile(self, adjacency: Adjacency | None = None) -> PrivacyProfile:
        records: Records = adjacency_of(self, adjacency, Records)
        return DiscreteGaussianShift(self.spread, 2 if records.change == "replace" else 1)
