"""What an audit sees of draws."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Self

import numpy as np

from veil.core.arrays import Floats
from veil.core.audit.marks import Marks, no_marks


@dataclass(frozen=True, eq=False)
class Seen:
    """A row of numbers and a row of marks for each draw."""

    numbers: Floats
    marks: Marks

    @classmethod
    def of(cls, numbers: Floats) -> Self:
        """Numbers without marks."""
        return cls(numbers, no_marks(len(numbers)))

    @classmethod
    def joined(cls, several: Sequence[Self]) -> Self:
        """What was seen of draws that were made one after the other."""
        numbers = np.concatenate([one.numbers for one in several])
        # What is not a number, or has no end, compares as others do.
        finite = np.nan_to_num(numbers, nan=0.0, posinf=1e60, neginf=-1e60)
        return cls(finite, np.concatenate([one.marks for one in several]))

    def __len__(self) -> int:
        return len(self.numbers)

    def __getitem__(self, which: slice) -> Self:
        return type(self)(self.numbers[which], self.marks[which])
