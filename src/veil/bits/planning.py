"""What a budget buys for tables of bits, before any data is touched."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

from veil.bits.adjacency import BitFlips
from veil.bits.mechanisms.bit_mechanism import BitMechanism
from veil.bits.mechanisms.randomized_response import RandomizedResponse
from veil.bits.mechanisms.staircase_xor import MOST_BITS, StaircaseXor
from veil.core.checks import choice, integer, positive
from veil.core.errors import InvalidArgument
from veil.core.numerics.rounding import float_below, stated
from veil.core.plan import Plan

UNITS = ("row", "bit")
FOR_BITS = ("staircase", "response")
# Standard deviations to the two sides of an interval that holds in 95 % of the cases.
_WIDE = 1.959964
# How close a column's share is wanted, where it is said how many rows that takes.
CLOSE = 0.05
_TOLD = ("name", "flip_rate", "signal", "share_error", "rows_needed")


@dataclass(frozen=True)
class BitRow:
    """One mechanism: flip_rate of a bit, signal = 1 - 2 flip_rate, and what they mean for a column.

    share_error: half the width of a 95 % interval for the share of ones in a column, if the number of rows is
    known. rows_needed: how many rows make that 0.05.
    """

    name: str
    mechanism: BitMechanism
    flip_rate: float
    share_error: float | None
    rows_needed: float

    @property
    def signal(self) -> float:
        return 1.0 - 2.0 * self.flip_rate


@dataclass(frozen=True)
class BitPlan(Plan):
    """Mechanisms with the same guarantee, the best first."""

    printer: ClassVar[str | None] = "veil.bits.report.console:print_bit_plan"

    columns: int
    epsilon: float
    adjacency: BitFlips
    rows: int | None
    found: tuple[BitRow, ...]

    @property
    def best(self) -> BitRow:
        return self.found[0]

    def to_dict(self) -> dict[str, Any]:
        return {
            "columns": self.columns,
            "epsilon": self.epsilon,
            "adjacency": self.adjacency.describe(),
            "rows": self.rows,
            "mechanisms": [{name: getattr(row, name) for name in _TOLD} for row in self.found],
        }


def adjacency_for(unit: str, columns: int, flips: int | None) -> BitFlips:
    """What is hidden: a record, some bits of one, or single bits."""
    choice("unit", unit, UNITS)
    if flips is not None and integer("flips", flips, least=1) > columns and unit == "row":
        raise InvalidArgument("flips", expected=f"at most the {columns} bits of a row", found=str(flips))
    if unit == "bit":
        return BitFlips(flips or 1)
    return BitFlips(flips or columns, where="row")


def bit_mechanism(name: str, columns: int, epsilon: float, near: BitFlips) -> BitMechanism:
    """The mechanism of that short name which hides such neighbours."""
    choice("mechanism", name, FOR_BITS)
    if name == "staircase" and near.where == "row":
        return StaircaseXor(columns, epsilon, flips=None if near.count == columns else near.count)
    if name == "staircase":
        raise InvalidArgument("mechanism", expected="response for single bits", found="staircase")
    return RandomizedResponse(float_below(stated(epsilon) / near.count))


def plan_bits(
    columns: int, epsilon: float, *, unit: str = "row", flips: int | None = None, rows: int | None = None
) -> BitPlan:
    """What to expect of a table with so many columns; for the arguments see `bits.plan`."""
    columns = integer("columns", columns, least=1)
    epsilon = positive("epsilon", epsilon)
    rows = None if rows is None else integer("rows", rows, least=1)
    near = adjacency_for(unit, columns, flips)
    usable = FOR_BITS if near.where == "row" and columns <= MOST_BITS else ("response",)
    ranked = [_row(name, bit_mechanism(name, columns, epsilon, near), rows) for name in usable]
    return BitPlan(columns, epsilon, near, rows, tuple(sorted(ranked, key=lambda row: row.flip_rate)))


def _row(name: str, mechanism: BitMechanism, rows: int | None) -> BitRow:
    rate = mechanism.flip_rate
    # Of one released bit: the standard deviation of its unbiased value (bit - q) / (1 - 2 q), at most.
    spread = 0.5 / max(1.0 - 2.0 * rate, 1e-300)
    error = None if rows is None else _WIDE * spread / rows**0.5
    return BitRow(name, mechanism, rate, error, (_WIDE * spread / CLOSE) ** 2)
