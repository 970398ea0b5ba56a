"""A release in the making: everything that was typed in so far, as it was typed in."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import suppress
from dataclasses import asdict, dataclass, field, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from veil.core.errors import UnreadableFile
from veil.core.kind import Kind, kind_named
from veil.studio.workspace import Workspace, new_id, read_note, write_note
from veil.tables.engines.protocol import ADDRESSES

_FILE, _PAST = "draft.json", "past.json"
# Changes that can be taken back.
_MOST_UNDONE = 50


@dataclass(frozen=True)
class Draft:
    """A release in the making.

    texts: what was typed in, by part and field, such as "read.origin". source: a path or the address of a
    database. title: what people call it. columns: the names of the columns with their declared types, as far
    as they may be known. has_header: what the user says of the first line of a text file. release: the
    release that was made of it last. sharpens: the rougher release that it follows. tables: of a
    database. bytes_read: at most, to know the names of columns and tables.
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
    sharpens: str = ""
    tables: tuple[str, ...] = ()
    bytes_read: int = 0

    @property
    def typed(self) -> tuple[Any, ...]:
        """What people chose or typed in: changes of these can be taken back."""
        said = {key: text for key, text in self.texts.items() if text not in ("", "no")}
        return self.source, self.title, self.has_header, said

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
        """Keep a draft as it is now, and for `undo` as it was."""
        self._remember(draft)
        return self._keep(draft)

    def _remember(self, draft: Draft) -> None:
        """Note what a change replaces, unless it changes nothing that was typed in."""
        with suppress(UnreadableFile):
            before = self.get(draft.id)
            if before.typed != draft.typed:
                past = [*self._past(draft.id), {**asdict(before), "source": _kept(before)}]
                write_note(self._place(draft.id, _PAST), {"past": past[-_MOST_UNDONE:]})

    def _past(self, name: str) -> list[dict[str, Any]]:
        with suppress(UnreadableFile):
            return list(read_note(self._place(name, _PAST))["past"])
        return []

    def can_undo(self, name: str) -> bool:
        """Whether something was typed in that can be taken back."""
        return bool(self._past(name))

    def undo(self, name: str) -> Draft:
        """Take the last change back; what was asked of the data stays noted."""
        now, past = self.get(name), self._past(name)
        if not past:
            return now
        write_note(self._place(name, _PAST), {"past": past[:-1]})
        before = _from_note(past[-1])
        if not before.source and now.is_database:
            before = replace(before, source=now.source)
        return self._keep(replace(before, asked=now.asked, release=now.release))

    def _place(self, name: str, file: str) -> Path:
        return self._workspace.place("drafts", name) / file

    def _keep(self, draft: Draft) -> Draft:
        draft = replace(draft, changed=datetime.now(UTC).isoformat(timespec="seconds"))
        if draft.is_database:
            self._addresses[draft.id] = draft.source
        else:
            self._addresses.pop(draft.id, None)
        write_note(self._place(draft.id, _FILE), {**asdict(draft), "source": _kept(draft)})
        return draft

    def get(self, name: str) -> Draft:
        """The draft of this name."""
        draft = _from_note(read_note(self._place(name, _FILE)))
        return draft if draft.source else replace(draft, source=self._addresses.get(name, ""))

    def all(self) -> list[Draft]:
        """All of them, the one that was changed last first."""
        drafts = []
        for name in self._workspace.names("drafts"):
            # Somebody else may have removed it meanwhile.
            with suppress(UnreadableFile):
                drafts.append(self.get(name))
        return sorted(drafts, key=lambda draft: draft.changed, reverse=True)

    def remove(self, name: str) -> None:
        """Put a draft aside, from where `restore` brings it back until the next one is removed."""
        self._workspace.remove("drafts", name)

    def restore(self, name: str) -> None:
        """Bring back the draft that was removed last."""
        self._workspace.restore("drafts", name)


def _kept(draft: Draft) -> str:
    """The source as it may be written down: an address may hold a password."""
    return "" if draft.is_database else draft.source


def _from_note(content: dict[str, Any]) -> Draft:
    for key in ("columns", "asked"):
        content[key] = tuple((first, second) for first, second in content[key])
    content["tables"] = tuple(content.get("tables", ()))
    return Draft(**content)
