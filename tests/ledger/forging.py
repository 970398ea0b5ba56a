"""Entries that somebody adds past Veil, with all hashes and links right; that takes INSERT and UPDATE."""

from __future__ import annotations

import copy
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from typing import Any
from uuid import uuid4

from tests.ledger.places import Place
from veil.ledger.entry import NOTHING, Entry, digest
from veil.ledger.head import Head
from veil.ledger.marks import Marks

# What entries of 0.1 did not say.
_LATER = {"reserve": "by", "use": "by", "confirm": "result"}
_INSERT = (
    "INSERT INTO veil_ledger_entries (dataset, number, sha256, token, body) "
    "VALUES (:dataset, :number, :sha, :token, :body)"
)


@dataclass(frozen=True)
class Forgery:
    """Somebody who may add entries to the dataset and set its row, and knows how Veil writes them."""

    place: Place
    dataset: str = "trips"

    def entries(self) -> list[Entry]:
        query = "SELECT body FROM veil_ledger_entries WHERE dataset = :name ORDER BY number"
        return [Entry.parse(body, "test") for (body,) in self.place.sql(query, name=self.dataset)]

    def newest(self, kind: str) -> dict[str, Any]:
        """The content of the newest entry of a kind, to be changed."""
        found = [entry.content for entry in self.entries() if entry.kind == kind]
        return copy.deepcopy(dict(found[-1]))

    @property
    def agreed(self) -> dict[str, Any]:
        """The terms that hold."""
        found = [entry.content["agreed"] for entry in self.entries() if "agreed" in entry.content]
        return copy.deepcopy(dict(found[-1]))

    def made(self, kind: str, content: dict[str, Any], token: str | None, time: str) -> dict[str, Any]:
        """An entry after the last one, with the totals and terms that hold unless the content says others."""
        last = self.entries()[-1]
        agreeing = "agreed" in content
        own = "agreed" in last.content
        under = {} if agreeing else {"under": [last.number, last.sha256] if own else last.content["under"]}
        entry = Entry(
            ledger=last.ledger,
            dataset=self.dataset,
            number=last.number + 1,
            time=time or datetime.now(UTC).isoformat(timespec="microseconds"),
            kind=kind,
            content={"totals": last.content["totals"]} | under | content,
            previous=last.sha256,
        )
        values = {"dataset": self.dataset, "number": entry.number, "sha": digest(entry.body)}
        return values | {"token": token or uuid4().hex, "body": entry.body}

    def add(self, kind: str, content: dict[str, Any], *, token: str | None = None, time: str = "") -> None:
        """Add it, and set the row of the dataset."""
        values = self.made(kind, content, token, time)
        self.place.sql(_INSERT, **values)
        row = "UPDATE veil_ledger_datasets SET last = :body WHERE name = :name"
        self.place.sql(row, body=values["body"], name=self.dataset)


def written_by_0_1(place: Place, dataset: str = "trips") -> None:
    """Put in the place of all entries what 0.1 would have written: they say less, and follow one another."""
    forgery = Forgery(place, dataset)
    under: dict[str, list[Any]] = {}
    known = dict(
        place.sql("SELECT number, token FROM veil_ledger_entries WHERE dataset = :name", name=dataset)
    )
    made: list[Entry] = []
    for entry in forgery.entries():
        content = {name: said for name, said in entry.content.items() if name != _LATER.get(entry.kind)}
        if "under" in content:
            content["under"] = under[entry.content["under"][1]]
        entry_of_then = replace(entry, content=content, previous=made[-1].sha256 if made else NOTHING)
        under[entry.sha256] = [entry.number, entry_of_then.sha256]
        made.append(entry_of_then)
    place.sql("DELETE FROM veil_ledger_entries WHERE dataset = :name", name=dataset)
    for entry in made:
        values: dict[str, Any] = {"number": entry.number, "sha": entry.sha256, "body": entry.body}
        place.sql(_INSERT, dataset=dataset, token=known[entry.number], **values)
    place.sql(
        "UPDATE veil_ledger_datasets SET last = :body WHERE name = :name", body=made[-1].body, name=dataset
    )
    # This machine has seen them become what they are.
    Marks().note(Head.of(made[-1]), back=True)
