"""What a budget buys for tables of bits, before any data is touched."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

from veil.bits.accuracy import curator_error, pair_error, share_deviation, share_error
from veil.bits.adjacency import BitFlips
from veil.bits.domain import Table
from veil.bits.estimation import MOST_PAIRED, signals_of
from veil.bits.mechanisms.bit_mechanism import BitMechanism
from veil.bits.mechanisms.randomized_response import RandomizedResponse
from veil.bits.mechanisms.staircase_xor import MOST_BITS, StaircaseXor
from veil.bits.profiles import PROFILES, BitProfile
from veil.core.baseline import Baseline
from veil.core.checks import choice, integer, positive
from veil.core.errors import InvalidArgument
from veil.core.numerics.rounding import float_below, stated
from veil.core.plan import Plan, beside
from veil.core.span import MEANS, SPARED, Span, assumed

UNITS = ("row", "bit")
UNIT_MEANINGS = ("one record, with all of its answers", "each answer of a record by itself")
FOR_BITS = ("staircase", "response")
# Standard deviations to the two sides of an interval that holds in 95 % of the cases.
_WIDE = 1.959964
# How close a column's share is wanted, where it is said how many rows that takes.
CLOSE = 0.05
# Where nobody says how many rows there will be, the errors beside knowing nothing are those of so many.
_ASSUMED_ROWS = 1_000
_TOLD = ("name", "flip_rate", "signal", "share_error", "rows_needed")
SHARE_ERROR = "error of a column's share"
PAIR_ERROR = "error of a pair of columns (total variation)"
INSIDE = "Shares of ones are kept between 0 and 1."


@dataclass(frozen=True)
class BitRow:
    """One mechanism: flip_rate of a bit, signal = 1 - 2 flip_rate, and what they mean for a column.

    share_error: half the width of a 95 % interval for the share of ones in a column, if the number of rows is
    known. rows_needed: how many rows make that 0.05. mean_error: how far the share is off on average;
    pair_error: the same for the 2 x 2 table of two columns, in total variation.
    """

    name: str
    mechanism: BitMechanism
    flip_rate: float
    share_error: float | None
    rows_needed: float
    mean_error: Span | None = None
    pair_error: Span | None = None

    @property
    def signal(self) -> float:
        return 1.0 - 2.0 * self.flip_rate

    def to_dict(self) -> dict[str, Any]:
        """Plain numbers, for JSON."""
        spans = {"mean_error": self.mean_error, "pair_error": self.pair_error}
        told = {name: None if span is None else span.to_dict() for name, span in spans.items()}
        return {name: getattr(self, name) for name in _TOLD} | told


@dataclass(frozen=True)
class BitPlan(Plan):
    """Mechanisms with the same guarantee, the best first.

    profiles: public tables to plan for. curator_error: of the shares, where a trusted curator would add noise
    to the counts of ones instead of to every bit. supposed: how many rows the errors beside knowing nothing
    are for, where nobody said, and the errors of the best mechanism for those.
    """

    printer: ClassVar[str | None] = "veil.bits.report.console:print_bit_plan"

    columns: int
    epsilon: float
    adjacency: BitFlips
    rows: int | None
    found: tuple[BitRow, ...]
    profiles: tuple[BitProfile, ...]
    curator_error: float | None = None
    supposed: tuple[int, BitRow] | None = None

    @property
    def best(self) -> BitRow:
        return self.found[0]

    @property
    def curator_is_better(self) -> bool:
        """Whether noisy counts of a trusted curator would be closer to the shares."""
        best = self.best.mean_error
        return self.curator_error is not None and best is not None and self.curator_error < best.usual

    @property
    def assumes(self) -> str:  # type: ignore[override]
        told = assumed([profile.words for profile in self.profiles], of="tables")
        told = f"{told} {INSIDE}"
        return told if len(self.profiles) == 1 else f"{told} {MEANS} {SPARED}"

    @property
    def baselines(self) -> tuple[Baseline, ...]:  # type: ignore[override]
        if self.supposed is None:
            return baselines_of(self.best, self.profiles)
        rows, best = self.supposed
        return baselines_of(best, self.profiles, where=f" if there are {rows:,} rows")

    def to_dict(self) -> dict[str, Any]:
        curator = {"share_error": self.curator_error, "better": self.curator_is_better}
        return {
            "columns": self.columns,
            "epsilon": self.epsilon,
            "adjacency": self.adjacency.describe(),
            "rows": self.rows,
            "mechanisms": [row.to_dict() for row in self.found],
            "trusted_curator": None if self.curator_error is None else curator,
            **beside(self),
        }


def baselines_of(row: BitRow, profiles: Sequence[BitProfile], *, where: str = "") -> tuple[Baseline, ...]:
    """The errors of a mechanism beside those of a half for each column, and a quarter for each cell.

    where: of how many rows, if that is taken for granted.
    """
    words = [profile.words for profile in profiles]
    lines = []
    if row.mean_error is not None:
        without = [profile.no_share_error for profile in profiles]
        lines.append(
            Baseline.over(SHARE_ERROR + where, "a half for every column", without, row.mean_error, words)
        )
    if row.pair_error is not None:
        without = [profile.no_pair_error for profile in profiles]
        measure = PAIR_ERROR + where
        lines.append(Baseline.over(measure, "a quarter for every cell", without, row.pair_error, words))
    return tuple(lines)


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
    columns: int,
    epsilon: float,
    *,
    unit: str = "row",
    flips: int | None = None,
    rows: int | None = None,
    typical: Table | None = None,
    measured: bool = True,
) -> BitPlan:
    """What to expect of a table with so many columns; for the arguments see `bits.plan`.

    measured: find the mean errors too, which takes longer than all the rest.
    """
    columns = integer("columns", columns, least=1)
    epsilon = positive("epsilon", epsilon)
    rows = None if rows is None else integer("rows", rows, least=1)
    near = adjacency_for(unit, columns, flips)
    profiles = PROFILES if typical is None else (BitProfile.of(typical),)
    tried = profiles if measured else ()
    usable = FOR_BITS if near.where == "row" and columns <= MOST_BITS else ("response",)
    made = {name: bit_mechanism(name, columns, epsilon, near) for name in usable}
    ranked = [planned_row(name, mechanism, columns, rows, tried) for name, mechanism in made.items()]
    found = tuple(sorted(ranked, key=lambda row: row.flip_rate))
    curator = None if rows is None else curator_error(near.count, rows, epsilon)
    supposed = None
    if rows is None and measured:
        many = _ASSUMED_ROWS if typical is None else len(typical)
        supposed = many, planned_row(found[0].name, found[0].mechanism, columns, many, tried)
    return BitPlan(columns, epsilon, near, rows, found, profiles, curator, supposed)


def planned_row(
    name: str, mechanism: BitMechanism, columns: int, rows: int | None, profiles: Sequence[BitProfile]
) -> BitRow:
    """The errors of a mechanism for tables like these."""
    signal = 1.0 - 2.0 * mechanism.flip_rate
    # Of one released bit: the standard deviation of its unbiased value (bit - q) / (1 - 2 q).
    spread = share_deviation(signal, 1)
    needed = (_WIDE * spread / CLOSE) ** 2
    half = None if rows is None else _WIDE * spread / rows**0.5
    if rows is None or not profiles:
        return BitRow(name, mechanism, mechanism.flip_rate, half, needed)
    shares = _span([share_error(signal, rows, profile.shares) for profile in profiles])
    pairs = None
    if 2 <= columns <= MOST_PAIRED:
        signals = signals_of(mechanism, columns)
        if signals.pair != 0:
            pairs = _span([pair_error(signals, rows, profile.pairs) for profile in profiles])
    return BitRow(name, mechanism, mechanism.flip_rate, half, needed, shares, pairs)


def _span(errors: Sequence[float]) -> Span:
    """Over made-up tables a range that holds others too; of a given one its own error."""
    return Span(tuple(errors)) if len(errors) == 1 else Span(tuple(errors)).spared()
