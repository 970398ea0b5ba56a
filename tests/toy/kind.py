"""Tallies: one whole number, such as how many people came. The smallest kind that has everything."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path
from typing import Any, ClassVar

import numpy as np

from veil.core.adjacency import Adjacency
from veil.core.arrays import Floats
from veil.core.audit.subject import AuditPair, AuditSubject, Example, Reader
from veil.core.checks import integer, positive
from veil.core.errors import InvalidData
from veil.core.job import Job
from veil.core.kind import Content, Kind, Places, Progress
from veil.core.mechanism import Described, Domain, Mechanism
from veil.core.numerics.rounding import float_above
from veil.core.plan import Plan
from veil.core.privacy.pairs import RandomizedResponses
from veil.core.privacy.profile import PrivacyProfile
from veil.core.random.discrete import sample_discrete_laplace
from veil.core.random.streams import Rng
from veil.core.record import Release
from veil.core.request import CommandRequest, PlanRequest, ReadRequest, ReleaseRequest, option


@dataclass(frozen=True, slots=True)
class OneMore(Adjacency):
    """Somebody is counted or not."""

    name: ClassVar[str] = "OneMore"

    @property
    def words(self) -> str:
        return "one person more or less is counted"


@dataclass(frozen=True, slots=True)
class Tallies(Domain):
    """Whole numbers."""

    name: ClassVar[str] = "Tallies"
    kind: ClassVar[str] = "tally"

    @property
    def words(self) -> str:
        return "whole numbers"

    def validate(self, value: Any) -> int:
        if isinstance(value, bool) or not isinstance(value, (int, np.integer)) or value < 0:
            raise InvalidData("tally", expected="a whole number", found=type(value).__name__)
        return int(value)

    def describe(self) -> dict[str, Any]:
        return {"name": self.name}


@dataclass(frozen=True)
class NoisyTally(Described):
    """Two-sided geometric noise on one number."""

    scale: float
    name: ClassVar[str] = "NoisyTally"

    def __post_init__(self) -> None:
        object.__setattr__(self, "scale", positive("scale", self.scale))

    @property
    def domain(self) -> Tallies:
        return Tallies()

    @property
    def adjacency(self) -> OneMore:
        return OneMore()

    def validate(self, value: Any) -> int:
        return self.domain.validate(value)

    def _draw(self, rng: Rng, value: int, size: int | None) -> Any:
        drawn = value + sample_discrete_laplace(rng, scale=Fraction(self.scale), size=size or 1)
        return int(drawn[0]) if size is None else drawn

    def profile(self, adjacency: Adjacency | None = None) -> PrivacyProfile:
        return RandomizedResponses(float_above(1 / Fraction(self.scale)), kind="upper bound")


@dataclass(frozen=True, kw_only=True)
class TallyRead(ReadRequest):
    """Read a number from a file."""

    source: Any = option(help="A text file with one whole number.", secret=True)
    line: int = option(1, help="The line that the number is on.", least=1, group="Input")

    @property
    def inputs(self) -> tuple[str, ...]:
        return (str(self.source),)

    def read(self, progress: Progress | None = None) -> int:
        lines = Path(self.source).read_text(encoding="utf-8").split("\n")
        number = lines[self.line - 1].strip()
        if not number.isdecimal():
            raise InvalidData(str(self.source), expected="a whole number", found="something else")
        return int(number)


@dataclass(frozen=True, kw_only=True)
class TallyRelease(ReleaseRequest):
    """Release a number."""

    examples: ClassVar[Any] = (("", {"source": "visitors.txt", "epsilon": 1, "output": "private.json"}),)

    def prepare(self, data: Any, *, rng: Any = None, progress: Progress | None = None) -> Job[int]:
        self.check()
        mechanism = NoisyTally(float_above(1 / Fraction(self.epsilon)))
        return Job.prepare(
            mechanism, data, chosen="noise", why="there is no other", request=self, source=data
        )


@dataclass(frozen=True, slots=True)
class TallyPlan(Plan):
    """The mean error of a released number."""

    epsilon: float
    best: NoisyTally

    @property
    def error(self) -> float:
        return float(1 / np.sinh(1.0 / self.best.scale))

    def to_dict(self) -> dict[str, Any]:
        return {"epsilon": self.epsilon, "error": self.error}

    def __str__(self) -> str:
        return f"Mean error: {self.error:.3g}"


@dataclass(frozen=True, kw_only=True)
class TallyPlanning(PlanRequest):
    """What to expect of a released number."""

    epsilon: float = option(help="Privacy loss.", short="-e")

    def plan(self, progress: Progress | None = None) -> TallyPlan:
        return TallyPlan(self.epsilon, NoisyTally(1.0 / positive("epsilon", self.epsilon)))


@dataclass(frozen=True, kw_only=True)
class Double(CommandRequest):
    """Print twice a released number."""

    source: Path = option(help="A released tally (.json).")

    def run(self, *, overwrite: bool, progress: Progress | None = None) -> Any:
        from veil.core.files import load

        return _Doubled(2 * load(self.source).value)


@dataclass(frozen=True)
class _Doubled:
    number: int

    def to_dict(self) -> dict[str, Any]:
        return {"double": self.number}

    def show(self) -> None:
        print(f"Twice as many: {self.number}")


class TallyAudit(AuditSubject):
    """Audits of tallies."""

    def examples(self) -> list[Example]:
        return [(NoisyTally(1.0), None)]

    def pairs(self, mechanism: Any, adjacency: Any) -> list[AuditPair]:
        return [AuditPair("nobody and somebody", 0, 1), AuditPair("among many", 1000, 1001)]

    def apart(self, mechanism: Any, adjacency: Any, first: Any, second: Any) -> str:
        return "" if abs(first - second) <= 1 else f"{abs(first - second)} people"

    def reader(self, mechanism: Any, value: Any, neighbour: Any) -> Reader:
        def read(drawn: Any) -> Floats:
            return np.asarray(drawn, dtype=np.float64)[:, None]

        return read


class TallyKind(Kind):
    """One whole number."""

    name = "tally"
    module = "tests.toy"
    description = "one whole number"
    mechanisms: ClassVar[Places] = {"NoisyTally": "tests.toy.kind:NoisyTally"}
    domains: ClassVar[Places] = {"Tallies": "tests.toy.kind:Tallies"}
    adjacencies: ClassVar[Places] = {"OneMore": "tests.toy.kind:OneMore"}
    short_adjacencies: ClassVar[Any] = {"one-more": lambda size: OneMore()}
    read_request = "tests.toy.kind:TallyRead"
    release_request = "tests.toy.kind:TallyRelease"
    plan_request = "tests.toy.kind:TallyPlanning"
    commands: ClassVar[Places] = {"double": "tests.toy.kind:Double"}
    audit_subject = "tests.toy.kind:TallyAudit"

    def assumptions(self, mechanism: Mechanism, adjacency: Adjacency, valid: Any) -> tuple[str, ...]:
        return mechanism.assumptions(adjacency)

    def encode(self, release: Release[Any]) -> dict[str, Any]:
        return {"type": "tally", "number": release.value}

    def decode(self, content: Mapping[str, Any], mechanism: Any) -> Content:
        return Content(integer("number", content["value"]["number"], least=-(10**9)))

    def rows(self, release: Release[Any]) -> tuple[Sequence[Any], Sequence[Sequence[Any]]]:
        return ["number"], [[release.value]]

    def to_pandas(self, release: Release[Any]) -> Any:
        import pandas

        return pandas.Series([release.value], name="number")

    def size(self, release: Release[Any]) -> str:
        return "one number"

    def page(self, release: Release[Any], *, plan: Any = None, record: Path | None = None) -> str:
        return f"<!doctype html><title>A tally</title><p>{release.value}</p>"

    def card(self, release: Release[Any]) -> str:
        return f"<tr><td>{release.value}</td></tr>"

    def plot(self, release: Release[Any]) -> Any:
        from veil.report.figures import axes_of

        figure, axes = axes_of(3.0, 2.0)
        axes.bar([0], [release.value])
        return figure

    def print_release(self, release: Release[Any], *, job: Job[Any], written: Sequence[Path]) -> None:
        print(f"Released: {release.value}")
