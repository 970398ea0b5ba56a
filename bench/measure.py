"""What a benchmark finds, as plain data: ratios to a peer, costs that grow, and what could not be had."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from typing import Any, Literal

import numpy as np
from veil_papers.reproduction.plain_data import back, plain

Better = Literal["lower", "higher"]
Law = Literal["power", "exponential"]
# Within so much of each other two numbers are called even, or within two standard errors of what was drawn.
EVEN, EVEN_SECONDS = 0.03, 0.1


@dataclass(frozen=True, slots=True)
class Ratio:
    """One number of ours beside a peer's, from the same run.

    group: the chapter it belongs to. setting: the data, and the privacy that both sides guarantee. better:
    whether less or more of the unit is good. goal: the least ratio that Veil sets out to reach, if any.
    spread: the relative standard error of the ratio, where the numbers were drawn.
    """

    group: str
    what: str
    setting: str
    ours: float
    theirs: float
    peer: str
    unit: str
    better: Better = "lower"
    goal: float | None = None
    note: str = ""
    spread: float = 0.0

    @property
    def ratio(self) -> float:
        """How many times better Veil is; below 1 the peer wins."""
        good, bad = (self.ours, self.theirs) if self.better == "lower" else (self.theirs, self.ours)
        if good == bad:
            return 1.0
        return bad / good if good else math.inf

    @property
    def verdict(self) -> Literal["wins", "even", "loses"]:
        """Who is better, from Veil's side."""
        close = EVEN_SECONDS if self.unit.startswith("seconds") else EVEN
        if abs(self.ratio - 1.0) <= max(close, 2.0 * self.spread):
            return "even"
        return "wins" if self.ratio > 1.0 else "loses"

    @property
    def met(self) -> bool | None:
        """Whether the goal is reached; None without one."""
        return None if self.goal is None else self.ratio >= self.goal

    def to_dict(self) -> dict[str, Any]:
        found: dict[str, Any] = plain(asdict(self) | {"ratio": self.ratio, "verdict": self.verdict})
        return found

    @classmethod
    def from_dict(cls, content: Mapping[str, Any]) -> Ratio:
        return cls(**{name: back(content[name]) for name in cls.__dataclass_fields__})


@dataclass(frozen=True, slots=True)
class Growth:
    """Seconds at several sizes, and those of a peer where it has any; law: by which the peer's grow."""

    what: str
    axis: str
    sizes: Sequence[float]
    seconds: Sequence[float]
    peer: str = ""
    peer_sizes: Sequence[float] = field(default_factory=list)
    peer_seconds: Sequence[float] = field(default_factory=list)
    law: Law = "power"
    note: str = ""

    @property
    def exponent(self) -> float:
        """p where the seconds grow as size^p."""
        return fitted_exponent(self.sizes, self.seconds)

    @property
    def peer_exponent(self) -> float:
        """The same of the peer; by an exponential law, the factor that one more of the axis costs."""
        if self.law == "power":
            return fitted_exponent(self.peer_sizes, self.peer_seconds)
        return math.exp(_slope(list(self.peer_sizes), np.log(self.peer_seconds)))

    def to_dict(self) -> dict[str, Any]:
        fitted = {"exponent": self.exponent, "peer_exponent": self.peer_exponent}
        found: dict[str, Any] = plain(asdict(self) | fitted)
        return found

    @classmethod
    def from_dict(cls, content: Mapping[str, Any]) -> Growth:
        return cls(**{name: back(content[name]) for name in cls.__dataclass_fields__})


@dataclass(frozen=True, slots=True)
class Missing:
    """A comparison that could not be made, and why."""

    group: str
    what: str
    peer: str
    why: str

    def to_dict(self) -> dict[str, Any]:
        return asdict(self)

    @classmethod
    def from_dict(cls, content: Mapping[str, Any]) -> Missing:
        return cls(**{name: content[name] for name in cls.__dataclass_fields__})


def fitted_exponent(sizes: Sequence[float], seconds: Sequence[float]) -> float:
    """The slope of log seconds over log sizes, by least squares over the upper half of the sizes.

    The lower half is mostly what any call costs. NaN where fewer than two sizes are left.
    """
    return _slope(np.log(np.array(sizes, dtype=np.float64)), np.log(np.array(seconds, dtype=np.float64)))


def _slope(x: Any, y: Any) -> float:
    """By least squares over the upper half of x."""
    kept = np.array(sorted(zip(x, y, strict=True))[len(x) // 2 :], dtype=np.float64)
    return math.nan if len(kept) < 2 else float(np.polyfit(kept[:, 0], kept[:, 1], 1)[0])


def relative_spread(*drawn: Any) -> float:
    """The relative standard error of a ratio of means, from the values that each is the mean of."""
    squares = (np.var(one, ddof=1) / len(one) / np.mean(one) ** 2 for one in map(np.asarray, drawn))
    return math.sqrt(sum(map(float, squares)))
