"""Neighbours: the two inputs that a reader of the release must not be able to tell apart."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import Any, ClassVar, Protocol, Self

from veil.bits.bit_flips import BitFlips
from veil.chains.contributions import Contributions, Transitions
from veil.core import checks
from veil.core.errors import InvalidArgument
from veil.core.numerics.rounding import float_above
from veil.matrices.rectangle import Rectangle
from veil.words.hamming import Hamming

# A matrix with more rows than this would not fit anywhere.
_MOST_CHANGED = 10_000_000


class Adjacency(Protocol):
    """A relation between inputs, in words and as data."""

    @property
    def words(self) -> str: ...

    def describe(self) -> dict[str, Any]: ...


@dataclass(frozen=True, slots=True)
class Transfer:
    """Two protected entries of a probability vector exchange at most `mass`."""

    mass: float
    name: ClassVar[str] = "Transfer"

    def __post_init__(self) -> None:
        mass = checks.within("mass", self.mass, 0.0, 1.0, expected="a number above 0 and at most 1")
        if mass == 0.0:
            raise InvalidArgument("mass", expected="a number above 0 and at most 1", found="0")
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

    def describe(self) -> dict[str, Any]:
        return {"name": self.name, "mass": self.mass}


@dataclass(frozen=True, slots=True)
class Records:
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

    def describe(self) -> dict[str, Any]:
        return {"name": self.name, "change": self.change}


@dataclass(frozen=True, slots=True)
class Rows:
    """At most `changed` rows of a matrix change, each as `each` says; "all" means every row may.

    The papers take the maximum over rows and so cover one changed row only; here the number is said.
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
            object.__setattr__(self, "each", adjacency_from(self.each))
        if not isinstance(self.each, Transfer):
            raise InvalidArgument("each", expected="a veil.Transfer", found=type(self.each).__name__)

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

    def describe(self) -> dict[str, Any]:
        return {"name": self.name, "changed": self.changed, "each": self.each.describe()}


def _count(n: int) -> int:
    number = checks.integer("n", n, least=1)
    checks.real("n", number, expected="a whole number that a float can hold")
    return number


_KINDS: dict[str, Any] = {
    kind.name: kind
    for kind in (Transfer, Records, Rows, Rectangle, Contributions, Transitions, Hamming, BitFlips)
}


def adjacency_from(description: dict[str, Any]) -> Adjacency:
    """The adjacency that `describe` described."""
    fields = dict(description)
    name = fields.pop("name", None)
    if name not in _KINDS:
        raise InvalidArgument("adjacency", expected=f"one of {', '.join(_KINDS)}", found=repr(name))
    found: Adjacency = _KINDS[name](**fields)
    return found
