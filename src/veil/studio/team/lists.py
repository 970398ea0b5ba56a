"""Public lists of projects, such as the states that there are: what plans and releases may name as a file.

They are the only files that the text of a field can lead to. A list is not changed once it was added.
"""

from __future__ import annotations

import types
import typing
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path
from typing import Any

from veil.core.errors import InvalidArgument
from veil.core.kind import Kind
from veil.core.writing import replacing
from veil.studio.forms import FormField, fields_of
from veil.studio.journey import requests_of
from veil.studio.team.accounts import Account
from veil.studio.team.audit import note
from veil.studio.team.database import Database
from veil.studio.team.faults import NotHere
from veil.studio.team.projects import Project
from veil.studio.uploads import checked_name

MOST = 4 * 2**20
_ENDINGS = (".csv", ".tsv", ".txt", ".json")
_PLAIN = (str, int, float, bool, Path, type(None))
# Said of a source by who added it, once for all.
OF_THE_SOURCE = ("source", "table", "header")
# Marks of paths, of addresses, and of names that stand for several files.
_MARKS_OF_PATHS = ("/", "\\", "~", "\0", "*", "?", "[")


def may_be_file(field: FormField, kind: Any) -> bool:
    """Whether the text of a field can be the name of a file. kind: the type of the field."""
    if field.input != "text" or field.mark.column:
        return False
    if field.file:
        return True
    union = typing.get_origin(kind) in (typing.Union, types.UnionType)
    return any(part not in _PLAIN or part is Path for part in (typing.get_args(kind) if union else (kind,)))


def file_fields(kind: Kind) -> set[str]:
    """The fields of a kind whose text can be the name of a file, such as "read.states"."""
    found = set()
    for request in requests_of(kind):
        for part in ("read", "release", "plan"):
            for field in fields_of(part, request):
                if may_be_file(field, request.options()[field.name][2]):
                    found.add(field.key)
    return found


def secret_fields(kind: Kind) -> set[str]:
    """The fields that only who adds a source may say."""
    found = set()
    for request in requests_of(kind):
        for part in ("read", "release", "plan"):
            found |= {
                field.key
                for field in fields_of(part, request)
                if field.mark.secret or field.name in OF_THE_SOURCE
            }
    return found


@dataclass(frozen=True)
class Lists:
    """All public lists. folder: where they are put for the processes that read them."""

    database: Database
    folder: Path

    def names(self, project_id: str) -> dict[str, str]:
        """The lists of a project, with the hashes of their content."""
        with self.database.begin() as rows:
            found = rows.all(
                "SELECT name, sha256 FROM veil_studio_lists WHERE project = :project ORDER BY name",
                project=project_id,
            )
        return {row["name"]: row["sha256"] for row in found}

    def add(self, project: Project, by: Account, name: str, content: bytes) -> None:
        """Add a list, as it is; nothing looks into it."""
        name = checked_name(name)
        if not name.lower().endswith(_ENDINGS) or any(mark in name for mark in (":", ",")):
            raise InvalidArgument("file", expected=f"a file that ends in {', '.join(_ENDINGS)}", found=name)
        if not content or len(content) > MOST:
            raise InvalidArgument("file", expected=f"at most {MOST:,} bytes", found=f"{len(content):,}")
        digest = sha256(content).hexdigest()
        with self.database.begin() as rows:
            if not rows.run(
                "INSERT INTO veil_studio_lists (project, name, sha256, content) "
                "VALUES (:project, :name, :sha256, :content) ON CONFLICT DO NOTHING",
                project=project.id,
                name=name,
                sha256=digest,
                content=content,
            ):
                raise InvalidArgument("file", expected="a name that is not taken", found=name)
            note(rows, by.name, "public list added", project=project.id, list=name, sha256=digest)

    def adopted(self, project: Project, by: Account, place: Path) -> str:
        """The name of the list that was handed in as this file, which becomes a list of the project."""
        content = place.read_bytes()
        digest, known = sha256(content).hexdigest(), self.names(project.id)
        stem, ending, number = place.stem, place.suffix, 1
        name = place.name
        while known.get(name, digest) != digest:
            number += 1
            name = f"{stem}-{number}{ending}"
        if name not in known:
            self.add(project, by, name, content)
        return name

    def content(self, project_id: str, name: str) -> bytes:
        """What is in a list."""
        with self.database.begin() as rows:
            row = rows.one(
                "SELECT content FROM veil_studio_lists WHERE project = :project AND name = :name",
                project=project_id,
                name=name,
            )
        if row is None:
            raise NotHere("There is no such list.")
        return bytes(row["content"])

    def place(self, project_id: str) -> Path:
        """A folder with the lists of a project in it, by their names, and nothing else."""
        folder = self.folder / project_id
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        for name in self.names(project_id):
            if not (folder / name).is_file():
                with replacing(folder / name, overwrite=True, mode=0o600) as path:
                    Path(path).write_bytes(self.content(project_id, name))
        return folder

    def named_in(self, project_id: str, kind: Kind, texts: typing.Mapping[str, str]) -> dict[str, str]:
        """Which lists the texts of a draft name, by field; an error for any other file.

        A text that names none is a list of labels, a number, or the like.
        """
        known, found = self.names(project_id), {}
        for key in sorted(file_fields(kind)):
            text = texts.get(key, "").strip()
            name = text.partition(":")[0]
            if name in known:
                found[key] = name
            elif any(mark in text for mark in _MARKS_OF_PATHS) or name.lower().endswith(_ENDINGS):
                raise InvalidArgument(
                    key.partition(".")[2],
                    expected="labels with commas between them, or a public list of this project",
                    found="the name of another file",
                    hint="Add the list to the project first.",
                )
        return found
