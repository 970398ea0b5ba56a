"""How many transitions a released chain was counted from, as far as its noisy counts tell."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

from veil.chains.mechanisms.private_chain import PrivateChain
from veil.core.record import Release

_SURE = 1.96


@dataclass(frozen=True, slots=True)
class CountedTotal:
    """The sum of all noisy counts, which has no bias, and what 95 of 100 such sums are off by at most."""

    total: float
    give_or_take: float
    # Whether only some transitions of each person were counted.
    capped: bool

    @classmethod
    def of(cls, release: Release[Any]) -> CountedTotal | None:
        """None where the release holds no noisy counts of transitions."""
        mechanism = release.mechanism
        if not isinstance(mechanism, PrivateChain):
            return None
        parts = [part for part in mechanism.parts if part.of == "transitions"]
        noises = [part.noise for part in parts if part.noise is not None]
        if len(noises) < len(parts):
            return None
        total = sum(float(release.tables[part.key].sum()) for part in parts)
        variance = sum(
            math.prod(part.shape) * noise.deviation**2 for part, noise in zip(parts, noises, strict=True)
        )
        capped = getattr(release.adjacency, "cap", None) is not None
        return cls(max(0.0, total), _SURE * math.sqrt(variance), capped)

    @property
    def words(self) -> str:
        """In one sentence, without digits that are noise."""
        digits = math.floor(math.log10(max(self.give_or_take, 1.0)))
        step = 10 ** max(0, digits - 1)
        total, margin = round(self.total / step) * step, math.ceil(self.give_or_take / step) * step
        which = ", of each person at most a fixed number" if self.capped else ""
        return (
            f"About {total:,} transitions were counted{which} (by the noisy counts, give or take {margin:,})"
        )
