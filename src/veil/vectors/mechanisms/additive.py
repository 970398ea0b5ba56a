"""Additive noise on probability vectors, the usual way: Laplace and Gaussian, then back to the simplex."""

from __future__ import annotations

import math
from abc import abstractmethod
from dataclasses import KW_ONLY, dataclass
from typing import Any, ClassVar

from veil.core.adjacency import Adjacency
from veil.core.arrays import Floats
from veil.core.checks import choice, positive
from veil.core.errors import InvalidArgument
from veil.core.mechanism import UNPROTECTED, Described, adjacency_of, batch_shape
from veil.core.privacy.pairs import NormalPair, RandomizedResponses
from veil.core.privacy.profile import NothingRevealed, PrivacyProfile
from veil.core.random.streams import Rng
from veil.vectors.simplex import ONTO, Simplex, Transfer


@dataclass(frozen=True)
class _Additive(Described):
    """Noise on every entry, then the nearest vector (projection) or clipping (normalisation)."""

    domain: Simplex
    _: KW_ONLY
    onto: str = "projection"

    def __post_init__(self) -> None:
        if not isinstance(self.domain, Simplex):
            raise InvalidArgument("domain", expected="a vectors.Simplex", found=type(self.domain).__name__)
        choice("onto", self.onto, tuple(ONTO))

    def validate(self, value: Any) -> Floats:
        return self.domain.validate(value)

    @abstractmethod
    def _noise(self, rng: Rng, shape: tuple[int, ...]) -> Floats: ...

    def _draw(self, rng: Rng, value: Any, size: int | None) -> Floats:
        return ONTO[self.onto](value + self._noise(rng, batch_shape(value, size)))

    @abstractmethod
    def _profile(self, moved: float) -> PrivacyProfile: ...

    def profile(self, adjacency: Adjacency | None = None) -> PrivacyProfile:
        """What holds between vectors two of whose entries exchange mass (additive.md)."""
        transfer: Transfer = adjacency_of(self, adjacency, Transfer)
        moved = min(transfer.mass, self.domain.room)
        return self._profile(moved) if moved > 0.0 else NothingRevealed()

    def assumptions(self, adjacency: Adjacency | None = None) -> tuple[str, ...]:
        domain, assumed = self.domain, []
        mass = adjacency.mass if isinstance(adjacency, Transfer) else 1.0
        # They matter only where they leave less room than the mass that may move.
        if domain.room < mass:
            if domain.floor > 0.0:
                assumed.append(domain.floor_assumption)
            if domain.slack:
                assumed.append(domain.slack_assumption)
        if domain.protected is not None:
            assumed.append(UNPROTECTED)
        return tuple(assumed)


@dataclass(frozen=True, init=False)
class Laplace(_Additive):
    """Laplace noise of the given scale on every entry of a probability vector."""

    scale: float
    name: ClassVar[str] = "Laplace"

    def __init__(self, scale: float, domain: Simplex, *, onto: str = "projection") -> None:
        object.__setattr__(self, "scale", positive("scale", scale))
        super().__init__(domain, onto=onto)

    def _noise(self, rng: Rng, shape: tuple[int, ...]) -> Floats:
        return rng.laplace(0.0, self.scale, shape)

    def _profile(self, moved: float) -> PrivacyProfile:
        """Two entries move by the mass each: pure at 2 mass / scale."""
        each = math.nextafter(moved / self.scale, math.inf)
        return RandomizedResponses(each, times=2, kind="upper bound")


@dataclass(frozen=True, init=False)
class Gaussian(_Additive):
    """Gaussian noise of standard deviation sigma on every entry of a probability vector."""

    sigma: float
    name: ClassVar[str] = "Gaussian"

    def __init__(self, sigma: float, domain: Simplex, *, onto: str = "projection") -> None:
        object.__setattr__(self, "sigma", positive("sigma", sigma))
        super().__init__(domain, onto=onto)

    def _noise(self, rng: Rng, shape: tuple[int, ...]) -> Floats:
        return rng.normal(0.0, self.sigma, shape)

    def _profile(self, moved: float) -> PrivacyProfile:
        """The exact curve of Balle and Wang (2018) at an L2 distance of sqrt(2) mass."""
        return NormalPair(math.sqrt(2.0) * moved / self.sigma)
