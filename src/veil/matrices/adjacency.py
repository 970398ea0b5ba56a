"""Neighbouring matrices."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from veil.core import checks
from veil.core.adjacency import Adjacency
from veil.core.errors import InvalidArgument
from veil.vectors.adjacency import Transfer, moved

# A matrix with more rows than this would not fit anywhere.
_MOST_CHANGED = 10_000_000


@dataclass(frozen=True, slots=True)
class Rectangle(Adjacency):
    """The four corners of a rectangle change by at most `mass` each: +, -, - and +.

    It is the smallest change that keeps every row and every column sum: two rows, i and i', exchange what
    they put on two columns, j and j'. Every other change is a sum of such ones.
    """

    mass: float
    name: ClassVar[str] = "Rectangle"

    def __post_init__(self) -> None:
        mass = checks.within("mass", self.mass, 0.0, 1.0, expected="a number above 0 and at most 1")
        if mass == 0.0:
            raise InvalidArgument("mass", expected="a number above 0 and at most 1", found="0")
        object.__setattr__(self, "mass", mass)

    @property
    def words(self) -> str:
        return f"two rows of the matrix exchange at most {self.mass:.6g} of probability between two columns"

    def covers(self, narrow: Adjacency) -> bool:
        return isinstance(narrow, Rectangle) and self.mass >= narrow.mass

    def allows(self, change: Any) -> bool:
        """Whether neighbours may differ by this: four corners, also where a matrix is laid out in one row."""
        rows, entries, largest = moved(change)
        return rows <= 2 and rows * entries <= 4 and largest <= self.mass


@dataclass(frozen=True, slots=True)
class Rows(Adjacency):
    """At most `changed` rows of a matrix change, each as `each` says; "all" means every row may.

    The papers take the maximum over rows and so cover one changed row only; here the number is stated.
    """

    changed: int | str
    each: Transfer
    name: ClassVar[str] = "Rows"

    def __post_init__(self) -> None:
        expected = 'a whole number of at least 1, or "all"'
        if isinstance(self.changed, str):
            if self.changed != "all":
                raise InvalidArgument("changed", expected=expected, found=repr(self.changed)[:40])
        else:
            changed = checks.integer("changed", self.changed, least=1)
            if changed > _MOST_CHANGED:
                raise InvalidArgument("changed", expected=f"at most {_MOST_CHANGED:,}", found="more")
            object.__setattr__(self, "changed", changed)
        if isinstance(self.each, dict):
            fields = {key: item for key, item in self.each.items() if key != "name"}
            if self.each.get("name") == Transfer.name:
                object.__setattr__(self, "each", Transfer(**fields))
        if not isinstance(self.each, Transfer):
            raise InvalidArgument("each", expected="a vectors.Transfer", found=type(self.each).__name__)

    def among(self, rows: int) -> int:
        """How many rows change at most in a matrix with so many."""
        return rows if isinstance(self.changed, str) else min(self.changed, rows)

    @property
    def words(self) -> str:
        if self.changed == "all":
            which = "every row of the matrix may change at once"
        else:
            which = "one row" if self.changed == 1 else f"at most {self.changed} rows"
            which += " of the matrix may change"
        return f"{which}, two protected entries of a row exchanging at most {self.each.mass:.6g}"

    def covers(self, narrow: Adjacency) -> bool:
        if not isinstance(narrow, Rows) or self.each.mass < narrow.each.mass:
            return False
        if isinstance(self.changed, str) or isinstance(narrow.changed, str):
            return isinstance(self.changed, str)
        return self.changed >= narrow.changed

    def allows(self, change: Any) -> bool:
        """Whether neighbours may differ by this: in each changed row two entries exchange mass."""
        rows, entries, largest = moved(change)
        among = self.among(int(np.size(change)) // np.shape(change)[-1])
        return rows <= among and entries <= 2 and largest <= self.each.mass
