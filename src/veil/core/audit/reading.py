"""Numbers that may tell two neighbours apart, from an output laid out as a row."""

from __future__ import annotations

from typing import Any

import numpy as np

from veil.core.arrays import Floats

# Entries of an output that are looked at one by one; those that differ come first.
MOST_ENTRIES, MOST_CHANGED = 256, 4


def chosen_places(changed: Any, size: int) -> Any:
    """The places that are looked at: those that differ, then others all over."""
    others = np.unique(np.linspace(0, size - 1, min(size, MOST_ENTRIES)).astype(np.int64))
    return np.unique(np.concatenate([changed[:MOST_ENTRIES], others]))


def nearness(found: Floats, before: Floats, after: Floats) -> tuple[Floats, Floats]:
    """How much nearer a draw is to the one than to the other, in L1 and in squares."""
    one, other = found - before, found - after
    return np.abs(other).sum(axis=1) - np.abs(one).sum(axis=1), (other**2 - one**2).sum(axis=1)


def entry_numbers(flat: Floats, before: Floats, after: Floats) -> list[Floats]:
    """Entries, ratios of those that differ, and whether one came out as it went in."""
    changed = np.flatnonzero(before != after)
    places, few = chosen_places(changed, flat.shape[1]), changed[:MOST_CHANGED]
    found = [flat[:, places]]
    found += [
        _log_ratio(flat[:, i], flat[:, j])[:, None] for i in few.tolist() for j in few.tolist() if i < j
    ]
    found += [(flat[:, few] == before[few]).astype(np.float64)]
    found += [(flat[:, few] == after[few]).astype(np.float64)]
    if len(changed):
        near = nearness(flat[:, changed], before[changed], after[changed])
        found += [column[:, None] for column in near]
    return found


def _log_ratio(a: Floats, b: Floats) -> Floats:
    tiny = 1e-320
    return np.log(np.maximum(a, tiny)) - np.log(np.maximum(b, tiny))
