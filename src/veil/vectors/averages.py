"""Averages of vectors, plain or weighted, where one vector behind them may change (proofs in averages.md)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from operator import mul
from typing import Any, ClassVar, Self

import numpy as np

from veil.core import checks
from veil.core.adjacency import Adjacency
from veil.core.arrays import Floats
from veil.core.errors import InvalidData
from veil.core.intake import as_floats, say
from veil.core.numerics.rounding import float_above, rounded_down
from veil.core.privacy.pairs import SymmetricBetaPair
from veil.core.privacy.profile import Kind
from veil.vectors.change import RowChange, VectorChange
from veil.vectors.l1 import L1, VECTOR_CHANGES, row_change
from veil.vectors.simplex import SUM_TOLERANCE, Simplex

ONE_ROW_EACH = (
    "nobody has two of the rows behind the average; how many rows there are, their order and the weight of "
    "each is public"
)
# Every float is a whole number of these parts of one.
_PARTS = 1074


@dataclass(frozen=True, slots=True)
class Averaged(VectorChange):
    """One of the vectors behind an average changes, as `row` says; `vectors.L1(2)` is any change.

    weight: the most that one vector has in the average: 1/N in a plain one of N vectors.

    >>> from veil import vectors
    >>> near = vectors.Averaged.of(40)
    >>> near.weight, near.words
    (0.025, 'one row behind the average may change in any way; it has at most 0.025 of the weight')
    """

    row: RowChange
    weight: float
    name: ClassVar[str] = "Averaged"

    def __post_init__(self) -> None:
        object.__setattr__(self, "row", row_change("row", self.row))
        expected = "a share of the average above 0 and at most 1"
        object.__setattr__(
            self, "weight", checks.within("weight", self.weight, 1e-300, 1.0, expected=expected)
        )

    @classmethod
    def of(cls, weights: int | Sequence[float], row: RowChange | None = None) -> Self:
        """The average of so many vectors, or with these weights, which are divided by their sum.

        row: how a vector may change; in any way unless given.
        """
        return cls(L1(2.0) if row is None else row, float_above(largest_share(weights)))

    @property
    def mass(self) -> float:
        """What entries of the average gain together at most (averages.md, section 1)."""
        row = Fraction(self.row.mass)
        # The sums of two rows that have nothing in common may be off by the tolerance.
        most = row if row < 1 else 1 + 2 * Fraction(SUM_TOLERANCE)
        return float_above(Fraction(self.weight) * most)

    @property
    def words(self) -> str:
        return f"{self.who}; it has at most {rounded_down(self.weight)} of the weight"

    @property
    def who(self) -> str:
        how = "in any way" if self.row == L1(2.0) else f"by this: {self.row.words_of_row}"
        return f"one row behind the average may change {how}"

    @property
    def reach(self) -> float:
        return self.weight

    @property
    def assumptions(self) -> tuple[str, ...]:
        return (ONE_ROW_EACH,)

    def entries(self, size: int) -> int:
        return self.row.entries(size)

    def worst_pair(self, shape: Fraction, tilt: Fraction, kind: Kind, *, most: int) -> SymmetricBetaPair:
        return self.row.worst_pair(shape, tilt, kind, most=most)

    def covers(self, narrow: Adjacency) -> bool:
        """Whether all that may change in the rows behind the other may change here, whatever the weights."""
        return isinstance(narrow, Averaged) and self.row.covers(narrow.row)

    def allows(self, change: Any) -> bool:
        return self.row.with_mass(self.mass).allows(change)


# What a neighbour of a vector that is released may be.
NEIGHBOURS = (*VECTOR_CHANGES, Averaged)


def average(rows: Any, *, weights: Sequence[float] | None = None) -> Floats:
    """The average of probability vectors, one in each row, every entry rounded once. It is sensitive data.

    weights: public, one for each row; they are divided by their sum. All alike unless given.

    Release it under `Averaged.of`, which says how far it moves if one row changes.

    >>> from veil import vectors
    >>> vectors.average([[0.5, 0.5], [0.0, 1.0], [0.25, 0.75]])
    array([0.25, 0.75])
    >>> vectors.average([[0.5, 0.5], [0.0, 1.0]], weights=[3, 1])
    array([0.375, 0.625])
    """
    table = as_floats("rows", rows)
    if table.ndim != 2 or table.shape[1] < 2:
        expected, found = "a table with one vector in each row", f"an array of shape {table.shape}"
        raise InvalidData("rows", expected=expected, found=found)
    shares = Simplex(table.shape[1]).validate(table)
    parts = [1] * len(shares) if weights is None else _whole("weights", weights)
    if len(parts) != len(shares):
        raise InvalidData(
            "weights", expected=f"{len(shares)} of them, one for each row", found=f"{len(parts)}"
        )
    together = sum(parts) << _PARTS
    # Of two whole numbers the quotient is the float next to it.
    return np.array([sum(map(mul, parts, map(_parts, column))) / together for column in shares.T.tolist()])


def largest_share(weights: int | Sequence[float]) -> Fraction:
    """The most that one of so many vectors, or of vectors with these weights, has in their average."""
    if isinstance(weights, (int, np.integer)):
        return Fraction(1, checks.integer("weights", weights, least=1))
    parts = _whole("weights", weights)
    return Fraction(max(parts), sum(parts))


def _whole(name: str, weights: Any) -> list[int]:
    """Weights as whole numbers in the same proportion."""
    given = as_floats(name, weights)
    if given.ndim != 1 or not given.size:
        raise InvalidData(name, expected="a list of numbers", found=f"an array of shape {given.shape}")
    for wrong, what, expected in (
        (~np.isfinite(given), "not finite", "finite weights"),
        (given < 0.0, "negative", "no negative weight"),
    ):
        if wrong.any():
            raise InvalidData(name, expected=expected, found=say(wrong, what))
    if not given.any():
        raise InvalidData(name, expected="a weight above 0", found="none")
    return list(map(_parts, given.tolist()))


def _parts(number: float) -> int:
    """A float as a whole number of the smallest parts that floats have."""
    above, below = number.as_integer_ratio()
    return above << (_PARTS + 1 - below.bit_length())
