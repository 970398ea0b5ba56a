"""What a record claims, against what follows from its own description."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from veil.core.errors import UnreadableFile, VeilError
from veil.core.job import cost
from veil.core.mechanism import REAL_ARITHMETIC
from veil.core.record import Release

# Veil 0.1 knew less: it did not list these, and its numbers carried an allowance that was measured.
_EARLIER = "0.1."
_LEARNED_SINCE = frozenset({REAL_ARITHMETIC})
_ALLOWANCE_THEN = 1e-9


@dataclass(frozen=True, slots=True)
class Claim:
    """A record, checked.

    epsilon: what today's analysis gives at the record's delta. missing: assumptions that it leaves out.
    added: what the Veil that wrote it did not know. holds: whether the record claims nothing too small;
    the only tolerance is for records of Veil 0.1, and then `added` says what today's analysis adds.
    """

    epsilon: float
    missing: tuple[str, ...]
    added: tuple[str, ...]
    holds: bool


def claim_of(release: Release[Any], where: str) -> Claim:
    """Compare a record with what follows from its own description. where: the file, for errors."""
    is_earlier = release.version.startswith(_EARLIER)
    try:
        computed, _ = cost(release.profile, release.delta if release.delta > 0.0 else None)
        covered = computed <= release.epsilon or release.profile.covers(release.epsilon, release.delta)
        if covered:
            # A search ends a hair above the least; what the record says was found to hold.
            computed = min(computed, release.epsilon)
    except (ArithmeticError, MemoryError, ValueError) as error:
        if isinstance(error, VeilError):
            raise
        raise UnreadableFile(
            where, expected="a mechanism whose guarantee can be computed", found="parameters beyond reach"
        ) from None
    implied = release.kind.implied_assumptions(release)
    former = release.kind.former_assumptions
    missing = set(implied) - {former.get(text, text) for text in release.assumptions}
    learned = missing & _LEARNED_SINCE if is_earlier else set()
    added = [*sorted(learned)]
    if is_earlier and not covered and computed <= release.epsilon * (1.0 + _ALLOWANCE_THEN):
        added.append(f"epsilon is {computed!r}, not {release.epsilon!r}")
        covered = True
    left_out = tuple(sorted(missing - learned))
    return Claim(computed, left_out, tuple(added), covered and not left_out)
