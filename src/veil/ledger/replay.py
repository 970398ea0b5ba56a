"""The lawful history of a dataset: every entry is replayed, and only steps that Veil itself would take pass.

Hashes show that nothing was changed later. Whoever may add entries can still add false ones with true hashes:
a confirmation that raises the budget, a charge that costs nothing, a second opening. So what each entry says
is computed again from those before it. Entries that were written before these rules existed are held to those
of their time; what is odd about them is reported.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta
from functools import lru_cache
from typing import Any

from veil.core.account import Charge
from veil.core.errors import LedgerCorrupt, VeilError
from veil.ledger.amounts import ZERO, Amount
from veil.ledger.balance import Balance, amounts, texts
from veil.ledger.chain import Row
from veil.ledger.description import canonical, hash_of, is_hash
from veil.ledger.entry import NOTHING, Entry, is_place, token_of
from veil.ledger.keys import Key, is_authentic
from veil.ledger.named import UNREADABLE, adjacency_named, mechanism_named
from veil.ledger.terms import Terms
from veil.ledger.uses import Uses

_TERMS = {"by", "why", "agreed", "totals"}
_RELEASE = {"mechanism", "adjacency", "reproducible", "veil", "epsilon", "delta", "totals", "under"}
# What an entry of each kind holds, and what it may hold besides.
_FIELDS: dict[str, tuple[set[str], set[str]]] = {
    "open": (_TERMS, set()),
    "raise": (_TERMS, set()),
    "close": (_TERMS, set()),
    "key": (_TERMS, set()),
    "restore": ({"by", "why", "from", "seen", "lost", "totals", "under"}, set()),
    "reserve": (_RELEASE | {"part", "cost"}, {"places", "by", "why", "plan", "token"}),
    "use": (_RELEASE | {"entry", "slot", "token"}, {"places", "by", "why"}),
    "confirm": ({"entry", "totals", "under"}, {"result"}),
}
# What no Veil wrote before there were these rules: an entry that has it cannot be older than they are.
_NEWER = {"reserve": "by", "use": "by", "confirm": "result"}
# Clocks of two machines may be that far apart.
_SKEW = timedelta(days=1)


@dataclass
class Replay:
    """The state of a dataset after the entries that were replayed so far.

    earlier: how many entries were written before these rules. keys: by their public names; without any the
    entries are not authenticated. findings: what is odd, but no fault. restored: for each restore, the entry
    that it goes on from and the newest one that was known.
    """

    ledger: str
    dataset: str
    earlier: int = 0
    keys: Mapping[str, Key] = field(default_factory=dict)
    findings: list[str] = field(default_factory=list)
    last: Entry | None = None
    terms: Terms | None = None
    balance: Balance = field(default_factory=Balance)
    keyed_from: int | None = None
    restored: list[tuple[int, int]] = field(default_factory=list)
    _under: list[Any] = field(default_factory=list)
    _charges: dict[int, Mapping[str, Any]] = field(default_factory=dict)
    _batches: dict[int, Uses] = field(default_factory=dict)
    _tokens: set[str] = field(default_factory=set)
    _unchecked: int = 0

    def step(self, row: Row) -> None:
        """Take one more entry, or raise LedgerCorrupt."""
        entry = row.entry
        try:
            self._follows(entry)
            self._in_its_time(row)
            self._in_time(entry)
            self._says(entry)
            _STEPS[entry.kind](self, entry)
            self._same_terms(entry)
            self._token(entry, row.token)
            self._authentic(row)
            self._totals(entry)
        except UNREADABLE:
            raise self._fault(entry, "an entry that cannot be read") from None
        self.last = entry

    def end(self) -> None:
        """After the last entry: check the batches, and report what could not be checked."""
        for number, uses in self._batches.items():
            if not uses.are_covered():
                found = "a batch that costs less than its releases reveal together"
                if number > self.earlier:
                    raise LedgerCorrupt(f"{self.dataset}/{number}", found)
                self.findings.append(f"{self.dataset}/{number}: {found} (written by an older Veil)")
        unnamed = sum(uses.unnamed for uses in self._batches.values())
        if unnamed:
            self.findings.append(
                f"{self.dataset}: what {unnamed} releases of batches reveal cannot be computed again: their "
                "mechanisms are not in the ledger in full"
            )
        if self._unchecked:
            self.findings.append(
                f"{self.dataset}: what {self._unchecked} charges cost along the filter's lines cannot be "
                "computed again: their mechanisms are not in the ledger in full"
            )

    # What all entries have in common

    def _follows(self, entry: Entry) -> None:
        last = self.last
        if (entry.ledger, entry.dataset) != (self.ledger, self.dataset):
            raise self._fault(entry, "an entry of another ledger or dataset")
        if entry.number != (1 if last is None else last.number + 1):
            raise self._fault(entry, "a gap before it")
        if entry.previous != (NOTHING if last is None else last.sha256):
            raise self._fault(entry, "an entry that does not follow the one before it")
        if self.terms is None and entry.kind != "open":
            raise self._fault(entry, "an entry before the dataset was opened")

    def _in_its_time(self, row: Row) -> None:
        """Whether it can be as old as the ledger says: that is a number which somebody may have raised."""
        entry = row.entry
        is_newer = row.mac or entry.kind in ("key", "restore") or _NEWER.get(entry.kind) in entry.content
        if is_newer and entry.number <= self.earlier:
            raise self._fault(entry, "an entry newer than the ledger says that it is")

    def _in_time(self, entry: Entry) -> None:
        time = _time(entry)
        if self.last is not None and time < _time(self.last):
            self._odd(entry, "a time before that of the entry before it")
        if time > datetime.now(UTC) + _SKEW and not any("in the future" in text for text in self.findings):
            self.findings.append(f"{self.dataset}/{entry.number}: a time in the future")

    def _says(self, entry: Entry) -> None:
        """Its fields are those of its kind."""
        must, may = _FIELDS[entry.kind]
        present = set(entry.content)
        if not must <= present:
            raise self._fault(entry, "an entry that cannot be read")
        if not all(_is_text(entry.content[name]) for name in ("by", "why") if name in may & present):
            raise self._fault(entry, "no text for who released, or why")
        if "plan" in may & present and not is_hash(entry.content["plan"]):
            raise self._fault(entry, "a plan that is no hash")
        if present - must - may:
            self._odd(
                entry, f"what a {entry.kind!r} does not say: {', '.join(sorted(present - must - may))[:80]}"
            )

    def _same_terms(self, entry: Entry) -> None:
        if "agreed" not in entry.content and entry.content["under"] != self._under:
            raise self._fault(entry, "other terms than those that were agreed")

    def _token(self, entry: Entry, token: str) -> None:
        """What is done once has a token that says so, and no two tokens are alike."""
        content, about = entry.content, entry.content.get("entry")
        expected = {"confirm": f"confirm {about}", "use": f"use {about} {content.get('slot')}"}
        if "plan" in content:
            expected["reserve"] = token_of(content["plan"])
        if token != expected.get(entry.kind, token):
            raise self._fault(entry, "an entry about another that is no reservation")
        if token in self._tokens:
            raise self._fault(entry, "the same thing done twice")
        self._tokens.add(token)

    def _authentic(self, row: Row) -> None:
        key = None if self.terms is None else self.terms.key
        if key is None:
            if row.mac:
                raise self._fault(row.entry, "a code though the dataset is not keyed")
            return
        if not row.mac:
            raise self._fault(row.entry, "an entry without the code that the key gives it")
        if not self.keys:
            return
        if key not in self.keys:
            raise self._fault(row.entry, "entries of another key")
        if not is_authentic(self.keys[key], row.entry, row.token, row.mac):
            raise self._fault(row.entry, "a forged entry: its code is not that of the key")

    def _totals(self, entry: Entry) -> None:
        assert self.terms is not None
        stated = entry.content["totals"]
        if isinstance(stated["parts"], str):
            same = stated == self.balance.to_dict()
        else:
            same = Balance.from_dict(stated, moves=self.terms.moves) == self.balance
        if not same or set(stated) != {"whole", "parts"}:
            raise self._fault(entry, "totals that are not the sum of the charges")

    # What is particular to each kind

    def _opened(self, entry: Entry) -> None:
        if self.terms is not None:
            raise self._fault(entry, "a second opening")
        terms = Terms.from_dict(entry.content["agreed"])
        if terms.closed:
            raise self._fault(entry, "a dataset that was closed before it was opened")
        self._agreed(entry, terms)
        self.balance = Balance(moves=terms.moves)

    def _raised(self, entry: Entry) -> None:
        before, after = self._open_terms(entry), Terms.from_dict(entry.content["agreed"])
        try:
            lawful = before.raised(after.epsilon, after.delta)
        except VeilError:
            raise self._fault(entry, "a budget that was not raised") from None
        self._changed(entry, lawful, after)

    def _closed(self, entry: Entry) -> None:
        before, after = self._open_terms(entry), Terms.from_dict(entry.content["agreed"])
        self._changed(entry, replace(before, closed=True), after)

    def _keyed(self, entry: Entry) -> None:
        before, after = self._open_terms(entry), Terms.from_dict(entry.content["agreed"])
        if not after.key or after.key == before.key:
            raise self._fault(entry, "no new key")
        self._changed(entry, replace(before, key=after.key), after)

    def _changed(self, entry: Entry, lawful: Terms, after: Terms) -> None:
        """Terms that changed as their entry says, and in nothing else."""
        if lawful != after or not _is_text(entry.content["by"]) or not _is_text(entry.content["why"]):
            raise self._fault(entry, f"terms that a {entry.kind!r} does not lead to")
        self._agreed(entry, after)

    def _agreed(self, entry: Entry, terms: Terms) -> None:
        if terms.to_dict() != entry.content["agreed"]:
            self._odd(entry, "terms in another form than Veil writes")
        try:
            terms.check_sense()
        except VeilError:
            self._odd(entry, "limits or terms that do not follow from the budget")
        if terms.key is not None and self.keyed_from is None:
            self.keyed_from = entry.number
        self.terms, self._under = terms, [entry.number, entry.sha256]

    def _reserved(self, entry: Entry) -> None:
        terms, content = self._open_terms(entry), entry.content
        cost = amounts(content["cost"])
        self._as_stated(entry, cost)
        if set(cost) != {"epsilon", "delta", *terms.rule.limits}:
            self._odd(entry, "a charge along other lines than those of the rule")
        self._hides(entry, terms)
        self._costs(entry, terms, cost)
        self.balance = self.balance.after(cost, content["part"])
        if not self.balance.fits(terms.rule):
            raise self._fault(entry, "a charge beyond the budget")
        self._charges[entry.number] = content

    def _as_stated(self, entry: Entry, cost: Mapping[str, Amount]) -> None:
        content = entry.content
        stated = [Amount(content["epsilon"]), Amount(content["delta"])]
        if min(*cost.values(), *stated) < ZERO:
            raise self._fault(entry, "a charge below nothing")
        if texts(cost) != content["cost"] or not all(
            isinstance(text, str) and text.isascii() for text in (content["epsilon"], content["delta"])
        ):
            self._odd(entry, "amounts in another form than Veil writes")
        if cost["epsilon"] < Amount(content["epsilon"]) or cost["delta"] < Amount(content["delta"]):
            self._odd(entry, "a charge below what was stated")

    def _hides(self, entry: Entry, terms: Terms) -> None:
        """Whether it hides what the dataset was opened for, from a part that there is."""
        part, adjacency = entry.content["part"], entry.content["adjacency"]
        try:
            terms.check(None if adjacency is None else adjacency_named(canonical(adjacency)), part)
        except VeilError:
            self._odd(entry, "a charge that does not hide what the dataset was opened for")

    def _costs(self, entry: Entry, terms: Terms, cost: Mapping[str, Amount]) -> None:
        """Of a filter: at least the divergences of the mechanism that is named, where it is named in full."""
        if terms.rule.name == "basic":
            return
        content = entry.content
        named = {name: value for name, value in content["mechanism"].items() if name != "sha256"}
        text = canonical(named)
        adjacency = canonical(content["adjacency"])
        if hash_of(text) != content["mechanism"]["sha256"]:
            self._unchecked += 1
            return
        least = _least_cost(terms.rule.name, tuple(terms.rule.limits), text, adjacency)
        if least is None:
            self._unchecked += 1
        elif any(cost[line] < amount * (1 - Amount("1e-12")) for line, amount in least):
            self._odd(entry, "a charge below what its mechanism reveals")

    def _used(self, entry: Entry) -> None:
        self._open_terms(entry)
        content = entry.content
        batch = self._charges.get(content["entry"])
        if batch is None or type(content["entry"]) is not int:
            raise self._fault(entry, "an entry about another that is no reservation")
        if not is_place(batch, content["slot"], content["mechanism"]):
            raise self._fault(entry, "a release that was not declared with its batch")
        self._charges[entry.number] = {}
        if content["entry"] not in self._batches:
            self._batches[content["entry"]] = Uses(Amount(batch["epsilon"]), Amount(batch["delta"]))
        self._batches[content["entry"]].add(content)

    def _confirmed(self, entry: Entry) -> None:
        result = entry.content.get("result")
        about = entry.content["entry"]
        if type(about) is not int or about not in self._charges:
            raise self._fault(entry, "an entry about another that is no reservation")
        if result is not None and not is_hash(result):
            raise self._fault(entry, "a result that is no hash")

    def _restored(self, entry: Entry) -> None:
        """What was spent in the entries that are lost is added once more."""
        assert self.last is not None
        content, lost = entry.content, entry.content["lost"]
        number, sha256 = content["seen"]
        if content["from"] != self.last.number or not _is_text(content["by"]) or not _is_text(content["why"]):
            raise self._fault(entry, "a restore that does not say what it accepts")
        if type(number) is not int or number < self.last.number or not _is_text(sha256):
            raise self._fault(entry, "a restore that does not say what it accepts")
        gone = Balance.from_dict(lost, moves=self.balance.moves)
        if any(amount < ZERO for line in (gone.whole, *gone.parts.values()) for amount in line.values()):
            raise self._fault(entry, "a charge below nothing")
        self.balance = self.balance.joined(gone)
        self.restored.append((self.last.number, number))

    def _open_terms(self, entry: Entry) -> Terms:
        assert self.terms is not None
        if self.terms.closed:
            raise self._fault(entry, f"a {entry.kind!r} after the dataset was closed")
        return self.terms

    def _fault(self, entry: Entry, found: str) -> LedgerCorrupt:
        return LedgerCorrupt(f"{self.dataset}/{entry.number}", found)

    def _odd(self, entry: Entry, found: str) -> None:
        """A fault, unless the entry is older than the rule."""
        if entry.number > self.earlier:
            raise self._fault(entry, found)
        self.findings.append(f"{self.dataset}/{entry.number}: {found} (written by an older Veil)")


_STEPS: dict[str, Callable[[Replay, Entry], None]] = {
    "open": Replay._opened,
    "raise": Replay._raised,
    "close": Replay._closed,
    "key": Replay._keyed,
    "restore": Replay._restored,
    "reserve": Replay._reserved,
    "use": Replay._used,
    "confirm": Replay._confirmed,
}


def _time(entry: Entry) -> datetime:
    time = datetime.fromisoformat(entry.time)
    if time.utcoffset() != timedelta(0):
        raise ValueError
    return time


def _is_text(given: Any) -> bool:
    return isinstance(given, str) and given.strip() != ""


@lru_cache(maxsize=256)
def _least_cost(
    rule: str, lines: tuple[str, ...], described: str, adjacency: str
) -> tuple[tuple[str, Amount], ...] | None:
    """What a charge adds at least along the lines of a filter; None if it cannot be computed from here."""
    from veil.ledger.accounting import Rule

    content = json.loads(described)
    texts = content["of"] if content.get("name") == "batch" else [described]
    try:
        near = adjacency_named(adjacency)
        profiles = tuple(mechanism_named(text).profile(near) for text in texts)
        cost = Rule(rule, dict.fromkeys(lines, ZERO)).cost(Charge(0.0, 0.0, {}, near, profiles))
    except (VeilError, *UNREADABLE):
        return None
    return tuple((line, cost[line]) for line in lines)
