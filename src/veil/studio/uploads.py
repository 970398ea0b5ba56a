"""Files that the user hands in."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import BinaryIO

from veil.core.errors import InvalidArgument
from veil.studio.workspace import Workspace, new_id

# The largest file that is taken in; larger ones are named by their path.
MOST = 2 * 2**30


def checked_name(name: str) -> str:
    """The name of an uploaded file, without folders and with plain characters."""
    last = name.replace("\\", "/").rpartition("/")[2]
    plain = "".join(mark if mark.isalnum() or mark in "._- " else "_" for mark in last)[-100:].lstrip(". ")
    if not plain:
        raise InvalidArgument("file", expected="a file with a name", found="none")
    return plain


def save_upload(workspace: Workspace, name: str, content: BinaryIO) -> Path:
    """Keep an uploaded file as it is; nothing looks into it."""
    plain = checked_name(name)
    folder = workspace.place("uploads", new_id())
    folder.mkdir(mode=0o700)
    path = folder / plain
    with path.open("xb") as out:
        shutil.copyfileobj(content, out, 2**20)
    return path
