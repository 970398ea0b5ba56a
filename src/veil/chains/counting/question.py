"""What is to be counted: columns and options of one call, checked against one another."""

from __future__ import annotations

import re
import secrets
from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Any

from veil.chains.transition_counts import MOST_FULL
from veil.core.checks import integer, items, truth
from veil.core.errors import InvalidArgument
from veil.tables.engines.protocol import DERIVED
from veil.tables.states import text_of
from veil.tables.times import PARTS

Strata = tuple[tuple[int, int], ...]
# States that a user counts for where they are discovered, unless it is said how many.
STATES_OF_A_USER = 10
# Cells of the counts with two past states: a gigabyte.
MOST_CELLS = 2**27
_COLUMNS = ("by", "order", "tie_break", "state", "origin", "destination", "group", *DERIVED)


@dataclass(frozen=True, kw_only=True)
class Question:
    """Transitions to be counted, by the names of the columns.

    A log has `state` and counts consecutive states of one `by`; trips have `origin` and `destination`.
    groups: the public values of the column `group`, as text; instead of a group a part of a time may be
    named (`hour_of` and so on), whose values are known. strata: (least number of states, cap) by rising
    length. second_cap: the cap where the state before is counted too. drop_unlisted: leave out rows whose
    state is not on the list. salt: keys the sample of a user's transitions.

    once: each pair of states counts once for each user.

    discovers: the states found are named privately; of each user user_states of them count.

    state_names: what the columns that hold states are called in the query, by role; the next state of a log
    is not a column of its own. roles: the columns that are needed, by role. derived: the role of a part of a
    time that is the group.
    """

    origin: str | None = None
    destination: str | None = None
    by: str | None = None
    order: str | None = None
    state: str | None = None
    tie_break: str | None = None
    group: str | None = None
    hour_of: str | None = None
    weekday_of: str | None = None
    month_of: str | None = None
    groups: Any = None
    drop_unlisted_groups: bool = False
    cap: int | None = None
    strata: Any = None
    second_cap: int | None = None
    memory: int = 1
    once: bool = False
    discovers: bool = False
    user_states: int | None = None
    sequences: bool = False
    drop_unlisted: bool = False
    salt: Any = None
    is_log: bool = field(init=False)
    is_capped: bool = field(init=False)
    largest_cap: int | None = field(init=False)
    state_names: dict[str, str] = field(init=False)
    roles: dict[str, str] = field(init=False)
    derived: str | None = field(init=False)

    def __post_init__(self) -> None:
        memory = integer("memory", self.memory, least=1, most=2)
        named_switches = ("sequences", "drop_unlisted", "drop_unlisted_groups", "once", "discovers")
        switches = {name: truth(name, getattr(self, name)) for name in named_switches}
        named = {name: getattr(self, name) for name in _COLUMNS if getattr(self, name) is not None}
        for name, column in named.items():
            if not isinstance(column, str) or not column:
                raise InvalidArgument(name, expected="the name of a column", found=type(column).__name__)
        is_log, derived = self.state is not None, self._derived()
        if derived is not None:
            object.__setattr__(self, "group", getattr(self, derived))
        self._check_together(is_log)
        if self.salt is not None and not isinstance(self.salt, str):
            raise InvalidArgument("salt", expected="text", found=type(self.salt).__name__)
        strata = () if self.strata is None else _strata(self.strata)
        caps = {
            name: integer(name, getattr(self, name), least=1)
            for name in ("cap", "second_cap", "user_states")
            if getattr(self, name) is not None
        }
        content = {
            "memory": memory,
            **switches,
            **caps,
            "user_states": self._visits(caps),
            "strata": strata,
            "groups": () if self.group is None else _groups(self.groups, derived),
            "derived": derived,
            "salt": secrets.token_hex(16) if self.salt is None else self.salt,
            "is_log": is_log,
            "is_capped": self.cap is not None or bool(strata),
            "largest_cap": max(cap for _, cap in strata) if strata else caps.get("cap"),
            "state_names": {"state": "state"} if is_log else {"origin": "state", "destination": "next_state"},
            "roles": named,
        }
        for name, value in content.items():
            object.__setattr__(self, name, value)

    def _visits(self, caps: dict[str, int]) -> int | None:
        """Of how many states each user counts, where states are discovered."""
        if not self.discovers or self.cap is None:
            return None
        return caps.get("user_states", STATES_OF_A_USER)

    def _derived(self) -> str | None:
        """Which part of a time is the group; at most one, and then no other column."""
        given = [name for name in ("group", *DERIVED) if getattr(self, name) is not None]
        if len(given) > 1:
            expected = "one of {group}, {hour_of}, {weekday_of} and {month_of}"
            names = ("group", *DERIVED)
            raise InvalidArgument(given[1], expected=expected, found=f"{len(given)} of them", names=names)
        return given[0] if given and given[0] != "group" else None

    def _check_together(self, is_log: bool) -> None:
        """Refuse arguments that do not go together: the first of these that is so."""
        trips, sampled = not is_log, self.cap is not None or self.strata is not None
        both = "either {state} or {origin} and {destination}", "both"
        for_log = "a column, since {state} asks for a log", "none"
        a_log = "a log: {by}, {order} and {state}", "trips, which are not sequences"
        another = "another column than {origin}", "the same"
        whose = "{by} as well, to say whose transitions are capped", "none"
        alone = "no {group} together with it", "both"
        capped = "{cap}, and no {strata}, {group}, {memory=2} or {sequences}, with it"
        not_alone = self.cap is None or self.group is not None or self.memory == 2 or self.sequences
        plain = "no {group}, {strata}, {memory=2} or {sequences} where states are discovered", "one of them"
        parts = (self.group is not None, self.strata is not None, self.memory == 2, self.sequences)
        discovered = "states that are discovered, and {cap}, with it", "none"
        second = "{memory=2}, and {cap} or {strata}, with it", "none"
        refused = (
            ("origin", is_log and self.origin is not None, *both),
            ("destination", is_log and self.destination is not None, *both),
            ("by", is_log and self.by is None, *for_log),
            ("order", is_log and self.order is None, *for_log),
            ("origin", trips and self.origin is None, "a column", "none"),
            ("destination", trips and self.destination is None, "a column", "none"),
            ("destination", trips and self.origin == self.destination, *another),
            ("cap", self.by is None and self.cap is not None, *whose),
            ("order", self.by is None and self.order is not None, "{by} as well", "none"),
            ("tie_break", self.order is None and self.tie_break is not None, "{order} as well", "none"),
            ("strata", trips and self.strata is not None, *a_log),
            ("once", bool(self.once) and not_alone, capped, "others"),
            ("memory", trips and self.memory == 2, *a_log),
            ("sequences", trips and self.sequences, *a_log),
            ("strata", self.cap is not None and self.strata is not None, "either it or {cap}", "both"),
            ("strata", self.group is not None and self.strata is not None, *alone),
            ("memory", self.group is not None and self.memory == 2, *alone),
            ("groups", self.group is None and self.groups is not None, "{group} as well", "none"),
            (
                "drop_unlisted_groups",
                self.drop_unlisted_groups and self.group is None,
                "{group} as well",
                "none",
            ),
            ("states", bool(self.discovers) and any(parts), *plain),
            ("user_states", self.user_states is not None and not (self.discovers and sampled), *discovered),
            ("second_cap", self.second_cap is not None and not (self.memory == 2 and sampled), *second),
        )
        for name, is_wrong, expected, found in refused:
            if is_wrong:
                hint = "Give {origin} and {destination} for trips, or {by}, {order} and {state} for a log."
                hint = hint if expected == "a column" else ""
                names = tuple(re.findall(r"\{(\w+)", expected + hint))
                raise InvalidArgument(name, expected=expected, found=found, hint=hint, names=names)

    def check_size(self, size: int) -> None:
        """Refuse what would need arrays of too many states, before anything is counted."""
        if self.memory == 2 and (size + 1) * size * size > MOST_CELLS:
            raise InvalidArgument("memory", expected="1 for so many states", found=f"2 for {size} states")
        for name, asked in (("strata", bool(self.strata)), ("group", self.group is not None)):
            if asked and size > MOST_FULL:
                raise InvalidArgument(name, expected=f"none above {MOST_FULL} states", found=f"{size} states")


