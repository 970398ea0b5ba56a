"""Small raw tables of trips and logs, and the edits by which neighbours differ, as the adjacency says it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from tests.review.plain_counts import Reading, Row
from veil.chains.adjacency import Transitions

Rows = list[Row]


@dataclass(frozen=True)
class Source:
    """Where rows come from: who, when and what may be in them."""

    rng: np.random.Generator
    reading: Reading
    users: tuple[Any, ...]
    labels: tuple[Any, ...]
    times: int

    @classmethod
    def random(cls, rng: np.random.Generator, adjacency: Transitions) -> Source:
        """A way to read that goes with the adjacency, and a small world for it."""
        log = adjacency.unit == "row" or bool(rng.random() < 0.6)
        numbers = bool(rng.random() < 0.3)
        states = (
            (7, 12, 3, 40)[: int(rng.integers(2, 5))]
            if numbers
            else ("b", "a", "D", "ä")[: int(rng.integers(2, 5))]
        )
        unlisted: tuple[Any, ...] = (99, 5) if numbers else ("zzz", "B")
        options: dict[str, Any] = {}
        kind = rng.random()
        if kind < 0.35:
            options["other"] = states[0] if rng.random() < 0.3 else (0 if numbers else "rest")
        elif kind < 0.7:
            options["drop_unlisted"] = True
        else:
            unlisted = ()
        if len(states) > 2 and rng.random() < 0.3:
            options["merge"] = {states[-1]: states[0]}
        if log:
            options["tie_break"] = bool(rng.random() < 0.3)
            options["sequences"] = bool(rng.random() < 0.6)
            options["memory"] = int(rng.integers(1, 3))
        else:
            options["by"] = adjacency.unit == "user" or bool(rng.random() < 0.3)
            options["order"] = options["by"] and bool(rng.random() < 0.5)
        if adjacency.unit == "user":
            assert adjacency.cap is not None
            if log and rng.random() < 0.4:
                # Which are weighed by the lengths of the sequences.
                options["strata"] = [(2, max(1, adjacency.cap - 1)), (4, adjacency.cap)]
                options["sequences"] = True
            else:
                options["cap"] = adjacency.cap
            if options.get("memory") == 2 and rng.random() < 0.5:
                options["second_cap"] = int(rng.integers(1, adjacency.cap + 1))
        if options.get("memory", 1) == 1 and "strata" not in options and rng.random() < 0.3:
            options["groups"] = ("x", "y")
        reading = Reading(states, log, salt=str(rng.integers(10**9)), **options)
        users = (1, 2, 3) if rng.random() < 0.3 else ("ann", "bob", "cy")
        # An empty cell is a state that is not on the list.
        labels = states + unlisted + ((None,) if unlisted and rng.random() < 0.5 else ())
        return cls(rng, reading, users, labels, int(rng.integers(1, 7)))

    def pick(self, some: Any) -> Any:
        return some[int(self.rng.integers(len(some)))]

    def row(self, who: Any = None) -> Row:
        """Any row at all."""
        made: Row = {"who": self.pick(self.users) if who is None else who, "group": self.pick(("x", "y"))}
        made |= {"when": int(self.rng.integers(self.times)), "tie": int(self.rng.integers(3))}
        names = ("state",) if self.reading.log else ("origin", "destination")
        return made | {name: self.pick(self.labels) for name in names}

    def rows(self) -> Rows:
        return [self.row() for _ in range(int(self.rng.integers(1, 14)))]


def neighbour(source: Source, rows: Rows, adjacency: Transitions) -> Rows:
    """The table after one edit; it may also be the table before, since the relation goes both ways."""
    if adjacency.unit == "event" and source.reading.log:
        return _event_of_log(source, rows, adjacency.change)
    edit: Callable[[Source, Rows, str], Rows] = {"event": _trip, "row": _row, "user": _user}[adjacency.unit]
    return edit(source, [dict(row) for row in rows], adjacency.change)


def _trip(source: Source, rows: Rows, change: str) -> Rows:
    place = int(source.rng.integers(len(rows)))
    if change == "add-remove":
        return [*rows, source.row()] if source.rng.random() < 0.5 else rows[:place] + rows[place + 1 :]
    # Another destination that is counted, and was: how many leave each state stays.
    counted = source.labels if source.reading.other is not None else tuple(source.reading.states)
    if source.reading.other is not None or rows[place]["destination"] in source.reading.states:
        rows[place]["destination"] = source.pick(counted)
    return rows


def _row(source: Source, rows: Rows, change: str) -> Rows:
    place = int(source.rng.integers(len(rows)))
    if change == "replace-state":
        rows[place]["state"] = source.pick(source.labels)
        return rows
    without = rows[:place] + rows[place + 1 :]
    if change == "replace":
        return [*without, source.row()]
    return [*rows, source.row()] if source.rng.random() < 0.5 else without


def _user(source: Source, rows: Rows, change: str) -> Rows:
    present = sorted({row["who"] for row in rows}, key=str)
    gone = source.pick(present)
    rest = [row for row in rows if row["who"] != gone]
    new = 77 if isinstance(gone, int) else "dora"
    own = [source.row(new) for _ in range(int(source.rng.integers(1, 12)))]
    if change == "replace":
        # By another one of any name: the name is theirs, and may be the same.
        name = source.pick((gone, new))
        return rest + [row | {"who": name} for row in own]
    return rows + own if source.rng.random() < 0.5 else rest


def _event_of_log(source: Source, rows: Rows, change: str) -> Rows:
    """A transition of a log that goes cuts its sequence; with another destination its first half goes on."""
    by_user: dict[Any, Rows] = {}
    for row in rows:
        by_user.setdefault(row["who"], []).append(row)
    sequences = list(by_user.values())
    long = [at for at, one in enumerate(sequences) if len(one) > 1]
    if not long:
        return rows
    at = source.pick(long)
    cut = int(source.rng.integers(1, len(sequences[at])))
    begin, end = sequences[at][:cut], sequences[at][cut:]
    rest = sequences[:at] + sequences[at + 1 :]
    if change == "add-remove":
        return as_log([*rest, begin, end])
    if rest and source.rng.random() < 0.6:
        # It leads to the first state of another sequence, and so on from there.
        joined = int(source.rng.integers(len(rest)))
        return as_log([*rest[:joined], *rest[joined + 1 :], begin + rest[joined], end])
    # Or to a state that was on its own, or nowhere before.
    alone = [{**source.row(), "state": source.pick(source.reading.states)}]
    return as_log([*rest, begin + alone, end])


def as_log(sequences: list[Rows]) -> Rows:
    """Sequences of rows as a log in which each has a name of its own and the order that is given."""
    return [
        row | {"who": f"user {name}", "when": when, "tie": 0}
        for name, one in enumerate(sequences)
        for when, row in enumerate(one)
    ]


def sequences_of(source: Source, rows: Rows) -> Rows:
    """The rows that are counted, as sequences in an order of their own: one after the other."""
    known = [row for row in rows if source.reading.other is not None or row["state"] in source.reading.states]
    by_user: dict[Any, Rows] = {}
    for row in known:
        by_user.setdefault(row["who"], []).append(row)
    return as_log(list(by_user.values()))
