"""Released tables of bits and their plans in the terminal."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from veil.bits.estimation import estimates
from veil.bits.planning import CLOSE, BitPlan
from veil.core.job import Job
from veil.core.record import Release
from veil.report.console import bar, new_console, plain_table, print_baselines, print_guarantee, print_written
from veil.report.figures import short_labels

_MOST_COLUMNS = 20


def print_bit_release(release: Release[Any], *, job: Job[Any], written: Sequence[Path]) -> None:
    """The estimated share of ones in each column, what to expect, and what is guaranteed."""
    console = new_console()
    plan, ones, dropped = job.plan, job.source.ones, job.source.dropped
    reading = estimates(release)
    columns = reading.listed
    table = plain_table("column", "is", "estimated share", "95 % interval", "", left=2)
    names = short_labels(reading.labels[:_MOST_COLUMNS], 32, drawn=False)
    for name, one, (_, share, low, high) in zip(names, ones, columns, strict=False):
        table.add_row(name, str(one)[:12], f"{share:.3f}", f"{low:.3f} to {high:.3f}", bar(share))
    console.print(table)
    if len(columns) > len(names):
        console.print(f"and {len(columns) - len(names):,} more columns")
    console.print()
    rate = next(row.flip_rate for row in plan.found if row.mechanism == release.mechanism)
    console.print(
        f"{reading.rows:,} rows, {_columns(len(columns))}. A released bit is wrong with probability "
        f"{rate:.4f}; the shares above are corrected for it."
    )
    if reading.says_nothing:
        console.print("WARNING: these intervals say nothing; epsilon is too small for so few rows.")
    print_baselines(console, release)
    if dropped:
        console.print(f"Left out, because of gaps: {', '.join(dropped[:10])}.")
    print_guarantee(console, release)
    for text in (*job.notes, *(f"WARNING: {text}" for text in job.warnings)):
        console.print(f"{text}.")
    print_written(console, written, ".csv")


def _columns(count: int) -> str:
    return f"{count:,} column{'' if count == 1 else 's'}"


def print_bit_plan(plan: BitPlan) -> None:
    """Every mechanism with its flip rate, the best first."""
    console = new_console()
    whose = "a whole row" if plan.adjacency.where == "row" else "single bits"
    if plan.adjacency.count not in (1, plan.columns):
        whose = f"{plan.adjacency.count} bits" + (" of a row" if plan.adjacency.where == "row" else "")
    console.print(f"Tables of {_columns(plan.columns)}; epsilon = {plan.epsilon:g}; hidden: {whose}.")
    share = () if plan.rows is None else (f"share of a column, {plan.rows:,} rows",)
    table = plain_table("mechanism", "bits wrong", "signal left", *share, f"rows for ± {CLOSE:g}")
    for row in plan.found:
        cells = [row.name, f"{100 * row.flip_rate:.2f} %", f"{100 * row.signal:.2f} %"]
        if row.share_error is not None:
            cells.append("says nothing" if row.share_error >= 0.5 else f"± {row.share_error:.3g}")
        cells.append(f"{row.rows_needed:,.0f}" if row.rows_needed < 1e12 else f"{row.rows_needed:.2g}")
        table.add_row(*cells)
    console.print(table)
    console.print(
        "bits wrong: 50 % would be pure noise. signal left: the part of a bit's meaning that is kept."
    )
    if plan.rows is not None:
        errors = plain_table("mean error", "share of a column", "pair of columns (total variation)")
        for row in plan.found:
            spans = (row.mean_error, row.pair_error)
            errors.add_row(row.name, *("-" if span is None else span.words for span in spans))
        console.print(errors)
    if plan.curator_is_better and plan.best.mean_error is not None:
        console.print(
            "A trusted curator with plain noisy counts would do better: the shares of ones with a mean error "
            f"of {plan.curator_error:.3g} instead of {plan.best.mean_error.usual:.3g}, if shares are all "
            "that is needed."
        )
    console.print("No data was read.")
