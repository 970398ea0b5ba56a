"""The tables of a log: counted by Veil, and by hand for searches that count thousands of logs."""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable, Mapping
from typing import Any

import numpy as np

from tests.neighbours.logs import GROUPS, STATES, Log, Sequences, Trips
from veil import chains
from veil.chains import TransitionCounts

Tables = dict[str, Counter[Hashable]]
SALT = "a salt that both neighbours are counted with"


def read_log(log: Log, **options: Any) -> TransitionCounts:
    """A log, counted by Veil."""
    columns = {name: [getattr(row, name) for row in log] for name in ("who", "when", "state", "group")}
    return chains.read(
        columns, by="who", order="when", state="state", states=list(range(STATES)), salt=SALT, **options
    )


def read_grouped(log: Log, **options: Any) -> TransitionCounts:
    return read_log(log, group="group", groups=list(range(GROUPS)), **options)


def read_trips(trips: Trips, **options: Any) -> TransitionCounts:
    """A table of trips, counted by Veil."""
    names = ("who", "origin", "destination", "group")
    columns = {name: [getattr(trip, name) for trip in trips] for name in names}
    states = list(range(STATES))
    return chains.read(
        columns, origin="origin", destination="destination", states=states, salt=SALT, **options
    )


def read_sequences(given: Sequences, **options: Any) -> TransitionCounts:
    """Sequences without a name, counted by Veil."""
    return chains.read([list(states) for states in given], states=list(range(STATES)), salt=SALT, **options)


def counted(counts: TransitionCounts) -> Tables:
    """All tables that were counted, each as {cell: count}."""
    found: dict[str, Any] = {"transitions": counts.matrix, "sizes": np.asarray(counts.matrix.sum(axis=1))}
    if counts.second is not None:
        found["second"] = counts.second
    if counts.sequences is not None:
        found |= {name: getattr(counts.sequences, name) for name in ("starts", "ends", "lengths")}
    if counts.groups is not None:
        found["groups"] = np.stack(list(counts.groups.values()))
    for stratum in counts.strata:
        found[f"stratum {stratum.least}"] = stratum.matrix
    return {
        name: Counter({tuple(cell): int(table[tuple(cell)]) for cell in np.argwhere(table).tolist()})
        for name, table in found.items()
    }


def by_hand(sequences: Mapping[int, list[tuple[int, int]]]) -> Tables:
    """The same of each user's (state, group) in order; nothing is left out."""
    tables: Tables = {
        name: Counter() for name in ("transitions", "sizes", "second", "starts", "ends", "lengths", "groups")
    }
    for visits in sequences.values():
        states = [state for state, _ in visits]
        tables["starts"][states[0],] += 1
        tables["ends"][states[-1],] += 1
        # The bins of short sequences hold one length each.
        tables["lengths"][len(states) - 1,] += 1
        for (before, _), (origin, group), (end, _) in zip(
            [(STATES, 0), *visits], visits, visits[1:], strict=False
        ):
            tables["transitions"][origin, end] += 1
            tables["sizes"][origin,] += 1
            tables["second"][before, origin, end] += 1
            tables["groups"][group, origin, end] += 1
    return tables


def of_log(log: Log) -> Tables:
    """By hand: a user's rows in the order of time; rows of the same time in the order of the states."""
    users: dict[int, list[tuple[int, int]]] = {}
    for row in sorted(log):
        users.setdefault(row.who, []).append((row.state, row.group))
    return by_hand(users)


def of_sequences(sequences: Sequences) -> Tables:
    return by_hand({i: [(state, 0) for state in states] for i, states in enumerate(sequences)})


def moved(first: Tables, second: Tables, table: str) -> tuple[int, int]:
    """How many counts came to a table, and how many went."""
    one, other = first[table], second[table]
    return (other - one).total(), (one - other).total()
