"""Plans as they are proposed: written down in one way, so that their hash names them for good."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from hashlib import sha256
from typing import Any

from veil.core.kind import kind_named
from veil.studio.commands import options_given
from veil.studio.draft import Draft
from veil.studio.forms import label_of
from veil.studio.team.drafts import SOURCE
from veil.studio.team.lists import Lists
from veil.studio.team.sources import Source

_VERSION = 1


@dataclass(frozen=True)
class FrozenRequest:
    """Everything that decides what is released: text is its canonical JSON, of which sha256 is the hash."""

    text: str

    @classmethod
    def of(
        cls, draft: Draft, source: Source, lists: Lists, *, project: str, author: str, number: int
    ) -> FrozenRequest:
        """A draft as it is now. number: how often it was proposed, this time included."""
        known = lists.names(project)
        named = lists.named_in(project, draft.kind, draft.texts)
        content = {
            "version": _VERSION,
            "project": project,
            "draft": draft.id,
            "number": number,
            "author": author,
            "title": draft.title,
            "kind": draft.kind_name,
            "source": {
                "id": source.id,
                "title": source.title,
                "seal": source.seal,
                "table": source.table,
                "header": source.header,
            },
            "budget": source.dataset,
            "reason": draft.text("reason"),
            "options": options_given(draft),
            "lists": {name: known[name] for name in sorted(set(named.values()))},
        }
        return cls(canonical(content))

    @property
    def sha256(self) -> str:
        return sha256(self.text.encode()).hexdigest()

    @property
    def content(self) -> dict[str, Any]:
        found: dict[str, Any] = json.loads(self.text)
        return found

    def lines(self) -> dict[str, str]:
        """What it says, for people: by what it is called."""
        content = self.content
        said = {
            "Title": content["title"],
            "Kind": content["kind"],
            "Data": content["source"]["title"],
            "Table": content["source"]["table"],
            "Budget": content["budget"],
            "What for": content["reason"],
        }
        said |= {_label(content["kind"], flag): text for flag, text in content["options"]}
        said |= {f"List {name}": f"SHA-256 {digest}" for name, digest in content["lists"].items()}
        return {name: text for name, text in said.items() if text}

    def difference(self, before: FrozenRequest) -> list[tuple[str, str, str]]:
        """What was changed since an earlier one: its name, as it was, as it is; empty where there is none."""
        old, new = before.lines(), self.lines()
        names = [*old, *(name for name in new if name not in old)]
        changed = [(name, old.get(name, ""), new.get(name, "")) for name in names]
        return [one for one in changed if one[1] != one[2]]


def canonical(content: Mapping[str, Any]) -> str:
    """JSON in the one way that is hashed: sorted, without spaces, in plain characters."""
    return json.dumps(content, sort_keys=True, separators=(",", ":"), ensure_ascii=True, allow_nan=False)


def _label(kind_name: str, flag: str) -> str:
    """What people call an option."""
    for request in kind_named(kind_name).requests("release"):
        for name, (_, mark, _) in request.options().items():
            if flag in (mark.flag, mark.negative):
                return label_of(name)
    return flag


def arguments(request: FrozenRequest, location: str) -> list[str]:
    """The command that makes the release, without where it is written and what it is charged to.

    A value stands with its option in one argument: text that looks like an option is still a value.
    """
    content = request.content
    place = f"./{location}" if location.startswith("-") else location
    options = [f"{flag}={text}" if text else flag for flag, text in content["options"] if flag]
    return ["release", content["kind"], place, *options]


def source_of(draft: Draft) -> str:
    """Which source a draft is about; empty if none was chosen."""
    return draft.text(SOURCE)
