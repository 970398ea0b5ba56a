"""Files that nobody ever sees half written."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from os import PathLike
from pathlib import Path
from typing import Any

from veil.core.errors import InvalidArgument, OutputExists

# Who may read a file: everybody a release, only its owner what holds sensitive data.
RELEASED, SENSITIVE = 0o644, 0o600


def path_of(path: str | PathLike[str] | Any) -> Path:
    """The path of a file, or an error if it can be none."""
    try:
        found = Path(path)
        # Half a character or a NUL in a name fails here rather than in the middle of the work.
        if b"\0" in os.fsencode(found):
            raise ValueError
    except (TypeError, ValueError):
        kind = "text that no file can be called by" if isinstance(path, str) else type(path).__name__
        raise InvalidArgument("path", expected="the path of a file", found=kind) from None
    return found


@contextmanager
def replacing(target: Path, *, overwrite: bool, mode: int = RELEASED) -> Iterator[str]:
    """A file beside the target to write to; it takes the target's place if nothing goes wrong.

    mode: who may read it in the end. Until then only its owner may.
    """
    target = _checked(target, overwrite)
    try:
        handle, name = tempfile.mkstemp(dir=target.parent or Path(), prefix=_prefix(target))
    except OSError as error:
        raise InvalidArgument(
            "path", expected="a folder to write to", found=error.strerror or "none"
        ) from None
    os.close(handle)
    try:
        yield name
        os.chmod(name, mode)
        _sync(name)
        os.replace(name, target)
    except OSError as error:
        _remove(name)
        raise InvalidArgument("path", expected="room to write to", found=error.strerror or "none") from None
    except BaseException:
        _remove(name)
        raise


def _checked(target: Path, overwrite: bool) -> Path:
    """Where to write: the target, or the file that it is a link to."""
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
    return target.resolve() if is_file and target.is_symlink() else target


def _prefix(target: Path) -> str:
    """A name that is hidden and says for what it is; long names are cut, since the whole must fit."""
    return "." + os.fsencode(target.name)[:180].decode("ascii", "ignore") + "."


def _sync(name: str) -> None:
    """On disk before it takes the target's place: else a crash could leave an empty file with its name."""
    handle = os.open(name, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


def _remove(name: str) -> None:
    """Without a word if it cannot be: what went wrong before is what the user must hear."""
    try:
        Path(name).unlink(missing_ok=True)
    except OSError:
        return
