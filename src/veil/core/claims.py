"""What a record claims, computed again from the mechanism that it describes."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from veil.core.errors import UnreadableFile, VeilError
from veil.core.job import cost
from veil.core.record import Release

_ROUNDING = 1e-9


@dataclass(frozen=True, slots=True)
class Claim:
    """epsilon: what the mechanism really has at the record's delta. missing: assumptions it leaves out."""

    epsilon: float
    missing: tuple[str, ...]
    holds: bool


def claim_of(release: Release[Any], where: str) -> Claim:
    """Compare a record with what follows from its own description. where: the file, for errors."""
    try:
        computed, _ = cost(release.profile, release.delta if release.delta > 0.0 else None)
    except (ArithmeticError, MemoryError, ValueError) as error:
        if isinstance(error, VeilError):
            raise
        raise UnreadableFile(
            where, expected="a mechanism whose guarantee can be computed", found="parameters beyond reach"
        ) from None
    implied = release.kind.implied_assumptions(release)
    missing = tuple(sorted(set(implied) - set(release.assumptions)))
    holds = computed <= release.epsilon * (1.0 + _ROUNDING) and not missing
    return Claim(computed, missing, holds)
