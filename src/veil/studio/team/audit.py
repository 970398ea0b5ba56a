"""The log of what people did: who, when, what; never values, passwords or addresses of data.

Entries are only added: the database itself refuses to change or remove one, and each holds the hash of the
one before it, so that a change behind the back of the database shows in an export.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from datetime import UTC, datetime
from hashlib import sha256
from typing import Any

from veil.studio.team.database import Database, Rows

_FIELDS = ("number", "at", "who", "project", "action", "about", "previous")


def note(rows: Rows, who: str, action: str, *, project: str = "", **about: str | int) -> None:
    """Add an entry, in the transaction of what it is about: both are kept, or neither.

    about: what was done to what, as names and hashes.
    """
    rows.lock_audit()
    last = rows.one("SELECT number, sha256 FROM veil_studio_audit ORDER BY number DESC LIMIT 1")
    entry = {
        "number": 1 if last is None else last["number"] + 1,
        "at": datetime.now(UTC).isoformat(timespec="milliseconds"),
        "who": who,
        "project": project,
        "action": action,
        "about": json.dumps(about, ensure_ascii=False, sort_keys=True),
        "previous": "" if last is None else last["sha256"],
    }
    rows.run(
        "INSERT INTO veil_studio_audit (number, at, who, project, action, about, previous, sha256) "
        "VALUES (:number, :at, :who, :project, :action, :about, :previous, :sha256)",
        **entry,
        sha256=digest_of(entry),
    )


def digest_of(entry: Mapping[str, Any]) -> str:
    """The hash of an entry."""
    content = json.dumps([entry[name] for name in _FIELDS], ensure_ascii=False, separators=(",", ":"))
    return sha256(content.encode()).hexdigest()


def entries_of(
    database: Database, projects: list[str] | None, *, last: int | None = None
) -> list[dict[str, Any]]:
    """The entries about these projects, or all of them, the newest first."""
    chosen = "" if projects is None else "WHERE project = ANY(:projects)"
    limit = "" if last is None else "LIMIT :last"
    values: dict[str, Any] = {} if projects is None else {"projects": projects}
    with database.begin() as rows:
        found = rows.all(
            f"SELECT * FROM veil_studio_audit {chosen} ORDER BY number DESC {limit}",
            **values,
            **({} if last is None else {"last": last}),
        )
    return [dict(row) for row in found]


def first_fault(entries: list[dict[str, Any]]) -> int | None:
    """The number of the first entry that does not follow from the one before it; None if all do.

    entries: all of them, the oldest first.
    """
    before = ""
    for number, entry in enumerate(entries, start=1):
        if entry["number"] != number or entry["previous"] != before or entry["sha256"] != digest_of(entry):
            return number
        before = entry["sha256"]
    return None
