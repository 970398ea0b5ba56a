"""Words that differ in a few symbols."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

from veil.domains import checks


@dataclass(frozen=True, slots=True)
class Hamming:
    """Two words of the same length differ in at most `radius` symbols."""

    radius: int
    name: ClassVar[str] = "Hamming"

    def __post_init__(self) -> None:
        object.__setattr__(self, "radius", checks.integer("radius", self.radius, least=1))

    @property
    def words(self) -> str:
        symbols = "one symbol" if self.radius == 1 else f"at most {self.radius} symbols"
        return f"two feasible words of the same length differ in {symbols}"

    def describe(self) -> dict[str, Any]:
        return {"name": self.name, "radius": self.radius}
