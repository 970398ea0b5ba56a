"""Taking in what users hold: lists, NumPy and SciPy arrays, pandas objects, graphs of NetworkX, mappings."""

from __future__ import annotations

from collections.abc import Hashable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from veil.core.arrays import Floats
from veil.core.checks import plain_texts
from veil.core.errors import InvalidArgument, InvalidData

if TYPE_CHECKING:
    from scipy.sparse import csr_array

Labels = tuple[str, ...]
# 16 GB of floats. An array may be a view that is far larger than the memory it takes.
_MOST_ENTRIES = 2**31


def as_floats(field: str, value: Any) -> Floats:
    """The value as an array of floats, copied; labels are looked at elsewhere."""
    if isinstance(value, Mapping):
        value = list(value.values())
    if isinstance(value, np.ma.MaskedArray) and np.ma.getmaskarray(value).any():
        raise InvalidData(field, expected="numbers without gaps", found="masked entries")
    try:
        array = array_of(field, value)
        large = array.dtype.kind == "O" and all(isinstance(item, int) for item in array.ravel())
        # NumPy, which has refused lists that hold themselves, would read True and False as 1 and 0.
        inside = list(value) if isinstance(value, (list, tuple)) else []
        for item in inside:
            inside += item if isinstance(item, (list, tuple)) else ()
        if any(isinstance(item, bool) for item in inside) or not (large or array.dtype.kind in "iuf"):
            raise TypeError
        with np.errstate(over="ignore"):
            return np.array(array, dtype=np.float64)
    except InvalidData:
        raise
    except (TypeError, ValueError, OverflowError, RecursionError, MemoryError):
        raise InvalidData(field, expected="an array of numbers", found=_kind(value)) from None


def array_of(field: str, value: Any) -> NDArray[Any]:
    """The value as NumPy sees it, unless it is larger than anything that fits into memory."""
    try:
        too_long = isinstance(value, (list, tuple, range)) and len(value) > _MOST_ENTRIES
    except OverflowError:
        too_long = True
    array = np.empty(0) if too_long else np.asarray(value)
    if too_long or array.size > _MOST_ENTRIES:
        raise InvalidData(field, expected=f"at most {_MOST_ENTRIES:,} entries", found="more")
    return array


def numbers_of(field: str, value: Any) -> NDArray[Any]:
    """The value as an array of numbers, of the type that they have."""
    try:
        array = array_of(field, value)
    except (TypeError, ValueError, OverflowError, RecursionError, MemoryError):
        array = np.empty(1, dtype=object)
    # An empty list has no numbers of any type.
    if array.dtype.kind not in "iuf" and array.size:
        raise InvalidData(field, expected="an array of numbers", found=_kind(value))
    return array


def checked_labels(content: Any) -> Labels | None:
    """The labels of a file as text, or None if it has none."""
    if content is None:
        return None
    if not isinstance(content, list):
        raise InvalidArgument("labels", expected="a list", found=type(content).__name__)
    plain_texts("labels", map(str, content))
    return tuple(map(str, content))


def labels_of(value: Any) -> Labels | None:
    """The labels that come with the value: the keys of a mapping, the index of a pandas Series.

    Of a matrix it is the labels of the columns.
    """
    index: Any = value if isinstance(value, Mapping) else getattr(value, "columns", None)
    if _has_rows(value):
        index = named_matrix("value", value).columns
    elif index is None and type(value).__name__ == "Series":
        index = value.index
    return None if index is None else tuple(map(str, index))


def row_labels_of(value: Any) -> Labels | None:
    """The labels of the rows that come with a matrix."""
    if not _has_rows(value) and type(value).__name__ != "DataFrame":
        return None
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


# Matrices

Names = tuple[Hashable, ...]
# Beyond 4,096 states chains are held sparse.
_MOST_CELLS = 2**24
# Of a sparse matrix: one number is kept for each.
_MOST_ROWS = 2**28
_EDGE_NUMBERS = ("probability", "weight")


@dataclass(frozen=True, slots=True)
class NamedMatrix:
    """A matrix (dense, or csr_array where it came sparse) and the names of its rows and columns.

    names_found: the names are those that occurred among the entries, rather than a list given beforehand.
    """

    entries: Floats | csr_array
    rows: Names | None = None
    columns: Names | None = None
    names_found: bool = False

    def dense(self) -> Floats:
        """The entries as an array."""
        return self.entries if isinstance(self.entries, np.ndarray) else self.entries.toarray()


