"""How audits attack mechanisms whose values are arrays: vectors and counts here, matrices beside."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from veil.core.adjacency import Adjacency
from veil.core.arrays import Floats
from veil.core.audit.subject import AuditPair, AuditSubject, Example, Reader, entry_numbers
from veil.core.errors import InvalidArgument
from veil.vectors.counts import Contributions, Counts, Records
from veil.vectors.mechanisms.additive import Gaussian, Laplace
from veil.vectors.mechanisms.dirichlet import Dirichlet
from veil.vectors.mechanisms.dirichlet_counts import DirichletCounts
from veil.vectors.mechanisms.noisy_counts import DiscreteGaussianCounts, GeometricCounts
from veil.vectors.simplex import Simplex, Transfer

_TRANSFER = Transfer(0.05)
# What a large cell holds, beside which the noise is small.
_LARGE = 1_000
_WHERE = {"floor": "at the floor", "corner": "at a corner", "middle": "all others alike"}


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
        elif len(moved) == 2:
            return Transfer(min(1.0, float(np.abs(change).sum()) / 2.0 * (1.0 + 1e-12)))
        raise InvalidArgument(
            "neighbour",
            expected="a neighbour of the value (two entries that exchange mass, or one record's difference)",
            found=f"{len(moved)} entries that differ in another way",
        )

    def reader(self, mechanism: Any, value: Any, neighbour: Any) -> Reader:
        inputs = [np.asarray(mechanism.validate(item), dtype=np.float64) for item in (value, neighbour)]
        if isinstance(mechanism.domain, Counts):
            inputs = [item / np.maximum(item.sum(axis=-1, keepdims=True), 1.0) for item in inputs]
        before, after = (item.ravel() for item in inputs)

        def read(drawn: Any) -> Floats:
            outputs = np.asarray(drawn, dtype=np.float64)
            flat = outputs.reshape(len(outputs), -1)
            # An output that is not laid out as the input is can only be looked at as it is.
            columns = entry_numbers(flat, before, after) if flat.shape[1] == len(before) else [flat]
            if hasattr(mechanism, "log_density"):
                ratio = mechanism.log_density(outputs, value) - mechanism.log_density(outputs, neighbour)
                columns.append(np.asarray(ratio)[:, None])
            return np.hstack(columns)

        return read


class VectorAudit(ArrayAudit):
    """Audits of mechanisms on vectors and counts."""

    def examples(self) -> list[Example]:
        return [
            (Dirichlet(20.0, Simplex(5, floor=0.08)), _TRANSFER),
            (Dirichlet(40.0, Simplex(4, floor=0.08), smooth=True), _TRANSFER),
            (DirichletCounts(2.0, 10.0, 3), Records("add-remove")),
            (DirichletCounts(2.0, 10.0, 3), Records("replace")),
            (Laplace(0.1, Simplex(4)), _TRANSFER),
            (Gaussian(0.1, Simplex(4)), _TRANSFER),
            (GeometricCounts(1.0, 4), Records("add-remove")),
            (GeometricCounts(2.0, 4), Contributions(2, 2)),
            (DiscreteGaussianCounts(2.0, 4), Records("replace")),
        ]

    def pairs(self, mechanism: Any, adjacency: Any) -> list[AuditPair]:
        make = count_pairs if isinstance(mechanism.domain, Counts) else vector_pairs
        return make(mechanism, adjacency)


def vector_pairs(mechanism: Any, relation: Transfer) -> list[AuditPair]:
    """Two entries exchange as much as they may: at the floor, at a corner, in the middle, at either end."""
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
    return pairs


def neighbouring_vectors(
    domain: Simplex, floor: float, mass: float, places: tuple[int, int], kind: str
) -> tuple[Floats, Floats]:
    """Entry i has the mass more than the floor, or entry j; the rest lies elsewhere, at i, or all over."""
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
    if size > 2 and come > 1:
        spread = np.bincount(np.arange(come) % (size - 1), minlength=size)
        value = np.full(size, _LARGE, dtype=np.int64)
        left = value.copy()
        left[-1] -= gone
        pairs.append(AuditPair("spread over the cells", left + spread, value))
    return pairs
