"""Released vectors, and plans for them, in the terminal."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.table import Table

from veil.core.job import Job
from veil.core.record import Release
from veil.report.console import SHORT_BAR, bar, new_console, print_guarantee, print_written
from veil.vectors.array_kind import numbered
from veil.vectors.comparison import Comparison, Row
from veil.vectors.planning import EpsilonPlan
from veil.vectors.report.page import error_bars

_MOST_ROWS = 30


def print_vector_release(release: Release[Any], *, job: Job[Any], written: Sequence[Path]) -> None:
    """The released vector and what it guarantees."""
    console = new_console()
    bars, bars_are = error_bars(release)
    table = Table(box=None, pad_edge=False)
    table.add_column("entry")
    table.add_column("released", justify="right")
    if bars is not None:
        table.add_column("low", justify="right")
        table.add_column("high", justify="right")
    table.add_column("")
    value = release.value
    labels = release.labels or numbered(value.size)
    for i in range(min(value.size, _MOST_ROWS)):
        limits = [] if bars is None else [f"{bars[i, 0]:.4f}", f"{bars[i, 1]:.4f}"]
        table.add_row(labels[i], f"{value[i]:.4f}", *limits, bar(float(value[i] / value.max())))
    console.print(table)
    if value.size > _MOST_ROWS:
        console.print(f"and {value.size - _MOST_ROWS} more")
    if bars is not None:
        console.print(f"low, high: {bars_are}")
    console.print()
    print_guarantee(console, release)
    if job.kept < 0.5:
        console.print(
            f"Note: at this budget only {100 * job.kept:.0f} % of the weight is on the data, the rest on a "
            "public constant (all entries equal). A larger epsilon or more records would keep more."
        )
    print_written(console, written)
    print_job(console, job)


def print_job(console: Console, job: Job[Any]) -> None:
    """Which mechanism was chosen, or that another one may be better; and what else there is to know."""
    if job.why:
        console.print(f"Mechanism: {job.chosen} ({job.why}).")
    elif job.request is not None and job.request.mechanism == "dirichlet":
        console.print("Another mechanism may be more accurate: the mechanism auto takes the best.")
    for text in job.notes:
        console.print(f"{text}.")
    for text in job.warnings:
        console.print(f"WARNING: {text}.")


def print_vector_plan(plan: Comparison | EpsilonPlan) -> None:
    """The mechanisms from the most to the least accurate, or from the least to the largest epsilon."""
    console = new_console()
    if isinstance(plan, EpsilonPlan):
        console.print(
            f"The epsilon at which the {plan.metric} error stays below {plan.error:g} in "
            f"{100 * plan.confidence:g} of 100 releases:"
        )
        for row in plan.rows:
            found = "not reachable" if row.epsilon is None else f"{row.epsilon:.3g}"
            console.print(f"  {row.name:18} {found}")
        return
    _print_comparison(console, plan)


def _print_comparison(console: Console, comparison: Comparison) -> None:
    console.print(
        f"At epsilon = {comparison.epsilon:g}, delta = {comparison.delta:g}; neighbours: "
        f"{comparison.adjacency.words}."
    )
    if comparison.assumed is not None:
        console.print(f"Assuming {comparison.assumed} records, since their number is not given.")
    table = Table(box=None, pad_edge=False)
    for name in ("mechanism", "error (TV)", "95 % below", "L1", "RMSE"):
        table.add_column(name, justify="left" if name == "mechanism" else "right")
    table.add_column("")
    known = [row for row in comparison.rows if row.errors is not None]
    widest = max((row.errors.tv for row in known if row.errors is not None), default=1.0)
    for row in known:
        assert row.errors is not None
        errors = row.errors
        cells = [f"{errors.tv:.3g}", f"{row.tv95:.3g}", f"{errors.l1:.3g}", f"{errors.rmse:.3g}"]
        table.add_row(row.name, *cells, bar(errors.tv / widest, SHORT_BAR))
    console.print(table)
    for row in comparison.rows:
        if row.errors is None:
            console.print(f"{row.name}: {row.why}")
    _print_advice(console, known)


def _print_advice(console: Console, known: Sequence[Row]) -> None:
    if not known or known[0].errors is None:
        return
    console.print(
        f"Least error: {known[0].name}. A TV error of {known[0].errors.tv:.3g} means that no event's "
        f"probability is off by more than {100 * known[0].errors.tv:.3g} percentage points on average."
    )
