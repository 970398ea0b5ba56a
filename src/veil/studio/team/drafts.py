"""Drafts of a team: each belongs to who made it, in one project, and knows its data by name alone."""

from __future__ import annotations

import json
import shutil
from collections.abc import Mapping
from dataclasses import asdict, dataclass, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from veil.core.kind import kind_named
from veil.studio.draft import Draft
from veil.studio.forms import YES
from veil.studio.team.accounts import Account
from veil.studio.team.database import Database
from veil.studio.team.faults import NotHere
from veil.studio.team.lists import Lists, file_fields, secret_fields
from veil.studio.team.projects import Project
from veil.studio.team.sources import Source, Sources
from veil.studio.workspace import new_id

# In the texts of a draft: which source it is about, and what that fixes.
SOURCE = "source"
_OF_THE_SOURCE = ("dataset", "by", SOURCE)


@dataclass(frozen=True)
class TeamDrafts:
    """The drafts of one account in one project; it is used like those of a workbench for one person.

    uploads: where files are put that were handed in.
    """

    database: Database
    sources: Sources
    lists: Lists
    in_project: Project
    account: Account
    uploads: Path

    @property
    def project(self) -> str:
        return self.in_project.id

    def new(self, kind_name: str, **fields: Any) -> Draft:
        """A draft with nothing in it but these fields."""
        draft = Draft(new_id(), kind_named(kind_name).name, **fields)
        with self.database.begin() as rows:
            rows.run(
                "INSERT INTO veil_studio_drafts (id, project, owner, content) "
                "VALUES (:id, :project, :owner, '{}')",
                id=draft.id,
                project=self.project,
                owner=self.account.id,
            )
        return self._write(draft)

    def put(self, draft: Draft) -> Draft:
        """Keep a draft as it is now, but for what its source says: that is not for its owner to change."""
        kept = self.get(draft.id)
        fixed = {key: kept.text(key) for key in (*secret_fields(draft.kind), *_OF_THE_SOURCE)}
        draft = replace(
            draft.with_texts({**self._adopted(draft), **fixed}),
            kind_name=kept.kind_name,
            source=kept.source,
            has_header=kept.has_header,
            columns=kept.columns,
            asked=kept.asked,
        )
        self.lists.named_in(self.project, draft.kind, draft.texts)
        return self._write(draft)

    def _adopted(self, draft: Draft) -> dict[str, str]:
        """The fields to which a list was handed in, with its name in the project instead of its path."""
        texts = {}
        for key in file_fields(draft.kind):
            place = Path(draft.text(key))
            if place.parent.parent == self.uploads and ".." not in place.parts and place.is_file():
                try:
                    texts[key] = self.lists.adopted(self.in_project, self.account, place)
                finally:
                    # Also what is too large, or no list: nothing piles up here.
                    shutil.rmtree(place.parent, ignore_errors=True)
        return texts

    def can_undo(self, name: str) -> bool:
        """Whether the last change can be taken back; versions that were proposed are kept instead."""
        return False

    def choose(self, name: str, source_id: str) -> Draft:
        """Let a draft be about a source of its project, and charge the budget of that."""
        source = self.sources.get(self.project, source_id)
        if source.retired:
            raise NotHere("There is no such source.")
        return self._write(_about(self.get(name), source))

    def get(self, name: str) -> Draft:
        """The draft of this name."""
        with self.database.begin() as rows:
            row = rows.one(
                "SELECT content FROM veil_studio_drafts "
                "WHERE id = :id AND project = :project AND owner = :owner",
                id=name,
                project=self.project,
                owner=self.account.id,
            )
        if row is None:
            raise NotHere("There is no such draft.")
        return _read(row)

    def all(self) -> list[Draft]:
        """All of them, the one that was changed last first."""
        with self.database.begin() as rows:
            found = rows.all(
                "SELECT content FROM veil_studio_drafts WHERE project = :project AND owner = :owner "
                "ORDER BY changed DESC",
                project=self.project,
                owner=self.account.id,
            )
        return [_read(row) for row in found]

    def remove(self, name: str) -> None:
        """Forget a draft; what was proposed of it stays."""
        with self.database.begin() as rows:
            rows.run(
                "DELETE FROM veil_studio_drafts WHERE id = :id AND project = :project AND owner = :owner",
                id=name,
                project=self.project,
                owner=self.account.id,
            )

    def _write(self, draft: Draft) -> Draft:
        draft = replace(draft, changed=datetime.now(UTC).isoformat(timespec="seconds"))
        with self.database.begin() as rows:
            rows.run(
                "UPDATE veil_studio_drafts SET content = :content, changed = now() "
                "WHERE id = :id AND project = :project AND owner = :owner",
                id=draft.id,
                project=self.project,
                owner=self.account.id,
                content=json.dumps(asdict(draft), ensure_ascii=False),
            )
        return draft


def _read(row: Mapping[str, Any]) -> Draft:
    content = json.loads(row["content"])
    for key in ("columns", "asked"):
        content[key] = tuple((first, second) for first, second in content[key])
    content["tables"] = tuple(content["tables"])
    return Draft(**content)


def _about(draft: Draft, source: Source) -> Draft:
    """The draft with what its source fixes."""
    fixed = dict.fromkeys(secret_fields(draft.kind), "")
    fixed |= {"read.table": source.table, "read.header": source.header, "dataset": source.dataset}
    return replace(
        draft.with_texts({**fixed, SOURCE: source.id, "by": ""}),
        source=source.shown,
        has_header={YES: True, "no": False}.get(source.header),
        columns=source.columns,
        asked=source.asked,
        title=draft.title or source.title,
    )
