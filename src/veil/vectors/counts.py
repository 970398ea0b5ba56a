"""How many records fell into each of a fixed list of categories."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from veil.core import checks
from veil.core.domain import Domain
from veil.core.errors import InvalidData
from veil.core.intake import as_floats, say

Integers = NDArray[np.int64]
# Above this a float64 no longer holds every whole number.
LARGEST_COUNT = 2**53


@dataclass(frozen=True, slots=True)
class Counts(Domain):
    """Rows of whole numbers, one for each of `size` categories."""

    size: int
    name: ClassVar[str] = "Counts"
    kind: ClassVar[str] = "vector"

    def __post_init__(self) -> None:
        object.__setattr__(self, "size", checks.integer("size", self.size, least=2))

    def validate(self, value: Any) -> Integers:
        """The value as an array of whole numbers, one row or a batch of rows."""
        rows = as_floats("value", value)
        if rows.ndim == 0 or rows.shape[-1] != self.size or rows.size == 0:
            raise InvalidData(
                "value",
                expected=f"{self.size} counts along the last axis",
                found=f"an array of shape {rows.shape}",
            )
        if not np.isfinite(rows).all():
            raise InvalidData("value", expected="finite counts", found=say(~np.isfinite(rows), "not finite"))
        if (rows < 0.0).any():
            raise InvalidData("value", expected="no negative count", found=say(rows < 0.0, "negative"))
        if (rows != np.floor(rows)).any():
            raise InvalidData(
                "value", expected="whole numbers", found=say(rows != np.floor(rows), "not whole")
            )
        # A float may have rounded a count down to the limit, so the limit itself is not taken.
        with np.errstate(over="ignore"):
            if rows.sum(axis=-1).max() > LARGEST_COUNT or rows.max() >= LARGEST_COUNT:
                raise InvalidData("value", expected=f"fewer than {LARGEST_COUNT} records", found="more")
        return rows.astype(np.int64)

    @property
    def words(self) -> str:
        return f"counts of records in {self.size} categories"

    def describe(self) -> dict[str, Any]:
        return {"name": self.name, "size": self.size}
