"""Read, plan and release tables of bits."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from veil.bits.domain import Table
from veil.bits.planning import BitPlan
from veil.bits.reading import BitSource
from veil.bits.requests import BitPlanning, BitRead, BitRelease, as_source
from veil.core.account import Account
from veil.core.job import run_with_warnings
from veil.core.record import Release


def read(
    source: Any,
    *,
    columns: Sequence[str] | str | None = None,
    values: tuple[Any, Any] | Mapping[str, tuple[Any, Any]] | Sequence[str] | None = None,
    missing: str | None = None,
    table: str | None = None,
    query: str | None = None,
    header: bool | None = None,
    delimiter: str | None = None,
) -> BitSource:
    """Read a table in which every column has two values. It is sensitive data, not a release.

    source: a path or glob (CSV and other text with separators, also packed; Parquet; JSON lines), or "-" for
        standard input; a pandas, Polars or Arrow table, or {column: values}; a 2-D array or a list of rows; a
        DuckDB file, connection or relation, a "postgresql://" address, a Spark session or frame.
    columns: which columns, in which order; all unless given. Without names they are column1, column2, ...
    values: what 0 and 1 are called, (zero, one), for all columns, or {column: (zero, one)} for some. Else the
        usual pairs are known (no/yes, n/y, false/true, f/t, 0/1, -/+, however spelt), and of two other
        values the first in order is 0.
    missing: what to do with gaps (empty cells, NULL, NaN, "?", "NA"): "no" takes them for 0, "yes" for 1;
        "own-column" takes them for 0 and has, after every column, one that says where they are ("budget
        missing"), so that a gap is a third value; "drop-column" leaves out the columns that have any.
        Without it they are an error.
    table, query: which table of a database, or one SELECT, of a database, or of a file or frame, which it
        calls input.
    header, delimiter: of text; whether its first line names the columns, and what separates cells. Both are
        found out from the file where that can be done without losing a record.

    >>> from veil import bits
    >>> votes = bits.read({"budget": ["y", "n", "y"], "roads": ["n", "n", "?"]}, missing="no")
    >>> votes.table.astype(int).tolist(), votes.zeros, votes.ones
    ([[1, 0], [0, 0], [1, 0]], ('n', 'n'), ('y', 'y'))
    """
    return BitRead.given(locals()).read()


def plan(
    *,
    columns: int,
    epsilon: float,
    rows: int | None = None,
    unit: str = "row",
    flips: int | None = None,
    typical: Any = None,
) -> BitPlan:
    """What to expect of a released table with so many columns, from public numbers alone.

    rows: how many records there will be, if that is public.
    unit: "row", a record's bits together, or "bit", each on its own.
    flips: so many bits of a record, or of the table, instead of all of them or one.
    typical: a public table like the true one, as `read` takes it, gaps being no. Without it errors are given
        over several kinds of made-up tables, from the least to the largest.

    >>> from veil import bits
    >>> plan = bits.plan(columns=16, epsilon=1.0)
    >>> plan.best.name, round(plan.best.flip_rate, 4), [round(row.flip_rate, 4) for row in plan.found]
    ('staircase', 0.4501, [0.4501, 0.4844])
    """
    return BitPlanning.given(locals()).plan()


def release(
    table: Any,
    *,
    epsilon: float,
    delta: float = 0.0,
    mechanism: str = "auto",
    unit: str = "row",
    flips: int | None = None,
    missing: str | None = None,
    ledger: Account | None = None,
    rng: Any = None,
) -> Release[Table]:
    """Release a table of bits. By default all bits of a record are hidden together.

    table: what `read` returned, or anything that it reads: a path, a frame of y and n, rows of True and
        False, or of 0 and 1. A frame keeps the names of its columns.
    epsilon: what it costs. delta: not needed, since these mechanisms are pure; nothing is spent on it.
    mechanism: "auto" takes the one with the fewest wrong bits; or "staircase", "response".
    unit: "row" hides all bits of a record together, "bit" each bit on its own.
    flips: hide only so many bits of a record at once (or so many anywhere, with unit="bit").
    missing: of a table that was not read yet, what to do with gaps, as for `read`.
    ledger: the dataset to charge. rng: a seed for experiments, which makes the release not private.

    >>> from veil import bits
    >>> out = bits.release([[1, 0, 1], [0, 0, 1]], epsilon=4.0, rng=1)
    >>> out.value.shape, out.epsilon, out.mechanism.name
    ((2, 3), 4.0, 'StaircaseXor')
    """
    request = BitRelease.given(locals())
    return run_with_warnings(
        request.prepare(as_source(table, missing=missing), rng=rng), ledger=ledger, rng=rng
    )
