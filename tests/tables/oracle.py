"""Transitions counted by hand, in plain Python: what every engine must agree with."""

from __future__ import annotations

import hashlib
from collections import Counter, defaultdict
from collections.abc import Hashable, Sequence
from dataclasses import dataclass, field
from typing import Any

Who = int | str
# A label, or None where there is none.
Label = Hashable


@dataclass
class Tally:
    """What was counted, by label."""

    moves: Counter[tuple[Label, Label]] = field(default_factory=Counter)
    second: Counter[tuple[Label, Label, Label]] = field(default_factory=Counter)
    strata: dict[int, Counter[tuple[Label, Label]]] = field(default_factory=lambda: defaultdict(Counter))
    groups: dict[Label, Counter[tuple[Label, Label]]] = field(default_factory=lambda: defaultdict(Counter))
    starts: Counter[Label] = field(default_factory=Counter)
    ends: Counter[Label] = field(default_factory=Counter)
    lengths: Counter[int] = field(default_factory=Counter)


def drawn(who: Who, number: int, cap: int | None, salt: str) -> set[int]:
    """Which of a user's transitions 1, 2, ..., number are kept."""
    places = range(1, number + 1)
    if cap is None:
        return set(places)
    return set(
        sorted(places, key=lambda place: hashlib.md5(f"{salt}:{who}:{place}".encode()).hexdigest())[:cap]
    )


def count_log(
    rows: Sequence[dict[str, Any]],
    *,
    states: Sequence[Label] | None = None,
    other: Label = None,
    cap: int | None = None,
    strata: Sequence[tuple[int, int]] = (),
    second_cap: int | None = None,
    salt: str = "",
) -> Tally:
    """rows have who, time and state, and perhaps tie and group. second_cap: with the state before."""
    listed = None if states is None else [*states, *([other] if other not in (None, *states) else [])]
    users: dict[Who, list[tuple[Any, ...]]] = defaultdict(list)
    for row in rows:
        label = row["state"]
        if listed is not None and label not in listed:
            label = other
        key = label if listed is None else listed.index(label)
        users[row["who"]].append((row["time"], row.get("tie", 0), key, row.get("group", 0), label))
    tally = Tally()
    for who, visits in users.items():
        visits.sort()
        labels = [visit[-1] for visit in visits]
        tally.starts[labels[0]] += 1
        tally.ends[labels[-1]] += 1
        tally.lengths[len(labels)] += 1
        layer = max((k for k, (least, _) in enumerate(strata) if len(labels) >= least), default=-1)
        kept = drawn(who, len(labels) - 1, strata[layer][1] if layer >= 0 else cap, salt)
        for place in kept:
            move = labels[place - 1], labels[place]
            tally.moves[move] += 1
            tally.strata[layer][move] += 1
            tally.groups[visits[place - 1][3]][move] += 1
        for place in kept if second_cap is None else drawn(who, len(labels) - 1, second_cap, salt):
            before = labels[place - 2] if place > 1 else None
            tally.second[before, labels[place - 1], labels[place]] += 1
    return tally


def count_trips(rows: Sequence[dict[str, Any]], *, cap: int, salt: str) -> Counter[tuple[Label, Label]]:
    """rows have who, origin and end, and perhaps time: the place of a trip is by time, origin, end."""
    users: dict[Who, list[tuple[Any, ...]]] = defaultdict(list)
    for row in rows:
        users[row["who"]].append((row.get("time", 0), row["origin"], row["end"]))
    moves: Counter[tuple[Label, Label]] = Counter()
    for who, trips in users.items():
        trips.sort()
        moves.update(trips[place - 1][1:] for place in drawn(who, len(trips), cap, salt))
    return moves
