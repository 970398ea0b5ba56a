"""Writing files: nobody ever sees half of one, and nobody may read more than before."""

from __future__ import annotations

import os
import stat
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from os import PathLike
from pathlib import Path
from typing import Any

from veil.core.errors import InvalidArgument, OutputExists

# Who may read a file, as far as the umask lets them: everybody a release, only its owner sensitive data.
RELEASED, SENSITIVE = 0o644, 0o600


def path_of(path: str | PathLike[str] | Any) -> Path:
    """The path of a file, or an error if it can be none."""
    try:
        file = Path(path)
        # Half a character or a NUL in a name fails here rather than in the middle of the work.
        if b"\0" in os.fsencode(file):
            raise ValueError
    except (TypeError, ValueError):
        kind = "text that no file can be called by" if isinstance(path, str) else type(path).__name__
        raise InvalidArgument("path", expected="the path of a file", found=kind) from None
    return file


@contextmanager
def replacing(target: Path, *, overwrite: bool, mode: int = RELEASED) -> Iterator[str]:
    """A file beside the target to write to; it takes the target's place if nothing goes wrong.

    Where the target is a link to a file, that file is replaced.
    mode: who may read it in the end, as far as the umask lets them; nobody who may not read the file that it
    replaces. Until then only its owner may.
    """
    try:
        is_folder, is_file, is_there = target.is_dir(), target.is_file(), os.path.lexists(target)
    except (OSError, ValueError) as error:
        found = getattr(error, "strerror", None) or "a name that no file can have"
        raise InvalidArgument("path", expected="the path of a file", found=found) from None
    if is_folder or target.name == "":
        raise InvalidArgument("path", expected="a file", found="a folder")
    if is_there and not overwrite:
        raise OutputExists(
            "path", expected="a new file", found=f"{target} exists", hint="overwrite=True allows it."
        )
    if is_there and not is_file:
        # To put a file in the place of a device or a pipe would break it for everybody.
        raise InvalidArgument("path", expected="a file", found="a device, a pipe or a broken link")
    if target.is_symlink():
        target = target.resolve()
    # Hidden, and says what it is for; long names are cut, since the whole must fit.
    prefix = "." + os.fsencode(target.name)[:180].decode("ascii", "ignore") + "."
    try:
        handle, name = tempfile.mkstemp(dir=target.parent or Path(), prefix=prefix)
    except OSError as error:
        found = error.strerror or "none"
        raise InvalidArgument("path", expected="a folder to write to", found=found) from None
    os.close(handle)
    try:
        yield name
        os.chmod(name, _permissions(target, mode))
        with Path(name).open("rb") as written:
            # On disk before it takes the target's place: a crash could leave an empty file with its name.
            os.fsync(written.fileno())
        os.replace(name, target)
        _settle(target.parent)
    except BaseException as error:
        # What went wrong is what the user must hear, not that this cannot be removed either.
        with suppress(OSError):
            Path(name).unlink(missing_ok=True)
        if not isinstance(error, OSError):
            raise
        found = error.strerror or "none"
        raise InvalidArgument("path", expected="room to write to", found=found) from None


def _permissions(target: Path, mode: int) -> int:
    """Who may read and write a new file in this place: never more than could before."""
    allowed = mode & ~_umask()
    try:
        return allowed & stat.S_IMODE(target.stat().st_mode)
    except FileNotFoundError:
        return allowed


def _umask() -> int:
    with suppress(OSError, ValueError, StopIteration):
        # Without setting it for a moment, which other threads would notice.
        lines = Path("/proc/self/status").read_text(encoding="ascii", errors="replace").splitlines()
        return int(next(line for line in lines if line.startswith("Umask:")).split()[1], 8)
    umask = os.umask(0o077)
    os.umask(umask)
    return umask


def _settle(folder: Path) -> None:
    """The new name on disk too, where the system can do that for folders."""
    with suppress(OSError):
        handle = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(handle)
        finally:
            os.close(handle)


def write_text(target: Path, text: str, *, overwrite: bool, mode: int = RELEASED) -> None:
    """Write beside the target and rename, so that nobody ever sees half a file."""
    with replacing(target, overwrite=overwrite, mode=mode) as beside:
        Path(beside).write_text(text, encoding="utf-8", newline="")
