"""How audits attack mechanisms on counted transitions."""

from __future__ import annotations

import math
from typing import Any

from veil.chains.adjacency import Transitions
from veil.chains.audit.events import MORE_THAN_TABLES, chain_numbers, says_more_than_tables, tables_alone
from veil.chains.audit.neighbours import chain_pairs
from veil.chains.mechanisms.private_chain import Part, PrivateChain
from veil.core.adjacency import Adjacency
from veil.core.audit.pair import AuditPair
from veil.core.audit.subject import FAST, AuditSubject, Example, Reader
from veil.core.errors import InvalidArgument
from veil.core.random.streams import Rng
from veil.vectors.mechanisms.dirichlet_counts import DirichletCounts
from veil.vectors.mechanisms.noisy_counts import GeometricCounts

# Cells of the tables that are drawn for each value.
_CELLS = 2_000_000


class ChainAudit(AuditSubject):
    """Audits of `PrivateChain`."""

    def examples(self) -> list[Example]:
        counted = PrivateChain(3, [Part("transitions", GeometricCounts(1.0, 9), (3, 3))])
        rows = PrivateChain(3, [Part("transitions", DirichletCounts(1.5, 12.0, 3), (3, 3))])
        both = PrivateChain(
            3,
            [
                Part("transitions", GeometricCounts(4.0, 9), (3, 3)),
                Part("starts", GeometricCounts(2.0, 3), (3,)),
                Part("lengths", GeometricCounts(2.0, 3), (3,), bins=(1, 2, 5)),
            ],
        )
        return [
            (counted, Transitions()),
            (rows, Transitions()),
            (both, Transitions("user", "add-remove", 4)),
        ]

    def pairs(self, mechanism: Any, adjacency: Any) -> list[AuditPair]:
        return chain_pairs(mechanism, adjacency)

    def relation(self, mechanism: Any, first: Any, second: Any) -> Adjacency:
        raise InvalidArgument(
            "adjacency",
            expected="one that says what a neighbour is, such as chains.Transitions",
            found="None",
        )

    def apart(self, mechanism: Any, adjacency: Any, first: Any, second: Any) -> str:
        if not isinstance(adjacency, Transitions):
            return "another relation"
        near = all(
            part.contributions(adjacency).allows(part.counted(second) - part.counted(first))
            for part in mechanism.parts
        )
        return "" if near else "more transitions that differ"

    def drawn(self, mechanism: Any, value: Any, draws: int, stream: Any) -> Any:
        return tables_alone(mechanism).sample(mechanism.validate(value), rng=stream, size=draws)

    def size(self, mechanism: Any, valid: Any) -> int:
        return len(valid) ** 2

    def reader(self, mechanism: Any, value: Any, neighbour: Any) -> Reader:
        first, second = mechanism.validate(value), mechanism.validate(neighbour)
        return lambda found: chain_numbers(mechanism, found, first, second)

    def samples(self, mechanism: Any) -> int:
        cells = sum(math.prod(part.shape) for part in mechanism.parts)
        return int(max(1_000, min(FAST // 2, _CELLS // cells)))

    def fault(self, mechanism: Any, value: Any, stream: Rng) -> str:
        return MORE_THAN_TABLES if says_more_than_tables(mechanism, value, stream) else ""
