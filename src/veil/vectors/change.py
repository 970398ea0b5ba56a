"""How a neighbour of a probability vector may differ: what all such relations offer to the mechanisms."""

from __future__ import annotations

from abc import abstractmethod
from fractions import Fraction
from typing import TYPE_CHECKING, Any, Self

from veil.core.adjacency import Adjacency
from veil.core.privacy.pairs import SymmetricBetaPair
from veil.core.privacy.profile import Kind


class VectorChange(Adjacency):
    """A relation between probability vectors: some protected entries gain what others lose."""

    __slots__ = ()

    if TYPE_CHECKING:

        @property
        def mass(self) -> float:
            """What entries gain together at most, and others lose; a field of some."""

    @abstractmethod
    def entries(self, size: int) -> int:
        """How many of so many entries may differ."""

    @abstractmethod
    def allows(self, change: Any) -> bool:
        """Whether neighbours may differ by this: one row of a table changes so."""

    @abstractmethod
    def worst_pair(self, shape: Fraction, tilt: Fraction, kind: Kind, *, most: int) -> SymmetricBetaPair:
        """What dominates the Dirichlet mechanism.

        shape: of the least entry. tilt: what shapes gain together, and others lose. most: entries that gain.
        """


class RowChange(VectorChange):
    """A relation between vectors that are somebody's own: alone, or as rows of a table or a matrix."""

    __slots__ = ()

    @property
    @abstractmethod
    def words_of_row(self) -> str:
        """How a row changes."""

    @abstractmethod
    def with_mass(self, mass: float) -> Self:
        """Such neighbours, but with another mass, or the largest there is."""
