"""Reading a file or a pipe whole, unless it has no end: a device such as /dev/zero would fill the memory."""

from __future__ import annotations

import os
import stat
from collections.abc import Callable
from io import UnsupportedOperation
from pathlib import Path
from typing import Any

from veil.core.errors import UnreadableFile

# Of what has no size of its own, such as a pipe; a file is read whole.
MOST = 2**30
_AT_A_TIME = 2**24


def read_whole(stream: Any, name: str, *, look: Callable[[bytes], object] | None = None) -> bytes:
    """All bytes of a stream; an error if it has no end that is near.

    name: what errors call it. look: is shown the first part, and may raise.
    """
    most, size = max(MOST, _size(stream)), 0
    parts: list[bytes] = []
    while part := stream.read(_AT_A_TIME):
        if look is not None and not parts:
            look(part)
        size += len(part)
        if size > most:
            expected, hint = f"at most {most:,} bytes from a pipe or a device", "Write it to a file first."
            raise UnreadableFile(name, expected=expected, found="more", hint=hint)
        parts.append(part)
    return b"".join(parts)


def read_path(path: Path, name: str) -> bytes:
    """All bytes of a file or a pipe, but of no device."""
    with path.open("rb") as stream:
        if stat.S_ISCHR(os.fstat(stream.fileno()).st_mode):
            raise UnreadableFile(name, expected="a file", found="a device")
        return read_whole(stream, name)


def _size(stream: Any) -> int:
    """The size of a file; 0 for what has none."""
    try:
        found = os.fstat(stream.fileno())
    except (AttributeError, UnsupportedOperation, OSError):
        return 0
    return found.st_size if stat.S_ISREG(found.st_mode) else 0
