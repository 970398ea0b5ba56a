"""What can be asked of tables of bits."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from os import PathLike
from typing import Any

import numpy as np

from veil.bits.domain import Bits, Table, is_graph
from veil.bits.planning import (
    FOR_BITS,
    UNIT_MEANINGS,
    UNITS,
    BitPlan,
    adjacency_for,
    bit_mechanism,
    plan_bits,
)
from veil.bits.reading import MISSING, ROWS, BitSource, read_bits
from veil.core.errors import InvalidArgument, InvalidData
from veil.core.intake import array_of, labels_of
from veil.core.job import Job
from veil.core.kind import Progress
from veil.core.preview import Preview
from veil.core.request import PlanRequest, ReadRequest, ReleaseRequest, option
from veil.tables.complaints import refuse_given
from veil.tables.dialect import delimiter_option, header_option
from veil.tables.engines.protocol import is_database
from veil.tables.frames import is_frame
from veil.tables.given import files_among
from veil.tables.source_options import query_option, table_option

_NAMES = ("auto", *FOR_BITS)
_MECHANISM = "auto (fewest wrong bits), staircase or response."
_UNIT = "What is hidden: row (all bits of a record together) or bit (each alone)."
# Kinds of NumPy types: booleans, whole numbers, floats.
_NUMERIC = "biuf"
_ROWS_ARE_HIDDEN_LESS = (
    "A whole row is hidden less: the privacy loss adds up over its bits. {unit=row} hides it as one"
)
_FLIPS = "Hide only so many bits at once: of a record, or with unit bit anywhere."


@dataclass(frozen=True, kw_only=True)
class BitRead(ReadRequest):
    """Read a table in which every column has two values."""

    source: Any = option(
        help="CSV, Parquet, JSON lines, a .duckdb file or postgresql://...: two values in each column.",
        secret=True,
    )
    columns: Sequence[str] | str | None = option(
        None, help="Which columns, in which order: a,b,c. All unless given.", group="Input", column=True
    )
    values: tuple[Any, Any] | Mapping[str, tuple[Any, Any]] | Sequence[str] | None = option(
        None,
        help="What 0 and 1 are called: no,yes, or for one column: vote=nay,aye.",
        group="Input",
    )
    missing: str | None = option(
        None,
        help="What gaps (empty, ?, NA) are: no or yes; own-column, a further bit for every column that says "
        "where they are; or drop-column, which leaves the columns out that have any.",
        choices=MISSING,
        group="Input",
    )
    table: str | None = table_option()
    query: str | None = query_option("read")
    header: bool | None = header_option()
    delimiter: str | None = delimiter_option()

    @property
    def inputs(self) -> tuple[str, ...]:
        return files_among(self.source)

    def read(self, progress: Progress | None = None) -> BitSource:
        self.check()
        return read_bits(self)


@dataclass(frozen=True, kw_only=True)
class BitRelease(ReleaseRequest):
    """Release a private table of bits: votes, answers, features."""

    examples = (
        ("", {"source": "votes.csv", "unit": "row", "epsilon": 2, "output": "private.csv"}),
        (
            "Gaps need an answer",
            {"source": "house-votes.csv", "missing": "no", "epsilon": 4, "output": "private.csv"},
        ),
    )

    mechanism: str = option("auto", help=_MECHANISM, short="-m", choices=_NAMES, group="Mechanism")
    unit: str = option("row", help=_UNIT, choices=UNITS, meanings=UNIT_MEANINGS, group="Privacy")
    flips: int | None = option(None, help=_FLIPS, least=1, group="Privacy")

    def prepare(self, data: Any, *, rng: Any = None, progress: Progress | None = None) -> Job[Table]:
        self.check()
        held = as_source(data)
        columns = held.table.shape[1]
        near = adjacency_for(self.unit, columns, self.flips)
        known: dict[str, Any] = {"unit": self.unit, "flips": self.flips, "rows": len(held)}
        plan = plan_bits(columns, self.epsilon, **known, measured=False)
        chosen = plan.best.name if self.mechanism == "auto" else self.mechanism
        return Job.prepare(
            bit_mechanism(chosen, columns, self.epsilon, near),
            held.table,
            adjacency=near,
            epsilon=self.epsilon,
            assumptions=held.assumptions,
            labels=held.columns or None,
            chosen=chosen,
            notes=(_ROWS_ARE_HIDDEN_LESS,) if near.where != "row" or near.count < columns else (),
            plan=plan,
            request=self,
            source=held,
        )


@dataclass(frozen=True, kw_only=True)
class BitPlanning(PlanRequest):
    """What to expect of a released table of bits, without any data."""

    examples = (("", {"columns": 16, "rows": 435, "epsilon": 2}),)

    columns: int = option(help="How many columns.", short="-c", least=1)
    epsilon: float = option(help="Privacy loss; smaller is more private.", short="-e")
    rows: int | None = option(None, help="How many records there will be; public.", short="-n", least=1)
    unit: str = option("row", help=_UNIT, choices=UNITS)
    flips: int | None = option(None, help=_FLIPS, least=1)
    typical: Any = option(
        None,
        help="A public table like the true one to plan for, with gaps as no; tables of several kinds unless "
        "given.",
    )

    @property
    def inputs(self) -> tuple[str, ...]:
        return files_among(self.typical)

    def plan(self, progress: Progress | None = None) -> BitPlan:
        self.check()
        asked: dict[str, Any] = {"unit": self.unit, "flips": self.flips, "rows": self.rows}
        return plan_bits(self.columns, self.epsilon, **asked, typical=self._typical())

    def preview(self, plan: Any) -> Preview | None:
        from veil.bits.preview import preview_bits

        return preview_bits(plan, self._typical())

    def _typical(self) -> Table | None:
        """The public table, checked to have the columns that are planned for."""
        if self.typical is None:
            return None
        given = self.typical
        table = as_source(given, missing=None if isinstance(given, BitSource) else "no").table
        if table.shape[1] != self.columns or not len(table):
            found = f"{table.shape[1]} columns, {len(table)} rows"
            raise InvalidArgument("typical", expected=f"rows of {self.columns} columns", found=found)
        return table


def as_source(data: Any, *, missing: str | None = None) -> BitSource:
    """The table that was read, is named by a path, or is held in memory. missing: see `BitRead`.

    Which of the two readers takes a table in memory is a matter of its type, never of what is in it. Of bits
    they make the same.
    """
    if isinstance(data, BitSource):
        refuse_given("none for a table that was read, whose gaps have been dealt with", missing=missing)
        return data
    if isinstance(data, (str, PathLike)):
        return BitRead(source=str(data), missing=missing).read()
    if type(data).__name__ == "Series" and hasattr(data, "to_frame"):
        # A column of a frame: everybody has one bit.
        data = data.to_frame()
    readable = is_frame(data) or is_database(data) or isinstance(data, (list, tuple, np.ndarray))
    if is_graph(data) or not readable or (missing is None and _is_numeric(data)):
        return _of_numbers(data)
    held = BitRead(source=data, missing=missing).read()
    # Rows without names have no names in a release either.
    return held if is_frame(data) else replace(held, columns=())


def _of_numbers(data: Any) -> BitSource:
    bits = Bits().validate(data)
    if bits.ndim == 1:
        raise InvalidData(
            "table",
            expected="rows of bits",
            found="one row or one column",
            hint='One column of a frame: frame[["name"]]; one record: [[...]].',
        )
    names = labels_of(data) or ()
    ones, zeros = ("1",) * bits.shape[1], ("0",) * bits.shape[1]
    return BitSource(np.array(bits), names, ones, zeros, assumptions=(ROWS,))


def _is_numeric_type(kind: Any) -> bool:
    """Whether a column of this type, of pandas or Polars, is of booleans or numbers."""
    if hasattr(kind, "kind"):
        return kind.kind in _NUMERIC
    return str(kind) == "Boolean" or bool(getattr(kind, "is_numeric", bool)())


def _is_numeric(data: Any) -> bool:
    """Whether a table in memory is of booleans or numbers, by its type; text is to be read as a file is."""
    if type(data).__name__ == "DataFrame" and hasattr(data, "to_numpy"):
        return all(map(_is_numeric_type, data.dtypes))
    if is_frame(data):
        return False
    try:
        return array_of("table", data).dtype.kind in _NUMERIC
    except ValueError:
        # Rows of different lengths.
        return True
