"""What a budget buys, before any data is touched."""

from __future__ import annotations

import io
from abc import ABC, abstractmethod
from contextlib import redirect_stdout
from dataclasses import dataclass, field
from pkgutil import resolve_name
from typing import Any, ClassVar

from veil.core.adjacency import Adjacency
from veil.core.baseline import Baseline
from veil.core.errors import CannotCalibrate


class Plan(ABC):
    """Mechanisms at the same budget, with the error to expect of each; made from public numbers alone."""

    # The function that prints it in the terminal, as "module:function".
    printer: ClassVar[str | None] = None
    epsilon: float

    # The mechanism with the least expected error; raises where none reaches the budget.
    best: Any
    # The errors of the best mechanism beside those of an answer that uses no data; none where nobody can say.
    baselines: tuple[Baseline, ...] = ()
    # On what data the errors are to be expected, as a sentence.
    assumes: str = ""

    @abstractmethod
    def to_dict(self) -> dict[str, Any]:
        """Plain numbers, for JSON."""

    def __str__(self) -> str:
        """The plan as `veil plan` prints it."""
        if self.printer is None:
            return repr(self)
        with redirect_stdout(io.StringIO()) as printed:
            resolve_name(self.printer)(self)
        lines = [printed.getvalue().rstrip(), self.assumes, *(line.words for line in self.baselines)]
        return "\n".join(filter(None, lines))


@dataclass(frozen=True)
class RankedPlan(Plan):
    """The mechanisms from the least to the largest expected error.

    rows: each has a name, a mechanism or None, and then why there is none.
    """

    rows: tuple[Any, ...]
    adjacency: Adjacency
    epsilon: float
    delta: float
    baselines: tuple[Baseline, ...] = field(default=(), kw_only=True)
    assumes: str = field(default="", kw_only=True)

    @property
    def best(self) -> Any:
        """The row of least expected error."""
        row = self.rows[0]
        if row.mechanism is None:
            raise CannotCalibrate(f"no mechanism reaches epsilon={self.epsilon:g} here: {row.why}")
        return row

    def to_dict(self) -> dict[str, Any]:
        return {
            "epsilon": self.epsilon,
            "delta": self.delta,
            "adjacency": self.adjacency.describe(),
            "mechanisms": [row.to_dict() for row in self.rows],
            **beside(self),
        }


def beside(plan: Plan) -> dict[str, Any]:
    """What every plan writes to JSON: what it assumes, and the errors of answers that use no data."""
    lines = [baseline.to_dict() for baseline in plan.baselines]
    return {"assumes": plan.assumes, "knowing_nothing": lines}


def epsilons_around(epsilon: float) -> list[float]:
    """Seven values from a quarter of epsilon to four times it, for curves."""
    return [epsilon * 2.0**power for power in (-2.0, -4 / 3, -2 / 3, 0.0, 2 / 3, 4 / 3, 2.0)]
