"""From private bits back to a table with the values that they stand for: CSV or Parquet."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from veil.bits.domain import Table, checked_table
from veil.core.checks import plain_texts
from veil.core.errors import InvalidArgument
from veil.core.formulas import safe_texts
from veil.core.writing import replacing
from veil.tables.table_writing import needs_quotes, write_parquet, write_text

_PARQUET = (".parquet", ".pq")
_ENDINGS = (".csv.gz", ".csv", ".tsv.gz", ".tsv", ".parquet", ".pq")
# Cells that are made and written at a time.
_BATCH = 10_000_000


def write_bits(
    path: str | os.PathLike[str],
    table: Any,
    columns: Sequence[str],
    *,
    ones: Sequence[str],
    zeros: Sequence[str],
    overwrite: bool = False,
    csv_safe: bool = False,
) -> None:
    """Write bits as a table of two values a column, under the names of the columns.

    path: ends in .csv or .tsv, also with .gz, or in .parquet. It is written beside and renamed, so that
        nobody ever sees half a file, and is not overwritten unless told.
    ones, zeros: what 1 and 0 are called in each column, as `read_bits` found them.
    csv_safe: in text, an apostrophe in front of what a spreadsheet would take for a formula.
    """
    ending, names, pairs = check_columns(path, columns, ones, zeros, csv_safe=csv_safe)
    bits = checked_table("table", table, len(columns))
    with replacing(Path(path), overwrite=overwrite) as beside:
        _write(beside, ending, bits, names, pairs)


def check_columns(
    path: str | os.PathLike[str],
    columns: Sequence[str],
    ones: Sequence[str],
    zeros: Sequence[str],
    *,
    csv_safe: bool = False,
) -> tuple[str, list[str], list[tuple[str, str]]]:
    """How the path ends, the names of the columns, and what 0 and 1 are called in each, as they are written.

    It is asked before a draw: a table that cannot be written would be paid for all the same.
    """
    name = Path(path).name.lower()
    ending = next((known for known in _ENDINGS if name.endswith(known)), None)
    if ending is None:
        raise InvalidArgument("path", expected="an ending of .csv, .tsv or .parquet", found="another")
    names = _checked_texts("columns", columns, len(columns))
    if len(set(names)) < len(names):
        raise InvalidArgument("columns", expected="names that all differ", found="one that occurs twice")
    sides = _checked_texts("zeros", zeros, len(names)), _checked_texts("ones", ones, len(names))
    if csv_safe and ending not in _PARQUET:
        names = safe_texts(names)
        sides = safe_texts(sides[0]), safe_texts(sides[1])
    pairs = list(zip(*sides, strict=True))
    if any(zero == one for zero, one in pairs):
        raise InvalidArgument("ones", expected="other values than zeros", found="the same in a column")
    return ending, names, pairs


def _write(path: str, ending: str, bits: Table, names: list[str], pairs: Sequence[tuple[str, str]]) -> None:
    import pyarrow as pa

    schema = pa.schema([(name, pa.dictionary(pa.int8(), pa.string())) for name in names])

    def batches() -> Iterator[Any]:
        size = max(1, _BATCH // max(1, len(names)))
        for first in range(0, len(bits), size):
            codes = np.ascontiguousarray(bits[first : first + size].T).view(np.int8)
            arrays = [
                pa.DictionaryArray.from_arrays(pa.array(column), pa.array(list(pair), pa.string()))
                for column, pair in zip(codes, pairs, strict=True)
            ]
            yield pa.Table.from_arrays(arrays, schema=schema)

    if ending in _PARQUET:
        write_parquet(path, schema, batches())
        return
    mark = "\t" if ending.startswith(".tsv") else ","
    plain = pa.schema([(name, pa.string()) for name in names])
    write_text(
        path,
        names,
        (batch.cast(plain) for batch in batches()),
        delimiter=mark,
        packed=ending.endswith(".gz"),
        quotes=any(needs_quotes(text, mark) for pair in pairs for text in pair),
    )


def _checked_texts(field: str, texts: Sequence[str], number: int) -> list[str]:
    listed = list(texts)
    if len(listed) != number or not all(isinstance(text, str) and text.strip() for text in listed):
        raise InvalidArgument(field, expected=f"a text for each of {number} columns", found="others")
    plain_texts(field, listed)
    return listed
