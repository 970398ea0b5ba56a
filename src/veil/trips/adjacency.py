"""What is hidden of trips: one of them, or a person with all of theirs."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

from veil.core.adjacency import Adjacency
from veil.core.checks import choice, integer
from veil.core.errors import InvalidArgument

UNITS = ("trip", "user")


@dataclass(frozen=True, slots=True)
class WholeTrips(Adjacency):
    """Neighbouring tables of trips.

    unit: "trip", one trip is added or removed; "user", one person with all their trips, of which at most
    `cap` are counted.
    """

    unit: str = "trip"
    cap: int | None = None
    name: ClassVar[str] = "WholeTrips"

    def __post_init__(self) -> None:
        choice("unit", self.unit, UNITS)
        if (self.cap is None) == (self.unit == "user"):
            expected = (
                "the most trips counted of one user" if self.unit == "user" else "none for single trips"
            )
            raise InvalidArgument("cap", expected=expected, found=repr(self.cap), names=("cap",))
        if self.cap is not None:
            object.__setattr__(self, "cap", integer("cap", self.cap, least=1))

    @property
    def reach(self) -> float:
        return float(self.cap or 0)

    @property
    def words(self) -> str:
        if self.unit == "trip":
            return "one trip is added or removed, from its first place to its last"
        trips = "trip is" if self.cap == 1 else "trips are"
        counted = f"of which at most {self.cap} {trips} counted"
        return f"one person is added or removed with all their trips, {counted}"

    @property
    def who(self) -> str:
        return self.words.partition(", of which at most")[0]

    def covers(self, narrow: Adjacency) -> bool:
        """The cap does not matter: it says how much is counted of a person, not who is a neighbour."""
        return isinstance(narrow, WholeTrips) and self.unit == narrow.unit

    def describe(self) -> dict[str, Any]:
        cap = {} if self.cap is None else {"cap": self.cap}
        return {"name": self.name, "unit": self.unit, **cap}