def _strata(strata: Any) -> Strata:
    expected = "[(least length, cap), ...] with rising lengths from 2 on"
    if not isinstance(strata, Sequence) or not strata:
        raise InvalidArgument("strata", expected=expected, found=type(strata).__name__)
    layers = []
    for layer in strata:
        if not isinstance(layer, Sequence) or len(layer) != 2:
            raise InvalidArgument("strata", expected=expected, found="something else")
        layers.append((integer("strata", layer[0], least=2), integer("strata", layer[1], least=1)))
    if layers[0][0] != 2 or any(later[0] <= earlier[0] for earlier, later in pairwise(layers)):
        raise InvalidArgument("strata", expected=expected, found="other lengths")
    return tuple(layers)


def _groups(groups: Any, derived: str | None) -> tuple[str, ...]:
    known = None if derived is None else PARTS[derived].labels
    if groups is None and known is not None:
        return known
    if groups is None or isinstance(groups, str):
        hint = "A list such as a,b,c or 0..23: it is public, and must not be read from the data."
        raise InvalidArgument("groups", expected="the public list of groups", found="none", hint=hint)
    labels = tuple(map(group_text, items("groups", groups, expected="the public list of groups")))
    if not labels or len(set(labels)) < len(labels):
        raise InvalidArgument("groups", expected="labels that all differ", found="none or one twice")
    if known is not None and not set(labels) <= set(known):
        expected = f"some of {known[0]} to {known[-1]}"
        raise InvalidArgument("groups", expected=expected, found="others")
    return labels


def group_text(label: Any) -> str:
    """The text of a group: 8, "8" and 8.0 are the same."""
    is_whole = isinstance(label, float) and label.is_integer()
    return text_of(int(label) if is_whole else label)
