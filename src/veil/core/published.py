"""What a paper states for a mechanism, beside what holds."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Published:
    """A paper's (epsilon, delta), the theorem it comes from, and the assumptions that do not hold."""

    epsilon: float
    delta: float
    gamma: float
    theorem: str
    violations: tuple[str, ...]
