"""Room on the disk that is set aside before a release is charged."""

from __future__ import annotations

import errno
import os
import tempfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Self

from veil.core.errors import OutputExists

# Nobody wants to wait for, or be refused, more than this.
_MOST = 2**28
# The disk tells what it has no room for; that it cannot set room aside says nothing.
_FULL = {errno.ENOSPC, errno.EDQUOT, errno.EFBIG}


class Room:
    """Temporary files beside the outputs that take up their room until they are written.

    places: the options with their files. size: how many bytes of each.
    """

    def __init__(self, places: Mapping[str, Path], size: int) -> None:
        self._files: list[Any] = []
        size = min(size, _MOST)
        for option, path in places.items():
            folder = path.resolve().parent
            try:
                held = tempfile.TemporaryFile(dir=folder)  # noqa: SIM115
                self._files.append(held)
                _allocate(held.fileno(), size)
            except OSError as error:
                self.free()
                found = f"{folder}: {error.strerror}"
                expected = f"a folder with room for {size:,} bytes"
                raise OutputExists(option, expected=expected, found=found) from None

    def free(self) -> None:
        """Give it back, for the files themselves."""
        for held in self._files:
            held.close()
        self._files = []

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.free()


def _allocate(handle: int, size: int) -> None:
    if not hasattr(os, "posix_fallocate"):
        return
    try:
        os.posix_fallocate(handle, 0, size)
    except OSError as error:
        if error.errno in _FULL:
            raise
