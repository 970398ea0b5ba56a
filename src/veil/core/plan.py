"""What a budget buys, before any data is touched."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Any


class Plan(ABC):
    """Mechanisms at the same budget, with the error to expect of each; made from public numbers alone."""

    epsilon: float

    # The mechanism with the least expected error; raises where none reaches the budget.
    best: Any

    @abstractmethod
    def to_dict(self) -> dict[str, Any]:
        """Plain numbers, for JSON."""


def epsilons_around(epsilon: float) -> list[float]:
    """Seven values from a quarter of epsilon to four times it, for curves."""
    return [epsilon * 2.0**power for power in (-2.0, -4 / 3, -2 / 3, 0.0, 2 / 3, 4 / 3, 2.0)]
