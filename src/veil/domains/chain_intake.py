"""Checking and naming the transitions of a chain."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from veil.domains.intake import Floats, say
from veil.domains.matrices import Names, take_matrix
from veil.domains.simplex import SUM_TOLERANCE
from veil.errors import InvalidArgument, InvalidData

if TYPE_CHECKING:
    from scipy.sparse import csr_array


def take_chain(matrix: Any, states: Sequence[Hashable] | None) -> tuple[Floats | csr_array, Names]:
    """The transition probabilities, rows scaled to sum to 1, and the labels of the states."""
    taken = take_matrix("matrix", matrix)
    entries = taken.entries
    size = entries.shape[0] if entries.ndim == 2 else 0
    if size == 0 or entries.shape[1] != size:
        raise InvalidData(
            "matrix", expected="as many rows as columns", found=f"an array of shape {entries.shape}"
        )
    labels = _labels(states if states is not None else taken.rows or taken.columns, size)
    if taken.rows is not None and taken.columns is not None:
        entries = _aligned(entries, taken.rows, taken.columns)
    return _normalised(entries, labels), labels


def _labels(names: Sequence[Hashable] | None, size: int) -> Names:
    if names is None:
        return tuple(range(size))
    labels = tuple(item.item() if isinstance(item, np.generic) else item for item in names)
    if len(labels) != size or len(set(labels)) != size:
        raise InvalidArgument(
            "states",
            expected=f"{size} different labels",
            found=f"{len(labels)}, {len(set(labels))} of them different",
        )
    return labels


def _aligned(entries: Any, rows: Names, columns: Names) -> Any:
    """The columns in the order of the rows, where both are named."""
    if rows == columns:
        return entries
    if set(rows) != set(columns):
        raise InvalidData("matrix", expected="the same states as rows and columns", found="different ones")
    place = {name: i for i, name in enumerate(columns)}
    return entries[:, [place[name] for name in rows]]


def _normalised(entries: Any, states: Names) -> Floats | csr_array:
    """The rows scaled to sum to 1; an error that names the state where they are far from it."""
    dense = isinstance(entries, np.ndarray)
    numbers = entries if dense else entries.data
    if not np.isfinite(numbers).all():
        raise InvalidData("matrix", expected="finite numbers", found=say(~np.isfinite(numbers), "not finite"))
    if numbers.size and numbers.min() < 0.0:
        raise InvalidData("matrix", expected="no negative entry", found=say(numbers < 0.0, "negative"))
    totals = np.asarray(entries.sum(axis=1)).ravel()
    wrong = np.flatnonzero(np.abs(totals - 1.0) > SUM_TOLERANCE)
    if len(wrong):
        first = wrong[0]
        found = "no transitions at all" if totals[first] == 0.0 else f"a sum of {totals[first]:.6g}"
        raise InvalidData(
            f"matrix, row of state {str(states[first])[:40]!r}",
            expected=f"probabilities that sum to 1 (within {SUM_TOLERANCE:g})",
            found=f"{found}{f', as in {len(wrong) - 1} other rows' if len(wrong) > 1 else ''}",
            hint="Divide each row by its sum, or estimate a chain from counts.",
        )
    if dense:
        scaled = entries / totals[:, None]
        scaled.setflags(write=False)
        return np.asarray(scaled)
    entries.data /= np.repeat(totals, np.diff(entries.indptr))
    entries.data.setflags(write=False)
    sparse: csr_array = entries
    return sparse
