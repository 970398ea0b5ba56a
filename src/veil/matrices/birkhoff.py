"""Doubly stochastic matrices."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar, NoReturn

import numpy as np
from numpy.typing import NDArray

from veil.core import checks
from veil.core.arrays import Floats
from veil.core.errors import InvalidData
from veil.core.intake import as_floats, say
from veil.core.mechanism import Domain

SUM_TOLERANCE = 1e-9


@dataclass(frozen=True, slots=True)
class Birkhoff(Domain):
    """Square matrices of non-negative entries whose rows and columns all sum to one.

    size: the number of rows, and of columns.
    """

    size: int
    name: ClassVar[str] = "Birkhoff"
    kind: ClassVar[str] = "matrix"

    def __post_init__(self) -> None:
        object.__setattr__(self, "size", checks.integer("size", self.size, least=2))

    def validate(self, value: Any) -> Floats:
        """The value as a float array, one matrix or a batch along leading axes.

        Sums within the tolerance are left as they are: to repair them would move entries that two
        neighbours share, and by amounts that depend on those they do not.
        """
        matrices = as_floats("value", value)
        if matrices.ndim < 2 or matrices.shape[-2:] != (self.size, self.size) or matrices.size == 0:
            raise InvalidData(
                "value",
                expected=f"{self.size} rows and {self.size} columns along the last two axes",
                found=f"an array of shape {matrices.shape}",
            )
        with np.errstate(over="ignore", invalid="ignore"):
            rows = np.abs(matrices.sum(axis=-1) - 1.0) <= SUM_TOLERANCE
            columns = np.abs(matrices.sum(axis=-2) - 1.0) <= SUM_TOLERANCE
            sound = matrices.min() >= 0.0 and rows.all() and columns.all()
        if not sound:
            _say_what_is_wrong(matrices, rows, columns)
        return matrices

    @property
    def words(self) -> str:
        return f"doubly stochastic matrices with {self.size} rows and columns"

    def describe(self) -> dict[str, Any]:
        return {"name": self.name, "size": self.size}


def _say_what_is_wrong(matrices: Floats, rows: NDArray[np.bool_], columns: NDArray[np.bool_]) -> NoReturn:
    if not np.isfinite(matrices).all():
        found = say(~np.isfinite(matrices), "not finite")
        raise InvalidData("value", expected="finite numbers", found=found)
    if (matrices < 0.0).any():
        raise InvalidData("value", expected="no negative entry", found=say(matrices < 0.0, "negative"))
    which, right = ("row", rows) if not rows.all() else ("column", columns)
    first = tuple(int(i) for i in np.argwhere(~right)[0])
    raise InvalidData(
        "value",
        expected=f"rows and columns that sum to 1 (within {SUM_TOLERANCE:g})",
        found=f"another sum of {which} {first[0] if len(first) == 1 else first}",
        hint="A matrix whose rows alone sum to 1 is stochastic, not doubly stochastic.",
    )
