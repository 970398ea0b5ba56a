"""Neighbouring vectors and counts."""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, ClassVar, Self

import numpy as np

from veil.core import checks
from veil.core.adjacency import Adjacency
from veil.core.numerics.rounding import float_above

# What scaling a row to a sum of one may leave behind is no change.
_ROUNDING = 1e-12


@dataclass(frozen=True, slots=True)
class Transfer(Adjacency):
    """Two protected entries of a probability vector exchange at most `mass`."""

    mass: float
    name: ClassVar[str] = "Transfer"

    def __post_init__(self) -> None:
        expected = "a number above 0 and at most 1"
        mass = checks.within("mass", self.mass, math.ulp(0.0), 1.0, expected=expected)
        object.__setattr__(self, "mass", mass)

    @classmethod
    def from_l1(cls, b: float) -> Self:
        """Vectors at L1 distance of at most b: half of it leaves one entry, half enters the other."""
        return cls(checks.within("b", b, 1e-300, 2.0, expected="an L1 distance above 0 and at most 2") / 2.0)

    @classmethod
    def from_records(cls, n: int) -> Self:
        """Frequencies of n records of which one is replaced."""
        return cls(float_above(Fraction(1, _count(n))))

    @classmethod
    def from_average(cls, b: float, n: int) -> Self:
        """The average of n vectors of which one moves by an L1 distance of at most b."""
        return cls(float_above(Fraction(cls.from_l1(b).mass) / _count(n)))

    @classmethod
    def from_linear(cls, b: float, alpha: float) -> Self:
        """A weighted average, no weight above alpha, of vectors of which one moves by at most b in L1."""
        alpha = checks.within("alpha", alpha, 0.0, 1.0, expected="a weight above 0 and at most 1")
        return cls(float_above(Fraction(cls.from_l1(b).mass) * Fraction(alpha)))

    @property
    def words(self) -> str:
        return f"two protected entries of the vector exchange at most {self.mass:.6g} of probability"

    def covers(self, narrow: Adjacency) -> bool:
        return isinstance(narrow, Transfer) and self.mass >= narrow.mass

    def allows(self, change: Any) -> bool:
        """Whether neighbours may differ by this: two entries of one row exchange mass."""
        rows, entries, largest = moved(change)
        return rows <= 1 and entries <= 2 and largest <= self.mass


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
        return (
            isinstance(narrow, Contributions)
            and self.added >= narrow.added
            and self.removed >= narrow.removed
        )

    def allows(self, change: Any) -> bool:
        """Whether neighbouring counts may differ by this."""
        come, gone = int(change[change > 0].sum()), -int(change[change < 0].sum())
        return any(a <= self.added and b <= self.removed for a, b in ((come, gone), (gone, come)))


def moved(change: Any) -> tuple[int, int, float]:
    """How many rows of a table change, how many entries of the row with most changes, and by how much."""
    flat = np.atleast_2d(change).reshape(-1, np.shape(change)[-1])
    places = np.abs(flat) > _ROUNDING
    largest = float(np.abs(flat).max()) * (1.0 - 1e-9) - _ROUNDING
    return int(places.any(axis=1).sum()), int(places.sum(axis=1).max()), largest


def _count(n: int) -> int:
    number = checks.integer("n", n, least=1)
    checks.real("n", number, expected="a whole number that a float can hold")
    return number
