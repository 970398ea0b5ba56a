"""An error that depends on the data, as a plan can know it: over public profiles of what data may be like."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

# Relative widths below this are not worth two numbers.
_NARROW = 0.1
# Ranges reach so many times further, for what lies between the profiles.
_SPARE = 1.1
MEANS = "Ranges are of means over releases."
SPARED = "They are a tenth wider, for what lies between these."


@dataclass(frozen=True, slots=True)
class Span:
    """The errors on each of the profiles that a plan tries, the usual one first.

    Where the plan was given public data like the true one, that is the only profile. ends: between which
    single releases fall on all of the profiles, where that was simulated; else only the means are known.
    """

    errors: tuple[float, ...]
    ends: tuple[float, ...] = ()

    @property
    def usual(self) -> float:
        """The error on the usual profile, or on the data that was given."""
        return self.errors[0]

    @property
    def low(self) -> float:
        return min(*self.errors, *self.ends, math.inf)

    @property
    def high(self) -> float:
        return max(*self.errors, *self.ends, -math.inf)

    def spared(self, most: float = 1.0) -> Span:
        """A range that holds what is between the profiles too. most: what no error exceeds."""
        return Span(self.errors, (self.low / _SPARE, min(most, self.high * _SPARE)))

    @property
    def words(self) -> str:
        """From the least to the largest, or one number where they hardly differ."""
        if self.high - self.low <= _NARROW * self.high:
            return _digits(self.usual)
        return f"{_digits(self.low)} to {_digits(self.high)}"

    def to_dict(self) -> dict[str, Any]:
        """Plain numbers, for JSON."""
        return {"usual": self.usual, "low": self.low, "high": self.high}


def assumed(profiles: Sequence[str], *, of: str, usual: str = "of the first") -> str:
    """On what data the errors of a plan are to be expected, as a sentence.

    profiles: in words, the usual one first, such as "spread evenly"; one alone is data that was given.
    of: what is planned for, such as "tables". usual: what single numbers are.
    """
    if len(profiles) == 1:
        return f"Errors are those on {profiles[0]}."
    return (
        f"Assumed: {of} like one of these: {'; '.join(profiles)}. Errors are given from the least to the "
        f"largest over them; single numbers, and those beside knowing nothing, are {usual}."
    )


def _digits(error: float) -> str:
    return f"{error:,.0f}" if error >= 1000 else f"{error:.3g}"