def named_matrix(field: str, value: Any) -> NamedMatrix:
    """The value as a matrix of floats of its own, with the names that came with it."""
    if isinstance(value, NamedMatrix):
        return value
    if hasattr(value, "states") and hasattr(value, "matrix"):
        return NamedMatrix(value.matrix.copy(), value.states, value.states)
    if hasattr(value, "tocsr"):
        # Before mappings: SciPy's dok_array is one.
        return NamedMatrix(_sparse(field, value))
    if isinstance(value, Mapping):
        return _from_mapping(field, value)
    if hasattr(value, "is_directed") and hasattr(value, "adjacency"):
        return _from_graph(field, value)
    if type(value).__name__ == "DataFrame":
        return _from_frame(field, value)
    return NamedMatrix(as_floats(field, value))


def _from_frame(field: str, frame: Any) -> NamedMatrix:
    rows, columns = tuple(frame.index), tuple(frame.columns)
    # Rows 0, 1, ... are names only where the columns have the same in another order.
    plain = type(frame.index).__name__ == "RangeIndex" and (rows == columns or set(rows) != set(columns))
    entries = frame.to_numpy()
    if entries.dtype == object and all(getattr(kind, "kind", "O") in "iuf" for kind in frame.dtypes):
        # Nullable numbers, such as Float64.
        entries = frame.to_numpy(dtype=np.float64, na_value=np.nan)
    return NamedMatrix(as_floats(field, entries), None if plain else rows, columns)


def _sparse(field: str, value: Any) -> csr_array:
    from scipy.sparse import csr_array

    if value.dtype.kind not in "iuf":
        raise InvalidData(field, expected="an array of numbers", found=f"a sparse array of {value.dtype}")
    if max(value.shape, default=0) > _MOST_ROWS:
        raise InvalidData(field, expected=f"at most {_MOST_ROWS:,} rows and columns", found="more")
    matrix = csr_array(value, dtype=np.float64, copy=True)
    matrix.sum_duplicates()
    matrix.eliminate_zeros()
    matrix.sort_indices()
    return matrix


def _from_graph(field: str, graph: Any) -> NamedMatrix:
    from scipy.sparse import csr_array

    if not graph.is_directed():
        raise InvalidData(
            field, expected="a directed graph", found="an undirected one", hint="Use graph.to_directed()."
        )
    if graph.is_multigraph():
        raise InvalidData(field, expected="one edge from a state to another", found="a multigraph")
    nodes: Names = tuple(graph.nodes)
    if not nodes:
        raise InvalidData(field, expected="a graph with states", found="an empty one")
    place = {node: i for i, node in enumerate(nodes)}
    origins, ends, numbers = [], [], []
    for origin, end, attributes in graph.edges(data=True):
        number = next((attributes[name] for name in _EDGE_NUMBERS if name in attributes), None)
        if number is None:
            raise InvalidData(
                field, expected="a 'probability' or 'weight' on every edge", found="an edge without one"
            )
        origins.append(place[origin])
        ends.append(place[end])
        numbers.append(number)
    size = len(nodes)
    entries = csr_array(
        (as_floats(field, numbers or [0.0]), (origins or [0], ends or [0])), shape=(size, size)
    )
    return NamedMatrix(_sparse(field, entries), nodes, nodes)


def _from_mapping(field: str, rows: Mapping[Any, Any]) -> NamedMatrix:
    """{from: {to: probability}}; what is not named is zero."""
    if not rows or not all(isinstance(row, Mapping) for row in rows.values()):
        raise InvalidData(field, expected="{from: {to: probability}}", found="another mapping")
    inside = {end for row in rows.values() for end in row}
    # Sorted: the order in which they happen to come would tell which entries there are.
    others = sorted(inside - set(rows), key=str)
    # Where no column is a row, it is not a chain but something like a policy.
    columns = [*rows, *others] if inside & set(rows) else others
    place = {end: j for j, end in enumerate(columns)}
    origins = [i for i, row in enumerate(rows.values()) for _ in row]
    ends = [place[end] for row in rows.values() for end in row]
    numbers = np.concatenate([as_floats(field, row).ravel() for row in rows.values()])
    if len(numbers) != len(ends):
        raise InvalidData(field, expected="a number for each transition", found="something else")
    if len(rows) * len(columns) > _MOST_CELLS:
        # A few names in a file must not become a table that fills the memory.
        from scipy.sparse import csr_array

        sparse = csr_array((numbers, (origins, ends)), shape=(len(rows), len(columns)))
        return NamedMatrix(_sparse(field, sparse), tuple(rows), tuple(columns), names_found=True)
    entries = np.zeros((len(rows), len(columns)))
    entries[origins, ends] = numbers
    return NamedMatrix(entries, tuple(rows), tuple(columns), names_found=True)
