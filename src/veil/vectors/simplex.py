"""Probability vectors, and those of them that are neighbours because two entries exchange mass."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import KW_ONLY, dataclass, replace
from fractions import Fraction
from typing import Any, ClassVar, NoReturn, Self

import numpy as np
from numpy.typing import NDArray

from veil.core import checks
from veil.core.adjacency import Adjacency
from veil.core.arrays import Floats
from veil.core.errors import InvalidArgument, InvalidData, NoGuarantee
from veil.core.mechanism import UNPROTECTED, Domain
from veil.core.numerics.rounding import float_above, float_below, rounded_down
from veil.core.privacy.pairs import SymmetricBetaPair
from veil.core.privacy.profile import Kind, PrivacyProfile
from veil.vectors.change import RowChange, VectorChange
from veil.vectors.counts import refuse, rows_of

SUM_TOLERANCE = 1e-9
# Dividing by the sum may cost an entry this much of itself; it is then lifted to the floor again.
_ROUNDING = 2.0**-48
# By how much two numbers of at most 1 may be further apart once both are rounded to floats.
ENTRY_ROUNDING = Fraction(1, 2**53)
# What scaling a row to a sum of one may leave behind is no change.
_NO_CHANGE = 1e-12


@dataclass(frozen=True, slots=True)
class Simplex(Domain):
    """Probability vectors of a given size whose protected entries keep away from zero.

    size: the number of entries.
    floor: no protected entry is below it (the papers' eta).
    protected: the 0-based indices whose values a neighbour may change; None means all of them.
    slack: the least mass outside the protected entries (the papers' eta-bar); only where some entry
        is not protected.
    """

    size: int
    _: KW_ONLY
    floor: float = 0.0
    protected: Sequence[int] | None = None
    slack: float | None = None
    name: ClassVar[str] = "Simplex"
    kind: ClassVar[str] = "vector"

    def __post_init__(self) -> None:
        size = checks.integer("size", self.size, least=2)
        object.__setattr__(self, "size", size)
        object.__setattr__(self, "protected", _indices(self.protected, size))
        floor = checks.within("floor", self.floor, 0.0, 1.0, expected="a number between 0 and 1/size")
        object.__setattr__(self, "floor", floor)
        if self.slack is not None:
            slack = checks.within("slack", self.slack, 0.0, 1.0, expected="a number between 0 and 1")
            if self.protected is None and slack > 0.0:
                raise InvalidArgument(
                    "slack",
                    expected="None where every entry is protected",
                    found=f"{slack:g}",
                    hint="The slack is the mass outside the protected entries.",
                )
            object.__setattr__(self, "slack", slack)
        if self.room < 0.0:
            expected = f"{self.protected_count} protected entries x floor + slack to be at most 1"
            taken = self.protected_count * floor + (self.slack or 0.0)
            raise InvalidArgument("floor", expected=expected, found=f"{taken:g}")

    @property
    def protected_count(self) -> int:
        return self.size if self.protected is None else len(self.protected)

    @property
    def guarded(self) -> NDArray[np.bool_]:
        """Which entries are protected."""
        guarded = np.full(self.size, self.protected is None)
        guarded[list(self.protected or ())] = True
        return guarded

    @property
    def room(self) -> float:
        """The largest mass that two protected entries can exchange inside the domain."""
        exact = 1 - self.protected_count * Fraction(self.floor) - Fraction(self.slack or 0.0)
        # The float 0.2 is a little more than a fifth: five of them must count as one, not as more.
        if -(Fraction(2) ** -50) * self.size < exact <= 0:
            return 0.0
        return float_above(exact)

    def validate(self, value: Any) -> Floats:
        """The value as a float array, one vector or a batch with the entries along the last axis.

        Sums within the tolerance are left as they are: dividing by them would round entries that two
        neighbours share, each neighbour's in its own way. Entries a hair below the floor are lifted to it.
        """
        vectors = rows_of(value, self.size, "entries")
        with np.errstate(over="ignore", invalid="ignore"):
            totals = vectors.sum(axis=-1, keepdims=True)
            sound = vectors.min() >= 0.0 and np.abs(totals - 1.0).max() <= SUM_TOLERANCE
        if not sound:
            self._say_what_is_wrong(vectors)
        self._check_borders(vectors / totals)
        return np.where(self.guarded & (vectors < self.floor), self.floor, vectors)

    @staticmethod
    def _say_what_is_wrong(vectors: Floats) -> NoReturn:
        refuse(~np.isfinite(vectors), "not finite", expected="finite numbers")
        refuse(vectors < 0.0, "negative", expected="no negative entry")
        raise InvalidData(
            "value",
            expected=f"entries that sum to 1 (within {SUM_TOLERANCE:g})",
            found="another sum",
            hint="Divide by the sum first ({normalise} does it), or release counts.",
            names=("normalise",),
        )

    def _check_borders(self, vectors: Floats) -> None:
        if self.floor == 0.0 and not self.slack:
            return
        guarded = self.guarded
        refuse(
            guarded & (vectors < self.floor * (1.0 - _ROUNDING)),
            "below it",
            expected=f"protected entries of at least the floor {self.floor:g}",
            hint="Smoothing (smooth=True) takes any vector and assumes nothing.",
        )
        most = 1.0 - (self.slack or 0.0) * (1.0 - _ROUNDING) + 2.0**-52 * self.size
        if self.slack and (vectors[..., guarded].sum(axis=-1) > most).any():
            expected = f"a mass of at least {self.slack:g} outside the protected entries"
            raise InvalidData("value", expected=expected, found="less")

    def largest_move(self, near: VectorChange) -> Fraction:
        """The most that entries of a valid vector gain against a neighbour's together, and others lose.

        The room, and what the tolerance of sums leaves beside it; entries may have been rounded to floats.
        """
        rounded = near.entries(self.size) * ENTRY_ROUNDING
        return min(Fraction(near.mass) + rounded, Fraction(self.room) + self.sum_error)

    @property
    def sum_error(self) -> Fraction:
        """How far the sum of a valid vector may be from 1: the tolerance, and the rounding of sums."""
        return Fraction(SUM_TOLERANCE) + Fraction(self.size, 2**50)

    def needed(self, profile: Callable[[Simplex], PrivacyProfile]) -> frozenset[str]:
        """The borders that a guarantee uses, of "floor" and "slack": without one it would be another one.

        profile: the guarantee for the vectors of a domain. What it does not use is not assumed; it cannot use
        what is not found here.
        """
        without = {"floor": replace(self, floor=0.0), "slack": replace(self, slack=None)}
        given = {"floor": self.floor > 0.0, "slack": bool(self.slack)}

        def differs(other: Simplex) -> bool:
            try:
                return profile(other) != profile(self)
            except NoGuarantee:
                return True

        return frozenset(name for name, other in without.items() if given[name] and differs(other))

    def assumed(self, needed: frozenset[str]) -> tuple[str, ...]:
        """What a guarantee assumes of the vectors that needs these borders."""
        which = "every entry" if self.protected is None else "every protected entry"
        texts = {
            "floor": f"{which} of the true vector and of its neighbours is at least {self.floor!r}",
            "slack": f"at least {self.slack!r} of the mass lies outside the protected entries",
        }
        listed = tuple(text for name, text in texts.items() if name in needed)
        return listed if self.protected is None else (*listed, UNPROTECTED)

    @property
    def words(self) -> str:
        text = f"probability vectors with {self.size} entries"
        if self.floor > 0.0:
            which = "every entry" if self.protected is None else f"{self.protected_count} protected entries"
            text += f", {which} at least {self.floor!r}"
        if self.slack:
            text += f", at least {self.slack!r} outside the protected entries"
        return text

    def describe(self) -> dict[str, Any]:
        return {
            "name": self.name,
            "size": self.size,
            "floor": self.floor,
            "protected": None if self.protected is None else list(self.protected),
            "slack": self.slack,
        }


def _indices(protected: Sequence[int] | None, size: int) -> tuple[int, ...] | None:
    if protected is None:
        return None
    expected = f"at least two different indices between 0 and {size - 1}"
    try:
        indices = sorted(checks.integer("protected", index, least=0) for index in protected)
    except TypeError:
        raise InvalidArgument("protected", expected=expected, found=type(protected).__name__) from None
    if len(indices) < 2 or len(set(indices)) != len(indices) or indices[-1] >= size:
        raise InvalidArgument("protected", expected=expected, found=f"{indices}"[:60])
    return None if len(indices) == size else tuple(indices)


@dataclass(frozen=True, slots=True)
class Transfer(RowChange):
    """Two protected entries of a probability vector exchange at most `mass`: the papers' neighbours.

    A vector that moves in more than two entries is not covered: that is `vectors.L1`.
    """

    mass: float
    name: ClassVar[str] = "Transfer"

    def __post_init__(self) -> None:
        expected = "a number above 0 and at most 1"
        mass = checks.within("mass", self.mass, math.ulp(0.0), 1.0, expected=expected)
        object.__setattr__(self, "mass", mass)

    @classmethod
    def from_l1(cls, b: float) -> Self:
        """Vectors that differ in two entries, by an L1 distance of at most b: half leaves one entry."""
        return cls(checks.within("b", b, 1e-300, 2.0, expected="an L1 distance above 0 and at most 2") / 2.0)

    @classmethod
    def from_records(cls, n: int) -> Self:
        """Frequencies of n records of which one is replaced."""
        return cls(float_above(Fraction(1, _count(n))))

    @classmethod
    def from_average(cls, b: float, n: int) -> Self:
        """The average of n vectors, in one of which two entries move, by at most b in L1.

        `L1.of_average` covers any move.
        """
        return cls(float_above(Fraction(cls.from_l1(b).mass) / _count(n)))

    @classmethod
    def from_linear(cls, b: float, alpha: float) -> Self:
        """A weighted average, no weight above alpha, of vectors in one of which two entries move by b in L1.

        `L1.of_linear` covers any move.
        """
        alpha = checks.within("alpha", alpha, 0.0, 1.0, expected="a weight above 0 and at most 1")
        return cls(float_above(Fraction(cls.from_l1(b).mass) * Fraction(alpha)))

    @property
    def words(self) -> str:
        return (
            f"two protected entries of the vector exchange at most {rounded_down(self.mass)} of probability"
        )

    @property
    def words_of_row(self) -> str:
        return f"two protected entries of a row exchanging at most {rounded_down(self.mass)}"

    def with_mass(self, mass: float) -> Self:
        return type(self)(min(1.0, mass))

    def entries(self, size: int) -> int:
        return 2

    def worst_pair(self, shape: Fraction, tilt: Fraction, kind: Kind, *, most: int) -> SymmetricBetaPair:
        """As in mechanisms/dirichlet.md, Theorem 1."""
        return SymmetricBetaPair(float_below(shape), float_above(tilt), kind)

    def covers(self, narrow: Adjacency) -> bool:
        return isinstance(narrow, Transfer) and self.mass >= narrow.mass

    def allows(self, change: Any) -> bool:
        rows, entries, largest = moved(change)
        return rows <= 1 and entries <= 2 and largest <= self.mass


def moved(change: Any) -> tuple[int, int, float]:
    """How many rows of a table change, how many entries of the row with most changes, and by how much."""
    flat = np.atleast_2d(change).reshape(-1, np.shape(change)[-1])
    places = np.abs(flat) > _NO_CHANGE
    largest = float(np.abs(flat).max()) * (1.0 - 1e-9) - _NO_CHANGE
    return int(places.any(axis=1).sum()), int(places.sum(axis=1).max()), largest


def _count(n: int) -> int:
    number = checks.integer("n", n, least=1)
    checks.within("n", number, expected="a whole number that a float can hold")
    return number
