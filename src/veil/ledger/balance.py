"""What a dataset has spent: on all of it, and on parts of it."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from decimal import Decimal
from typing import Any

from veil.ledger.accounting import UP, Rule, Totals
from veil.ledger.amounts import ZERO, Amount
from veil.ledger.entry import digest

# Of what was spent on parts, in characters: beyond it an entry has the hash.
_LONG = 2_000


def plus(one: Totals, other: Totals) -> dict[str, Amount]:
    """Line by line."""
    return {line: one.get(line, ZERO) + other.get(line, ZERO) for line in {**one, **other}}


def of_two_records(cost: Totals) -> dict[str, Amount]:
    """What hides one record at this cost, where two change (proof: accounting.md, "Parts")."""
    doubled = {**cost, "epsilon": 2 * cost["epsilon"]}
    if "rho" in cost:
        doubled["rho"] = 4 * cost["rho"]
    if cost["delta"] > ZERO:
        # Beyond an epsilon of 100 nothing is left of any delta.
        doubled["delta"] = Amount(1)
        if cost["epsilon"] <= Amount(100):
            growth = UP.add(UP.next_plus(UP.exp(cost["epsilon"])), Decimal(1))
            doubled["delta"] = min(Amount(1), Amount(UP.multiply(cost["delta"], growth)))
    return doubled


@dataclass(frozen=True, slots=True)
class Balance:
    """Totals of the releases from all the data, and of those from each part of a public partition.

    moves: a neighbour has a record replaced, by one in the same part or in another. Two parts change by one
    record each, or one part by two: a part counts for two records, and then the worst part is enough.
    """

    whole: Totals = field(default_factory=dict)
    parts: Mapping[str, Totals] = field(default_factory=dict)
    moves: bool = False

    def after(self, cost: Totals, part: str | None) -> Balance:
        """The balance with a charge to all of the data, or to a part."""
        if part is None:
            return Balance(plus(self.whole, cost), self.parts, self.moves)
        parts = dict(self.parts)
        parts[part] = plus(parts.get(part, {}), self.taken(cost, part))
        return Balance(self.whole, parts, self.moves)

    def joined(self, other: Balance) -> Balance:
        """Line by line, what both have spent."""
        names = {**self.parts, **other.parts}
        parts = {name: plus(self.parts.get(name, {}), other.parts.get(name, {})) for name in names}
        return Balance(plus(self.whole, other.whole), parts, self.moves)

    def beyond(self, other: Balance) -> Balance:
        """Line by line, what this one has spent more than the other; nothing where it is less."""
        parts = {name: _excess(totals, other.parts.get(name, {})) for name, totals in self.parts.items()}
        return Balance(_excess(self.whole, other.whole), parts, self.moves)

    def taken(self, cost: Totals, part: str | None) -> Totals:
        """What a charge takes of the budget."""
        return cost if part is None or not self.moves else of_two_records(cost)

    def totals(self, part: str | None = None) -> dict[str, Amount]:
        """What one person may have lost along each line, in all, or if they are in this part."""
        return plus(self.whole, self._worst_part() if part is None else self.parts.get(part, {}))

    def _worst_part(self) -> dict[str, Amount]:
        """Line by line, the part with the largest total."""
        lines = {line for totals in self.parts.values() for line in totals}
        return {line: max(totals.get(line, ZERO) for totals in self.parts.values()) for line in lines}

    def fits(self, rule: Rule) -> bool:
        """Whether nobody, in whatever part, has lost more than the rule allows."""
        if rule.name == "renyi":
            # Which order holds may differ from part to part.
            return all(rule.fits(plus(self.whole, part)) for part in ({}, *self.parts.values()))
        return rule.fits(self.totals())

    @property
    def beside(self) -> str | None:
        """What was spent on parts as text, where it is too long for an entry; None where it is not."""
        if not self.parts:
            return None
        text = json.dumps(self._listed(), sort_keys=True, separators=(",", ":"))
        return text if len(text) > _LONG else None

    def _listed(self) -> dict[str, dict[str, str]]:
        return {name: texts(totals) for name, totals in self.parts.items()}

    def listed(self) -> dict[str, Any]:
        """In full, however long the list of parts is."""
        return {"whole": texts(self.whole), "parts": self._listed()}

    def to_dict(self) -> dict[str, Any]:
        """As entries hold it: of a long list of parts the hash; the store has the list beside them."""
        beside = self.beside
        return {"whole": texts(self.whole), "parts": self._listed() if beside is None else digest(beside)}

    @classmethod
    def from_dict(cls, content: Any, *, moves: bool, beside: str | None = None) -> Balance:
        """The balance that an entry holds; ValueError where what is beside it is something else."""
        listed = content["parts"]
        if isinstance(listed, str):
            if beside is None or digest(beside) != listed:
                raise ValueError
            listed = json.loads(beside)
        parts = {str(name): amounts(totals) for name, totals in listed.items()}
        return cls(amounts(content["whole"]), parts, moves)


def _excess(one: Totals, other: Totals) -> dict[str, Amount]:
    return {line: max(ZERO, amount - other.get(line, ZERO)) for line, amount in one.items()}


def texts(totals: Totals) -> dict[str, str]:
    """Amounts as entries hold them."""
    return {line: str(amount) for line, amount in totals.items()}


def amounts(content: Any) -> dict[str, Amount]:
    """What `texts` was made of."""
    return {str(line): Amount(text) for line, text in content.items()}
