"""The folder of a workbench: drafts, uploads, releases and a ledger, readable for its owner alone."""

from __future__ import annotations

import json
import re
import shutil
from collections.abc import Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from secrets import token_hex
from typing import Any

from veil.core.errors import InvalidArgument, UnreadableFile
from veil.core.writing import write_text

_ID = re.compile(r"[0-9a-f]{16}")
_ROOMS = ("drafts", "uploads", "releases")
# Where the thing is that was removed last.
_ASIDE = "removed"


def new_id() -> str:
    """A name for a draft, an upload or a release that nobody can guess."""
    return token_hex(8)


@dataclass(frozen=True)
class Workspace:
    """Where a workbench keeps its files. ledger: the address of the budgets that releases are charged to."""

    folder: Path
    ledger: str

    @classmethod
    def opened(cls, folder: Path, ledger: str | None = None) -> Workspace:
        """The workspace in a folder, which is made if there is none."""
        folder = folder.absolute()
        try:
            for room in _ROOMS:
                (folder / room).mkdir(mode=0o700, parents=True, exist_ok=True)
            folder.chmod(0o700)
        except OSError as error:
            found = error.strerror or type(error).__name__
            raise InvalidArgument("folder", expected="a folder that can be written to", found=found) from None
        return cls(folder, ledger or str(folder / "budget.db"))

    def place(self, room: str, name: str) -> Path:
        """The folder of one thing in a room; nothing else can be named."""
        if room not in _ROOMS or not _ID.fullmatch(name):
            raise InvalidArgument("id", expected=f"one of the {room}", found="another name")
        return self.folder / room / name

    def names(self, room: str) -> Iterator[str]:
        """What is in a room."""
        yield from (path.name for path in (self.folder / room).iterdir() if _ID.fullmatch(path.name))

    def delete(self, room: str, name: str) -> None:
        """Delete one thing with all its files."""
        shutil.rmtree(self.place(room, name), ignore_errors=True)

    def remove(self, room: str, name: str) -> None:
        """Put one thing aside with all its files; what was put aside before it is gone for good."""
        place, aside = self.place(room, name), self.folder / _ASIDE
        shutil.rmtree(aside, ignore_errors=True)
        aside.mkdir(mode=0o700)
        with suppress(FileNotFoundError):
            place.rename(aside / f"{room}-{name}")

    def restore(self, room: str, name: str) -> None:
        """Bring back what was put aside last."""
        place = self.place(room, name)
        with suppress(OSError):
            (self.folder / _ASIDE / f"{room}-{name}").rename(place)


def write_note(path: Path, content: Mapping[str, Any]) -> None:
    """A small file of JSON; whoever reads it sees the old one or the new one, never half of one."""
    path.parent.mkdir(mode=0o700, exist_ok=True)
    write_text(path, json.dumps(content, ensure_ascii=False, indent=1), overwrite=True)


def read_note(path: Path) -> dict[str, Any]:
    """What `write_note` wrote."""
    try:
        content = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError):
        raise UnreadableFile(path.name, expected="a note of this workbench", found="none") from None
    if not isinstance(content, dict):
        raise UnreadableFile(path.name, expected="a note of this workbench", found="another file")
    return content
