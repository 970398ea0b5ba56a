"""Parquet files, whole and with text that is text."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from veil.errors import UnreadableFile


def read_parquet(path: str, name: str, chosen: Callable[[list[str]], list[str]] | None = None) -> Any:
    """The table in a file, checked: broken text inside would otherwise fail later, wherever it is used.

    chosen: takes the names of all columns and returns those to be read. name: of the file, in messages.
    """
    import pyarrow as pa
    import pyarrow.parquet as pq

    try:
        with pq.ParquetFile(path) as file:
            wanted = None if chosen is None else chosen(list(file.schema_arrow.names))
            table = file.read(columns=wanted)
            table.validate(full=True)
            return table
    except FileNotFoundError:
        raise UnreadableFile(name, expected="a file", found="no such file") from None
    except (pa.ArrowException, OSError, UnicodeError, MemoryError):
        raise UnreadableFile(name, expected="a Parquet file", found="something else") from None
