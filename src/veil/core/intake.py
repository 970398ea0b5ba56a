"""Taking in what users hold: lists, NumPy arrays, pandas objects, mappings."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from veil.core.arrays import Floats
from veil.core.errors import InvalidData

Labels = tuple[str, ...]
_DEEPEST = 64
# 16 GB of floats. An array may be a view that is far larger than the memory it takes.
_MOST_ENTRIES = 2**31


def as_floats(field: str, value: Any) -> Floats:
    """The value as an array of floats, copied; labels are looked at elsewhere."""
    if isinstance(value, Mapping):
        value = list(value.values())
    if isinstance(value, np.ma.MaskedArray) and np.ma.getmaskarray(value).any():
        raise InvalidData(field, expected="numbers without gaps", found="masked entries")
    if _has_bools(value):
        # NumPy would read them as 1 and 0.
        raise InvalidData(field, expected="an array of numbers", found=_kind(value))
    try:
        array = array_of(field, value)
        if array.dtype == np.longdouble and array.dtype != np.float64:
            with np.errstate(over="ignore"):
                return np.array(array, dtype=np.float64)
        if array.dtype.kind not in "iuf":
            if array.dtype.kind == "O" and all(isinstance(item, int) for item in array.ravel()):
                return np.array(array, dtype=np.float64)
            raise TypeError
        return np.array(array, dtype=np.float64)
    except InvalidData:
        raise
    except (TypeError, ValueError, OverflowError, RecursionError, MemoryError):
        raise InvalidData(field, expected="an array of numbers", found=_kind(value)) from None


def array_of(field: str, value: Any) -> NDArray[Any]:
    """The value as NumPy sees it, unless it is larger than anything that fits into memory."""
    too_long = isinstance(value, (list, tuple, range)) and not -1 < _length(value) <= _MOST_ENTRIES
    array = np.empty(0) if too_long else np.asarray(value)
    if too_long or array.size > _MOST_ENTRIES:
        raise InvalidData(field, expected=f"at most {_MOST_ENTRIES:,} entries", found="more")
    return array


def _length(value: Any) -> int:
    try:
        return len(value)
    except OverflowError:
        return -1


def _has_bools(value: Any, depth: int = 0) -> bool:
    inside = value if isinstance(value, (list, tuple)) else ()
    if depth > _DEEPEST:
        # Deeper than any array: NumPy refuses it.
        return False
    return any(isinstance(item, bool) or _has_bools(item, depth + 1) for item in inside)


def labels_of(value: Any) -> Labels | None:
    """The labels that come with the value: the keys of a mapping, the index of a pandas Series.

    Of a matrix it is the labels of the columns.
    """
    if _has_rows(value):
        from veil.core.named_matrix import named_matrix

        columns = named_matrix("value", value).columns
        return None if columns is None else tuple(map(str, columns))
    if isinstance(value, Mapping):
        return tuple(map(str, value))
    index = getattr(value, "columns", None)
    if index is None and type(value).__name__ == "Series":
        index = getattr(value, "index", None)
    return None if index is None else tuple(map(str, index))


def row_labels_of(value: Any) -> Labels | None:
    """The labels of the rows that come with a matrix."""
    if not _has_rows(value) and type(value).__name__ != "DataFrame":
        return None
    from veil.core.named_matrix import named_matrix

    rows = named_matrix("value", value).rows
    return None if rows is None else tuple(map(str, rows))


def _has_rows(value: Any) -> bool:
    """Whether it is one of the things, other than a plain table, that name rows and columns."""
    if isinstance(value, Mapping):
        return any(isinstance(row, Mapping) for row in value.values())
    return (hasattr(value, "states") and hasattr(value, "matrix")) or hasattr(value, "is_directed")


def say(wrong: Any, what: str) -> str:
    """Where an array (or a sparse one) is wrong, without saying what stands there."""
    if np.ndim(wrong) == 0 and not hasattr(wrong, "nnz"):
        return f"one {what}"
    if isinstance(wrong, np.ndarray):
        count = int(np.count_nonzero(wrong))
        first = tuple(int(i) for i in np.argwhere(wrong)[0])
    else:
        count, (rows, columns) = int(wrong.nnz), wrong.nonzero()
        first = (int(rows[0]), int(columns[0]))
    place = str(first[0]) if len(first) == 1 else str(first)
    return f"{count} {'entry' if count == 1 else 'entries'} {what}, the first at position {place}"


def _kind(value: Any) -> str:
    if isinstance(value, (str, bytes)):
        return "text"
    if isinstance(value, (list, tuple)):
        return f"a {type(value).__name__} of other things or of uneven length"
    return type(value).__name__
