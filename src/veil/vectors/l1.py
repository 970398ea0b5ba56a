"""Probability vectors that move by an L1 distance, in any number of entries (proofs in l1.md)."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import Any, ClassVar, Self

import numpy as np

from veil.core import checks
from veil.core.adjacency import Adjacency
from veil.core.errors import InvalidArgument
from veil.core.numerics.rounding import float_above, float_below, rounded_down
from veil.core.privacy.pairs import SymmetricBetaPair
from veil.core.privacy.profile import Kind
from veil.vectors.change import RowChange
from veil.vectors.simplex import Transfer, moved


@dataclass(frozen=True, slots=True)
class L1(RowChange):
    """A probability vector moves by an L1 distance of at most `distance`, in any protected entries.

    Half of the distance is what some entries gain together, half is what others lose. If it all goes from one
    entry to another, that is a `Transfer` of half the distance; here one entry may as well give to many.
    """

    distance: float
    name: ClassVar[str] = "L1"

    def __post_init__(self) -> None:
        expected = "an L1 distance above 0 and at most 2"
        distance = checks.within("distance", self.distance, 1e-300, 2.0, expected=expected)
        object.__setattr__(self, "distance", distance)

    @classmethod
    def of_average(cls, b: float, n: int) -> Self:
        """The average of n vectors of which one moves by an L1 distance of at most b."""
        return cls(2.0 * Transfer.from_average(b, n).mass)

    @classmethod
    def of_linear(cls, b: float, alpha: float) -> Self:
        """A weighted average, no weight above alpha, of vectors of which one moves by at most b in L1."""
        return cls(2.0 * Transfer.from_linear(b, alpha).mass)

    @property
    def mass(self) -> float:
        return float_above(Fraction(self.distance) / 2)

    @property
    def words(self) -> str:
        return f"the vector moves by {self._move}"

    @property
    def words_of_row(self) -> str:
        return f"such a row moving by {self._move}"

    @property
    def _move(self) -> str:
        distance = f"an L1 distance of at most {rounded_down(self.distance)}"
        return f"{distance}: some protected entries gain half of it together, others lose as much"

    def with_mass(self, mass: float) -> Self:
        return type(self)(min(2.0, 2.0 * mass))

    def entries(self, size: int) -> int:
        return size

    def worst_pair(self, shape: Fraction, tilt: Fraction, kind: Kind, *, most: int) -> SymmetricBetaPair:
        """As in l1.md, Theorem 1: an exchange, but for small shapes."""
        if shape >= 1 or most == 1:
            return SymmetricBetaPair(float_below(shape), float_above(tilt), kind)
        return SymmetricBetaPair(1.0, float_above(tilt / shape), "upper bound")

    def covers(self, narrow: Adjacency) -> bool:
        if isinstance(narrow, Transfer):
            return 2 * Fraction(narrow.mass) <= Fraction(self.distance)
        return isinstance(narrow, L1) and self.distance >= narrow.distance

    def allows(self, change: Any) -> bool:
        rows, _, _ = moved(change)
        gain, loss = (float(np.maximum(sign * np.asarray(change), 0.0).sum()) for sign in (1.0, -1.0))
        return rows <= 1 and max(gain, loss) * (1.0 - 1e-9) - 1e-12 <= self.mass


# What a neighbour of a secret vector may be.
VECTOR_CHANGES = (Transfer, L1)


def row_change(field: str, given: Any) -> RowChange:
    """How a row may change: as it is, or from its description."""
    if isinstance(given, dict):
        known = next((one for one in VECTOR_CHANGES if one.name == given.get("name")), None)
        if known is not None:
            return known(**{key: item for key, item in given.items() if key != "name"})
    if not isinstance(given, RowChange):
        expected = "a vectors.Transfer or vectors.L1"
        raise InvalidArgument(field, expected=expected, found=type(given).__name__)
    return given
