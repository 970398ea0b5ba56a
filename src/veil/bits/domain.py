"""Tables of bits."""

from __future__ import annotations

import warnings
from dataclasses import KW_ONLY, dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from veil.core import checks
from veil.core.errors import InvalidArgument, InvalidData, PrivacyWarning
from veil.core.intake import array_of, say
from veil.core.mechanism import Domain

Table = NDArray[np.bool_]
_FILL = "Say what they stand for: bits.read and bits.release take missing=."


@dataclass(frozen=True)
class Bits(Domain):
    """Tables of so many rows and columns of bits; None where any number will do."""

    columns: int | None = None
    _: KW_ONLY
    rows: int | None = None
    name: ClassVar[str] = "Bits"
    kind: ClassVar[str] = "bits"

    def __post_init__(self) -> None:
        for field in ("columns", "rows"):
            if getattr(self, field) is not None:
                object.__setattr__(self, field, checks.integer(field, getattr(self, field), least=1))

    @property
    def words(self) -> str:
        rows = "" if self.rows is None else f"{self.rows} rows of "
        columns = "any number of" if self.columns is None else f"{self.columns}"
        return f"tables of {rows}{columns} bits"

    def validate(self, value: Any) -> Table:
        """The value as a table of bits of its own."""
        table = as_bits("table", value)
        if table.ndim == 0 or table.ndim > 2 or table.size == 0:
            raise InvalidData("table", expected="rows of bits", found=f"an array of shape {table.shape}")
        if self.columns is not None and table.shape[-1] != self.columns:
            raise InvalidData("table", expected=f"{self.columns} columns", found=f"{table.shape[-1]}")
        if self.rows is not None and (table.ndim != 2 or len(table) != self.rows):
            raise InvalidData("table", expected=f"{self.rows} rows", found=f"an array of shape {table.shape}")
        return table

    def describe(self) -> dict[str, Any]:
        return {"name": self.name, "columns": self.columns, "rows": self.rows}


def warn_of_graph(table: Table) -> None:
    """Warn where a table looks like the adjacency matrix of a graph."""
    square = table.ndim == 2 and table.shape[0] == table.shape[1] and len(table) > 2
    if square and not table.diagonal().any() and table.any() and (table == table.T).all():
        warnings.warn(
            "the table is symmetric: if it is the adjacency matrix of a graph, an edge is two of its bits "
            "and is hidden less than one bit. Hand it in as a scipy.sparse.csr_array instead.",
            PrivacyWarning,
            stacklevel=4,
        )


def checked_table(field: str, value: Any, columns: int) -> Table:
    """A released table with so many columns, given as an argument."""
    bits = np.asarray(value)
    if bits.ndim != 2 or bits.shape[1] != columns:
        expected = f"a table of {columns} columns of bits"
        raise InvalidArgument(field, expected=expected, found=f"an array of shape {bits.shape}")
    if bits.dtype != np.bool_ and (bits.dtype.kind not in "iu" or not np.isin(bits, (0, 1)).all()):
        raise InvalidArgument(field, expected="bits: 0 or 1", found=f"others, of type {bits.dtype}")
    return bits.astype(np.bool_, copy=False)


def is_graph(value: Any) -> bool:
    """Whether a value is a graph of some library, or a sparse matrix, which stands for one."""
    return any(hasattr(value, name) for name in ("tocoo", "is_directed", "labelled_edges"))


def as_bits(field: str, value: Any) -> Table:
    """Booleans, or numbers that are all 0 or 1, as an array of booleans, copied."""
    expected = "True and False, or 0 and 1"
    if is_graph(value):
        hint = "veil.graphs.release takes graphs."
        raise InvalidData(field, expected=expected, found="a graph", hint=hint)
    if isinstance(value, np.ma.MaskedArray) and np.ma.getmaskarray(value).any():
        raise InvalidData(field, expected=expected, found="masked entries")
    if type(value).__name__ == "DataFrame" and hasattr(value, "to_numpy"):
        value = value.to_numpy()
    try:
        array = array_of(field, value)
    except InvalidData:
        raise
    except ValueError:
        raise InvalidData(field, expected=expected, found="rows of different lengths") from None
    if array.dtype == np.bool_:
        return np.array(array)
    if array.dtype.kind == "O":
        # Columns of several types in one frame.
        if any(item is None or type(item).__name__ in ("NAType", "NaTType") for item in array.ravel()):
            raise InvalidData(field, expected=expected, found="gaps", hint=_FILL)
        if not all(isinstance(item, (bool, int, float, np.bool_, np.integer)) for item in array.ravel()):
            raise InvalidData(field, expected=expected, found="something else")
        try:
            array = array.astype(np.float64)
        except OverflowError:
            raise InvalidData(field, expected=expected, found="a number beyond all bounds") from None
    if array.dtype.kind not in "iuf":
        raise InvalidData(
            field, expected=expected, found="text" if array.dtype.kind in "US" else type(value).__name__
        )
    if array.dtype.kind == "f" and np.isnan(array).any():
        raise InvalidData(field, expected=expected, found="gaps", hint=_FILL)
    wrong = (array != 0) & (array != 1)
    if wrong.any():
        raise InvalidData(field, expected=expected, found=say(wrong, "neither 0 nor 1"))
    return array.astype(np.bool_)
