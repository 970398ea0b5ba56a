"""What came of one table or figure of a paper: numbers side by side, and pictures as data.

Plain data, so that a run can be stored, resumed, drawn and turned into pages and documents.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from typing import Any, Literal

from veil_papers.reproduction.plain_data import back, plain

# A number as a paper prints it: 0.478, 2.30, 1,667, 12.7, 1.13e5.
_PRINTED = re.compile(r"^[-+]?\d{1,3}(?:,\d{3})+$|^[-+]?\d*\.?\d+(?:e[-+]?\d+)?$")
# A simulated number may be so many of its standard errors away.
_SPREAD = 4.0

Value = float | str | None
# How a printed number is met, the closest first.
Agreement = Literal["to the last printed digit", "within four standard errors", "differs"]
Role = Literal["printed", "paper", "exact", "veil", "truth", "other", "another"]
Style = Literal["line", "dashed", "dotted", "points", "steps", "bars"]


@dataclass(frozen=True, slots=True)
class Line:
    """One number of a paper, with ours beside it.

    printed: to the letter, "" where the paper prints none. found: what its own recipe gives here; nothing
    where it was fitted to the printed number. veil: what Veil does by default at the same certified privacy.
    why: a sentence on why they differ. error: the standard error of their difference where they were
    simulated, here or by the authors. headline: shown on the first page.
    """

    what: str
    printed: str = ""
    found: Value = None
    veil: Value = None
    why: str = ""
    error: float = 0.0
    headline: bool = False

    @property
    def agreement(self) -> Agreement | None:
        """How the printed number is met by ours; None where they cannot be compared."""
        if not isinstance(self.found, (int, float)) or not _PRINTED.match(self.printed):
            return None
        off = float(self.found) - float(self.printed.replace(",", ""))
        half = 0.5 * (unit := last_digit(self.printed)) * (1.0 + 1e-9)
        # Printed numbers may be rounded, or cut.
        if abs(off) <= half or 0.0 <= off < unit:
            return "to the last printed digit"
        return "within four standard errors" if abs(off) <= half + _SPREAD * self.error else "differs"

    @property
    def met(self) -> bool | None:
        """Whether the printed number is met in one way or the other; None where they cannot be compared."""
        return None if self.agreement is None else self.agreement != "differs"


def last_digit(printed: str) -> float:
    """One unit of the last printed digit: 0.01 of "2.30"."""
    digits, _, power = printed.replace(",", "").lower().partition("e")
    places = len(digits.partition(".")[2])
    return float(10.0 ** (int(power or 0) - places))


@dataclass(frozen=True, slots=True)
class Curve:
    """One series of a panel. role says whose it is, and so its colour; style how it is drawn."""

    label: str
    x: Sequence[float]
    y: Sequence[float]
    role: Role = "paper"
    style: Style = "line"


@dataclass(frozen=True, slots=True)
class Panel:
    """One pair of axes. kind: curves in a plane; points of a triangle; an image of bits; a map of roads; an
    automaton.

    image: rows of 0 and 1, of a panel of that kind. ticks: names along x, for bars. y_range: from where to
    where y goes, where panels are to be compared. automaton: the arguments of a `HammingAutomaton`, or of a
    `ProductAutomaton` where there is a support.
    """

    title: str
    x: str = ""
    y: str = ""
    curves: list[Curve] = field(default_factory=list)
    kind: Literal["plane", "triangle", "image", "map", "automaton"] = "plane"
    log_x: bool = False
    log_y: bool = False
    image: list[list[int]] = field(default_factory=list)
    ticks: list[str] = field(default_factory=list)
    y_range: Sequence[float] | None = None
    automaton: dict[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Finding:
    """All of it. says: a sentence or two under the picture. stand_in: what replaced data we cannot have."""

    lines: list[Line]
    panels: list[Panel] = field(default_factory=list)
    says: str = ""
    stand_in: str = ""

    def to_dict(self) -> dict[str, Any]:
        """As JSON holds it; numbers without end become text."""
        found: dict[str, Any] = plain(asdict(self))
        return found

    @classmethod
    def from_dict(cls, content: Mapping[str, Any]) -> Finding:
        lines = [Line(**{name: back(value) for name, value in line.items()}) for line in content["lines"]]
        panels = []
        for panel in content["panels"]:
            curves = [
                Curve(**{name: back(value) for name, value in curve.items()}) for curve in panel["curves"]
            ]
            panels.append(Panel(**{**panel, "curves": curves}))
        return cls(lines, panels, content["says"], content["stand_in"])
