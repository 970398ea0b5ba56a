"""What is to be counted: columns and options of one call, checked against one another."""

from __future__ import annotations

import secrets
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

from veil.core.checks import integer, truth
from veil.core.errors import InvalidArgument

Strata = tuple[tuple[int, int], ...]


@dataclass(frozen=True, slots=True)
class Question:
    """Transitions to be counted, by the names of the columns.

    A log has `state` and counts consecutive states of one `by`; trips have `origin` and `destination`.
    strata: (least number of states, cap) by rising length. second_cap: the cap where the state before is
    counted too. drop_unlisted: leave out rows whose state is not on the list. salt: keys the sample of a
    user's transitions.
    """

    origin: str | None
    destination: str | None
    by: str | None
    order: str | None
    state: str | None
    tie_break: str | None
    group: str | None
    cap: int | None
    strata: Strata
    second_cap: int | None
    memory: int
    sequences: bool
    drop_unlisted: bool
    salt: str

    @property
    def is_log(self) -> bool:
        return self.state is not None

    @property
    def is_capped(self) -> bool:
        return self.cap is not None or bool(self.strata)

    @property
    def largest_cap(self) -> int | None:
        return max(cap for _, cap in self.strata) if self.strata else self.cap

    @property
    def state_roles(self) -> tuple[str, ...]:
        """The roles of the columns that hold states."""
        return ("state",) if self.is_log else ("origin", "destination")

    @property
    def state_names(self) -> tuple[str, ...]:
        """What these columns are called in the query; the next state of a log is not a column of its own."""
        return ("state",) if self.is_log else ("state", "next_state")

    @property
    def roles(self) -> dict[str, str]:
        """The columns that are needed, by role."""
        named = {
            role: getattr(self, role) for role in ("by", "order", "tie_break", *self.state_roles, "group")
        }
        return {role: name for role, name in named.items() if name is not None}


def ask(
    *,
    origin: Any,
    destination: Any,
    by: Any,
    order: Any,
    state: Any,
    tie_break: Any,
    group: Any,
    cap: Any,
    strata: Any,
    second_cap: Any,
    memory: Any,
    sequences: bool,
    drop_unlisted: bool,
    salt: Any,
) -> Question:
    """The question, or an error that says which arguments do not go together."""
    names = {
        "origin": origin,
        "destination": destination,
        "by": by,
        "order": order,
        "state": state,
        "tie_break": tie_break,
        "group": group,
    }
    memory = integer("memory", memory, least=1, most=2)
    sequences, drop_unlisted = truth("sequences", sequences), truth("drop_unlisted", drop_unlisted)
    for field, name in names.items():
        if name is not None and (not isinstance(name, str) or not name):
            raise InvalidArgument(field, expected="the name of a column", found=type(name).__name__)
    if state is not None:
        _refuse_trip(origin, destination)
        for field, name in (("by", by), ("order", order)):
            if name is None:
                expected = "a column, since {state} asks for a log"
                raise InvalidArgument(field, expected=expected, found="none", names=("state",))
    else:
        for field, name in (("origin", origin), ("destination", destination)):
            if name is None:
                raise InvalidArgument(
                    field,
                    expected="a column",
                    found="none",
                    hint="Give {origin} and {destination} for trips, or {by}, {order} and {state} for a log.",
                    names=("origin", "destination", "by", "order", "state"),
                )
        if origin == destination:
            expected = "another column than {origin}"
            raise InvalidArgument("destination", expected=expected, found="the same", names=("origin",))
        _refuse_for_trips(by, order, tie_break, cap, strata, memory, sequences)
    if cap is not None and strata is not None:
        raise InvalidArgument("strata", expected="either it or {cap}", found="both", names=("cap",))
    layers = () if strata is None else _strata(strata)
    for field, asked in (("strata", bool(layers)), ("memory", memory == 2)):
        if group is not None and asked:
            raise InvalidArgument(
                field, expected="no {group} together with it", found="both", names=("group",)
            )
    if second_cap is not None and (memory != 2 or (cap is None and strata is None)):
        raise InvalidArgument(
            "second_cap",
            expected="{memory=2}, and {cap} or {strata}, with it",
            found="none",
            names=("memory", "cap", "strata"),
        )
    if salt is not None and not isinstance(salt, str):
        raise InvalidArgument("salt", expected="text", found=type(salt).__name__)
    return Question(
        origin=origin,
        destination=destination,
        by=by,
        order=order,
        state=state,
        tie_break=tie_break,
        group=group,
        cap=None if cap is None else integer("cap", cap, least=1),
        strata=layers,
        second_cap=None if second_cap is None else integer("second_cap", second_cap, least=1),
        memory=int(memory),
        sequences=sequences,
        drop_unlisted=drop_unlisted,
        salt=secrets.token_hex(16) if salt is None else salt,
    )


def _refuse_trip(origin: Any, destination: Any) -> None:
    for field, name in (("origin", origin), ("destination", destination)):
        if name is not None:
            expected = "either {state} or {origin} and {destination}"
            names = ("state", "origin", "destination")
            raise InvalidArgument(field, expected=expected, found="both", names=names)


def _refuse_for_trips(
    by: Any, order: Any, tie_break: Any, cap: Any, strata: Any, memory: Any, sequences: bool
) -> None:
    if by is None and cap is not None:
        expected = "{by} as well, to say whose transitions are capped"
        raise InvalidArgument("cap", expected=expected, found="none", names=("by",))
    if by is None and order is not None:
        raise InvalidArgument("order", expected="{by} as well", found="none", names=("by",))
    if order is None and tie_break is not None:
        raise InvalidArgument("tie_break", expected="{order} as well", found="none", names=("order",))
    for field, asked in (("strata", strata is not None), ("memory", memory == 2), ("sequences", sequences)):
        if asked:
            raise InvalidArgument(
                field,
                expected="a log: {by}, {order} and {state}",
                found="trips, which are not sequences",
                names=("by", "order", "state"),
            )


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
