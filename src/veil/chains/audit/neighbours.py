"""Made-up neighbours among counted transitions: sequences are made up and counted, with and without somebody.

Counting them makes sure that all tables agree with each other, and that the two are neighbours indeed.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import Any

import numpy as np

from veil.chains.adjacency import Transitions
from veil.chains.lengths import LengthBins
from veil.chains.mechanisms.private_chain import PrivateChain
from veil.chains.transition_counts import Sequences, Stratum, TransitionCounts
from veil.core.audit.pair import AuditPair
from veil.matrices.mechanisms.bordered_rows import BorderedRows
from veil.matrices.neighbours import bordered_pairs
from veil.vectors.counts import Integers

Log = list[tuple[int, ...]]


def chain_pairs(mechanism: PrivateChain, relation: Transitions) -> list[AuditPair]:
    """What one event, one row or one person changes, in a table of nobody else and in a busy one."""
    of_transitions = mechanism.first["transitions"].mechanism
    if isinstance(of_transitions, BorderedRows):
        return [
            AuditPair(pair.name, TransitionCounts(pair.value), TransitionCounts(pair.neighbour))
            for pair in bordered_pairs(of_transitions)
        ]
    found = []
    for name, one, other in _changes(mechanism, relation):
        for where, crowd in (("alone", []), ("in a crowd", _crowd(mechanism.states))):
            values = [_counted(mechanism, relation, crowd + log) for log in (one, other)]
            found.append(AuditPair(f"{name}, {where}", *values))
    return found


def _crowd(states: int) -> Log:
    """Others, who go everywhere near the ends of the list of states."""
    near = sorted({0, 1, states - 2, states - 1})
    trips: Log = [(i, j, i) for i in near for j in near]
    return trips * 20


def _changes(mechanism: PrivateChain, relation: Transitions) -> list[tuple[str, Log, Log]]:
    """What there is with and without the one who is to be told apart."""
    last = mechanism.states - 1
    if relation.unit == "event":
        if relation.change == "replace":
            return [
                ("the first transition ends elsewhere", [(0, 0)], [(0, last)]),
                ("the last transition ends elsewhere", [(last, 0)], [(last, last)]),
            ]
        # A transition that goes cuts its sequence into two.
        return [
            (
                "a transition between the first and the last state",
                [(0, 0, last, last)],
                [(0, 0), (last, last)],
            ),
            ("a transition from the last state to itself", [(last,) * 4], [(last, last), (last, last)]),
        ]
    if relation.unit == "row":
        if relation.change == "add-remove":
            return [("a row in the middle", [(0, last, 0)], [(0, 0)])]
        if relation.change == "replace":
            logs: tuple[Log, Log] = ([(0, last, 0), (last, last)], [(0, 0), (last, 0, last)])
            return [("a row that moves to someone else", *logs)]
        return [("the state of a row", [(0, last, 0)], [(0, 0, 0)])]
    if mechanism.strata:
        return _of_strata(mechanism, relation)
    most = relation.cap or 1
    stays, ends, moves = (0,) * (most + 1), (last,) * (most + 1), tuple([0, last] * (most + 1))[: most + 1]
    if relation.change == "add-remove":
        return [
            ("a person who stays in the first state", [stays], []),
            ("a person who stays in the last state", [ends], []),
            ("a person who moves about", [moves], []),
        ]
    return [
        ("a person who stays in the first state, or in the last", [stays], [ends]),
        ("a person who moves about, or stays", [moves], [ends]),
    ]


def _of_strata(mechanism: PrivateChain, relation: Transitions) -> list[tuple[str, Log, Log]]:
    """Someone in each stratum, with as many transitions as are counted there."""
    last = mechanism.states - 1
    people = {}
    parts = mechanism.strata
    for part, following in zip(parts, [*parts[1:], None], strict=True):
        most = (part.cap or relation.cap or 1) + 1
        length = max(part.least, most if following is None else min(most, following.least - 1))
        people[f"sequences of {part.least} states or more"] = length
    if relation.change == "add-remove":
        return [(f"a person among {name}", [(0,) * length], []) for name, length in people.items()]
    found = []
    for name, length in people.items():
        others = list(people.values())[-1]
        found.append((f"a person among {name}, or another", [(0,) * length], [(last,) * others]))
    return found


def _counted(mechanism: PrivateChain, relation: Transitions, log: Log) -> TransitionCounts:
    """All tables that the mechanism hides, counted from sequences of states."""
    states, cap = mechanism.states, relation.cap
    matrix = _matrix(states, log, cap)
    fields: dict[str, Any] = {"cap": cap}
    if "starts" in mechanism.first or "ends" in mechanism.first or "lengths" in mechanism.first:
        fields["sequences"] = _sequences(mechanism, log)
    if "second" in mechanism.first:
        own = mechanism.first["second"].cap
        fields |= {"second": _second(states, log, own or cap), "second_cap": own}
    if mechanism.groups is not None:
        # All of them in the last group: one that is forgotten most easily.
        empty = np.zeros_like(matrix)
        fields["groups"] = dict.fromkeys(mechanism.groups, empty) | {mechanism.groups[-1]: matrix}
    strata = mechanism.strata
    if strata:
        ends = [part.least for part in strata[1:]] + [max(map(len, log), default=0) + 1]
        fields["strata"] = [
            Stratum(
                part.least,
                part.cap or cap or 1,
                _matrix(states, [seq for seq in log if part.least <= len(seq) < end], part.cap or cap),
            )
            for part, end in zip(strata, ends, strict=True)
        ]
    return TransitionCounts(matrix, **fields)


def _matrix(states: int, log: Log, cap: int | None) -> Integers:
    counts = np.zeros((states, states), dtype=np.int64)
    for sequence in log:
        for i, j in list(pairwise(sequence))[:cap]:
            counts[i, j] += 1
    return counts


def _second(states: int, log: Log, cap: int | None) -> Integers:
    counts = np.zeros((states + 1, states, states), dtype=np.int64)
    for sequence in log:
        before: Sequence[int] = (states, *sequence)
        for place, (i, j) in enumerate(list(pairwise(sequence))[:cap]):
            counts[before[place], i, j] += 1
    return counts


def _sequences(mechanism: PrivateChain, log: Log) -> Sequences:
    part = mechanism.first.get("lengths")
    bins = LengthBins((part and part.bins) or (1,))
    places = bins.place(np.array([len(seq) for seq in log], dtype=np.int64))
    starts, ends = (
        np.bincount(np.array([seq[end] for seq in log], dtype=np.int64), minlength=mechanism.states)
        for end in (0, -1)
    )
    return Sequences(starts, ends, np.bincount(places, minlength=len(bins)), bins)
