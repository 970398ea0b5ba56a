"""Taking in matrices as users hold them: NumPy, SciPy sparse, pandas, NetworkX, nested mappings."""

from __future__ import annotations

from collections.abc import Hashable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from veil.core.arrays import Floats
from veil.core.errors import InvalidData
from veil.core.intake import as_floats

if TYPE_CHECKING:
    from scipy.sparse import csr_array

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
