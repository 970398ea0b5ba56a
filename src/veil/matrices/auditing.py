"""How audits attack mechanisms on matrices."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from veil.core.adjacency import Adjacency
from veil.core.audit.subject import AuditPair, Example
from veil.core.errors import InvalidArgument
from veil.matrices.adjacency import Rectangle, Rows
from veil.matrices.birkhoff import Birkhoff
from veil.matrices.mechanisms.bordered_rows import BorderedRows
from veil.matrices.mechanisms.doubly_stochastic import DoublyStochastic
from veil.matrices.mechanisms.matrix_dirichlet import MatrixDirichlet
from veil.matrices.mechanisms.row_by_row import RowByRow
from veil.matrices.neighbours import bordered_pairs, doubly_pairs, matrix_pairs
from veil.vectors.adjacency import Records, Transfer
from veil.vectors.auditing import ArrayAudit
from veil.vectors.mechanisms.additive import Laplace
from veil.vectors.simplex import Simplex


class MatrixAudit(ArrayAudit):
    """Audits of mechanisms on matrices."""

    def examples(self) -> list[Example]:
        row, transfer = Simplex(3, floor=0.08), Transfer(0.05)
        return [
            (MatrixDirichlet((20.0, 40.0), [row] * 2), Rows(1, transfer)),
            (RowByRow(Laplace(0.2, Simplex(3)), rows=3), Rows("all", transfer)),
            (DoublyStochastic(0.2, 3), Rectangle(0.1)),
            (DoublyStochastic(0.2, 3, noise="gaussian"), Rectangle(0.1)),
            (BorderedRows([30.0] * 2, [0.1] * 2, [40, 60], size=3), Records("replace")),
        ]

    def pairs(self, mechanism: Any, adjacency: Any) -> list[AuditPair]:
        if isinstance(mechanism, BorderedRows):
            return bordered_pairs(mechanism)
        if isinstance(mechanism.domain, Birkhoff):
            return doubly_pairs(mechanism.domain, adjacency)
        return matrix_pairs(mechanism, adjacency)

    def relation_of_change(self, mechanism: Any, change: NDArray[Any]) -> Adjacency:
        if mechanism.item_axes(change) < 2 or isinstance(mechanism, BorderedRows):
            return super().relation_of_change(mechanism, change)
        table = change.reshape(-1, change.shape[-1])
        moved = (table != 0.0).sum(axis=1)
        # What smoothing or scaling of the rows left behind is no change.
        moved = np.where(np.abs(table).max(axis=1) < 1e-15, 0, moved)
        rows = int(np.count_nonzero(moved))
        mass = min(1.0, float(np.abs(table).sum(axis=1).max()) / 2.0 * (1.0 + 1e-12))
        if isinstance(mechanism.domain, Birkhoff) and rows == 2 and sorted(moved)[-2:] == [2, 2]:
            return Rectangle(mass)
        if rows > 0 and moved.max() == 2:
            return Rows(rows, Transfer(mass))
        raise InvalidArgument(
            "neighbour",
            expected="a matrix in which two entries of a row exchange mass, in one row or more",
            found=f"{rows} rows that differ in another way",
        )
