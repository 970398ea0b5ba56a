"""The noise on tables of many cells: its law, how it is drawn, what it hides, which cells are kept."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from typing import Any, Literal

import numpy as np

from veil.chains.sparse.tails import GaussianTail, GeometricTail, Tail
from veil.core.arrays import Places
from veil.core.checks import choice, positive
from veil.core.errors import InvalidArgument
from veil.core.numerics.denoise import Noise
from veil.core.numerics.rounding import charge_above
from veil.core.privacy.pairs import RandomizedResponses
from veil.core.privacy.profile import PrivacyProfile
from veil.core.random.discrete import sample_discrete_gaussian, sample_discrete_laplace
from veil.core.random.streams import Rng
from veil.vectors.contribution_profiles import gaussian_shift
from veil.vectors.counts import Contributions

Kind = Literal["geometric", "gaussian"]


@dataclass(frozen=True, slots=True)
class SparseNoise:
    """Whole-number noise on every cell. scale: that of geometric noise, the sigma of Gaussian noise."""

    kind: Kind
    scale: float

    def __post_init__(self) -> None:
        choice("kind", self.kind, ("geometric", "gaussian"))
        least, most = (1e-3, 1e5) if self.kind == "gaussian" else (1e-6, 1e12)
        object.__setattr__(self, "scale", positive("scale", self.scale, least=least, most=most))

    @classmethod
    def given(cls, field: str, value: Any) -> SparseNoise:
        """The noise, or what `describe` says of one."""
        if isinstance(value, cls):
            return value
        if not isinstance(value, dict) or set(value) != {"kind", "scale"}:
            raise InvalidArgument(field, expected="a law of noise and its scale", found="something else")
        return cls(**value)

    def describe(self) -> dict[str, Any]:
        """Its law and scale."""
        return {"kind": self.kind, "scale": self.scale}

    @property
    def law(self) -> Noise:
        """The law, for estimates."""
        return Noise(self.kind, self.scale)

    def draw(self, rng: Rng, size: int) -> Places:
        """So many numbers, exactly."""
        if self.kind == "geometric":
            return sample_discrete_laplace(rng, scale=Fraction(self.scale), size=size)
        return sample_discrete_gaussian(rng, variance=Fraction(self.scale) ** 2, size=size)

    def tail(self, threshold: int) -> Tail:
        """The noise from a threshold on."""
        return _tail(self.kind, self.scale, threshold)

    def profile_with(
        self, others: Sequence[tuple[SparseNoise, int]], change: Contributions, *, apart: bool
    ) -> PrivacyProfile:
        """Of this table and others of the same law, so many of each, between neighbours of this change.

        apart: what changes falls into different cells, one each, rather than anywhere.
        """
        parts = [(self, 1), *others]
        added, removed = change.added, change.removed
        if self.kind == "geometric":
            loss = sum((times / Fraction(noise.scale) for noise, times in parts), Fraction())
            return RandomizedResponses(charge_above((added + removed) * loss), kind="upper bound")
        square = added + removed if apart else added**2 + removed**2
        return gaussian_shift(
            sum((times * square / Fraction(noise.scale) ** 2 for noise, times in parts), Fraction())
        )

    def threshold(self, cells: int, false: float) -> int:
        """The least threshold, from 1 on, that about so many of as many empty cells reach."""
        limit = math.log(false) - math.log(cells)
        if self.kind == "geometric":
            # log P(Z >= t) = -t / scale - log(1 + exp(-1 / scale))
            reach = -(limit + math.log1p(math.exp(-1.0 / self.scale))) * self.scale
            return max(1, math.ceil(reach - 1e-9))
        span = math.ceil(12.0 * self.scale) + 2
        weights = np.exp(-0.5 * (np.arange(-span, span + 1) / self.scale) ** 2)
        above = np.cumsum(weights[::-1])[::-1] / weights.sum()
        return max(1, int(np.argmax(above <= math.exp(limit))) - span)


@lru_cache(maxsize=16)
def _tail(kind: Kind, scale: float, threshold: int) -> Tail:
    if kind == "geometric":
        return GeometricTail(Fraction(scale), threshold)
    return GaussianTail(Fraction(scale) ** 2, threshold)
