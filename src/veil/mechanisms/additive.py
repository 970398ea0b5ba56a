"""Additive noise on probability vectors, the usual way: Laplace and Gaussian, then back to the simplex."""

from __future__ import annotations

import math
from dataclasses import KW_ONLY, dataclass
from typing import Any, ClassVar

from veil.domains.adjacency import Adjacency, Transfer
from veil.domains.checks import choice, positive
from veil.domains.intake import Floats
from veil.domains.simplex import Simplex
from veil.errors import InvalidArgument
from veil.mechanisms.base import Described, adjacency_of, batch_shape
from veil.privacy.pairs import NormalPair
from veil.privacy.profile import NothingRevealed, PrivacyProfile
from veil.privacy.responses import RandomizedResponses
from veil.samplers.randomness import Rng
from veil.samplers.simplex import ONTO


@dataclass(frozen=True)
class _Additive(Described):
    """Noise on every entry, then the nearest vector (projection) or clipping (normalisation)."""

    spread: float
    simplex: Simplex
    _: KW_ONLY
    onto: str = "projection"
    spread_name: ClassVar[str] = "spread"

    def __post_init__(self) -> None:
        object.__setattr__(self, "spread", positive(self.spread_name, self.spread))
        if not isinstance(self.simplex, Simplex):
            raise InvalidArgument("domain", expected="a veil.Simplex", found=type(self.simplex).__name__)
        choice("onto", self.onto, tuple(ONTO))

    @property
    def domain(self) -> Simplex:
        return self.simplex

    def _moved(self, adjacency: Adjacency | None) -> float:
        transfer: Transfer = adjacency_of(self, adjacency, Transfer)
        return min(transfer.mass, self.simplex.room)

    def assumptions(self, adjacency: Adjacency | None = None) -> tuple[str, ...]:
        if self.simplex.protected is None:
            return ()
        return ("the entries that are not protected are public",)

    def describe(self) -> dict[str, Any]:
        parameters = {self.spread_name: self.spread, "domain": self.simplex.describe(), "onto": self.onto}
        return {"name": self.name, "parameters": parameters}


class Laplace(_Additive):
    """Laplace noise of the given scale on every entry of a probability vector."""

    name: ClassVar[str] = "Laplace"
    spread_name: ClassVar[str] = "scale"

    def __init__(self, scale: float, domain: Simplex, *, onto: str = "projection") -> None:
        super().__init__(scale, domain, onto=onto)

    @property
    def scale(self) -> float:
        return self.spread

    def _draw(self, rng: Rng, value: Any, size: int | None) -> Floats:
        return ONTO[self.onto](value + rng.laplace(0.0, self.spread, batch_shape(value, size)))

    def profile(self, adjacency: Adjacency | None = None) -> PrivacyProfile:
        """Two entries move by the mass each: pure at 2 mass / scale."""
        moved = self._moved(adjacency)
        if moved <= 0.0:
            return NothingRevealed()
        return RandomizedResponses(moved / self.spread, times=2, kind="upper bound")


class Gaussian(_Additive):
    """Gaussian noise of standard deviation sigma on every entry of a probability vector."""

    name: ClassVar[str] = "Gaussian"
    spread_name: ClassVar[str] = "sigma"

    def __init__(self, sigma: float, domain: Simplex, *, onto: str = "projection") -> None:
        super().__init__(sigma, domain, onto=onto)

    @property
    def sigma(self) -> float:
        return self.spread

    def _draw(self, rng: Rng, value: Any, size: int | None) -> Floats:
        return ONTO[self.onto](value + rng.normal(0.0, self.spread, batch_shape(value, size)))

    def profile(self, adjacency: Adjacency | None = None) -> PrivacyProfile:
        """The exact curve of Balle and Wang (2018) at an L2 distance of sqrt(2) mass."""
        moved = self._moved(adjacency)
        if moved <= 0.0:
            return NothingRevealed()
        return NormalPair(math.sqrt(2.0) * moved / self.spread)
