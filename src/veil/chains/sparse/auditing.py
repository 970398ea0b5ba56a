"""How audits attack releases of which only large counts are kept: by the private tables of each draw."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import numpy as np

from veil.chains.adjacency import Transitions
from veil.chains.auditing import MORE_THAN_TABLES, Log, changed_logs
from veil.chains.mechanisms.sparse_chain import SparseChain
from veil.chains.sparse.noise import SparseNoise
from veil.chains.transition_counts import OncePerUser, TransitionCounts
from veil.core.adjacency import Adjacency
from veil.core.arrays import Floats
from veil.core.audit.subject import FAST, AuditPair, AuditSubject, Example, Reader, entry_numbers
from veil.core.errors import InvalidArgument
from veil.core.random.streams import Rng

_WHOLE_DRAWS = 5


class SparseChainAudit(AuditSubject):
    """Audits of `SparseChain`."""

    def examples(self) -> list[Example]:
        geometric = SparseChain(3, SparseNoise("geometric", 2.0), SparseNoise("geometric", 4.0), 2)
        gaussian = SparseChain(3, SparseNoise("gaussian", 2.5), SparseNoise("gaussian", 4.0), 3, once=True)
        return [(geometric, Transitions()), (gaussian, Transitions("user", "add-remove", 3))]

    def pairs(self, mechanism: Any, adjacency: Any) -> list[AuditPair]:
        """What one event, one row or one person changes, alone and beside others."""
        last = mechanism.states - 1
        near = sorted({0, 1, last - 1, last})
        trips: Log = [(i, j, i) for i in near for j in near]
        pairs = []
        for name, *logs in changed_logs(mechanism.states, adjacency):
            for where, others in (("alone", []), ("in a crowd", trips * 3)):
                values = [counted(mechanism, adjacency.cap, others + log) for log in logs]
                pairs.append(AuditPair(f"{name}, {where}", *values))
        return pairs

    def relation(self, mechanism: Any, first: Any, second: Any) -> Adjacency:
        expected = "one that says what a neighbour is, such as chains.Transitions"
        raise InvalidArgument("adjacency", expected=expected, found="None")

    def apart(self, mechanism: Any, adjacency: Any, first: Any, second: Any) -> str:
        if not isinstance(adjacency, Transitions):
            return "another relation"
        change = mechanism.change(adjacency)
        tables = zip(_tables(mechanism, first), _tables(mechanism, second), strict=True)
        near = all(change.allows(two - one) for one, two in tables)
        return "" if near else "more transitions that differ"

    def drawn(self, mechanism: Any, value: Any, draws: int, stream: Any) -> Any:
        # The same mechanism, whatever its class, without the chain at the end.
        kind = type(mechanism)
        faster = type(kind.__name__, (kind,), {"chain": lambda self, tables, states: None})
        made: Any = object.__new__(faster)
        made.__dict__.update(mechanism.__dict__)
        return made.sample(mechanism.validate(value), rng=stream, size=draws)

    def size(self, mechanism: Any, valid: Any) -> int:
        return len(valid) ** 2

    def reader(self, mechanism: Any, value: Any, neighbour: Any) -> Reader:
        first, second = (_tables(mechanism, mechanism.validate(item)) for item in (value, neighbour))

        def read(draws: Any) -> Floats:
            columns: list[Floats] = []
            for table, before, after in zip(_drawn(mechanism, draws), first, second, strict=True):
                columns += entry_numbers(table, before.astype(np.float64), after.astype(np.float64))
            return np.hstack(columns)

        return read

    def samples(self, mechanism: Any) -> int:
        return FAST // 4

    def fault(self, mechanism: Any, value: Any, stream: Rng) -> str:
        states = mechanism.validate(value).states
        for draw in mechanism.sample(value, rng=stream, size=_WHOLE_DRAWS):
            if draw.chain != mechanism.chain(draw.tables, states):
                return MORE_THAN_TABLES
        return ""


def _tables(mechanism: SparseChain, counts: TransitionCounts) -> list[Any]:
    """The tables that are hidden, in full."""
    cells, numbers = counts.filled()
    full = np.zeros(mechanism.cells, dtype=np.int64)
    full[cells] = numbers
    return [full, *counts.margins()]


def _drawn(mechanism: SparseChain, draws: Any) -> list[Floats]:
    """The private tables of every draw; 0 where a count was not kept."""
    full = np.zeros((len(draws), mechanism.cells))
    for row, draw in zip(full, draws, strict=True):
        row[draw.tables["cells"]] = draw.tables["counts"]
    margins = (np.array([draw.tables[key] for draw in draws]) for key in ("departures", "arrivals"))
    return [full, *(np.asarray(margin, dtype=np.float64) for margin in margins)]


def counted(mechanism: SparseChain, cap: int | None, log: Log) -> TransitionCounts:
    """What is counted of sequences, each of a user of its own."""
    size = mechanism.states
    matrix, left, entered = (
        np.zeros((size, size), np.int64),
        np.zeros(size, np.int64),
        np.zeros(size, np.int64),
    )
    for sequence in log:
        steps = list(pairwise(sequence))
        steps = (list(dict.fromkeys(steps)) if mechanism.once else steps)[:cap]
        for i, j in steps:
            matrix[i, j] += 1
        left[sorted({i for i, _ in steps})] += 1
        entered[sorted({j for _, j in steps})] += 1
    once = OncePerUser(left, entered) if mechanism.once else None
    return TransitionCounts(matrix, cap=cap, once=once)
