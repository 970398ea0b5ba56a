"""Files that the user hands in."""

from __future__ import annotations

import shutil
from io import BytesIO
from pathlib import Path
from typing import BinaryIO

from veil.core.errors import InvalidArgument
from veil.studio.workspace import Workspace, new_id

# The largest file that is taken in; larger ones are named by their path.
MOST = 2 * 2**30
# Longer lists that are typed in become files.
_LONGEST_LIST = 2_000


def checked_name(name: str) -> str:
    """The name of an uploaded file, without folders and with plain characters."""
    last = name.replace("\\", "/").rpartition("/")[2]
    plain = "".join(mark if mark.isalnum() or mark in "._- " else "_" for mark in last)[-100:].lstrip(". ")
    if not plain:
        raise InvalidArgument("file", expected="a file with a name", found="none")
    return plain


def save_list(workspace: Workspace, name: str, typed: str) -> str:
    """A public list that was typed in, one entry on each line: as text with commas, or as a file.

    name: of the field. What a label may not be in a list with commas is kept as a table of one column.
    """
    lines = [line.strip() for line in typed.splitlines() if line.strip()]
    is_plain = not any("," in line or '"' in line for line in lines)
    if is_plain and sum(map(len, lines)) < _LONGEST_LIST and len(lines) > 1:
        return ",".join(lines)
    # A heading, so that the first label is not taken for one.
    heading = ["state"] if is_plain else []
    content = "\n".join([*heading, *lines]) + "\n"
    return str(save_upload(workspace, f"{name}.csv", BytesIO(content.encode())))


def save_upload(workspace: Workspace, name: str, content: BinaryIO) -> Path:
    """Keep an uploaded file as it is; nothing looks into it."""
    plain = checked_name(name)
    folder = workspace.place("uploads", new_id())
    folder.mkdir(mode=0o700)
    path = folder / plain
    with path.open("xb") as out:
        shutil.copyfileobj(content, out, 2**20)
    return path
