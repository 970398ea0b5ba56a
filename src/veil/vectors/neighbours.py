"""Made-up neighbours among probability vectors and counts."""

from __future__ import annotations

from typing import Any

import numpy as np

from veil.core.arrays import Floats
from veil.core.audit.pair import AuditPair
from veil.vectors.adjacency import Contributions, Records, Transfer
from veil.vectors.simplex import Simplex

# What a large cell holds, beside which the noise is small.
_LARGE = 1_000
WHERE = {"floor": "at the floor", "corner": "at a corner", "middle": "all others alike"}


def vector_pairs(mechanism: Any, relation: Transfer) -> list[AuditPair]:
    """Two entries exchange as much as they may: at the floor, at a corner, in the middle, at either end."""
    domain: Simplex = mechanism.domain
    floor = 0.0 if getattr(mechanism, "smooth", False) else domain.floor
    guarded = list(range(domain.size)) if domain.protected is None else list(domain.protected)
    first, last, middle = guarded[0], guarded[-1], guarded[len(guarded) // 2]
    places = dict.fromkeys([(first, last), (last, first), (first, middle), (middle, last)])
    found = []
    for i, j in [(i, j) for i, j in places if i != j]:
        for kind, where in WHERE.items() if (i, j) == (first, last) else (("floor", WHERE["floor"]),):
            one, other = neighbouring_vectors(domain, floor, relation.mass, (i, j), kind)
            found.append(AuditPair(f"entries {i + 1} and {j + 1}, {where}", one, other))
    return found


def neighbouring_vectors(
    domain: Simplex, floor: float, mass: float, places: tuple[int, int], kind: str
) -> tuple[Floats, Floats]:
    """Entry i has the mass more than the floor, or entry j; the rest lies elsewhere, at i, or all over."""
    i, j = places
    guarded = range(domain.size) if domain.protected is None else domain.protected
    open_entries = [k for k in range(domain.size) if k not in set(guarded)]
    base = np.zeros(domain.size)
    base[list(guarded)] = floor
    slack = domain.slack or 0.0
    spare = max(0.0, 1.0 - float(base.sum()) - slack)
    moved = min(mass, spare)
    spare = spare - moved
    if open_entries:
        base[open_entries] += slack / len(open_entries)
    others = [k for k in guarded if k not in places]
    if kind == "middle":
        base[list(guarded)] += spare / len(guarded)
    elif kind == "floor" and open_entries:
        base[open_entries] += spare / len(open_entries)
    elif kind == "floor" and others:
        base[others[-1]] += spare
    else:
        base[i] += spare
    one, other = base.copy(), base.copy()
    one[i] += moved
    other[j] += moved
    return one, other


def count_pairs(mechanism: Any, relation: Records | Contributions) -> list[AuditPair]:
    """Records in the first cell, in the last, in empty cells and in large ones."""
    size, limit = mechanism.size, relation.contributions
    come, gone = limit.added, limit.removed

    def pair(name: str, base: int, into: int, out_of: int) -> AuditPair:
        value = np.full(size, base, dtype=np.int64)
        value[[into, out_of]] = 0 if base == _LARGE else base
        value[out_of] += gone
        neighbour = value.copy()
        neighbour[into] += come
        neighbour[out_of] -= gone
        return AuditPair(name, neighbour, value)

    one = "into an empty {} cell" if gone == 0 else "from the {} cell to the {}"
    places = {("first", "last"): (size - 1, 0), ("last", "first"): (0, size - 1)}
    found = []
    for (start, end), (into, out_of) in places.items():
        name = one.format(end) if gone == 0 else one.format(start, end)
        found.append(pair(f"{name}, among large ones", _LARGE, into, out_of))
    found.append(pair("no other records", 0, 0, size - 1))
    found.append(pair("in cells of some hundreds", 300, 0, size - 1))
    if come + gone > 1 and size > 2 and come > 1:
        spread = np.bincount(np.arange(come) % (size - 1), minlength=size)
        value = np.full(size, _LARGE, dtype=np.int64)
        left = value.copy()
        left[-1] -= gone
        found.append(AuditPair("spread over the cells", left + spread, value))
    return found
