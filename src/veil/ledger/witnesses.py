"""What is known of a ledger elsewhere, by exports and anchors, and whether its history agrees."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from typing import Any

from veil.core.errors import InvalidData, LedgerCorrupt
from veil.ledger.amounts import ZERO
from veil.ledger.balance import Balance
from veil.ledger.entry import Entry, digest
from veil.ledger.head import Head

FORMAT, SCHEMA = "veil-ledger", 1
# What a text of others may do instead of being totals.
_UNREADABLE = (KeyError, TypeError, ValueError, ArithmeticError, AttributeError)


class Witnesses:
    """Heads of one dataset that were noted elsewhere. Each entry is shown to them, oldest first.

    There may be several of one number: of two that differ at most one is in the ledger.
    """

    def __init__(self, dataset: str, heads: Iterable[Head]) -> None:
        self._dataset = dataset
        self._waiting: dict[int, list[Head]] = {}
        self._differing: list[Head] = []
        for head in heads:
            self._waiting.setdefault(head.number, []).append(head)

    def see(self, entry: Entry) -> None:
        """Compare an entry with those that were noted with its number."""
        noted = self._waiting.pop(entry.number, [])
        self._differing += [head for head in noted if head.sha256 != entry.sha256]

    def missing(self) -> list[Head]:
        """After the newest entry: what was noted and is not in the ledger, oldest first."""
        rest = [head for heads in self._waiting.values() for head in heads]
        return sorted([*self._differing, *rest], key=lambda head: (head.number, head.sha256))

    def check(self, last: Entry, balance: Balance, restored: Sequence[tuple[int, int]]) -> list[str]:
        """Raise LedgerCorrupt unless what is missing was given up by a restore, and is paid for.

        balance: after all entries. restored: of each restore, the entry that it went on from and the newest
        that was known. Returns what cannot be told.
        """
        unknown = []
        for head in self.missing():
            if not any(start < head.number <= newest for start, newest in restored):
                if head.number > last.number:
                    found = f"{last.number} entries, though {head.number} were exported"
                    raise LedgerCorrupt(self._dataset, found)
                raise LedgerCorrupt(f"{self._dataset}/{head.number}", "another entry than the exported one")
            spent, is_whole = spent_by(head, moves=balance.moves)
            if any(amount > ZERO for amount in _amounts(spent.beyond(balance))):
                found = "less spent in all than by this entry, which a restore gave up"
                raise LedgerCorrupt(f"{self._dataset}/{head.number}", found)
            if not is_whole:
                unknown.append(head.number)
        if not unknown:
            return []
        return [
            f"{self._dataset}: a restore gave up entries that are known elsewhere, the newest {unknown[-1]}; "
            "what was spent by then is not known there"
        ]


def spent_by(head: Head, *, moves: bool) -> tuple[Balance, bool]:
    """What had been spent by a head, as far as it says so, and whether it says all of it."""
    whole, parts = head.totals.get("whole"), head.totals.get("parts")
    is_whole = isinstance(whole, Mapping) and isinstance(parts, Mapping)
    with suppress(*_UNREADABLE):
        listed = {"whole": whole or {}, "parts": parts if isinstance(parts, Mapping) else {}}
        return Balance.from_dict(listed, moves=moves), is_whole
    return Balance(moves=moves), False


def lost_with(heads: Iterable[Head], balance: Balance) -> Balance:
    """What had been spent by any of the heads beyond the balance; an error where one does not say all."""
    lost = Balance(moves=balance.moves)
    for head in heads:
        spent, is_whole = spent_by(head, moves=balance.moves)
        if not is_whole:
            raise InvalidData(
                "against",
                expected="heads with all that was spent, on each part",
                found=f"{head.dataset}/{head.number} without it",
                hint="The machine that charged it last knows it.",
            )
        lost = lost.joined(spent.beyond(balance.joined(lost)))
    return lost


def _amounts(balance: Balance) -> Iterator[Any]:
    for totals in (balance.whole, *balance.parts.values()):
        yield from totals.values()


def heads_in(against: Any, ledger: str) -> dict[str, list[Head]]:
    """The heads of a ledger by dataset, from what `export` gave or an anchor noted."""
    if not isinstance(against, Mapping):
        return _anchored(against, ledger)
    datasets = against.get("datasets")
    if not isinstance(datasets, dict) or against.get("format") != FORMAT:
        raise InvalidData("against", expected="what `veil ledger export` wrote", found="something else")
    if against.get("ledger") != ledger:
        raise LedgerCorrupt("the whole", "another ledger than the exported one")
    return {str(name): [_exported(ledger, str(name), held)] for name, held in datasets.items()}


def _anchored(against: Any, ledger: str) -> dict[str, list[Head]]:
    heads = list(against) if isinstance(against, Iterable) and not isinstance(against, str) else [None]
    known: dict[str, list[Head]] = {}
    for head in heads:
        if not isinstance(head, Head):
            raise InvalidData("against", expected="an export, or heads of an anchor", found="something else")
        # An anchor may hold the heads of several ledgers.
        if head.ledger == ledger:
            known.setdefault(head.dataset, []).append(head)
    if heads and not known:
        raise LedgerCorrupt("the whole", "another ledger than the anchored one")
    return known


def _exported(ledger: str, dataset: str, held: Any) -> Head:
    """The newest entry of an export, and what had been spent: as it says, or by that entry."""
    number, sha256 = (held.get("entries"), held.get("head")) if isinstance(held, dict) else (None, None)
    if type(number) is not int or not isinstance(sha256, str):
        raise InvalidData("against", expected="entries and a head", found="something else")
    totals = held.get("totals")
    with suppress(*_UNREADABLE, IndexError, RecursionError):
        newest = held["chain"][-1]
        if digest(newest) == sha256:
            totals = dict(json.loads(newest)["content"]["totals"])
    return Head(ledger, dataset, number, sha256, totals if isinstance(totals, dict) else {})
