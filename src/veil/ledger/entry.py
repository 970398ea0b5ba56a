"""One line of a ledger: never changed, and bound to the one before it by its hash."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from veil.core.account import EntryId
from veil.core.errors import LedgerCorrupt

KINDS = ("open", "reserve", "use", "confirm", "raise", "close", "key", "restore")
# What the first entry of a dataset follows.
NOTHING = "0" * 64
_BODY = json.JSONEncoder(sort_keys=True, separators=(",", ":"), ensure_ascii=True, allow_nan=False)


@dataclass(frozen=True)
class Entry:
    """What was done to a dataset's budget.

    number: from 1 on, without gaps. time: UTC, never before that of the entry before. kind: "open", "raise",
    "close" and "key" set the terms; "reserve" is a charge; "use" one release of a batch that was charged
    before; "confirm" notes that a release was made; "restore" that the ledger was set back, and what was
    spent in what is lost. content: as kind says, with the totals after it. previous: the hash of the entry
    before.
    """

    ledger: str
    dataset: str
    number: int
    time: str
    kind: str
    content: Mapping[str, Any]
    previous: str

    @cached_property
    def body(self) -> str:
        """The entry as text, always the same for the same entry."""
        return _BODY.encode({name: getattr(self, name) for name in self.__dataclass_fields__})

    @cached_property
    def sha256(self) -> str:
        return digest(self.body)

    @property
    def id(self) -> EntryId:
        return EntryId(self.ledger, self.dataset, self.number, self.sha256)

    @property
    def about(self) -> int | None:
        """The entry that this one speaks of: what is confirmed, or the batch that is used."""
        return self.content.get("entry")

    @classmethod
    def parse(cls, body: str, where: str) -> Entry:
        """The entry behind a text of the store."""
        try:
            entry = cls(**json.loads(body))
            known = (
                entry.kind in KINDS
                and entry.body == body
                and isinstance(entry.number, int)
                and isinstance(entry.content, dict)
                and all(
                    isinstance(text, str)
                    for text in (entry.ledger, entry.dataset, entry.time, entry.previous)
                )
            )
        except (ValueError, TypeError, RecursionError):
            known = False
        if not known:
            raise LedgerCorrupt(where, "an entry that cannot be read")
        return entry


def token_of(plan: str) -> str:
    """What the charge of an approved plan carries, so that there is only one."""
    return f"plan {plan}"


def is_place(batch: Mapping[str, Any], slot: Any, mechanism: Mapping[str, Any]) -> bool:
    """Whether the entry of a batch declares this mechanism at that place."""
    places = batch.get("places", [])
    return type(slot) is int and 0 <= slot < len(places) and places[slot] == mechanism["sha256"]


def digest(body: str) -> str:
    """The hash that stands for an entry."""
    # Of what is no text of ours the hash is another one.
    return hashlib.sha256(str(body).encode("ascii", "backslashreplace")).hexdigest()
