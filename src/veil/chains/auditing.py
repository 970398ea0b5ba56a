"""How audits attack mechanisms on counted transitions: by the private tables of each draw.

The model is computed from the tables and the public list of states. If that is so, nothing but the tables
has to be looked at. That it is so is checked apart, on whole draws: to compute the model again from the
tables that came out must give the same, to the last bit.

Neighbours are made up: sequences are counted with and without somebody. Counting them makes sure that all
tables agree with each other, and that the two are neighbours indeed.
"""

from __future__ import annotations

import math
from itertools import pairwise
from typing import Any

import numpy as np

from veil.chains.adjacency import Transitions
from veil.chains.lengths import LengthBins
from veil.chains.mechanisms.private_chain import Part, PrivateChain
from veil.chains.transition_counts import Sequences, Stratum, TransitionCounts, same_content
from veil.core.adjacency import Adjacency
from veil.core.arrays import Floats
from veil.core.audit.marks import FloatMarks, Marker, Marks, no_marks
from veil.core.audit.subject import FAST, AuditPair, AuditSubject, Example, Reader, entry_numbers, nearness
from veil.core.errors import InvalidArgument
from veil.core.random.streams import Rng
from veil.matrices.auditing import bordered_pairs
from veil.matrices.mechanisms.bordered_rows import BorderedRows
from veil.vectors.auditing import shares
from veil.vectors.counts import Integers
from veil.vectors.mechanisms.dirichlet_counts import DirichletCounts
from veil.vectors.mechanisms.noisy_counts import GeometricCounts

MORE_THAN_TABLES = "the model says more than the private tables that it should be made of"
_WHOLE_DRAWS = 20
# Cells of the tables that are drawn for each value.
_CELLS = 2_000_000

Log = list[tuple[int, ...]]


