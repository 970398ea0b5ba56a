"""The history of a budget: what was spent when, on what."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from veil.core.errors import LedgerCorrupt
from veil.ledger.accounting import Totals
from veil.ledger.balance import Balance, amounts, texts
from veil.ledger.dataset import Dataset
from veil.ledger.entry import Entry
from veil.ledger.terms import Terms


@dataclass(frozen=True)
class Moment:
    """The budget after one entry. confirmed: the release of a reservation was made."""

    entry: Entry
    terms: Terms
    totals: Totals
    confirmed: bool

    @property
    def used(self) -> float:
        return self.terms.rule.used(self.totals)[1]

    @property
    def what(self) -> str:
        """The entry in a few words."""
        content = self.entry.content
        if self.entry.kind in ("reserve", "use"):
            name = str(content["mechanism"].get("name", ""))
            if name == "batch":
                name = f"batch of {len(content['mechanism'].get('releases', ())) or 'several'}"
            part = content.get("part")
            name = f"{name} on {part}" if part is not None else name
            return f"{name}: {self.why}" if self.why else name
        if self.entry.kind == "confirm":
            return f"entry {content['entry']} was released"
        return self.why

    @property
    def why(self) -> str:
        """The reason, where one was given."""
        return str(self.entry.content.get("why") or "")

    @property
    def by(self) -> str:
        """Who did it, where it is recorded."""
        return str(self.entry.content.get("by") or "")

    @property
    def plan(self) -> str:
        """The hash of the approved plan that was charged, where there was one."""
        return str(self.entry.content.get("plan") or "")

    @property
    def state(self) -> str:
        """What became of a reservation."""
        if self.entry.kind not in ("reserve", "use"):
            return ""
        seeded = " from a seed" if self.entry.content.get("reproducible") else ""
        return ("released" if self.confirmed else "charged, no result") + seeded

    def to_dict(self) -> dict[str, Any]:
        rule = self.terms.rule
        return {
            "number": self.entry.number,
            "time": self.entry.time,
            "kind": self.entry.kind,
            "what": self.what,
            "by": self.by,
            "why": self.why,
            "plan": self.plan,
            "state": self.state,
            "cost": self.entry.content.get("cost"),
            "spent": texts(rule.along(self.totals)),
            "sha256": self.entry.sha256,
        }


@dataclass(frozen=True)
class BudgetHistory:
    """All that happened to the budget of a dataset."""

    name: str
    moments: tuple[Moment, ...]
    balance: Balance

    @classmethod
    def of(cls, dataset: Dataset) -> BudgetHistory:
        entries = dataset.entries()
        results = {entry.about: entry.content.get("result") for entry in entries if entry.kind == "confirm"}
        terms: Terms | None = None
        balance = Balance()
        moments = []
        for entry in entries:
            try:
                if "agreed" in entry.content:
                    terms = Terms.from_dict(entry.content["agreed"])
                    balance = Balance(balance.whole, balance.parts, terms.moves)
                elif entry.kind == "reserve":
                    balance = balance.after(amounts(entry.content["cost"]), entry.content["part"])
                elif entry.kind == "restore":
                    balance = balance.joined(Balance.from_dict(entry.content["lost"], moves=balance.moves))
                if terms is None:
                    raise KeyError
            except (KeyError, TypeError, ValueError, ArithmeticError, AttributeError):
                raise LedgerCorrupt(
                    f"{dataset.name}/{entry.number}", "an entry that cannot be read"
                ) from None
            moments.append(Moment(entry, terms, balance.totals(), entry.number in results))
        return cls(dataset.name, tuple(moments), balance)

    @property
    def now(self) -> Moment:
        return self.moments[-1]

    @property
    def terms(self) -> Terms:
        return self.now.terms

    @property
    def parts(self) -> dict[str, Totals]:
        """What one person has lost at most, for each part that they may be in."""
        return {name: self.balance.totals(name) for name in self.terms.parts}

    @property
    def charges(self) -> int:
        return sum(moment.entry.kind == "reserve" for moment in self.moments)

    @property
    def line(self) -> str:
        """The line along which the budget is tightest: what a picture shows."""
        return self.terms.rule.used(self.now.totals)[0]

    def to_dict(self, *, entries: bool) -> dict[str, Any]:
        rule = self.terms.rule
        known = {
            "name": self.name,
            "budget": {"epsilon": str(self.terms.epsilon), "delta": str(self.terms.delta)},
            "accounting": rule.to_dict(),
            "adjacency": None if self.terms.adjacency is None else self.terms.adjacency.describe(),
            "parts": list(self.terms.parts),
            "spent_in_parts": {name: texts(rule.along(totals)) for name, totals in self.parts.items()},
            "moves": self.terms.moves,
            "closed": self.terms.closed,
            "spent": texts(rule.along(self.now.totals)),
            "remaining": texts(rule.remaining(self.now.totals)),
            "used": self.now.used,
            "charges": self.charges,
        }
        return known | {"entries": [moment.to_dict() for moment in self.moments]} if entries else known
