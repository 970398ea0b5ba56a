"""How many records fell into each of a fixed list of categories, and which such counts are neighbours."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from veil.core import checks
from veil.core.adjacency import Adjacency
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


@dataclass(frozen=True, slots=True)
class Records(Adjacency):
    """One record behind a row of counts is added or removed, or replaced by another."""

    change: str = "add-remove"
    name: ClassVar[str] = "Records"

    def __post_init__(self) -> None:
        checks.choice("change", self.change, ("add-remove", "replace"))

    @property
    def words(self) -> str:
        if self.change == "replace":
            return "one record is replaced by another; the number of records stays and is public"
        return "one record is added or removed; the number of records is not assumed public"

    @property
    def contributions(self) -> Contributions:
        """The same relation in numbers of records."""
        return Contributions(1, 1 if self.change == "replace" else 0)

    def allows(self, change: Any) -> bool:
        """Whether neighbouring counts may differ by this."""
        same_size = self.change == "add-remove" or int(np.sum(change)) == 0
        return same_size and self.contributions.allows(change)

    def in_one_part(self) -> Adjacency | None:
        """One record more, or one less."""
        return Records("add-remove") if self.change == "replace" else None


@dataclass(frozen=True, slots=True)
class Contributions(Adjacency):
    """Neighbouring counts: at most `added` records come in and at most `removed` others go, or the reverse.

    They may fall into any cells, all into one as well.
    """

    added: int
    removed: int = 0
    name: ClassVar[str] = "Contributions"

    def __post_init__(self) -> None:
        object.__setattr__(self, "added", checks.integer("added", self.added, least=1))
        object.__setattr__(self, "removed", checks.integer("removed", self.removed, least=0))

    @property
    def contributions(self) -> Contributions:
        return self

    @property
    def total(self) -> int:
        """The L1 distance of neighbouring counts."""
        return self.added + self.removed

    @property
    def words(self) -> str:
        some = f"at most {self.added} records are" if self.added > 1 else "one record is"
        if not self.removed:
            return f"{some} added or removed"
        gone = f"at most {self.removed} are" if self.removed > 1 else "one is"
        return f"{some} added and {gone} removed, or the reverse"

    def covers(self, narrow: Adjacency) -> bool:
        if not isinstance(narrow, (Records, Contributions)):
            return False
        change = narrow.contributions
        return self.added >= change.added and self.removed >= change.removed

    def allows(self, change: Any) -> bool:
        """Whether neighbouring counts may differ by this."""
        come, gone = int(change[change > 0].sum()), -int(change[change < 0].sum())
        return any(a <= self.added and b <= self.removed for a, b in ((come, gone), (gone, come)))


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
