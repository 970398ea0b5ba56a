"""How much a file may make Veil take in: the same limits for every reader, against files made to do harm."""

from __future__ import annotations

from typing import Any

from veil.core.errors import UnreadableFile

# What may always be unpacked, and beyond it how many times the packed size: tables shrink to a tenth, a log
# of nothing but the same row to a two-hundredth.
_FREELY, _SWELLS = 2**30, 200
_AT_A_TIME = 2**24
# Of text with separators: bytes in a cell, bytes in the first line, and cells in it.
LONGEST_CELL, LONGEST_LINE, MOST_COLUMNS = 2**17, 2**26, 2**17


def most_from(packed: int) -> int:
    """How many bytes a file of this packed size may unpack to."""
    return max(_FREELY, _SWELLS * packed)


def swells(name: str, most: int, *, hint: str = "Unpack it first if it is right.") -> UnreadableFile:
    """The error for a file that would fill the memory."""
    return UnreadableFile(
        name,
        expected=f"a packed file that unpacks to at most {most:,} bytes",
        found="one that swells",
        hint=hint,
    )


def unpacked(stream: Any, packed: int, name: str) -> bytes:
    """All that a stream unpacks to, unless that is far more than a file of this packed size would hold."""
    parts, size, most = [], 0, most_from(packed)
    while part := stream.read(_AT_A_TIME):
        size += len(part)
        if size > most:
            raise swells(name, most)
        parts.append(bytes(part))
    return b"".join(parts)


def too_large(name: str, what: str, most: int) -> UnreadableFile:
    """The error for text with more in it than any table has."""
    return UnreadableFile(name, expected=f"at most {most:,} {what}", found="more")
