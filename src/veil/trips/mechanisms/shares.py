"""How epsilon is divided among the tables of trips: fixed and public."""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction
from functools import cache

SIZES = ("small", "large")
# Of the number of trips, which is drawn first.
_NUMBER = Fraction(3, 100)
_TABLES: Mapping[str, Mapping[str, int]] = {
    "large": {
        "pairs of 4 x 4 blocks": 12,
        "pairs of 8 x 8 blocks": 16,
        "starts": 8,
        "ends": 8,
        "detours": 8,
        "moves": 45,
        "turns": 3,
    },
    "small": {
        "pairs of 4 x 4 blocks": 14,
        "starts": 17,
        "ends": 17,
        "visits of 4 x 4 blocks": 6,
        "visits of 8 x 8 blocks": 12,
        "detours": 9,
        "moves": 25,
    },
}
# Where times are asked for, what they have of what is left after the number of trips.
_TIMES = Fraction(15, 100)
_OF_TIMES: Mapping[str, int] = {"hours and starts": 5, "hours and ends": 5, "weekdays": 2, "durations": 3}


@cache
def shares_of(size: str, *, times: bool = False) -> Mapping[str, Fraction]:
    """The part of epsilon that each table has; they add up to 1.

    >>> sum(shares_of("large", times=True).values())
    Fraction(1, 1)
    """
    left = 1 - _NUMBER
    shares = {"number": _NUMBER}
    if times:
        shares |= _divided(_OF_TIMES, left * _TIMES)
        left *= 1 - _TIMES
    return shares | _divided(_TABLES[size], left)


def _divided(parts: Mapping[str, int], whole: Fraction) -> dict[str, Fraction]:
    total = sum(parts.values())
    return {name: whole * part / total for name, part in parts.items()}
