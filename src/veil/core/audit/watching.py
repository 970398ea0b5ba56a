"""Draws of a mechanism as rows of numbers, whatever was drawn."""

from __future__ import annotations

from typing import Any

import numpy as np

from veil.core.arrays import Floats
from veil.core.audit.subject import Reader
from veil.core.kinds import kind_of
from veil.core.random.streams import Rng

# Numbers that are held at once.
_AT_ONCE = 4_000_000


def drawn_rows(mechanism: Any, value: Any, reader: Reader, draws: int, stream: Rng) -> Floats:
    """So many outputs for the value, each as a row of numbers."""
    subject = kind_of(mechanism).audit
    size = max(1, subject.size(mechanism, mechanism.validate(value)))
    each = max(1, min(draws, _AT_ONCE // size))
    sizes = [min(each, draws - begin) for begin in range(0, draws, each)]
    rows = [reader(subject.drawn(mechanism, value, size, stream)) for size in sizes]
    return np.nan_to_num(np.concatenate(rows), nan=0.0, posinf=1e60, neginf=-1e60)
