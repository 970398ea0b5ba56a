"""What one person, one row or one event can change of a table of counted transitions."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

from veil.core.adjacency import Adjacency
from veil.core.checks import choice, integer
from veil.core.errors import InvalidArgument
from veil.vectors.counts import Contributions

UNITS = ("event", "row", "user")
UNIT_MEANINGS = (
    "one trip, or one step from a state to the next",
    "one row of a log, with the steps before and after it",
    "one person, with all that is counted of them",
)
CHANGES = ("add-remove", "replace", "replace-state")
CHANGE_MEANINGS = (
    "whether it is in the data at all",
    "what it is; that there is one is public",
    "which state it is at; when and whose it is are public",
)
# What is counted: by transition, and once for each sequence.
OF_TRANSITIONS = ("transitions", "second", "sizes")
OF_SEQUENCES = ("starts", "ends", "lengths")
_WORDS = {
    ("event", "add-remove"): "one transition is added or removed; "
    "how many leave each state is not assumed public",
    ("event", "replace"): "one transition gets another destination; how many leave each state is public",
    ("row", "add-remove"): "one row of the log is added or removed",
    ("row", "replace"): "one row of the log is replaced by any other",
    ("row", "replace-state"): "the state in one row of the log is replaced",
}


@dataclass(frozen=True, slots=True)
class Transitions(Adjacency):
    """Neighbouring tables of which transitions were counted.

    unit: "event", one transition; "row", one row of a log of (who, when, state); "user", all that one
        person contributed, of whom at most `cap` transitions were counted.
    change: "add-remove", or "replace": an event keeps its origin and gets another destination; a row or
        a user is replaced by any other. "replace-state" for rows: who and when stay.
    """

    unit: str = "event"
    change: str = "add-remove"
    cap: int | None = None
    name: ClassVar[str] = "Transitions"

    def __post_init__(self) -> None:
        choice("unit", self.unit, UNITS)
        choice("change", self.change, CHANGES if self.unit == "row" else CHANGES[:2])
        if (self.cap is None) == (self.unit == "user"):
            raise InvalidArgument(
                "cap",
                expected="the most transitions counted of one user" if self.unit == "user" else "none",
                found=repr(self.cap),
                hint="" if self.cap is not None else "Such as {cap=10}.",
                names=("cap",),
            )
        if self.cap is not None:
            object.__setattr__(self, "cap", integer("cap", self.cap, least=1))

    @property
    def reach(self) -> float:
        return float(self.cap or 0)

    def on(self, table: str, cap: int | None = None) -> Contributions:
        """The change of one of the tables that are counted, by its name. cap: of a table with its own.

        A row b between x and y that goes takes x->b and b->y with it and leaves x->y. With another state
        c, two transitions go and two come; where ties in time are broken by the state it may move as well,
        which is as if the row were replaced: it goes here and comes there.
        """
        if table in OF_SEQUENCES:
            return self.on_sequences
        if table == "second" and self.unit != "user":
            return self.on_triples()
        if self.unit == "user":
            most = cap or self.cap or 1
            return Contributions(most, most if self.change == "replace" else 0)
        if self.unit == "event":
            return Contributions(1, 1 if self.change == "replace" else 0)
        return Contributions(2, 1) if self.change == "add-remove" else Contributions(3, 3)

    def on_transitions(self, cap: int | None = None) -> Contributions:
        """The change of the counted transitions."""
        return self.on("transitions", cap)

    def on_triples(self, cap: int | None = None) -> Contributions:
        """The change of the transitions counted with the state before each.

        A row stands in three of them, and two close over the gap that it leaves.
        """
        if self.unit == "row":
            return Contributions(3, 2) if self.change == "add-remove" else Contributions(5, 5)
        if self.unit == "event":
            # A transition is also what the next one remembers; without it that one is the first of its part.
            # With another destination it may also become what the first one of another sequence remembers.
            return Contributions(2, 1) if self.change == "add-remove" else Contributions(3, 3)
        return self.on_transitions(cap)

    @property
    def on_sequences(self) -> Contributions:
        """The change of what is counted once a sequence: by its start, its end, its length.

        A user is one sequence. A row that comes or goes can change the start, the end and the length of the
        sequence that it belongs to; a row that is replaced can do so in two. A transition that goes cuts its
        sequence into two; with another destination it may join its first half to another sequence.
        """
        if self.unit == "user":
            return Contributions(1, 1 if self.change == "replace" else 0)
        if self.change != "add-remove":
            return Contributions(2, 2)
        return Contributions(2, 1) if self.unit == "event" else Contributions(1, 1)

    @property
    def words(self) -> str:
        if self.unit != "user":
            return _WORDS[self.unit, self.change]
        what = "added or removed" if self.change == "add-remove" else "replaced by another"
        return (
            f"one person is {what} with everything they contributed, of whom at most {self.cap} "
            f"{'transition was' if self.cap == 1 else 'transitions were'} counted"
        )

    @property
    def who(self) -> str:
        """How much is counted of a user is a matter of each release."""
        return self.words.partition(", of whom at most")[0]

    def covers(self, narrow: Adjacency) -> bool:
        """The cap does not matter: it says how much is counted of a person, not who is a neighbour."""
        return isinstance(narrow, Transitions) and (self.unit, self.change) == (narrow.unit, narrow.change)

    def in_one_part(self) -> Adjacency | None:
        """One person more, or one less."""
        if (self.unit, self.change) == ("user", "replace"):
            return Transitions("user", "add-remove", self.cap)
        return None

    def describe(self) -> dict[str, Any]:
        cap = {} if self.cap is None else {"cap": self.cap}
        return {"name": self.name, "unit": self.unit, "change": self.change, **cap}
