"""What a column of two values holds: its cells as codes, and which of its values is 1.

The usual pairs are read without being asked, whichever of their values occur: a column of "y" alone is a
column of y and n, of which no n occurred. So all columns over a usual pair are read in the same way, and
how they are read tells nothing about them. Two other values are found in the data, and said to be public.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from math import isfinite
from typing import Any

import numpy as np

from veil.core.errors import InvalidArgument, InvalidData
from veil.tables.cells import Coded, is_number, numbers_of
from veil.tables.engines.protocol import missing_column

# What 0 and 1 are usually called.
USUAL = (("no", "yes"), ("n", "y"), ("false", "true"), ("f", "t"), ("0", "1"), ("0.0", "1.0"), ("-", "+"))
GAPS = frozenset({"", "?", "NA", "N/A", "NaN", "nan", "NULL", "null", "<NA>"})


@dataclass(frozen=True, slots=True)
class Pair:
    """The values that mean 0 and 1. found: they were taken from the data. folds: however they are spelt."""

    zero: str
    one: str
    found: bool = False
    folds: bool = False

    def bit_of(self, text: str) -> bool | None:
        """0 or 1 for a value of the pair, None for another."""
        texts = self.zero, self.one, text
        zero, one, value = map(str.casefold, texts) if self.folds else texts
        return {zero: False, one: True}.get(value)


def cells_of(array: Any, name: str) -> Coded:
    """The cells of an Arrow column."""
    import pyarrow as pa

    if isinstance(array, pa.ChunkedArray):
        array = array.combine_chunks()
    if isinstance(array, pa.ChunkedArray):
        array = array.unify_dictionaries().combine_chunks()
    if pa.types.is_nested(array.type) or pa.types.is_binary(array.type):
        raise InvalidData(name, expected="a column of single values", found="nested or binary values")
    encoded = array if pa.types.is_dictionary(array.type) else array.dictionary_encode()
    texts = [text_of(value) for value in encoded.dictionary.to_pylist()]
    codes = numbers_of(encoded.indices.cast(pa.int32()).fill_null(len(texts)))
    return Coded(codes, [*texts, None])


def text_of(value: Any) -> str | None:
    """A value as text: 1.0 and 1 are the same, spaces around it are left out."""
    if value is None or (isinstance(value, float) and value != value):
        return None
    if isinstance(value, (bool, np.bool_)):
        return str(value).lower()
    if isinstance(value, (float, Decimal, np.floating)) and isfinite(value) and value == int(value):
        return str(int(value))
    return str(value).strip()


def usual_pair(values: Iterable[str]) -> Pair | None:
    """The usual pair to which all values belong, in the spelling that they have."""
    present = set(values)
    folded = {value.casefold() for value in present}
    for zero, one in USUAL:
        if folded and folded <= {zero, one}:
            for spelt in (str.lower, str.upper, str.capitalize):
                if present <= {spelt(zero), spelt(one)}:
                    return Pair(spelt(zero), spelt(one), folds=True)
            # Spelt in several ways, which is for the data to say.
            return Pair(zero, one, found=True, folds=True)
    return None


def pair_of(values: set[str], name: str) -> Pair:
    """The two values of a column for which none were given, or an error with their number alone."""
    usual = usual_pair(values)
    if usual is not None:
        return usual
    if len(values) != 2:
        raise InvalidData(
            name,
            expected="two different values",
            found="1 value only" if len(values) == 1 else f"{len(values) or 'no'} different values",
            hint=_advice(len(values)),
            names=("columns", "values", "missing"),
        )
    zero, one = sorted(values, key=_rank)
    return Pair(zero, one, found=True)


def _rank(value: str) -> tuple[float, str]:
    """Numbers by size, text by code points."""
    return (float(value), value) if is_number(value) else (0.0, value)


def _advice(number: int) -> str:
    if number < 2:
        return "Give both values with {values}, or leave the column out with {columns}."
    return (
        "Choose columns of two values with {columns}; if some values stand for gaps, leave those cells empty"
        " and say {missing}; {values} says which two values are meant."
    )


def given_pairs(values: Any, columns: Sequence[str], *, may_be_cells: bool = False) -> dict[str, Pair]:
    """The pairs that the user gave: (zero, one) for all columns, or {column: (zero, one)} for some.

    may_be_cells: the names of the columns are from a first line that may be a record.
    """
    if values is None:
        return {}
    if not isinstance(values, Mapping):
        pair = _given(values)
        return dict.fromkeys(columns, pair)
    for name in values:
        if name not in columns:
            asked = list(map(str, values)) if may_be_cells else None
            raise missing_column(list(columns), str(name), "values", asked=asked)
    return {name: _given(pair) for name, pair in values.items()}


def _given(pair: Any) -> Pair:
    expected = 'what 0 and what 1 is called, such as ("n", "y")'
    if not isinstance(pair, (list, tuple)) or len(pair) != 2:
        found = f"{len(pair)} values" if isinstance(pair, (list, tuple)) else type(pair).__name__
        raise InvalidArgument("values", expected=expected, found=found)
    zero, one = map(text_of, pair)
    if not zero or not one:
        raise InvalidArgument("values", expected=expected, found="an empty one")
    if zero == one:
        raise InvalidArgument("values", expected=expected, found="the same twice")
    return Pair(zero, one)
