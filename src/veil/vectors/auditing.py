"""How audits attack mechanisms whose values are arrays: vectors and counts here, matrices beside."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from veil.core.adjacency import Adjacency
from veil.core.arrays import Floats
from veil.core.audit.pair import AuditPair
from veil.core.audit.reading import entry_numbers
from veil.core.audit.subject import AuditSubject, Example, Reader
from veil.core.errors import InvalidArgument
from veil.vectors.adjacency import Contributions, Records, Transfer
from veil.vectors.counts import Counts
from veil.vectors.mechanisms.additive import Gaussian, Laplace
from veil.vectors.mechanisms.dirichlet import Dirichlet
from veil.vectors.mechanisms.dirichlet_counts import DirichletCounts
from veil.vectors.mechanisms.noisy_counts import DiscreteGaussianCounts, GeometricCounts
from veil.vectors.neighbours import count_pairs, vector_pairs
from veil.vectors.simplex import Simplex

_TRANSFER = Transfer(0.05)


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

        def read(found: Any) -> Floats:
            outputs = np.asarray(found, dtype=np.float64)
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
