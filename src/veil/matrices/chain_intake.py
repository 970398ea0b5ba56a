"""Checking and naming the transitions of a chain, and which of its states reach each other."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from veil.core.arrays import Floats
from veil.core.brief import brief_repr
from veil.core.checks import items
from veil.core.errors import InvalidArgument, InvalidData, VeilError
from veil.core.intake import Names, named_matrix, say
from veil.vectors.simplex import SUM_TOLERANCE

if TYPE_CHECKING:
    from scipy.sparse import csr_array


# Rows whose sum differs from 1 by less stay as they are: a chain read back from a file is the same chain.
ROUNDING = 1e-14


def take_chain(matrix: Any, states: Sequence[Hashable] | None) -> tuple[Floats | csr_array, Names]:
    """The transition probabilities, rows scaled to sum to 1, and the labels of the states."""
    taken = named_matrix("matrix", matrix)
    entries, rows, columns = taken.entries, taken.rows, taken.columns
    if rows is not None and columns is not None:
        stuck = [name for name in columns if name not in set(rows)]
        if stuck and set(rows) <= set(columns):
            raise _wrong_sum(stuck[0], "no transitions at all", len(stuck))
    size = entries.shape[0] if entries.ndim == 2 else 0
    if size == 0 or entries.shape[1] != size:
        found = f"an array of shape {entries.shape}"
        raise InvalidData("matrix", expected="as many rows as columns", found=found)
    names = states if states is not None else rows or columns
    labels = different_names("states", list(names) if isinstance(names, str) else names, size, "labels")
    if rows is not None and columns is not None:
        entries = in_order("matrix", entries, 1, columns, rows, "the same states as rows and columns")
    numbers = entries if isinstance(entries, np.ndarray) else entries.data
    if not (np.isfinite(numbers).all() and (numbers >= 0.0).all()):
        all_probabilities("matrix", numbers, entries)
    with np.errstate(over="ignore"):
        totals = np.asarray(entries.sum(axis=1)).ravel()
    wrong = np.flatnonzero(np.abs(totals - 1.0) > SUM_TOLERANCE)
    if len(wrong):
        total = totals[wrong[0]]
        sum_of = f"1 {total - 1.0:+.2g}" if f"{total:.6g}" == "1" else f"{total:.6g}"
        found = "no transitions at all" if total == 0.0 else f"a sum of {sum_of}"
        raise _wrong_sum(labels[wrong[0]], found, len(wrong))
    totals[np.abs(totals - 1.0) < ROUNDING] = 1.0
    if isinstance(entries, np.ndarray):
        scaled: Floats = entries / totals[:, None]
        scaled.setflags(write=False)
        return scaled, labels
    sparse: csr_array = entries.copy()
    sparse.data /= np.repeat(totals, np.diff(sparse.indptr))
    for part in (sparse.data, sparse.indices, sparse.indptr):
        part.setflags(write=False)
    return sparse, labels


def different_names(field: str, names: Sequence[Hashable] | None, size: int, what: str = "names") -> Names:
    """So many names, all of them different; 0, 1, ... where there are none."""
    if names is None:
        return tuple(range(size))
    expected = f"{size} different {what}"
    given = tuple(
        item.item() if isinstance(item, np.generic) else item
        for item in items(field, names, expected=expected)
    )
    try:
        different = len(set(given))
    except TypeError:
        raise InvalidArgument(field, expected=expected, found="some that cannot be compared") from None
    if len(given) != size or different != size:
        found = f"{len(given)}, {different} of them different"
        raise InvalidArgument(field, expected=expected, found=found)
    return given


def in_order(
    field: str, table: Any, axis: int, given: Names | None, wanted: Names | None, expected: str
) -> Any:
    """The table with its rows (axis 0) or columns (1) in the order of the wanted names, if both are known."""
    if given is None or wanted is None or given == wanted:
        return table
    place = {name: i for i, name in enumerate(given)}
    unknown = [name for name in wanted if name not in place]
    if unknown or len(place) != len(wanted):
        found = f"no {str(unknown[0])!r}" if unknown else f"{len(place)} names for {len(wanted)}"
        raise InvalidData(field, expected=expected, found=found)
    order = [place[name] for name in wanted]
    return table[order] if axis == 0 else table[:, order]


def all_probabilities(field: str, numbers: Floats, entries: Any) -> None:
    """Refuse entries that are not finite or negative. numbers: the entries, or those of a sparse array."""
    for right, expected, what in (
        (np.isfinite(numbers), "finite numbers", "not finite"),
        (~(numbers < 0.0), "no negative entry", "negative"),
    ):
        if not right.all():
            wrong = ~right
            if not isinstance(entries, np.ndarray):
                from scipy.sparse import csr_array

                wrong = csr_array((wrong, entries.indices, entries.indptr), shape=entries.shape)
                wrong.eliminate_zeros()
            raise InvalidData(field, expected=expected, found=say(wrong, what))


def as_in_others(count: int) -> str:
    """What an error adds of the rows that are wrong besides the first."""
    return f", as in {count - 1} other row{'s' if count > 2 else ''}" if count > 1 else ""


def _wrong_sum(state: Hashable, found: str, count: int) -> InvalidData:
    return InvalidData(
        f"matrix, row of state {str(state)[:40]!r}",
        expected=f"probabilities that sum to 1 (within {SUM_TOLERANCE:g})",
        found=found + as_in_others(count),
        hint="Divide each row by its sum, or estimate a chain from counts.",
    )


class Reducible(VeilError, ValueError):
    """The chain falls apart, so that what was asked for does not exist or is not unique."""

    exit_code = 4

    @classmethod
    def into(cls, classes: tuple[int, NDArray[Any]], what: str) -> Reducible:
        """The error for what is unique in irreducible chains alone. classes: how many, and each state's."""
        count, labels = classes
        sizes = sorted(np.bincount(labels).tolist(), reverse=True)
        return cls(
            f"matrix: expected an irreducible chain, for which {what} is unique; found {count} classes "
            f"of states that do not all reach each other (sizes {', '.join(map(str, sizes[:5]))}"
            f"{', ...' if count > 5 else ''}). chain.restrict(chain.classes()[0].states) is one of them."
        )


@dataclass(frozen=True, slots=True)
class CommunicatingClass:
    """States that reach each other. closed: no way leads out. period: 1 if the class is aperiodic."""

    states: Names
    closed: bool
    period: int

    __repr__ = brief_repr
