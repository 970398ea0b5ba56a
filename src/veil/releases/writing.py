"""Files that nobody ever sees half written."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from veil.errors import InvalidArgument, OutputExists


@contextmanager
def replacing(target: Path, *, overwrite: bool) -> Iterator[str]:
    """A file beside the target to write to; it takes the target's place if nothing goes wrong."""
    if target.is_dir():
        raise InvalidArgument("path", expected="a file", found="a folder")
    if target.exists() and not overwrite:
        raise OutputExists(
            "path", expected="a new file", found=f"{target} exists", hint="overwrite=True allows it."
        )
    try:
        handle, name = tempfile.mkstemp(dir=target.parent or Path(), prefix=f".{target.name}.")
    except OSError as error:
        raise InvalidArgument(
            "path", expected="a folder to write to", found=error.strerror or "none"
        ) from None
    os.close(handle)
    try:
        yield name
        os.chmod(name, 0o644)
        os.replace(name, target)
    except OSError as error:
        Path(name).unlink(missing_ok=True)
        raise InvalidArgument("path", expected="room to write to", found=error.strerror or "none") from None
    except BaseException:
        Path(name).unlink(missing_ok=True)
        raise
