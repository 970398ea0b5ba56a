"""How audits attack mechanisms on tables of bits."""

from __future__ import annotations

from collections.abc import Hashable
from typing import Any

import numpy as np

from veil.bits.adjacency import BitFlips
from veil.bits.domain import Bits, Table
from veil.bits.mechanisms.matrix_bernoulli import MatrixBernoulli
from veil.bits.mechanisms.randomized_response import RandomizedResponse
from veil.bits.mechanisms.staircase_xor import StaircaseXor
from veil.bits.mechanisms.xor import Xor, XorBlocks
from veil.core.adjacency import Adjacency
from veil.core.arrays import Floats
from veil.core.audit.subject import AuditPair, AuditSubject, Example, Reader, chosen_places
from veil.core.errors import InvalidArgument, NoGuarantee

# Of tables whose size the mechanism leaves open.
_ROWS, _COLUMNS = 2, 5


class BitAudit(AuditSubject):
    """Audits of mechanisms on tables of bits, which are drawn one by one."""

    fitted = 2_000

    def examples(self) -> list[Example]:
        theta = np.array([[0.4, 0.2], [0.2, -0.3]])
        block = Xor(MatrixBernoulli(theta, 0.2 * np.eye(2), 2))
        return [
            (RandomizedResponse(1.0), None),
            (StaircaseXor(5, 1.0), None),
            (StaircaseXor(4, 1.0, flips=2, rows=4), None),
            (block, BitFlips(2, where="row")),
            (XorBlocks([[block, block]]), BitFlips(4, where="row")),
        ]

    def pairs(self, mechanism: Any, adjacency: Any) -> list[AuditPair]:
        return table_pairs(mechanism.domain, adjacency)

    def relation(self, mechanism: Any, first: Any, second: Any) -> Adjacency:
        return flips_between(first, second)

    def apart(self, mechanism: Any, adjacency: Any, first: Any, second: Any) -> str:
        between = flips_between(first, second)
        return "" if adjacency.covers(between) else f"{between.count} bits that differ"

    def keys(self, mechanism: Any, drawn: Any) -> list[Hashable]:
        return [tuple(row) for row in np.asarray(drawn).reshape(len(drawn), -1).astype(int).tolist()]

    def samples(self, mechanism: Any) -> int:
        return 4_000

    def reader(self, mechanism: Any, value: Any, neighbour: Any) -> Reader:
        first, second = mechanism.validate(value), mechanism.validate(neighbour)
        before, after = first.ravel(), second.ravel()
        changed = np.flatnonzero(before != after)
        try:
            mechanism.log_noise(np.atleast_2d(first)[None])
            has_law = True
        except (NoGuarantee, AttributeError):
            has_law = False

        def read(found: Any) -> Floats:
            tables = np.asarray(found, dtype=np.bool_)
            flat = tables.reshape(len(tables), -1)
            places = chosen_places(changed, flat.shape[1])
            agree = (flat[:, changed] == before[changed]).sum(axis=1)
            columns = [flat[:, places], agree[:, None], flat.sum(axis=1)[:, None]]
            if has_law:
                noise = [(flat ^ item).reshape(-1, *np.atleast_2d(first).shape) for item in (before, after)]
                columns.append((mechanism.log_noise(noise[0]) - mechanism.log_noise(noise[1]))[:, None])
            return np.hstack([np.asarray(part, dtype=np.float64) for part in columns])

        return read


def flips_between(first: Table, second: Table) -> BitFlips:
    """The tightest adjacency under which two tables are neighbours."""
    if first.shape != second.shape:
        raise InvalidArgument("neighbour", expected="one value like the first", found="another shape")
    changed = np.atleast_2d(first ^ second)
    one_row = np.count_nonzero(changed.any(axis=1)) <= 1
    return BitFlips(max(1, int(changed.sum())), where="row" if one_row else "anywhere")


def table_pairs(domain: Bits, relation: BitFlips) -> list[AuditPair]:
    """All zeros and all ones; the first bits, the last bits, as many as may differ and one alone."""
    rows, columns = domain.rows or _ROWS, domain.columns or _COLUMNS
    room = columns if relation.where == "row" else rows * columns
    count = min(relation.count, room)
    zeros = np.zeros((rows, columns), dtype=np.bool_)
    ones = np.ones((rows, columns), dtype=np.bool_)
    mixed = (np.add.outer(np.arange(rows), np.arange(columns)) % 3) == 0
    first, last = np.arange(rows * columns)[:count], np.arange(rows * columns)[-count:]
    bits = "bit" if count == 1 else f"{count} bits"
    pairs = [
        AuditPair(f"all zeros, the first {bits}", zeros, _flipped(zeros, first)),
        AuditPair(f"all ones, the last {bits}", ones, _flipped(ones, last)),
        AuditPair(f"mixed, the last {bits}", mixed, _flipped(mixed, last)),
    ]
    if count > 1:
        pairs.append(AuditPair("all zeros, the last bit alone", zeros, _flipped(zeros, last[-1:])))
        pairs.append(AuditPair("mixed, the first bit alone", mixed, _flipped(mixed, first[:1])))
    return pairs


def _flipped(table: Table, places: Any) -> Table:
    changed = table.copy()
    changed.ravel()[places] ^= True
    return changed
