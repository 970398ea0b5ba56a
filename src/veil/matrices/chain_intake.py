"""Checking and naming the transitions of a chain."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from veil.core.arrays import Floats
from veil.core.checks import items
from veil.core.errors import InvalidArgument, InvalidData
from veil.core.intake import Names, named_matrix, say
from veil.vectors.simplex import SUM_TOLERANCE

if TYPE_CHECKING:
    from scipy.sparse import csr_array


def take_chain(matrix: Any, states: Sequence[Hashable] | None) -> tuple[Floats | csr_array, Names]:
    """The transition probabilities, rows scaled to sum to 1, and the labels of the states."""
    taken = named_matrix("matrix", matrix)
    entries = taken.entries
    if taken.rows is not None and taken.columns is not None:
        stuck = [name for name in taken.columns if name not in set(taken.rows)]
        if stuck and set(taken.rows) <= set(taken.columns):
            raise _wrong_sum(stuck[0], "no transitions at all", len(stuck))
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
    try:
        given = names if isinstance(names, str) else items("states", names, expected="a list of labels")
        labels = tuple(item.item() if isinstance(item, np.generic) else item for item in given)
        different = len(set(labels))
    except TypeError:
        found = "something else" if not hasattr(names, "__iter__") else "some that cannot be compared"
        raise InvalidArgument("states", expected=f"{size} different labels", found=found) from None
    if len(labels) != size or different != size:
        raise InvalidArgument(
            "states",
            expected=f"{size} different labels",
            found=f"{len(labels)}, {different} of them different",
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
        wrong_places = _places(entries, ~np.isfinite(numbers))
        raise InvalidData("matrix", expected="finite numbers", found=say(wrong_places, "not finite"))
    if numbers.size and numbers.min() < 0.0:
        wrong_places = _places(entries, numbers < 0.0)
        raise InvalidData("matrix", expected="no negative entry", found=say(wrong_places, "negative"))
    with np.errstate(over="ignore"):
        totals = np.asarray(entries.sum(axis=1)).ravel()
    wrong = np.flatnonzero(np.abs(totals - 1.0) > SUM_TOLERANCE)
    if len(wrong):
        first = wrong[0]
        short = f"{totals[first]:.6g}"
        sum_of = short if short != "1" else f"1 {totals[first] - 1.0:+.2g}"
        found = "no transitions at all" if totals[first] == 0.0 else f"a sum of {sum_of}"
        raise _wrong_sum(states[first], found, len(wrong))
    totals = but_for_rounding(totals)
    if dense:
        scaled = entries / totals[:, None]
        scaled.setflags(write=False)
        return np.asarray(scaled)
    sparse: csr_array = entries.copy()
    sparse.data /= np.repeat(totals, np.diff(sparse.indptr))
    for part in (sparse.data, sparse.indices, sparse.indptr):
        part.setflags(write=False)
    return sparse


def but_for_rounding(totals: Floats) -> Floats:
    """The sums of rows, with 1 for those that differ from it by rounding alone.

    Such rows stay as they are: a chain read back from a file is the same chain.
    """
    return np.where(np.abs(totals - 1.0) < 1e-14, 1.0, totals)


def _places(entries: Any, wrong: Any) -> Any:
    """Where entries are wrong, as a table; of a sparse array only as large as needed to say it."""
    if isinstance(entries, np.ndarray):
        return wrong
    from scipy.sparse import csr_array

    marked = csr_array((wrong, entries.indices, entries.indptr), shape=entries.shape)
    marked.eliminate_zeros()
    return marked


def _wrong_sum(state: Hashable, found: str, count: int) -> InvalidData:
    others = f", as in {count - 1} other row{'s' if count > 2 else ''}" if count > 1 else ""
    return InvalidData(
        f"matrix, row of state {str(state)[:40]!r}",
        expected=f"probabilities that sum to 1 (within {SUM_TOLERANCE:g})",
        found=f"{found}{others}",
        hint="Divide each row by its sum, or estimate a chain from counts.",
    )
