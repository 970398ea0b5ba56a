"""What was agreed when a dataset was opened: its budget, who is a neighbour, how charges add up."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from veil.core.adjacency import Adjacency
from veil.core.checks import shown, truth
from veil.core.errors import InvalidArgument
from veil.core.registry import adjacency_from
from veil.core.text import is_plain_text
from veil.ledger.accounting import Rule, words_of
from veil.ledger.amounts import ZERO, Amount, charged

MOST_PARTS = 1_000
# Of a limit that was computed: what the mathematical functions of two machines may differ by.
_LAST_DIGITS = Amount("1e-12")
# Beyond any meaning.
_MOST_EPSILON = 1_000_000_000


@dataclass(frozen=True, slots=True)
class Budget:
    """An amount of privacy: of a whole budget, what is spent of it, or what is left.

    epsilon, delta: None where what is left depends on more than these, as with a filter. lines: the same as
    the dataset's rule measures it; with "basic" that is epsilon and delta again.
    """

    epsilon: Amount | None
    delta: Amount | None
    lines: Mapping[str, Amount]

    def __str__(self) -> str:
        return words_of(self.lines)


@dataclass(frozen=True, slots=True)
class Terms:
    """The terms of a dataset. They change only by an entry that says who changed them and why.

    adjacency: what every release must hide at least; None for whatever each release says. parts: the names of
    a public partition. moves: whether a neighbour may have somebody in another part. key: the public name of
    the key that entries are authenticated with, if there is one.
    """

    epsilon: Amount
    delta: Amount
    rule: Rule
    adjacency: Adjacency | None = None
    parts: tuple[str, ...] = ()
    moves: bool = False
    closed: bool = False
    key: str | None = None

    @classmethod
    def of(
        cls,
        *,
        epsilon: Any,
        delta: Any,
        adjacency: Adjacency | None,
        accounting: str,
        orders: Sequence[float] | None,
        parts: Sequence[str] | None,
        moves: bool,
    ) -> Terms:
        """Checked terms for a new dataset."""
        # Read as a charge is, so that a budget of 1/3 holds a charge of 1/3.
        most, failing = _budget(epsilon), charged("delta", delta, most=1)
        if failing == 1:
            raise InvalidArgument("delta", expected="a number below 1", found="1")
        if adjacency is not None and not _can_be_read_again(adjacency):
            raise InvalidArgument(
                "adjacency", expected="one such as vectors.Records()", found=type(adjacency).__name__
            )
        rule = Rule.of(accounting, most, failing, orders)
        names = _part_names(parts)
        truth("moves", moves)
        if moves and not names:
            raise InvalidArgument("moves", expected="parts with it", found="none")
        if moves and rule.name == "renyi":
            expected = '"basic" or "zcdp" where neighbours move between parts'
            raise InvalidArgument("accounting", expected=expected, found='"renyi"')
        if moves and (adjacency is None or adjacency.in_one_part() is None):
            expected = "neighbours that replace a record, of which one part loses it and another gains it"
            found = "none" if adjacency is None else adjacency.words
            raise InvalidArgument("moves", expected=expected, found=found)
        return cls(most, failing, rule, adjacency, names, moves)

    @property
    def neighbours(self) -> str:
        """Between whom the total hides the difference."""
        if self.adjacency is None:
            return "as each release says; the total holds for those who are neighbours under all of them"
        return self.adjacency.who

    @property
    def budget(self) -> Budget:
        return Budget(self.epsilon, self.delta, self.rule.limits)

    def check(self, adjacency: Adjacency | None, part: str | None) -> None:
        """Whether a release that hides these neighbours may be charged."""
        self.check_part(part)
        stated = self.hidden(part)
        if stated is None:
            return
        if adjacency is None or not adjacency.covers(stated):
            of_a_part = "what a part must hide, since a record may move to another"
            expected = "what the dataset was opened for" if stated == self.adjacency else of_a_part
            found = "nothing said" if adjacency is None else adjacency.words
            raise InvalidArgument("adjacency", expected=f"{expected}: {stated.who}", found=found)

    def hidden(self, part: str | None) -> Adjacency | None:
        """What a release from all the data, or from a part, must hide; None for whatever it says."""
        if part is None or not self.moves or self.adjacency is None:
            return self.adjacency
        return self.adjacency.in_one_part()

    def check_part(self, part: str | None) -> None:
        """Whether there is such a part."""
        if part is not None and not (isinstance(part, str) and part in self.parts):
            known = ", ".join(self.parts[:8]) + (", ..." if len(self.parts) > 8 else "")
            expected = f"one of {known}" if self.parts else "none: the dataset was opened without parts"
            raise InvalidArgument("part", expected=expected, found=shown(part))

    def raised(self, epsilon: Any, delta: Any) -> Terms:
        """With a larger budget."""
        if self.rule.name != "basic":
            raise InvalidArgument(
                "accounting",
                expected='"basic" to raise the budget of',
                found=f'"{self.rule.name}", whose proof is for a budget fixed at the beginning',
                hint="Open another dataset; its budget adds to this one.",
            )
        most = self.epsilon if epsilon is None else _budget(epsilon)
        failing = self.delta if delta is None else charged("delta", delta, most=1)
        if most < self.epsilon or failing < self.delta or (most, failing) == (self.epsilon, self.delta):
            raise InvalidArgument(
                "epsilon",
                expected=f"more than epsilon = {self.epsilon}, delta = {self.delta}",
                found=f"epsilon = {most}, delta = {failing}",
                hint="To stop all releases, close the dataset.",
            )
        return replace(self, epsilon=most, delta=failing, rule=Rule.of("basic", most, failing))

    def to_dict(self) -> dict[str, Any]:
        keyed = {} if self.key is None else {"key": self.key}
        return keyed | {
            "epsilon": str(self.epsilon),
            "delta": str(self.delta),
            "rule": self.rule.to_dict(),
            "adjacency": None if self.adjacency is None else self.adjacency.describe(),
            "parts": list(self.parts),
            "moves": self.moves,
            "closed": self.closed,
        }

    @classmethod
    def from_dict(cls, content: Any) -> Terms:
        adjacency = content["adjacency"]
        return cls(
            Amount(content["epsilon"]),
            Amount(content["delta"]),
            Rule.from_dict(content["rule"]),
            None if adjacency is None else adjacency_from(adjacency),
            tuple(content["parts"]),
            bool(content["moves"]),
            bool(content["closed"]),
            content.get("key"),
        )

    def check_sense(self) -> None:
        """Whether they are terms that a dataset can be opened with; InvalidArgument if not.

        The limits of a filter are computed by functions that may differ in their last digits elsewhere.
        """
        orders = [
            float(line.removeprefix("order ")) for line in self.rule.limits if line.startswith("order ")
        ]
        sound = Terms.of(
            epsilon=self.epsilon,
            delta=self.delta,
            adjacency=self.adjacency,
            accounting=self.rule.name,
            orders=orders or None,
            parts=list(self.parts) or None,
            moves=self.moves,
        )
        limits, known = self.rule.limits, sound.rule.limits
        slack = ZERO if self.rule.name == "basic" else _LAST_DIGITS
        if set(limits) != set(known) or any(
            abs(limits[line] - known[line]) > slack * known[line] for line in known
        ):
            raise InvalidArgument("limits", expected="those of the budget", found="others")


def _budget(epsilon: Any) -> Amount:
    """An epsilon that a budget may have."""
    amount = charged("epsilon", epsilon, most=_MOST_EPSILON)
    if amount == ZERO:
        raise InvalidArgument("epsilon", expected="a decimal number above 0, such as 0.5", found="0")
    return amount


def _can_be_read_again(adjacency: Any) -> bool:
    """Whether what is written of it gives the same; otherwise nobody could read the terms."""
    try:
        return bool(adjacency_from(adjacency.describe()) == adjacency)
    except (AttributeError, TypeError, ValueError):
        return False


def _part_names(parts: Sequence[str] | None) -> tuple[str, ...]:
    if parts is None:
        return ()
    expected = f"a list of at most {MOST_PARTS:,} different names, two or more"
    if isinstance(parts, str) or not isinstance(parts, Sequence):
        raise InvalidArgument("parts", expected=expected, found=type(parts).__name__)
    names = tuple(parts)
    if not all(isinstance(name, str) and is_plain_text(name) and 0 < len(name) <= 200 for name in names):
        raise InvalidArgument("parts", expected="names of one line, as text", found="others")
    if not 2 <= len(names) <= MOST_PARTS or len(set(names)) != len(names):
        raise InvalidArgument("parts", expected=expected, found=f"{len(names)}, {len(set(names))} different")
    return names
