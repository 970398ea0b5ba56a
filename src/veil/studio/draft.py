"""A release in the making: everything that was typed in so far, as it was typed in."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from veil.core.kind import Kind, kind_named
from veil.studio.workspace import Workspace, new_id, read_note, write_note
from veil.tables.engines.protocol import ADDRESSES

_FILE = "draft.json"


@dataclass(frozen=True)
class Draft:
    """A release in the making.

    texts: what was typed in, by part and field, such as "read.origin". source: a path or the address of a
    database. title: what people call it. columns: the names of the columns with their declared types, as far
    as they may be known. has_header: what the user says of the first line of a text file. release: the
    release that was made of it last.
    """

    id: str
    kind_name: str
    title: str = ""
    source: str = ""
    has_header: bool | None = None
    columns: tuple[tuple[str, str], ...] = ()
    asked: tuple[tuple[str, str], ...] = ()
    texts: Mapping[str, str] = field(default_factory=dict)
    changed: str = ""
    release: str = ""

    @property
    def kind(self) -> Kind:
        return kind_named(self.kind_name)

    @property
    def is_database(self) -> bool:
        """Whether the source is an address, which may hold a password."""
        return self.source.startswith(ADDRESSES)

    @property
    def source_name(self) -> str:
        """The source as it may be shown."""
        return "the database" if self.is_database else Path(self.source).name

    def text(self, name: str) -> str:
        """What was typed in for a field such as "read.origin"."""
        return self.texts.get(name, "")

    def with_texts(self, texts: Mapping[str, str]) -> Draft:
        """The draft with some fields typed in again."""
        return replace(self, texts={**self.texts, **texts})


class Drafts:
    """All drafts of a workspace. Addresses of databases are kept in memory only."""

    def __init__(self, workspace: Workspace) -> None:
        self._workspace = workspace
        self._addresses: dict[str, str] = {}

    def new(self, kind_name: str, **fields: Any) -> Draft:
        """A draft with nothing in it but these fields."""
        return self.put(Draft(new_id(), kind_named(kind_name).name, **fields))

    def put(self, draft: Draft) -> Draft:
        """Keep a draft as it is now."""
        draft = replace(draft, changed=datetime.now(UTC).isoformat(timespec="seconds"))
        content = asdict(draft)
        if draft.is_database:
            self._addresses[draft.id] = draft.source
            content["source"] = ""
        else:
            self._addresses.pop(draft.id, None)
        write_note(self._workspace.place("drafts", draft.id) / _FILE, content)
        return draft

    def get(self, name: str) -> Draft:
        """The draft of this name."""
        content = read_note(self._workspace.place("drafts", name) / _FILE)
        for key in ("columns", "asked"):
            content[key] = tuple((first, second) for first, second in content[key])
        content["source"] = content["source"] or self._addresses.get(name, "")
        return Draft(**content)

    def all(self) -> list[Draft]:
        """All of them, the one that was changed last first."""
        drafts = [self.get(name) for name in self._workspace.names("drafts")]
        return sorted(drafts, key=lambda draft: draft.changed, reverse=True)

    def remove(self, name: str) -> None:
        """Forget a draft."""
        self._addresses.pop(name, None)
        self._workspace.remove("drafts", name)
