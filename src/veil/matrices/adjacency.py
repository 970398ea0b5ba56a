"""Neighbouring matrices."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from veil.core import checks
from veil.core.adjacency import Adjacency
from veil.core.errors import InvalidArgument
from veil.core.numerics.rounding import rounded_down
from veil.vectors.change import RowChange
from veil.vectors.l1 import row_change
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
        """What entries of a row exchange at most, and how many rows do in a matrix with so many."""
        return self.mass, 2

    def entries(self, columns: int) -> int:
        """How many entries of a row with so many may differ."""
        return 2

    @property
    def words(self) -> str:
        most = rounded_down(self.mass)
        return f"two rows of the matrix exchange at most {most} of probability between two columns"

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
    each: RowChange
    name: ClassVar[str] = "Rows"

    def __post_init__(self) -> None:
        expected = 'a whole number of at least 1, or "all"'
        if not isinstance(self.changed, str):
            changed = checks.integer("changed", self.changed, least=1, most=_MOST_CHANGED)
            object.__setattr__(self, "changed", changed)
        elif self.changed != "all":
            raise InvalidArgument("changed", expected=expected, found=repr(self.changed)[:40])
        object.__setattr__(self, "each", row_change("each", self.each))

    def exchange(self, rows: int) -> tuple[float, int]:
        """What entries of a row exchange at most, and how many rows do in a matrix with so many."""
        return self.each.mass, self.among(rows)

    def entries(self, columns: int) -> int:
        """How many entries of a row with so many may differ."""
        return self.each.entries(columns)

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
        return f"{which}, {self.each.words_of_row}"

    def covers(self, narrow: Adjacency) -> bool:
        more = _MOST_CHANGED + 1
        return (
            isinstance(narrow, Rows)
            and self.each.covers(narrow.each)
            and self.among(more) >= narrow.among(more)
        )

    def allows(self, change: Any) -> bool:
        """Whether neighbours may differ by this: so many rows change, each as it may."""
        rows, _, _ = moved(change)
        flat = np.atleast_2d(change).reshape(-1, np.shape(change)[-1])
        return rows <= self.among(len(flat)) and all(map(self.each.allows, flat))
