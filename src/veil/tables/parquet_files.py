"""Parquet files, whole and with text that is text."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

from veil.core.errors import UnreadableFile
from veil.tables.unpacking import most_from, swells

# A place of a column takes at least so much in memory.
_PLACE = 8


def read_parquet(path: str, name: str, chosen: Callable[[list[str]], list[str]] | None = None) -> Any:
    """The table in a file, checked: broken text inside would otherwise fail later, wherever it is used.

    chosen: takes the names of all columns and returns those to be read. name: of the file, in messages.
    """
    import pyarrow as pa
    import pyarrow.parquet as pq

    try:
        with pq.ParquetFile(path) as file:
            wanted = None if chosen is None else chosen(list(file.schema_arrow.names))
            columns = file.metadata.num_columns if wanted is None else len(wanted)
            _check_size(file.metadata, columns, Path(path).stat().st_size, name)
            return with_whole_text(file.read(columns=wanted), name)
    except FileNotFoundError:
        raise UnreadableFile(name, expected="a file", found="no such file") from None
    except (pa.ArrowException, OSError, UnicodeError, MemoryError):
        raise UnreadableFile(name, expected="a Parquet file", found="something else") from None


def _check_size(metadata: Any, columns: int, packed: int, name: str) -> None:
    """Before a place is set aside for every row that the file claims to have, in the columns to be read."""
    groups = [metadata.row_group(i) for i in range(metadata.num_row_groups)]
    rows = [group.num_rows for group in groups]
    if min(rows, default=0) < 0 or sum(rows) != metadata.num_rows:
        raise UnreadableFile(name, expected="a Parquet file", found="one whose parts do not add up")
    most = most_from(packed)
    if _PLACE * metadata.num_rows * max(1, columns) > most:
        raise swells(name, most, hint="Write it as CSV if it is right.")


def with_whole_text(table: Any, name: str) -> Any:
    """The table, if all text in it is text: broken letters would fail later, wherever they are used."""
    import pyarrow as pa

    try:
        table.validate(full=True)
    except pa.ArrowInvalid:
        raise UnreadableFile(name, expected="text in UTF-8", found="bytes that are none") from None
    return table
