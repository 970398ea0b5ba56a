"""What a budget buys, before any data is touched."""

from __future__ import annotations

import io
from abc import ABC, abstractmethod
from contextlib import redirect_stdout
from dataclasses import dataclass
from pkgutil import resolve_name
from typing import Any, ClassVar

from veil.core.adjacency import Adjacency
from veil.core.errors import CannotCalibrate


class Plan(ABC):
    """Mechanisms at the same budget, with the error to expect of each; made from public numbers alone."""

    # The function that prints it in the terminal, as "module:function".
    printer: ClassVar[str | None] = None
    epsilon: float

    # The mechanism with the least expected error; raises where none reaches the budget.
    best: Any

    @abstractmethod
    def to_dict(self) -> dict[str, Any]:
        """Plain numbers, for JSON."""

    def __str__(self) -> str:
        """The plan as `veil plan` prints it."""
        if self.printer is None:
            return repr(self)
        with redirect_stdout(io.StringIO()) as printed:
            resolve_name(self.printer)(self)
        return printed.getvalue().rstrip()


@dataclass(frozen=True)
class RankedPlan(Plan):
    """The mechanisms from the least to the largest expected error.

    rows: each has a name, a mechanism or None, and then why there is none.
    """

    rows: tuple[Any, ...]
    adjacency: Adjacency
    epsilon: float
    delta: float

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
        }


def epsilons_around(epsilon: float) -> list[float]:
    """Seven values from a quarter of epsilon to four times it, for curves."""
    return [epsilon * 2.0**power for power in (-2.0, -4 / 3, -2 / 3, 0.0, 2 / 3, 4 / 3, 2.0)]
