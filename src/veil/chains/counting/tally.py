"""From the grouped rows that leave an engine to arrays of counts."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from veil.chains.lengths import LengthBins
from veil.chains.transition_counts import MOST_FULL, Provenance, Sequences, Stratum, TransitionCounts
from veil.core.errors import InvalidArgument
from veil.tables.questions import Question
from veil.tables.states import Places, StateList
from veil.vectors.counts import Integers

if TYPE_CHECKING:
    from scipy.sparse import csr_array

# Cells of the counts with two past states: a gigabyte.
MOST_CELLS = 2**27
# Codes of cells that are not on the list.
UNKNOWN, ABSENT = -1, -2


def codes_of(column: Any, texts: Sequence[str]) -> NDArray[np.int64]:
    """The place of each cell of an Arrow column in a list, matched by text; UNKNOWN or ABSENT where none."""
    import pyarrow as pa
    import pyarrow.compute as pc

    words = column.combine_chunks() if hasattr(column, "combine_chunks") else column
    words = pc.cast(words, pa.large_string())
    places = pc.index_in(words, value_set=pa.array(texts, pa.large_string()))
    codes: NDArray[np.int64] = pc.fill_null(pc.cast(places, pa.int64()), UNKNOWN).to_numpy(
        zero_copy_only=False
    )
    absent = pc.is_null(words).to_numpy(zero_copy_only=False)
    return np.where(absent, ABSENT, codes)


def numbers_of(column: Any) -> NDArray[np.int64]:
    """A column of whole numbers; ABSENT where there is none."""
    import pyarrow as pa
    import pyarrow.compute as pc

    whole = pc.fill_null(pc.cast(column, pa.int64()), ABSENT)
    return np.asarray(whole.to_numpy(), dtype=np.int64)


@dataclass(frozen=True, slots=True)
class Rows:
    """Grouped rows, with places in the list of states for labels; ABSENT where a sequence ends or begins.

    kept: how many transitions of each group were counted, kept_second: with the state before, where that
    has a cap of its own. seen: how many rows it has.
    """

    origins: NDArray[np.int64]
    ends: NDArray[np.int64]
    seen: NDArray[np.int64]
    kept: NDArray[np.int64]
    kept_second: NDArray[np.int64] | None = None
    before: NDArray[np.int64] | None = None
    strata: NDArray[np.int64] | None = None
    groups: NDArray[np.int64] | None = None
    is_first: NDArray[np.int64] | None = None
    lengths: NDArray[np.int64] | None = None


def check_size(question: Question, size: int) -> None:
    """Refuse what would need arrays of too many states, before anything is counted."""
    if question.memory == 2 and (size + 1) * size * size > MOST_CELLS:
        raise InvalidArgument("memory", expected="1 for so many states", found=f"2 for {size} states")
    for field, asked in (("strata", bool(question.strata)), ("group", question.group is not None)):
        if asked and size > MOST_FULL:
            raise InvalidArgument(field, expected=f"none above {MOST_FULL} states", found=f"{size} states")


def tally(
    rows: Rows,
    question: Question,
    *,
    states: StateList,
    places: Places,
    groups: Sequence[str],
    bins: LengthBins,
    provenance: Provenance,
) -> TransitionCounts:
    """All that was asked for, as one value."""
    size = len(places.labels)
    moved = rows.ends >= 0
    # A last place for those that have none, which ABSENT (-2) and the like must not reach by wrapping.
    target = np.append(places.targets, size)
    origins = target[rows.origins]
    ends = target[np.where(moved, rows.ends, len(places.targets))]
    kept = np.where(moved, rows.kept, 0)

    def matrix(chosen: NDArray[np.bool_]) -> Integers:
        return _summed((size, size), (origins[chosen], ends[chosen]), kept[chosen])

    strata, second, sequences, by_group = [], None, None, None
    if rows.strata is not None:
        strata = [
            Stratum(least, cap, matrix(moved & (rows.strata == number)))
            for number, (least, cap) in enumerate(question.strata)
        ]
    if rows.before is not None:
        before = target[np.where(rows.before >= 0, rows.before, len(places.targets))][moved]
        counted = rows.kept if rows.kept_second is None else rows.kept_second
        second = _summed((size + 1, size, size), (before, origins[moved], ends[moved]), counted[moved])
    if rows.groups is not None:
        by_group = {label: matrix(moved & (rows.groups == number)) for number, label in enumerate(groups)}
    if rows.is_first is not None and rows.lengths is not None:
        first, last = rows.is_first == 1, ~moved
        sequences = Sequences(
            _summed((size,), (origins[first],), rows.seen[first]),
            _summed((size,), (origins[last],), rows.seen[last]),
            _summed((len(bins),), (rows.lengths[last],), rows.seen[last]),
            bins,
        )
    total: Integers | csr_array
    total = matrix(moved) if size <= MOST_FULL else _sparse(size, origins[moved], ends[moved], kept[moved])
    return TransitionCounts(
        total,
        places.labels,
        cap=question.largest_cap,
        provenance=replace(provenance, states_found=states.found, has_users=question.by is not None),
        sequences=sequences,
        strata=strata,
        second=second,
        second_cap=question.second_cap,
        groups=by_group,
    )


def _summed(
    shape: tuple[int, ...], places: tuple[NDArray[np.int64], ...], counts: NDArray[np.int64]
) -> Integers:
    sums = np.zeros(shape, dtype=np.int64)
    np.add.at(sums, places, counts)
    return sums


def _sparse(
    size: int, origins: NDArray[np.int64], ends: NDArray[np.int64], counts: NDArray[np.int64]
) -> csr_array:
    from scipy.sparse import csr_array

    # Nothing is kept of a group whose transitions were all left out: no stored zero may tell of it.
    some = counts > 0
    return csr_array((counts[some], (origins[some], ends[some])), shape=(size, size))
