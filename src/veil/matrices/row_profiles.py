"""Several rows, each released on its own: what a change of some of them reveals.

Proofs: matrices/mechanisms/matrix_dirichlet.md.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction

import numpy as np

from veil.core.arrays import Floats
from veil.core.privacy.losses import Composed
from veil.core.privacy.pairs import NormalPair, SymmetricBetaPair
from veil.core.privacy.profile import Kind, LogDelta, NothingRevealed, PrivacyProfile
from veil.core.privacy.rigorous import Enclosure
from veil.vectors.two_entries import TwoEntries

Counted = Sequence[tuple[PrivacyProfile, int]]

# Each kind of row costs a loss distribution of its own; beyond this many, neighbours are merged.
_MOST_KINDS = 48


def changed_rows(rows: Counted, changed: int) -> PrivacyProfile:
    """The profile of a matrix of which at most `changed` rows differ between neighbours.

    rows: the profile of each kind of row, and how many rows there are of that kind.
    """
    alive = [(profile, count) for profile, count in rows if not isinstance(profile, NothingRevealed)]
    total = sum(count for _, count in alive)
    if total == 0:
        return NothingRevealed()
    alive = _merged(alive)
    if changed == 1 or total == 1:
        return worst_of([profile for profile, _ in alive])
    # For a composition each point of a grid needs a certificate, and a thousandth will do.
    alive = [
        (replace(row, tolerance=1e-3, _known={}) if isinstance(row, TwoEntries) else row, count)
        for row, count in alive
    ]
    return Composed.of(*(alive if changed >= total else _worst_slots(alive, changed)))


def worst_of(profiles: Sequence[PrivacyProfile]) -> PrivacyProfile:
    """The profile of whichever one is worst at each epsilon."""
    kept: list[PrivacyProfile] = []
    for profile in profiles:
        if not any(dominates(known, profile) for known in kept):
            kept = [known for known in kept if not dominates(profile, known)]
            kept.append(profile)
    return kept[0] if len(kept) == 1 else WorstOf(tuple(kept))


@dataclass(frozen=True)
class WorstOf(PrivacyProfile):
    """The pointwise maximum of several curves.

    It is convex, falls, and so belongs to a pair that dominates each of the given ones.
    """

    parts: tuple[PrivacyProfile, ...]
    kind: Kind = field(default="exact", init=False)

    def __post_init__(self) -> None:
        if any(part.kind != "exact" for part in self.parts):
            object.__setattr__(self, "kind", "upper bound")
        object.__setattr__(self, "pure_epsilon", max(part.pure_epsilon for part in self.parts))

    @property
    def grid_points(self) -> int:
        # Each point costs one evaluation of every part.
        return max(64, min(part.grid_points for part in self.parts) // len(self.parts))

    def log_deltas(self) -> tuple[LogDelta, LogDelta]:
        return self._log_delta, self._log_delta

    def _log_delta(self, epsilon: float) -> float:
        return max(_at(part, epsilon) for part in self.parts)

    def likely_log_delta(self, epsilon: float) -> float:
        return max(
            part.likely_log_delta(epsilon) if epsilon < part.pure_epsilon else -math.inf
            for part in self.parts
        )

    def likely_deltas(self, epsilons: Floats) -> tuple[Floats, Floats]:
        curves = [curve for part in self.parts for curve in part.likely_deltas(epsilons)]
        return (np.max(curves, axis=0),) * 2

    def reach(self, tail: float) -> float:
        return max(part.reach(tail) for part in self.parts)

    def enclosure(self, epsilon: float) -> Enclosure | None:
        """Of the largest of the parts; None if one of them has none."""
        several = [part.enclosure(epsilon) for part in self.parts]
        known = [one for one in several if one is not None]
        return Enclosure.largest(known) if len(known) == len(several) else None

    def rdp(self, order: float) -> float:
        return max(part.rdp(order) for part in self.parts)

    def zcdp(self) -> float:
        return max(part.zcdp() for part in self.parts)


def _at(profile: PrivacyProfile, epsilon: float) -> float:
    if epsilon >= profile.pure_epsilon:
        return -math.inf
    return max(direction(epsilon) for direction in profile.log_deltas())


def dominates(one: PrivacyProfile, other: PrivacyProfile) -> bool:
    """Whether the first curve is known, by its parameters, to lie nowhere below the second."""
    if isinstance(other, NothingRevealed) or one == other:
        return True
    if isinstance(one, SymmetricBetaPair) and isinstance(other, SymmetricBetaPair):
        return one.shape <= other.shape and one.tilt >= other.tilt
    if isinstance(one, NormalPair) and isinstance(other, NormalPair):
        return one.tilt >= other.tilt
    if isinstance(other, TwoEntries):
        if isinstance(one, SymmetricBetaPair):
            k = Fraction(other.k)
            return one.shape <= k * Fraction(other.floor) and one.tilt >= k * Fraction(other.mass)
        if isinstance(one, TwoEntries):
            return one.k == other.k and one.floor <= other.floor and one.mass >= other.mass
    return False


def _worst_slots(rows: Counted, changed: int) -> list[tuple[PrivacyProfile, int]]:
    """`changed` pairs that together dominate every choice of so many rows.

    Level after level: the rows that no other dominates, then those that only the first level does, and
    so on. Among the rows of a choice, sorted by level, the j-th lies at or below the level of the j-th
    slot, and is dominated by the worst of that level. Where the rows can be ordered each level is one
    kind of row, and nothing is lost.
    """
    slots: list[tuple[PrivacyProfile, int]] = []
    left, waiting = changed, list(rows)
    while left > 0:
        candidates = [profile for profile, _ in waiting]
        worst = worst_of(candidates)
        level = worst.parts if isinstance(worst, WorstOf) and worst not in candidates else (worst,)
        size = min(left, sum(count for profile, count in waiting if profile in level))
        slots.append((worst, size))
        waiting = [(profile, count) for profile, count in waiting if profile not in level]
        left -= size
    return slots


def _merged(rows: Counted) -> list[tuple[PrivacyProfile, int]]:
    """The same rows with few enough kinds: similar beta pairs are replaced by one that dominates them."""
    counted: Counter[PrivacyProfile] = Counter()
    for profile, count in rows:
        counted[profile] += count
    beta = [(profile, count) for profile, count in counted.items() if isinstance(profile, SymmetricBetaPair)]
    if len(beta) <= _MOST_KINDS:
        return list(counted.items())
    others = [row for row in counted.items() if not isinstance(row[0], SymmetricBetaPair)]
    beta.sort(key=lambda row: (row[0].tilt, row[0].shape))
    step = math.ceil(len(beta) / _MOST_KINDS)
    for start in range(0, len(beta), step):
        group = beta[start : start + step]
        pair = SymmetricBetaPair(
            min(profile.shape for profile, _ in group),
            max(profile.tilt for profile, _ in group),
            kind="upper bound",
        )
        others.append((pair, sum(count for _, count in group)))
    return others
