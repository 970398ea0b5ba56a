"""How much a study has compared, and what it found above the claim."""

from __future__ import annotations

import time
from dataclasses import dataclass, field

import pytest

# What the review had checked, by study.
REVIEW = {
    "neighbours of the Dirichlet theorems": 29_185,
    "profile values": 60_795,
    "compositions": 5_514,
    "counted tables": 2_199,
    "exact word losses": 16_704,
}
# The part of it that `make test` looks at.
SLICE = 1 / 400


def in_full(study: str) -> pytest.MarkDecorator:
    """The parameter `least`, how many a study must compare: a slice as it stands, all of them as evidence."""
    whole = REVIEW[study]
    return pytest.mark.parametrize(
        "least",
        [
            pytest.param(max(20, round(whole * SLICE)), id="slice"),
            pytest.param(whole, id="full", marks=pytest.mark.evidence),
        ],
    )


@dataclass
class Tally:
    """What was compared. above: what lies above the claim, in words. unknown: what no oracle settled."""

    study: str
    checked: int = 0
    above: list[str] = field(default_factory=list)
    unknown: list[str] = field(default_factory=list)
    _began: float = field(default_factory=time.monotonic)

    def add(self, what: object, *, is_above: bool) -> None:
        """One comparison more."""
        self.checked += 1
        if is_above:
            self.above.append(str(what))

    def leave_open(self, what: object) -> None:
        """A comparison that could not be made; it does not count."""
        self.unknown.append(str(what))

    def close(self, least: int) -> None:
        """Say what was found; an error if it is less than was asked for, or anything is above the claim."""
        print(
            f"\n{self.study}: {self.checked:,} compared, {len(self.above)} above the claim, "
            f"{len(self.unknown)} not settled, {time.monotonic() - self._began:.0f} s"
        )
        for text in (*self.above, *self.unknown):
            print("  ", text)
        assert self.checked >= least, f"{self.checked} of {least}"
        assert len(self.unknown) <= self.checked / 100, f"{len(self.unknown)} not settled"
        assert not self.above, f"{len(self.above)} above the claim, the first: {self.above[0]}"
