"""An adjacency, the sentence that users read of it, and neighbours that are made by doing what it says."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from veil.core.adjacency import Adjacency

# A random neighbour of a value; None where what was tried is none, such as a word that is not feasible.
Edit = Callable[[np.random.Generator, Any], Any]


@dataclass(frozen=True)
class Written:
    """The sentence as it was read when the generator was written: if it changes, both are to be read again.

    example: a value that the generator edits. differs: whether two values differ as the sentence says, by a
    look at the values alone.
    """

    adjacency: Adjacency
    sentence: str
    edit: Edit
    example: Any
    differs: Callable[[Any, Any], bool]

    @property
    def name(self) -> str:
        return repr(self.adjacency)
