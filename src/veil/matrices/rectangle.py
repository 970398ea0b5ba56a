"""Neighbours among doubly stochastic matrices."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

from veil.core import checks
from veil.core.errors import InvalidArgument


@dataclass(frozen=True, slots=True)
class Rectangle:
    """The four corners of a rectangle change by at most `mass` each: +, -, - and +.

    It is the smallest change that keeps every row and every column sum: two rows, i and i', exchange what
    they put on two columns, j and j'. Every other change is a sum of such ones.
    """

    mass: float
    name: ClassVar[str] = "Rectangle"

    def __post_init__(self) -> None:
        mass = checks.within("mass", self.mass, 0.0, 1.0, expected="a number above 0 and at most 1")
        if mass == 0.0:
            raise InvalidArgument("mass", expected="a number above 0 and at most 1", found="0")
        object.__setattr__(self, "mass", mass)

    @property
    def words(self) -> str:
        return f"two rows of the matrix exchange at most {self.mass:.6g} of probability between two columns"

    def describe(self) -> dict[str, Any]:
        return {"name": self.name, "mass": self.mass}
