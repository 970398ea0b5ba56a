"""The newest entry of a dataset as others know it: enough to notice that entries are gone."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from veil.core.errors import InvalidData
from veil.core.objects import unique
from veil.ledger.entry import Entry

_LINE = json.JSONEncoder(sort_keys=True, separators=(",", ":"))


@dataclass(frozen=True, slots=True)
class Head:
    """Which entry was the newest, and its hash. totals: what was spent by then; {} where it is not known."""

    ledger: str
    dataset: str
    number: int
    sha256: str
    totals: Mapping[str, Any]

    @classmethod
    def of(cls, entry: Entry) -> Head:
        return cls(entry.ledger, entry.dataset, entry.number, entry.sha256, entry.content["totals"])

    @property
    def line(self) -> str:
        """One line of JSON."""
        return _LINE.encode({name: getattr(self, name) for name in self.__slots__}) + "\n"

    @classmethod
    def parse(cls, line: str) -> Head | None:
        """The head that a line holds; None if it holds none."""
        try:
            head = cls(**json.loads(line, object_pairs_hook=unique))
        except (ValueError, TypeError, RecursionError, InvalidData):
            return None
        texts = (head.ledger, head.dataset, head.sha256)
        known = all(isinstance(text, str) for text in texts) and isinstance(head.totals, dict)
        return head if known and type(head.number) is int else None
