"""Released tables of bits and their plans in the terminal."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from rich.table import Table

from veil.bits.adjacency import BitFlips
from veil.bits.estimation import estimates
from veil.bits.planning import CLOSE, BitPlan
from veil.core.job import Job
from veil.core.record import Release
from veil.report.console import bar, new_console, print_guarantee, print_written
from veil.report.figures import shorts

_MOST_COLUMNS = 20


def print_bit_release(release: Release[Any], *, job: Job[Any], written: Sequence[Path]) -> None:
    """The estimated share of ones in each column, what to expect, and what is guaranteed."""
    console = new_console()
    plan, ones, dropped = job.plan, job.source.ones, job.source.dropped
    reading = estimates(release)
    share, low, high = reading.shares
    table = Table(box=None, pad_edge=False)
    table.add_column("column")
    table.add_column("is", justify="left")
    table.add_column("estimated share", justify="right")
    table.add_column("95 % interval", justify="right")
    table.add_column("")
    names = shorts(list(reading.labels[:_MOST_COLUMNS]), 32)
    for i, name in enumerate(names):
        span = f"{low[i]:.3f} to {high[i]:.3f}"
        inside = min(max(float(share[i]), 0.0), 1.0)
        table.add_row(name, str(ones[i])[:12], f"{inside:.3f}", span, bar(inside))
    console.print(table)
    if len(share) > len(names):
        console.print(f"and {len(share) - len(names):,} more columns")
    console.print()
    rate = next(row.flip_rate for row in plan.found if row.mechanism == release.mechanism)
    console.print(
        f"{reading.rows:,} rows, {_columns(len(share))}. A released bit is wrong with probability "
        f"{rate:.4f}; the shares above are corrected for it."
    )
    if float((high - low).min()) > 0.9:
        console.print("WARNING: these intervals say nothing; epsilon is too small for so few rows.")
    if dropped:
        console.print(f"Left out, because of gaps: {', '.join(dropped[:10])}.")
    print_guarantee(console, release)
    less = _hidden_less(plan.adjacency, plan.columns)
    if less:
        console.print(less)
    for text in job.warnings:
        console.print(f"WARNING: {text}.")
    print_written(console, written, ".csv")


def _columns(count: int) -> str:
    return f"{count:,} column{'' if count == 1 else 's'}"


def _hidden_less(near: BitFlips, columns: int) -> str:
    """What is said where less than a whole row is hidden; nothing otherwise."""
    if near.where == "row" and near.count >= columns:
        return ""
    return "A whole row is hidden less: the privacy loss adds up over its bits. The unit row hides it as one."


def print_bit_plan(plan: BitPlan) -> None:
    """Every mechanism with its flip rate, the best first."""
    console = new_console()
    whose = "a whole row" if plan.adjacency.where == "row" else "single bits"
    if plan.adjacency.count not in (1, plan.columns):
        whose = f"{plan.adjacency.count} bits" + (" of a row" if plan.adjacency.where == "row" else "")
    console.print(f"Tables of {_columns(plan.columns)}; epsilon = {plan.epsilon:g}; hidden: {whose}.")
    table = Table(box=None, pad_edge=False)
    table.add_column("mechanism")
    table.add_column("bits wrong", justify="right")
    table.add_column("signal left", justify="right")
    if plan.rows is not None:
        table.add_column(f"share of a column, {plan.rows:,} rows", justify="right")
    table.add_column(f"rows for ± {CLOSE:g}", justify="right")
    for row in plan.found:
        cells = [row.name, f"{100 * row.flip_rate:.2f} %", f"{100 * row.signal:.2f} %"]
        if row.share_error is not None:
            error = "says nothing" if row.share_error >= 0.5 else f"± {row.share_error:.3g}"
            cells.append(error)
        table.add_row(
            *cells, f"{row.rows_needed:,.0f}" if row.rows_needed < 1e12 else f"{row.rows_needed:.2g}"
        )
    console.print(table)
    console.print(
        "bits wrong: 50 % would be pure noise. signal left: the part of a bit's meaning that is kept."
    )
    console.print("No data was read.")
