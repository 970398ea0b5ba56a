"""How audits attack releases of which only large counts are kept: by the private tables of each draw."""

from __future__ import annotations

from itertools import pairwise
from typing import Any, ClassVar

import numpy as np
from scipy.sparse import csr_array

from veil.chains.adjacency import Transitions
from veil.chains.auditing import MORE_THAN_TABLES, Log, changed_logs
from veil.chains.mechanisms.discovered_chain import DiscoveredChain, people_of
from veil.chains.mechanisms.sparse_chain import SparseChain
from veil.chains.sparse.noise import SparseNoise
from veil.chains.sparse.noisy_selection import NoisySelection
from veil.chains.sparse.selection import Selection
from veil.chains.transition_counts import OncePerUser, TransitionCounts, Visitors
from veil.core.adjacency import Adjacency
from veil.core.arrays import Floats
from veil.core.audit.subject import FAST, AuditPair, AuditSubject, Example, Reader, entry_numbers
from veil.core.errors import InvalidArgument
from veil.core.random.streams import Rng

_WHOLE_DRAWS = 5
# States that made-up data have where states are discovered.
_FOUND = 3


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


class DiscoveredChainAudit(SparseChainAudit):
    """Audits of `DiscoveredChain`: by the names, too."""

    def examples(self) -> list[Example]:
        noises = SparseNoise("geometric", 2.0), SparseNoise("geometric", 4.0), SparseNoise("geometric", 8.0)
        gaussian = SparseNoise("gaussian", 2.5), SparseNoise("gaussian", 4.0), SparseNoise("geometric", 8.0)
        user = Transitions("user", "add-remove", 2)
        return [
            (DiscoveredChain(Selection(0.5, 0.05, 2), *noises, 2), Transitions()),
            (DiscoveredChain(NoisySelection(2.0, 5, 2), *gaussian, 2, once=True), user),
        ]

    def pairs(self, mechanism: Any, adjacency: Any) -> list[AuditPair]:
        """Somebody who is the only one in a state, and one more where others are."""
        last = _FOUND - 1
        trips: Log = [(i, j) for i in range(_FOUND) for j in range(_FOUND)]
        elsewhere: Log = [(i, j) for _ in range(3) for i in range(last) for j in range(last)]
        pairs = []
        for name, *logs in changed_logs(_FOUND, adjacency):
            for where, others in (("alone", []), ("in a crowd", trips)):
                values = [found(mechanism, adjacency.cap, others + log) for log in logs]
                pairs.append(AuditPair(f"{name}, {where}", *values))
        comes: Log = [(0, last)]
        stays: Log = []
        if adjacency.change == "replace":
            stays.append((0, 0))
        values = [found(mechanism, adjacency.cap, elsewhere + log) for log in (comes, stays)]
        return [AuditPair("the only one in the last state", *values), *pairs]

    def apart(self, mechanism: Any, adjacency: Any, first: Any, second: Any) -> str:
        if not isinstance(adjacency, Transitions):
            return "another relation"
        if first.states != second.states:
            return "other labels that were found"
        people = people_of(adjacency, mechanism.selection.states)
        moved = np.abs(second.visitors.users - first.visitors.users)
        if moved.max() > 1 or moved.sum() > people * mechanism.selection.states:
            return "more states whose numbers of users differ"
        near = adjacency.on("transitions").allows(_full(second) - _full(first))
        return "" if near else "more transitions that differ"

    def reader(self, mechanism: Any, value: Any, neighbour: Any) -> Reader:
        first, second = (mechanism.validate(item) for item in (value, neighbour))
        places = {str(state): place for place, state in enumerate(first.states)}
        tables = [
            (one.visitors.users, _full(one), np.array([one.total, one.total])) for one in (first, second)
        ]

        def read(draws: Any) -> Floats:
            size = len(places)
            named, full = np.zeros((len(draws), size)), np.zeros((len(draws), size**2))
            totals = np.array([draw.tables["totals"] for draw in draws], dtype=np.float64)
            for row, draw in enumerate(draws):
                real = int(draw.tables["named"][0])
                at = np.array([places[str(state)] for state in draw.states[:real]], dtype=np.int64)
                named[row, at] = 1.0
                origins, ends = np.divmod(draw.tables["cells"], len(draw.states))
                inside = (origins < real) & (ends < real)
                full[row, at[origins[inside]] * size + at[ends[inside]]] = draw.tables["counts"][inside]
            columns: list[Floats] = []
            for table, before, after in zip((named, full, totals), *tables, strict=True):
                columns += entry_numbers(table, before.astype(np.float64), after.astype(np.float64))
            return np.hstack(columns)

        return read

    def samples(self, mechanism: Any) -> int:
        return FAST // 10

    def fault(self, mechanism: Any, value: Any, stream: Rng) -> str:
        for draw in mechanism.sample(value, rng=stream, size=_WHOLE_DRAWS):
            if draw.chain != mechanism.chain(draw.tables, draw.states):
                return MORE_THAN_TABLES
        return ""


