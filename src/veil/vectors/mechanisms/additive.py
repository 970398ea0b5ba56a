"""Additive noise on probability vectors, the usual way: Laplace and Gaussian, then back to the simplex."""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import KW_ONLY, dataclass
from fractions import Fraction
from typing import Any, ClassVar

import numpy as np

from veil.core.adjacency import Adjacency
from veil.core.arrays import Floats
from veil.core.checks import choice, positive, truth
from veil.core.errors import InvalidArgument
from veil.core.mechanism import REAL_ARITHMETIC, ExactOrFloat, adjacency_of, batch_shape
from veil.core.numerics.rounding import charge_above, float_above
from veil.core.privacy.pairs import NormalPair, RandomizedResponses
from veil.core.privacy.profile import PrivacyProfile
from veil.core.random.rounded_noise import sample_rounded_laplace, sample_rounded_normal
from veil.core.random.streams import Rng
from veil.vectors.averages import NEIGHBOURS
from veil.vectors.change import VectorChange
from veil.vectors.projection import ONTO, brought_onto
from veil.vectors.shrinkage import NoiseLaw
from veil.vectors.simplex import Simplex, Transfer

# A little more than the square root of two.
_ROOT_2 = Fraction(14142135623730951, 10**16)


@dataclass(frozen=True)
class _Additive(ExactOrFloat):
    """Noise on every entry, then back to a probability vector.

    onto: "projection" (the nearest vector), "normalisation" (negative entries become zero, then divide by the
        sum) or "shrinkage" (the entries that are likely behind the noisy ones, `vectors/shrinkage.py`).
    exact: draw the real noise and round the sum to a public grid, so that nothing is left to the rounding of
        floats. With exact=False floats are drawn; the guarantee then assumes real arithmetic.
    """

    domain: Simplex
    _: KW_ONLY
    onto: str = "projection"
    exact: bool = True
    form: ClassVar[str] = "rounded to 2^-24 of the scale"

    def __post_init__(self) -> None:
        if not isinstance(self.domain, Simplex):
            raise InvalidArgument("domain", expected="a vectors.Simplex", found=type(self.domain).__name__)
        choice("onto", self.onto, ONTO)
        truth("exact", self.exact)

    def validate(self, value: Any) -> Floats:
        return self.domain.validate(value)

    @property
    @abstractmethod
    def law(self) -> NoiseLaw:
        """The law of the noise."""

    @abstractmethod
    def _noisy(self, rng: Rng, centres: Floats) -> Floats:
        """The centres with exact noise, on the grid."""

    @abstractmethod
    def _float_noise(self, rng: Rng, shape: tuple[int, ...]) -> Floats: ...

    def _draw(self, rng: Rng, value: Any, size: int | None) -> Floats:
        if not self.exact:
            return self._in_floats(rng, value, size)
        return self.to_vector(self._noisy(rng, np.broadcast_to(value, batch_shape(value, size))))

    def _in_floats(self, rng: Rng, value: Any, size: int | None) -> Floats:
        return self.to_vector(value + self._float_noise(rng, batch_shape(value, size)))

    def to_vector(self, noisy: Floats) -> Floats:
        """The probability vector that noisy entries stand for."""
        return brought_onto(self.onto, noisy, self.law, total=1.0)

    def simulate(self, value: Any, *, rng: Rng, size: int) -> Floats:
        """Draws for plans and comparisons on public values: in floats, never for a release."""
        return self.to_vector(self.simulate_noisy(value, rng=rng, size=size))

    def simulate_noisy(self, value: Any, *, rng: Rng, size: int) -> Floats:
        """The noisy entries of such draws."""
        valid = self.validate(value)
        return np.asarray(valid + self._float_noise(rng, batch_shape(valid, size)))

    @abstractmethod
    def _profile(self, moved: Fraction) -> PrivacyProfile: ...

    def profile(self, adjacency: Adjacency | None = None) -> PrivacyProfile:
        """What holds between vectors whose entries exchange mass (additive.md)."""
        near: VectorChange = adjacency_of(self, adjacency, *NEIGHBOURS)
        return self._profile(self.domain.largest_move(near))

    def assumptions(self, adjacency: Adjacency | None = None) -> tuple[str, ...]:
        near = adjacency if isinstance(adjacency, VectorChange) else Transfer(1.0)
        needed = self.domain.needed(lambda accepted: self._profile(accepted.largest_move(near)))
        assumed = self.domain.assumed(needed)
        return assumed if self.exact else (*assumed, REAL_ARITHMETIC)


@dataclass(frozen=True, init=False)
class Laplace(_Additive):
    """Laplace noise of the given scale on every entry of a probability vector."""

    scale: float
    name: ClassVar[str] = "Laplace"

    def __init__(
        self, scale: float, domain: Simplex, *, onto: str = "projection", exact: bool = True
    ) -> None:
        object.__setattr__(self, "scale", positive("scale", scale))
        super().__init__(domain, onto=onto, exact=exact)

    @property
    def law(self) -> NoiseLaw:
        return NoiseLaw("laplace", self.scale, whole=False)

    def _noisy(self, rng: Rng, centres: Floats) -> Floats:
        return sample_rounded_laplace(rng, centres=centres, scale=self.scale)

    def _float_noise(self, rng: Rng, shape: tuple[int, ...]) -> Floats:
        return rng.laplace(0.0, self.scale, shape)

    def _profile(self, moved: Fraction) -> PrivacyProfile:
        """Two entries move by the mass each: pure at 2 mass / scale."""
        each = charge_above(moved / Fraction(self.scale))
        return RandomizedResponses(each, times=2, kind="upper bound")


@dataclass(frozen=True, init=False)
class Gaussian(_Additive):
    """Gaussian noise of standard deviation sigma on every entry of a probability vector."""

    sigma: float
    name: ClassVar[str] = "Gaussian"

    def __init__(
        self, sigma: float, domain: Simplex, *, onto: str = "projection", exact: bool = True
    ) -> None:
        object.__setattr__(self, "sigma", positive("sigma", sigma))
        super().__init__(domain, onto=onto, exact=exact)

    @property
    def law(self) -> NoiseLaw:
        return NoiseLaw("normal", self.sigma, whole=False)

    def _noisy(self, rng: Rng, centres: Floats) -> Floats:
        return sample_rounded_normal(rng, centres=centres, sigma=self.sigma)

    def _float_noise(self, rng: Rng, shape: tuple[int, ...]) -> Floats:
        return rng.normal(0.0, self.sigma, shape)

    def _profile(self, moved: Fraction) -> PrivacyProfile:
        """The exact curve of Balle and Wang (2018) at an L2 distance of sqrt(2) mass."""
        return NormalPair(float_above(_ROOT_2 * moved / Fraction(self.sigma)))
