"""Lengths of sequences, in bins that are public."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from veil.core.arrays import Floats
from veil.core.checks import integer
from veil.core.errors import InvalidArgument

_SINGLE, _GROWTH, _LONGEST = 100, 1.15, 1_000_000


@dataclass(frozen=True, slots=True)
class LengthBins:
    """Bins of lengths (of a sequence, in states), by the least length of each; the last has no end.

    >>> bins = LengthBins((1, 2, 5))
    >>> bins.place([1, 2, 4, 5, 900]).tolist()
    [0, 1, 1, 2, 2]
    """

    least: tuple[int, ...]
    name: ClassVar[str] = "LengthBins"

    def __post_init__(self) -> None:
        least = tuple(integer("bins", bound, least=1) for bound in self.least)
        if not least or least[0] != 1 or any(b <= a for a, b in pairwise(least)):
            raise InvalidArgument("bins", expected="increasing least lengths from 1 on", found="others")
        object.__setattr__(self, "least", least)

    @classmethod
    def default(cls) -> LengthBins:
        """Every length to 100 on its own, then ever wider bins up to a million and beyond."""
        bounds = list(range(1, _SINGLE + 1))
        while bounds[-1] < _LONGEST:
            bounds.append(max(bounds[-1] + 1, round(bounds[-1] * _GROWTH)))
        return cls(tuple(bounds))

    def __len__(self) -> int:
        return len(self.least)

    def place(self, lengths: Sequence[int] | NDArray[Any]) -> NDArray[np.intp]:
        """The number of the bin of each length."""
        return np.searchsorted(self.least, np.asarray(lengths), side="right") - 1

    @property
    def middles(self) -> Floats:
        """A length that stands for each bin: the middle on a logarithmic scale."""
        least = np.array(self.least, dtype=np.float64)
        most = np.append(least[1:] - 1.0, least[-1] * _GROWTH)
        return np.where(most <= least, least, np.sqrt(least * np.maximum(most, least)))
