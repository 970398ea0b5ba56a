"""Neighbouring matrices."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from veil.core import checks
from veil.core.adjacency import Adjacency
from veil.core.errors import InvalidArgument
from veil.vectors.simplex import Transfer, moved

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
        object.__setattr__(self, "mass", Transfer(self.mass).mass)

    def exchange(self, rows: int) -> tuple[float, int]:
        """What two entries of a row exchange at most, and how many rows do in a matrix with so many."""
        return self.mass, 2

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
        if not isinstance(self.changed, str):
            changed = checks.integer("changed", self.changed, least=1, most=_MOST_CHANGED)
            object.__setattr__(self, "changed", changed)
        elif self.changed != "all":
            raise InvalidArgument("changed", expected=expected, found=repr(self.changed)[:40])
        if isinstance(self.each, dict) and self.each.get("name") == Transfer.name:
            fields = {key: item for key, item in self.each.items() if key != "name"}
            object.__setattr__(self, "each", Transfer(**fields))
        if not isinstance(self.each, Transfer):
            raise InvalidArgument("each", expected="a vectors.Transfer", found=type(self.each).__name__)

    def exchange(self, rows: int) -> tuple[float, int]:
        """What two entries of a row exchange at most, and how many rows do in a matrix with so many."""
        return self.each.mass, self.among(rows)

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
        more = _MOST_CHANGED + 1
        return (
            isinstance(narrow, Rows)
            and self.each.mass >= narrow.each.mass
            and self.among(more) >= narrow.among(more)
        )

    def allows(self, change: Any) -> bool:
        """Whether neighbours may differ by this: in each changed row two entries exchange mass."""
        rows, entries, largest = moved(change)
        among = self.among(int(np.size(change)) // np.shape(change)[-1])
        return rows <= among and entries <= 2 and largest <= self.each.mass
