"""Released vectors, and plans for them, in the terminal."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.table import Table

from veil.core.job import Job
from veil.core.record import Release
from veil.report.console import SHORT_BAR, bar, new_console, print_baselines, print_guarantee, print_written
from veil.vectors.array_kind import numbered
from veil.vectors.calibration import unused_delta
from veil.vectors.planning import Comparison, EpsilonPlan
from veil.vectors.released_counts import NOISY, noisy_totals
from veil.vectors.report.page import error_bars

_MOST_ROWS, _MOST_COLUMNS = 30, 8


def print_vector_release(release: Release[Any], *, job: Job[Any], written: Sequence[Path]) -> None:
    """The released vector and what it guarantees."""
    console = new_console()
    if release.value.ndim > 1:
        _print_several(console, release)
    else:
        _print_one(console, release)
    console.print()
    print_baselines(console, release)
    print_guarantee(console, release)
    print_written(console, written)
    print_job(console, job)


def _print_one(console: Console, release: Release[Any]) -> None:
    bars, bars_are = error_bars(release)
    value, counts = release.value, release.tables.get(NOISY)
    further = (() if counts is None else ("noisy count",)) + (() if bars is None else ("low", "high"))
    table, labels = _table("entry", "released", *further), release.labels or numbered(value.size)
    for i in range(min(value.size, _MOST_ROWS)):
        beside = [] if counts is None else [f"{counts[i]:,}"]
        beside += [] if bars is None else [f"{bars[i, 0]:.4f}", f"{bars[i, 1]:.4f}"]
        table.add_row(labels[i], f"{value[i]:.4f}", *beside, bar(float(value[i] / value.max())))
    console.print(table)
    if value.size > _MOST_ROWS:
        console.print(f"and {value.size - _MOST_ROWS} more")
    if bars is not None:
        console.print(f"low, high: {bars_are}")


def _print_several(console: Console, release: Release[Any]) -> None:
    """A line for each vector of a batch, as far as there is room."""
    rows = release.value.reshape(-1, release.value.shape[-1])
    names, labels = release.row_labels or numbered(len(rows)), release.labels or numbered(rows.shape[1])
    table = Table(box=None, pad_edge=False, header_style="bold")
    table.add_column("")
    totals = noisy_totals(release)
    for label in (*labels[:_MOST_COLUMNS], *(() if totals is None else ("noisy total",))):
        table.add_column(label, justify="right")
    for place, (name, row) in enumerate(zip(names[:_MOST_ROWS], rows, strict=False)):
        total = () if totals is None else (f"{totals[place]:,}",)
        table.add_row(name, *(f"{share:.4f}" for share in row[:_MOST_COLUMNS]), *total)
    console.print(table)
    more = [(len(rows) - _MOST_ROWS, "vectors"), (rows.shape[1] - _MOST_COLUMNS, "entries of each")]
    for number, what in more:
        if number > 0:
            console.print(f"and {number:,} more {what}")


def print_job(console: Console, job: Job[Any]) -> None:
    """Which mechanism was chosen, or that another one may be better; and what else there is to know."""
    if job.why:
        console.print(f"Mechanism: {job.chosen} ({job.why}).")
    elif job.request is not None and job.request.mechanism == "dirichlet":
        console.print("Another mechanism may be more accurate: auto takes the one of least expected error.")
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
            least = "not reachable" if row.epsilon is None else f"{row.epsilon:.3g}"
            console.print(f"  {row.name:18} {least}")
        if plan.kept is not None and len(plan.kept.errors) > 1:
            console.print(
                f"With {plan.best.name} at {plan.epsilon:.3g}, on each of the kinds of vectors below alone: "
                f"{plan.kept.words} is kept to as surely."
            )
        return
    _print_comparison(console, plan)


def _print_comparison(console: Console, comparison: Comparison) -> None:
    console.print(
        f"At epsilon = {comparison.epsilon:g}, delta = {comparison.delta:g}; neighbours: "
        f"{comparison.adjacency.words}."
    )
    if comparison.assumed is not None:
        console.print(f"Assuming {comparison.assumed} records, since their number is not given.")
    table = _table("mechanism", "TV error", "range", "95 % below", "RMSE")
    known = [(row, row.errors) for row in comparison.rows if row.errors is not None]
    widest = max((errors.tv for _, errors in known), default=1.0)
    for row, errors in known:
        mean, *others = (f"{error:.3g}" for error in (errors.tv, row.tv95, errors.rmse))
        span = "" if row.span is None else row.span.words
        table.add_row(row.name, mean, span, *others, bar(errors.tv / widest, SHORT_BAR))
    console.print(table)
    for row in comparison.rows:
        if row.errors is None:
            console.print(f"{row.name}: {row.why}")
    if known:
        name, errors = known[0][0].name, known[0][1]
        console.print(
            f"Least error: {name}. auto takes it: {comparison.reason}. A TV error of {errors.tv:.3g} means "
            f"that no event's probability is off by more than {100 * errors.tv:.3g} percentage points on "
            "average."
        )
        for text in unused_delta(name, comparison.delta):
            console.print(f"{text}.")


def _table(first: str, *numbers: str) -> Table:
    """An empty table: names, columns of numbers, and bars."""
    table = Table(box=None, pad_edge=False)
    table.add_column(first, no_wrap=True)
    for name in numbers:
        table.add_column(name, justify="right", no_wrap=True)
    table.add_column("")
    return table
