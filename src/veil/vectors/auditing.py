"""How audits attack mechanisms whose values are arrays: vectors and counts here, matrices beside."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from veil.core.adjacency import Adjacency
from veil.core.arrays import Floats
from veil.core.audit.marks import FloatMarks, Marker, Marks
from veil.core.audit.subject import (
    FAST,
    AuditPair,
    AuditSubject,
    Example,
    Reader,
    chosen_places,
    entry_numbers,
)
from veil.core.errors import InvalidArgument
from veil.vectors.counts import Contributions, Counts, Records
from veil.vectors.l1 import L1
from veil.vectors.mechanisms.additive import Gaussian, Laplace
from veil.vectors.mechanisms.dirichlet import Dirichlet
from veil.vectors.mechanisms.dirichlet_counts import DirichletCounts
from veil.vectors.mechanisms.noisy_counts import DiscreteGaussianCounts, GeometricCounts
from veil.vectors.simplex import Simplex, Transfer

_TRANSFER, _L1 = Transfer(0.05), L1(0.1)
# What a large cell holds, beside which the noise is small.
_LARGE = 1_000
# From an urn, for each value, in a few seconds.
_URN_DRAWS = 2_000_000
_WHERE = {
    "floor": "at the floor",
    "corner": "at a corner",
    "middle": "all others alike",
    "alone": "one alone at the floor",
}
_BESIDE = "another item of a batch changes: what is released of this one"


class ArrayAudit(AuditSubject):
    """Audits of mechanisms on arrays of numbers."""

    def apart(self, mechanism: Any, adjacency: Any, first: Any, second: Any) -> str:
        if np.shape(first) != np.shape(second):
            raise InvalidArgument("neighbour", expected="one value like the first", found="another shape")
        return "" if adjacency.allows(np.atleast_2d(second - first)) else "more that differs"

    def relation(self, mechanism: Any, first: Any, second: Any) -> Adjacency:
        axes = mechanism.item_axes(first)
        if np.shape(first) != np.shape(second) or np.ndim(first) != axes:
            raise InvalidArgument("neighbour", expected="one value like the first", found="another shape")
        return self.relation_of_change(mechanism, second - first)

    def relation_of_change(self, mechanism: Any, change: NDArray[Any]) -> Adjacency:
        """The tightest adjacency under which values that differ by this are neighbours."""
        moved = change[change != 0].ravel()
        if isinstance(mechanism.domain, Counts):
            steps = sorted(int(step) for step in moved)
            if steps in ([1], [-1]):
                return Records("add-remove")
            if steps == [-1, 1]:
                return Records("replace")
        elif len(moved) >= 2:
            distance = min(2.0, float(np.abs(moved).sum()) * (1.0 + 1e-12))
            return Transfer(distance / 2.0) if len(moved) == 2 else L1(distance)
        raise InvalidArgument(
            "neighbour",
            expected="a neighbour of the value (entries that exchange mass, or one record's difference)",
            found=f"{len(moved)} entries that differ in another way",
        )

    def reader(self, mechanism: Any, value: Any, neighbour: Any) -> Reader:
        inputs = _as_released(mechanism, value, neighbour)
        before, after = (item.ravel() for item in inputs)
        # A mechanism of another package need not say what a batch is.
        is_batch = getattr(mechanism, "is_batch", lambda _: False)(inputs[0])
        has_density = hasattr(mechanism, "log_density") and not is_batch

        def read(drawn: Any) -> Floats:
            outputs = np.asarray(drawn, dtype=np.float64)
            flat = outputs.reshape(len(outputs), -1)
            # An output that is not laid out as the input is can only be looked at as it is.
            columns = entry_numbers(flat, before, after) if flat.shape[1] == len(before) else [flat]
            if has_density:
                ratio = mechanism.log_density(outputs, value) - mechanism.log_density(outputs, neighbour)
                columns.append(np.asarray(ratio)[:, None])
            return np.hstack(columns)

        return read

    def marker(self, mechanism: Any, value: Any, neighbour: Any) -> Marker:
        before, after = _as_released(mechanism, value, neighbour)

        def mark(drawn: Any) -> Marks:
            outputs = np.asarray(drawn)
            if outputs.shape[1:] == before.shape:
                return FloatMarks(before, after)(outputs)
            plain = np.zeros(outputs[0].size)
            return FloatMarks(plain, plain)(outputs)

        return mark

    def beside(self, mechanism: Any, value: Any, neighbour: Any) -> tuple[Reader, Marker]:
        before, after = _as_released(mechanism, value, neighbour)
        same = (before == after).all(axis=-1)
        marks = FloatMarks(before[same], after[same])

        def read(drawn: Any) -> Floats:
            entries = np.asarray(drawn, dtype=np.float64)[:, same].reshape(len(drawn), -1)
            return entries[:, chosen_places(np.arange(0), entries.shape[1])]

        return read, lambda drawn: marks(np.asarray(drawn)[:, same])


def _as_released(mechanism: Any, *values: Any) -> list[Floats]:
    """The inputs as they would come out without noise: counts as relative frequencies."""
    inputs = [mechanism.validate(item) for item in values]
    if isinstance(mechanism.domain, Counts):
        inputs = [shares(item) for item in inputs]
    return [np.asarray(item, dtype=np.float64) for item in inputs]


def shares(counts: NDArray[Any]) -> Floats:
    """The relative frequencies in every row; zeros where there are no records."""
    return np.asarray(counts / np.maximum(counts.sum(axis=-1, keepdims=True), 1.0), dtype=np.float64)


class VectorAudit(ArrayAudit):
    """Audits of mechanisms on vectors and counts."""

    def examples(self) -> list[Example]:
        return [
            (Dirichlet(20.0, Simplex(5, floor=0.08)), _TRANSFER),
            (Dirichlet(40.0, Simplex(4, floor=0.08), smooth=True), _TRANSFER),
            (DirichletCounts(2.0, 10.0, 3), Records("add-remove")),
            (DirichletCounts(2.0, 10.0, 3), Records("replace")),
            # Shapes below one and far apart, where a sampler might take another way; and huge ones.
            (DirichletCounts(0.011, 0.19, 3), Records("add-remove")),
            (DirichletCounts(48.0, 2.0**57, 3), Records("add-remove")),
            # Urns: of few outputs, and of many.
            (DirichletCounts(2.0, 10.0, 3, draws=60), Records("replace")),
            (Dirichlet(40.0, Simplex(4, floor=0.08), smooth=True, draws=500), _TRANSFER),
            (Laplace(0.1, Simplex(4)), _TRANSFER),
            (Gaussian(0.1, Simplex(4)), _TRANSFER),
            (Dirichlet(20.0, Simplex(5, floor=0.08)), _L1),
            (Dirichlet(2.0, Simplex(6, floor=0.05)), _L1),
            (Laplace(0.1, Simplex(4)), _L1),
            (GeometricCounts(1.0, 4), Records("add-remove")),
            (GeometricCounts(2.0, 4), Contributions(2, 2)),
            (DiscreteGaussianCounts(2.0, 4), Records("replace")),
        ]

    def samples(self, mechanism: Any) -> int:
        # The time of an urn is that of its draws.
        return min(FAST, max(2_000, _URN_DRAWS // (getattr(mechanism, "draws", None) or 1)))

    def pairs(self, mechanism: Any, adjacency: Any) -> list[AuditPair]:
        make = count_pairs if isinstance(mechanism.domain, Counts) else vector_pairs
        return make(mechanism, adjacency)


def vector_pairs(mechanism: Any, relation: Transfer | L1) -> list[AuditPair]:
    """Two entries exchange as much as they may: at the floor, at a corner, in the middle, at either end.

    Where more than two may change, also one entry with all others, in either direction.
    """
    domain: Simplex = mechanism.domain
    floor = 0.0 if getattr(mechanism, "smooth", False) else domain.floor
    guarded = np.flatnonzero(domain.guarded).tolist()
    first, last, middle = guarded[0], guarded[-1], guarded[len(guarded) // 2]
    places = dict.fromkeys([(first, last), (last, first), (first, middle), (middle, last)])
    pairs = []
    for i, j in [(i, j) for i, j in places if i != j]:
        for kind, where in _WHERE.items() if (i, j) == (first, last) else (("floor", _WHERE["floor"]),):
            one, other = neighbouring_vectors(domain, floor, relation.mass, (i, j), kind)
            pairs.append(AuditPair(f"entries {i + 1} and {j + 1}, {where}", one, other))
    if relation.entries(len(guarded)) > 2:
        one, other = spread_vectors(domain, floor, relation.mass)
        names = f"entry {first + 1} gives to all others", f"all others give to entry {first + 1}"
        pairs += [AuditPair(names[0], one, other), AuditPair(names[1], other, one)]
    changed = neighbouring_vectors(domain, floor, relation.mass, (first, last), "alone")
    calm, _ = neighbouring_vectors(domain, floor, relation.mass, (first, last), "corner")
    return [*pairs, AuditPair(_BESIDE, *(np.stack([one, calm]) for one in changed), beside=True)]


def spread_vectors(domain: Simplex, floor: float, mass: float) -> tuple[Floats, Floats]:
    """The first protected entry has the mass more than the floor, or the others share it alike.

    What is left lies outside the protected entries, if there are such, else with the last one.
    """
    guarded, slack = np.flatnonzero(domain.guarded), domain.slack or 0.0
    base = np.where(domain.guarded, floor, 0.0)
    spare = max(0.0, 1.0 - float(base.sum()) - slack)
    moved = min(mass, spare)
    rest = np.flatnonzero(~domain.guarded)
    rest = rest if rest.size else guarded[-1:]
    base[rest] += (spare - moved + slack) / len(rest)
    one, other = base.copy(), base.copy()
    one[guarded[0]] += moved
    other[guarded[1:]] += moved / (len(guarded) - 1)
    return one, other


def neighbouring_vectors(
    domain: Simplex, floor: float, mass: float, places: tuple[int, int], kind: str
) -> tuple[Floats, Floats]:
    """Entry i has the mass more than the floor, or entry j; the rest lies elsewhere, at i, or all over.

    "alone": on all but i, which then is the only one at the floor once it has given the mass away.
    """
    i, j = places
    guarded, slack = np.flatnonzero(domain.guarded), domain.slack or 0.0
    open_entries, others = np.flatnonzero(~domain.guarded), np.setdiff1d(guarded, places)
    base = np.where(domain.guarded, floor, 0.0)
    spare = max(0.0, 1.0 - float(base.sum()) - slack)
    moved = min(mass, spare)
    spare = spare - moved
    if open_entries.size:
        base[open_entries] += slack / len(open_entries)
    if kind == "middle":
        base[guarded] += spare / len(guarded)
    elif kind == "alone":
        base[guarded[guarded != i]] += spare / (len(guarded) - 1)
    elif kind == "floor" and open_entries.size:
        base[open_entries] += spare / len(open_entries)
    elif kind == "floor" and others.size:
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

    words = "into an empty {1} cell" if gone == 0 else "from the {0} cell to the {1}"
    pairs = [
        pair(f"{words.format('first', 'last')}, among large ones", _LARGE, size - 1, 0),
        pair(f"{words.format('last', 'first')}, among large ones", _LARGE, 0, size - 1),
        pair("no other records", 0, 0, size - 1),
        pair("in cells of some hundreds", 300, 0, size - 1),
    ]
    full = np.full(size, _LARGE, dtype=np.int64)
    if size > 2 and come > 1:
        spread = np.bincount(np.arange(come) % (size - 1), minlength=size)
        left = full.copy()
        left[-1] -= gone
        pairs.append(AuditPair("spread over the cells", left + spread, full))
    # Most of it in one cell.
    calm = np.append(full[1:] // 20, _LARGE)
    alone = calm * (np.arange(size) > 0)
    filled = alone.copy()
    filled[0] += come
    filled[-1] -= gone
    pairs.append(AuditPair("the only empty cell", filled, alone))
    return [*pairs, AuditPair(_BESIDE, *(np.stack([one, calm]) for one in (filled, alone)), beside=True)]
