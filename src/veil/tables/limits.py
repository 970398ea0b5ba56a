"""How much a file may make Veil take in: the same limits for every reader, against files made to do harm."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from veil.core.errors import UnreadableFile

# What may always be unpacked, and beyond it how many times the packed size: tables shrink to a tenth, a log
# of nothing but the same row to a two-hundredth.
_FREELY, _SWELLS = 2**30, 200
_AT_A_TIME = 2**24
# Bytes in a cell; of text with separators also bytes in the first line, and cells in it.
LONGEST_CELL, LONGEST_LINE, MOST_COLUMNS = 2**17, 2**26, 2**17


def most_from(packed: int) -> int:
    """How many bytes a file of this packed size may unpack to."""
    return max(_FREELY, _SWELLS * packed)


def swells(name: str, most: int, *, hint: str = "Unpack it first if it is right.") -> UnreadableFile:
    """The error for a file that would fill the memory."""
    expected = f"a packed file that unpacks to at most {most:,} bytes"
    return UnreadableFile(name, expected=expected, found="one that swells", hint=hint)


def parts_of(stream: Any, packed: int, name: str) -> Iterator[bytes]:
    """What a stream unpacks to, part by part, unless it is far more than a file of this packed size holds."""
    size, most = 0, most_from(packed)
    while part := stream.read(_AT_A_TIME):
        size += len(part)
        if size > most:
            raise swells(name, most)
        yield bytes(part)


def check_cells(table: Any, name: str) -> Any:
    """The Arrow table, unless a text in it is longer than that of any cell."""
    import pyarrow as pa
    import pyarrow.compute as pc

    for column in table.columns:
        if pa.types.is_dictionary(column.type):
            texts = [chunk.dictionary for chunk in column.chunks]
        else:
            texts = [column]
        for some in texts:
            is_text = pa.types.is_string(some.type) or pa.types.is_large_string(some.type)
            if is_text and (pc.max(pc.binary_length(some)).as_py() or 0) > LONGEST_CELL:
                raise too_large(name, "bytes in a cell", LONGEST_CELL)
    return table


def too_large(name: str, what: str, most: int) -> UnreadableFile:
    """The error for text with more in it than any table has."""
    return UnreadableFile(name, expected=f"at most {most:,} {what}", found="more")
