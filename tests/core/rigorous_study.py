"""Printed deltas against certified enclosures of the true ones: how many are surely not below."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any

from .rigorous_cases import Case

_EXAMPLES = 10
# Parameters that somebody may use; beyond them floats may not say where a threshold is.
_USUAL = 1e12
_LOOSE = 1e-9


@dataclass
class Tally:
    """Of one family, how many sets.

    below: printed below the truth. unresolved: not known, since the enclosure is too wide. wide: surely not
    below, but by how much above is not known. loose: above the truth by more than 1e-9 of it. excess: the
    largest one relative to the truth where no parameter is above 1e12, and where that is.
    """

    sets: int = 0
    below: int = 0
    unresolved: int = 0
    wide: int = 0
    loose: int = 0
    excess: float = 0.0
    loosest: str = ""

    def add(self, other: Tally) -> None:
        self.sets, self.below = self.sets + other.sets, self.below + other.below
        self.unresolved, self.wide = self.unresolved + other.unresolved, self.wide + other.wide
        self.loose += other.loose
        if other.excess > self.excess:
            self.excess, self.loosest = other.excess, other.loosest


@dataclass
class Study:
    """Tallies by family; below: all sets that were printed below the truth; unresolved: some examples."""

    tallies: dict[str, Tally] = field(default_factory=dict)
    below: list[str] = field(default_factory=list)
    unresolved: list[str] = field(default_factory=list)

    @property
    def total(self) -> Tally:
        together = Tally()
        for tally in self.tallies.values():
            together.add(tally)
        return together

    def look_at(self, several: Iterable[Case]) -> Study:
        """Compare these as well."""
        for case in several:
            self._compare(case, self.tallies.setdefault(case.family, Tally()))
        return self

    def _compare(self, case: Case, tally: Tally) -> None:
        printed, truth = case.profile.delta(case.epsilon), case.profile.enclosure(case.epsilon)
        assert truth is not None
        tally.sets += 1
        if printed < truth.low:
            tally.below += 1
            self.below.append(f"{case}: printed {printed!r}, truth from {truth.low!r} to {truth.high!r}")
        elif printed < truth.high:
            tally.unresolved += 1
            self.unresolved = [*self.unresolved, f"{case}: {truth}, printed {printed!r}"][:_EXAMPLES]
        elif not truth.is_narrow and case.family != "two entries":
            tally.wide += 1
        elif truth.low > 1e-290:
            excess = printed / truth.low - 1.0
            tally.loose += excess > _LOOSE
            if excess > tally.excess and max(case.parameters) <= _USUAL:
                tally.excess, tally.loosest = excess, str(case)

    def add(self, other: Study) -> None:
        """What another one has found."""
        for family, tally in other.tallies.items():
            self.tallies.setdefault(family, Tally()).add(tally)
        self.below += other.below
        self.unresolved = [*self.unresolved, *other.unresolved][:_EXAMPLES]

    @classmethod
    def from_json(cls, content: Any) -> Study:
        tallies = {family: Tally(**tally) for family, tally in content["tallies"].items()}
        return cls(tallies, content["below"], content["unresolved"])
