"""What a dataset has spent: on all of it, and on parts of it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from veil.ledger.accounting import Rule, Totals
from veil.ledger.amounts import ZERO, Amount


def plus(one: Totals, other: Totals) -> dict[str, Amount]:
    """Line by line."""
    return {line: one.get(line, ZERO) + other.get(line, ZERO) for line in {**one, **other}}


@dataclass(frozen=True, slots=True)
class Balance:
    """Totals of the releases from all the data, and of those from each part of a public partition.

    moves: a neighbour may have somebody in another part, so that two parts change at once.
    """

    whole: Totals = field(default_factory=dict)
    parts: Mapping[str, Totals] = field(default_factory=dict)
    moves: bool = False

    def after(self, cost: Totals, part: str | None) -> Balance:
        """The balance with a charge to all of the data, or to a part."""
        if part is None:
            return Balance(plus(self.whole, cost), self.parts, self.moves)
        parts = dict(self.parts)
        parts[part] = plus(parts.get(part, {}), cost)
        return Balance(self.whole, parts, self.moves)

    def totals(self, part: str | None = None) -> dict[str, Amount]:
        """What one person may have lost along each line, in all, or if they are in this part."""
        if part is not None and not self.moves:
            return plus(self.whole, self.parts.get(part, {}))
        return plus(self.whole, self._worst_parts(part))

    @staticmethod
    def simple(totals: Totals) -> dict[str, Amount]:
        """The totals, with epsilon and delta even where nothing was spent."""
        return {"epsilon": ZERO, "delta": ZERO, **totals}

    def _worst_parts(self, part: str | None) -> dict[str, Amount]:
        """Line by line, the part with the largest total; where neighbours move, the two largest."""
        lines = {line for totals in self.parts.values() for line in totals}
        found = {}
        for line in lines:
            each = {name: totals.get(line, ZERO) for name, totals in self.parts.items()}
            own = [] if part is None else [each.pop(part, ZERO)]
            others = sorted(each.values(), reverse=True)
            taken = (own + others)[: 2 if self.moves else 1]
            found[line] = sum(taken, ZERO)
        return found

    def fits(self, rule: Rule) -> bool:
        """Whether nobody, in whatever part, has lost more than the rule allows."""
        if rule.name == "renyi":
            # Which order holds may differ from part to part.
            return all(rule.fits(totals) for totals in self._people())
        return rule.fits(self.totals())

    def _people(self) -> Iterator[dict[str, Amount]]:
        yield plus(self.whole, {})
        for part in self.parts.values():
            yield plus(self.whole, part)

    def to_dict(self) -> dict[str, Any]:
        return {
            "whole": _texts(self.whole),
            "parts": {name: _texts(totals) for name, totals in self.parts.items()},
        }

    @classmethod
    def from_dict(cls, content: Any, *, moves: bool) -> Balance:
        parts = {str(name): _amounts(totals) for name, totals in content["parts"].items()}
        return cls(_amounts(content["whole"]), parts, moves)


def _texts(totals: Totals) -> dict[str, str]:
    return {line: str(amount) for line, amount in totals.items()}


def _amounts(content: Any) -> dict[str, Amount]:
    return {str(line): Amount(text) for line, text in content.items()}
