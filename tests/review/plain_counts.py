"""Transitions counted row by row in plain Python, as the documentation of `chains.read` says."""

from __future__ import annotations

import hashlib
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

Counts = dict[str, NDArray[np.int64]]
# A row of a log has who, when, tie, state and group, a trip has origin and destination for the state.
Row = dict[str, Any]
# Bins of lengths: all are shorter here than the first bin of several.
_LONGEST = 100


@dataclass(frozen=True)
class Reading:
    """The arguments of `chains.read` that decide what is counted."""

    states: Sequence[Any]
    log: bool
    other: Any = None
    drop_unlisted: bool = False
    merge: dict[Any, Any] | None = None
    by: bool = True
    order: bool = True
    tie_break: bool = False
    groups: Sequence[Any] | None = None
    cap: int | None = None
    strata: Sequence[tuple[int, int]] | None = None
    second_cap: int | None = None
    memory: int = 1
    sequences: bool = False
    salt: str = "salt"

    def arguments(self) -> dict[str, Any]:
        """The same for Veil."""
        given: dict[str, Any] = {"states": list(self.states), "salt": self.salt, "memory": self.memory}
        given |= {"state": "state"} if self.log else {"origin": "origin", "destination": "destination"}
        for name, wanted in (("by", self.by), ("order", self.order), ("tie_break", self.tie_break)):
            given |= {name: {"by": "who", "order": "when", "tie_break": "tie"}[name]} if wanted else {}
        if self.groups is not None:
            given |= {"group": "group", "groups": list(self.groups)}
        for name in ("other", "drop_unlisted", "merge", "cap", "strata", "second_cap", "sequences"):
            value = getattr(self, name)
            given |= {name: value} if value is not None and value is not False else {}
        return given

    @property
    def columns(self) -> tuple[str, ...]:
        states = ("state",) if self.log else ("origin", "destination")
        return (*(("who", "when", "tie") if self.by else ()), *states, "group")


@dataclass(frozen=True)
class Move:
    """One transition, by the places of its states. before: the state before it, None for a first one."""

    origin: int
    end: int
    before: int | None
    group: Any
    place: int


@dataclass(frozen=True)
class _Places:
    """Where states are counted. of: the place of a label in the list, None if it is left out."""

    reading: Reading

    @property
    def labels(self) -> list[str]:
        listed = [str(label) for label in self.reading.states]
        other = self.reading.other
        return listed + ([str(other)] if other is not None and str(other) not in listed else [])

    def of(self, label: Any) -> int | None:
        if label is not None and str(label) in self.labels:
            return self.labels.index(str(label))
        return None if self.reading.other is None else self.labels.index(str(self.reading.other))

    @property
    def merged(self) -> list[int]:
        """The place of each state once some are counted together with others."""
        goes = {str(source): str(target) for source, target in (self.reading.merge or {}).items()}
        kept = [label for label in self.labels if label not in goes]
        return [kept.index(goes.get(label, label)) for label in self.labels]


def has_rows(rows: Sequence[Row], reading: Reading) -> bool:
    """Whether any row is left to be counted."""
    return bool(_users(rows, reading, _Places(reading)))


def plain_counts(rows: Sequence[Row], reading: Reading) -> Counts:
    """Every table that is asked for, by its name."""
    places = _Places(reading)
    target = places.merged
    size, users = max(target) + 1, _users(rows, reading, places)
    found: Counts = {"transitions": np.zeros((size, size), np.int64)}
    if reading.memory == 2:
        found["second"] = np.zeros((size + 1, size, size), np.int64)
    for at, _ in enumerate(reading.strata or ()):
        found[f"stratum {at}"] = np.zeros((size, size), np.int64)
    if reading.groups is not None:
        found["groups"] = np.zeros((len(reading.groups), size, size), np.int64)
    if reading.sequences:
        found |= {"starts": np.zeros(size, np.int64), "ends": np.zeros(size, np.int64)}
        found["lengths"] = np.zeros(_LONGEST, np.int64)
    for who, (moves, visited) in users.items():
        stratum = max(
            (at for at, (least, _) in enumerate(reading.strata or ()) if len(visited) >= least), default=None
        )
        kept, kept_second = _sampled(who, moves, reading, stratum)
        for move in kept:
            i, j = target[move.origin], target[move.end]
            found["transitions"][i, j] += 1
            if stratum is not None:
                found[f"stratum {stratum}"][i, j] += 1
            if reading.groups is not None:
                found["groups"][[str(one) for one in reading.groups].index(str(move.group)), i, j] += 1
        for move in kept_second if reading.memory == 2 else ():
            before = size if move.before is None else target[move.before]
            found["second"][before, target[move.origin], target[move.end]] += 1
        if reading.sequences and visited:
            found["starts"][target[visited[0]]] += 1
            found["ends"][target[visited[-1]]] += 1
            found["lengths"][len(visited) - 1] += 1
    found["sizes"] = found["transitions"].sum(axis=1)
    return found


def _users(rows: Sequence[Row], reading: Reading, places: _Places) -> dict[Any, tuple[list[Move], list[int]]]:
    """The transitions of each user in their order, and the states visited (of trips: none)."""
    by_user: dict[Any, list[tuple[Any, ...]]] = defaultdict(list)
    names = ("state",) if reading.log else ("origin", "destination")
    for row in rows:
        states = [places.of(row[name]) for name in names]
        if None in states:
            assert reading.drop_unlisted
            continue
        when = (row["when"],) if reading.order else ()
        tie = (row["tie"],) if reading.tie_break else ()
        by_user[row["who"] if reading.by else None].append((*when, *tie, *states, str(row["group"])))
    users = {}
    for who, some in by_user.items():
        some.sort()
        if reading.log:
            visited, groups = [one[-2] for one in some], [one[-1] for one in some]
            before = [None, *visited]
            moves = [
                Move(i, j, before[at], groups[at], at + 1) for at, (i, j) in enumerate(pairwise(visited))
            ]
        else:
            visited, moves = (
                [],
                [Move(one[-3], one[-2], None, one[-1], at + 1) for at, one in enumerate(some)],
            )
        users[who] = moves, visited
    return users


def _sampled(
    who: Any, moves: list[Move], reading: Reading, stratum: int | None
) -> tuple[list[Move], list[Move]]:
    """What is kept of a user: as many as the cap, in the order of the salted hash of who and which."""
    cap = reading.cap
    if reading.strata is not None and stratum is not None:
        cap = reading.strata[stratum][1]
    if cap is None:
        return moves, moves

    def drawn(move: Move) -> str:
        return hashlib.md5(f"{reading.salt}:{who}:{move.place}".encode()).hexdigest()

    shuffled = sorted(moves, key=drawn)
    return shuffled[:cap], shuffled[: cap if reading.second_cap is None else reading.second_cap]


def counted_by_veil(counts: Any, reading: Reading) -> Counts:
    """What Veil counted, in the same form."""
    found: Counts = {"transitions": np.asarray(counts.matrix), "sizes": np.asarray(counts.matrix).sum(axis=1)}
    if reading.memory == 2:
        found["second"] = counts.second
    for at, stratum in enumerate(counts.strata):
        found[f"stratum {at}"] = stratum.matrix
    if reading.groups is not None:
        found["groups"] = np.stack([counts.groups[str(name)] for name in reading.groups])
    if reading.sequences:
        starts, ends, lengths = (getattr(counts.sequences, name) for name in ("starts", "ends", "lengths"))
        assert not lengths[_LONGEST:].any()
        found |= {"starts": starts, "ends": ends, "lengths": lengths[:_LONGEST]}
    return found
