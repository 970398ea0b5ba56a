"""A table of bits, released in one call."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from veil.bits.bit_flips import BitFlips
from veil.bits.domain import Bits, Table, warn_of_graph
from veil.bits.mechanisms.bit_mechanism import BitMechanism
from veil.bits.planning import FOR_BITS, BitPlan, adjacency_for, bit_mechanism, plan_bits
from veil.core.account import Account
from veil.core.checks import choice, positive
from veil.core.errors import InvalidData
from veil.core.intake import Labels, labels_of
from veil.core.record import Release
from veil.core.releasing import release


@dataclass(frozen=True)
class BitJob:
    """A release that is ready to be made: nothing has been drawn or charged.

    read: what must be accepted about how the table was read.
    """

    table: Table = field(repr=False)
    mechanism: BitMechanism
    adjacency: BitFlips
    chosen: str
    plan: BitPlan
    epsilon: float
    labels: Labels | None = None
    read: tuple[str, ...] = ()
    delta: float = 0.0

    @property
    def assumptions(self) -> tuple[str, ...]:
        return (*self.mechanism.assumptions(self.adjacency), *self.read)

    def run(self, *, ledger: Account | None = None, rng: Any = None) -> Release:
        """Reserve, draw, confirm."""
        out = release(
            self.mechanism,
            self.table,
            adjacency=self.adjacency,
            epsilon=self.epsilon,
            ledger=ledger,
            rng=rng,
        )
        return replace(out, assumptions=self.assumptions, labels=self.labels)


def bit_job(
    table: Any,
    *,
    epsilon: float,
    unit: str = "row",
    flips: int | None = None,
    mechanism: str = "auto",
    labels: Labels | None = None,
    read: tuple[str, ...] = (),
) -> BitJob:
    """Check the table and choose the mechanism from public facts alone; see `release_bits`."""
    epsilon = positive("epsilon", epsilon)
    choice("mechanism", mechanism, ("auto", *FOR_BITS))
    bits = Bits().validate(table)
    assert isinstance(bits, np.ndarray)
    if bits.ndim == 1:
        raise InvalidData(
            "table",
            expected="rows of bits",
            found="one row or one column",
            hint='One column of a frame: frame[["name"]]; one record: [[...]].',
        )
    warn_of_graph(bits)
    columns = bits.shape[1]
    near = adjacency_for(unit, columns, flips)
    plan = plan_bits(columns, epsilon, unit=unit, flips=flips, rows=len(bits))
    chosen = plan.best.name if mechanism == "auto" else mechanism
    made = bit_mechanism(chosen, columns, epsilon, near)
    return BitJob(bits, made, near, chosen, plan, epsilon, labels, read)


def release_bits(
    table: Any,
    *,
    epsilon: float,
    unit: str = "row",
    flips: int | None = None,
    mechanism: str = "auto",
    ledger: Account | None = None,
    rng: Any = None,
) -> Release:
    """Release a table of bits: rows of True and False, or of 0 and 1; a pandas frame keeps its columns.

    epsilon: what it costs. unit: "row" hides all bits of a record together, "bit" each bit on its own.
    flips: hide only so many bits of a record at once (or so many anywhere, with unit="bit").
    mechanism: "auto" takes the one with the fewest wrong bits.

    >>> import veil
    >>> out = veil.release_bits([[1, 0, 1], [0, 0, 1]], epsilon=4.0, rng=1)
    >>> out.value.shape, out.epsilon, out.mechanism.name
    ((2, 3), 4.0, 'StaircaseXor')
    """
    if type(table).__name__ == "Series" and hasattr(table, "to_frame"):
        # A column of a frame: everybody has one bit.
        table = table.to_frame()
    # Checked before its labels are asked for: those of a graph are another matter.
    job = bit_job(table, epsilon=epsilon, unit=unit, flips=flips, mechanism=mechanism)
    return replace(job, labels=labels_of(table)).run(ledger=ledger, rng=rng)
