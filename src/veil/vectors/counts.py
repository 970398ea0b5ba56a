"""How many records fell into each of a fixed list of categories."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from veil.core import checks
from veil.core.arrays import Floats
from veil.core.errors import InvalidData
from veil.core.intake import as_floats, say
from veil.core.mechanism import Domain

Integers = NDArray[np.int64]
# Above this a float64 no longer holds every whole number.
LARGEST_COUNT = 2**53


@dataclass(frozen=True, slots=True)
class Counts(Domain):
    """Rows of whole numbers, one for each of `size` categories."""

    size: int
    name: ClassVar[str] = "Counts"
    kind: ClassVar[str] = "vector"

    def __post_init__(self) -> None:
        object.__setattr__(self, "size", checks.integer("size", self.size, least=2))

    def validate(self, value: Any) -> Integers:
        """The value as an array of whole numbers, one row or a batch of rows."""
        rows = rows_of(value, self.size, "counts")
        for wrong, what, expected in (
            (~np.isfinite(rows), "not finite", "finite counts"),
            (rows < 0.0, "negative", "no negative count"),
            (rows != np.floor(rows), "not whole", "whole numbers"),
        ):
            if wrong.any():
                raise InvalidData("value", expected=expected, found=say(wrong, what))
        # A float may have rounded a count down to the limit, so the limit itself is not taken.
        with np.errstate(over="ignore"):
            if rows.sum(axis=-1).max() > LARGEST_COUNT or rows.max() >= LARGEST_COUNT:
                raise InvalidData("value", expected=f"fewer than {LARGEST_COUNT} records", found="more")
        return rows.astype(np.int64)

    def shares(self, counts: Floats | Integers) -> Floats:
        """The relative frequencies in one row of counts; where there are no records, all alike."""
        total = counts.sum()
        return np.asarray(counts / total) if total > 0 else np.full(self.size, 1.0 / self.size)

    @property
    def words(self) -> str:
        return f"counts of records in {self.size} categories"

    def describe(self) -> dict[str, Any]:
        return {"name": self.name, "size": self.size}


def rows_of(value: Any, size: int, what: str) -> Floats:
    """One row or a batch of rows, as floats, with as many numbers along the last axis."""
    rows = as_floats("value", value)
    if rows.ndim == 0 or rows.shape[-1] != size or rows.size == 0:
        shape = f"an array of shape {rows.shape}"
        raise InvalidData("value", expected=f"{size} {what} along the last axis", found=shape)
    return rows


def refuse(wrong: NDArray[np.bool_], what: str, *, expected: str, **words: Any) -> None:
    """Refuse a value where any of its numbers is wrong, and say where."""
    if wrong.any():
        raise InvalidData("value", expected=expected, found=say(wrong, what), **words)