class ChainAudit(AuditSubject):
    """Audits of `PrivateChain`."""

    def examples(self) -> list[Example]:
        counted = PrivateChain(3, [Part("transitions", GeometricCounts(1.0, 9), (3, 3))])
        rows = PrivateChain(3, [Part("transitions", DirichletCounts(1.5, 12.0, 3), (3, 3))])
        both = [
            Part("transitions", GeometricCounts(4.0, 9), (3, 3)),
            Part("starts", GeometricCounts(2.0, 3), (3,)),
            Part("lengths", GeometricCounts(2.0, 3), (3,), bins=(1, 2, 5)),
        ]
        user = Transitions("user", "add-remove", 4)
        return [(counted, Transitions()), (rows, Transitions()), (PrivateChain(3, both), user)]

    def pairs(self, mechanism: Any, adjacency: Any) -> list[AuditPair]:
        """What one event, one row or one person changes, in a table of nobody else and in a busy one."""
        hides, last = mechanism.first["transitions"].mechanism, mechanism.states - 1
        if isinstance(hides, BorderedRows):
            return [
                AuditPair(pair.name, TransitionCounts(pair.value), TransitionCounts(pair.neighbour))
                for pair in bordered_pairs(hides)
            ]
        # Others, who go everywhere near the ends of the list of states.
        near = sorted({0, 1, last - 1, last})
        trips: Log = [(i, j, i) for i in near for j in near]
        pairs = []
        changes = (
            _of_strata(mechanism, adjacency)
            if mechanism.strata
            else changed_logs(mechanism.states, adjacency)
        )
        for name, *logs in changes:
            for where, others in (("alone", []), ("in a crowd", trips * 20)):
                values = [_counted(mechanism, adjacency.cap, others + log) for log in logs]
                pairs.append(AuditPair(f"{name}, {where}", *values))
        return pairs

    def relation(self, mechanism: Any, first: Any, second: Any) -> Adjacency:
        expected = "one that says what a neighbour is, such as chains.Transitions"
        raise InvalidArgument("adjacency", expected=expected, found="None")

    def apart(self, mechanism: Any, adjacency: Any, first: Any, second: Any) -> str:
        if not isinstance(adjacency, Transitions):
            return "another relation"
        near = all(
            part.contributions(adjacency).allows(part.counted(second) - part.counted(first))
            for part in mechanism.parts
        )
        return "" if near else "more transitions that differ"

    def drawn(self, mechanism: Any, value: Any, draws: int, stream: Any) -> Any:
        # The same mechanism, whatever its class, without the model at the end: a hundred times faster.
        kind = type(mechanism)
        faster = type(kind.__name__, (kind,), {"model": lambda self, tables, states: None})
        made: Any = object.__new__(faster)
        made.__dict__.update(mechanism.__dict__)
        return made.sample(mechanism.validate(value), rng=stream, size=draws)

    def size(self, mechanism: Any, valid: Any) -> int:
        return len(valid) ** 2

    def reader(self, mechanism: Any, value: Any, neighbour: Any) -> Reader:
        first, second = mechanism.validate(value), mechanism.validate(neighbour)
        return lambda draws: _numbers(mechanism, draws, first, second)

    def marker(self, mechanism: Any, value: Any, neighbour: Any) -> Marker:
        first, second = mechanism.validate(value), mechanism.validate(neighbour)
        # Noisy counts are whole numbers.
        marks = {
            part.key: FloatMarks(*(shares(part.counted(item)) for item in (first, second)))
            for part in mechanism.parts
            if not part.is_noisy_counts
        }

        def mark(drawn: Any) -> Marks:
            tables = [one(np.array([draw.tables[key] for draw in drawn])) for key, one in marks.items()]
            return np.hstack([no_marks(len(drawn)), *tables])

        return mark

    def samples(self, mechanism: Any) -> int:
        cells = sum(math.prod(part.shape) for part in mechanism.parts)
        return int(max(1_000, min(FAST // 2, _CELLS // cells)))

    def fault(self, mechanism: Any, value: Any, stream: Rng) -> str:
        states = mechanism.validate(value).states
        for draw in mechanism.sample(value, rng=stream, size=_WHOLE_DRAWS):
            if not same_content(draw.model, mechanism.model(draw.tables, states)):
                return MORE_THAN_TABLES
        return ""


def _numbers(
    mechanism: PrivateChain, drawn: Any, first: TransitionCounts, second: TransitionCounts
) -> Floats:
    """Every private table of every draw, and how much likelier it is under the first counts."""
    columns: list[Floats] = []
    likelier = np.zeros(len(drawn))
    for part in mechanism.parts:
        table = np.array([draw.tables[part.key] for draw in drawn], dtype=np.float64)
        counts, others = part.counted(first), part.counted(second)
        inputs = [
            np.asarray(item if part.is_noisy_counts else shares(item), dtype=np.float64)
            for item in (counts, others)
        ]
        before, after = (item.ravel() for item in inputs)
        columns += entry_numbers(table.reshape(len(drawn), -1), before, after)
        likelier = likelier + _log_likelihood_ratio(part, table, counts, others)
    return np.hstack([*columns, likelier[:, None]])


def _log_likelihood_ratio(part: Part, tables: Floats, counts: Any, others: Any) -> Floats:
    """Of a table, or an approximation by its rows that differ; zeros where there is no density."""
    hides: Any = part.mechanism
    if part.is_noisy_counts:
        flat = tables.reshape(len(tables), -1)
        by_l1, by_squares = nearness(flat, counts.ravel(), others.ravel())
        ratio: Floats = by_l1 / hides.scale if hasattr(hides, "scale") else by_squares / hides.sigma**2
        return ratio
    total = np.zeros(len(tables))
    if not hasattr(hides, "log_density"):
        return total
    width = counts.shape[-1]
    rows = tables.reshape(len(tables), -1, width)
    pairs = zip(counts.reshape(-1, width), others.reshape(-1, width), strict=True)
    for row, (one, other) in enumerate(pairs):
        if (one != other).any():
            total = total + hides.log_density(rows[:, row], one) - hides.log_density(rows[:, row], other)
    return total


def changed_logs(states: int, relation: Transitions) -> list[tuple[str, Log, Log]]:
    """What there is with and without the one who is to be told apart."""
    last = states - 1
    if relation.unit == "event":
        if relation.change == "replace":
            return [
                ("the first transition ends elsewhere", [(0, 0)], [(0, last)]),
                ("the last transition ends elsewhere", [(last, 0)], [(last, last)]),
            ]
        # A transition that goes cuts its sequence into two.
        cut: Log = [(0, 0), (last, last)]
        return [
            ("a transition between the first and the last state", [(0, 0, last, last)], cut),
            ("a transition from the last state to itself", [(last,) * 4], [(last, last), (last, last)]),
        ]
    if relation.unit == "row":
        if relation.change == "add-remove":
            return [("a row in the middle", [(0, last, 0)], [(0, 0)])]
        if relation.change == "replace":
            logs: tuple[Log, Log] = ([(0, last, 0), (last, last)], [(0, 0), (last, 0, last)])
            return [("a row that moves to someone else", *logs)]
        return [("the state of a row", [(0, last, 0)], [(0, 0, 0)])]
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
    another: Log = [(last,) * list(people.values())[-1]]
    return [(f"a person among {name}, or another", [(0,) * size], another) for name, size in people.items()]


def _counted(mechanism: PrivateChain, cap: int | None, log: Log) -> TransitionCounts:
    """All tables that the mechanism hides, counted from sequences of states."""
    states, first = mechanism.states, mechanism.first
    matrix = _matrix(states, log, cap)
    fields: dict[str, Any] = {"cap": cap}
    if {"starts", "ends", "lengths"} & set(first):
        bins = LengthBins(("lengths" in first and first["lengths"].bins) or (1,))
        places = [[seq[0] for seq in log], [seq[-1] for seq in log], bins.place([len(seq) for seq in log])]
        starts, ended, lengths = (
            np.bincount(np.array(place, dtype=np.int64), minlength=size)
            for place, size in zip(places, (states, states, len(bins)), strict=True)
        )
        fields["sequences"] = Sequences(starts, ended, lengths, bins)
    if "second" in first:
        own = first["second"].cap
        second = np.zeros((states + 1, states, states), dtype=np.int64)
        for seq in log:
            for before, i, j in list(zip((states, *seq), seq, seq[1:], strict=False))[: own or cap]:
                second[before, i, j] += 1
        fields |= {"second": second, "second_cap": own}
    if mechanism.groups is not None:
        # All of them in the last group: one that is forgotten most easily.
        empty = np.zeros_like(matrix)
        fields["groups"] = dict.fromkeys(mechanism.groups, empty) | {mechanism.groups[-1]: matrix}
    strata, ends = [], [part.least for part in mechanism.strata[1:]] + [max(map(len, log), default=0) + 1]
    for part, end in zip(mechanism.strata, ends, strict=False):
        users = [seq for seq in log if part.least <= len(seq) < end]
        strata.append(Stratum(part.least, part.cap or cap or 1, _matrix(states, users, part.cap or cap)))
    return TransitionCounts(matrix, strata=strata, **fields)


def _matrix(states: int, log: Log, cap: int | None) -> Integers:
    counts = np.zeros((states, states), dtype=np.int64)
    for sequence in log:
        for i, j in list(pairwise(sequence))[:cap]:
            counts[i, j] += 1
    return counts