class KeptCountsAudit(AuditSubject):
    """Audits of releases of which large counts are kept, each by the subject of its mechanism."""

    _subjects: ClassVar[dict[str, AuditSubject]] = {
        "SparseChain": SparseChainAudit(),
        "DiscoveredChain": DiscoveredChainAudit(),
    }

    def _of(self, mechanism: Any) -> AuditSubject:
        return self._subjects[mechanism.name]

    def examples(self) -> list[Example]:
        return [example for subject in self._subjects.values() for example in subject.examples()]

    def pairs(self, mechanism: Any, adjacency: Any) -> list[AuditPair]:
        return self._of(mechanism).pairs(mechanism, adjacency)

    def relation(self, mechanism: Any, first: Any, second: Any) -> Adjacency:
        return self._of(mechanism).relation(mechanism, first, second)

    def apart(self, mechanism: Any, adjacency: Any, first: Any, second: Any) -> str:
        return self._of(mechanism).apart(mechanism, adjacency, first, second)

    def drawn(self, mechanism: Any, value: Any, draws: int, stream: Any) -> Any:
        return self._of(mechanism).drawn(mechanism, value, draws, stream)

    def size(self, mechanism: Any, valid: Any) -> int:
        return self._of(mechanism).size(mechanism, valid)

    def reader(self, mechanism: Any, value: Any, neighbour: Any) -> Reader:
        return self._of(mechanism).reader(mechanism, value, neighbour)

    def samples(self, mechanism: Any) -> int:
        return self._of(mechanism).samples(mechanism)

    def fault(self, mechanism: Any, value: Any, stream: Rng) -> str:
        return self._of(mechanism).fault(mechanism, value, stream)


def found(mechanism: DiscoveredChain, cap: int | None, log: Log) -> TransitionCounts:
    """What is counted of sequences between states that were found, each of a user of its own."""
    size = _FOUND
    matrix, starts, ends = (np.zeros((size, size), np.int64) for _ in range(3))
    users = np.zeros(size, np.int64)
    for sequence in log:
        steps = list(pairwise(sequence))
        if cap is None:
            for step in steps:
                users[sorted(set(step))] += 1
        else:
            users[list(dict.fromkeys(sequence))[: mechanism.selection.states]] += 1
        steps = (list(dict.fromkeys(steps)) if mechanism.once else steps)[:cap]
        left, entered = set[int](), set[int]()
        for i, j in steps:
            matrix[i, j] += 1
            starts[i, j] += i not in left
            ends[i, j] += j not in entered
            left.add(i)
            entered.add(j)
    once = OncePerUser(starts.sum(axis=1), ends.sum(axis=0)) if mechanism.once else None
    of_pairs = (csr_array(starts), csr_array(ends)) if mechanism.once else (None, None)
    visitors = Visitors(users, mechanism.selection.states, *of_pairs)
    return TransitionCounts(matrix, [f"s{i}" for i in range(size)], cap=cap, once=once, visitors=visitors)


def _tables(mechanism: SparseChain, counts: TransitionCounts) -> list[Any]:
    """The tables that are hidden, in full."""
    return [_full(counts), *counts.margins()]


def _full(counts: TransitionCounts) -> Any:
    """The count of every pair of states."""
    cells, numbers = counts.filled()
    full = np.zeros(len(counts) ** 2, dtype=np.int64)
    full[cells] = numbers
    return full


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
