"""Released matrices, plans for them, and chains, in the terminal."""

from __future__ import annotations

import math
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from veil.core.job import Job
from veil.core.record import Release
from veil.matrices.chain_summary import ChainComparison
from veil.matrices.planning import MatrixPlan
from veil.matrices.report.chain import ChainReport, published_beside
from veil.report.console import (
    SHORT_BAR,
    bar,
    new_console,
    plain_table,
    print_baselines,
    print_guarantee,
    print_written,
)
from veil.report.figures import short_labels
from veil.vectors.array_kind import numbered
from veil.vectors.calibration import unused_delta
from veil.vectors.report.console import print_job

_MOST_ROWS = 30
_MOST_COLUMNS = 12
_LINES = {
    "period": ("period (1: it forgets its start)", "d"),
    "mixing_time": ("steps until the start is forgotten (TV 1/4)", ",.0f"),
    "second_eigenvalue": ("second eigenvalue (modulus)", ".6g"),
    "kemeny": ("steps to a state drawn at random (Kemeny)", ".4g"),
    "entropy_rate": ("uncertainty of a step (nats)", ".4g"),
    "likely_ways": ("  as many equally likely ways", ".4g"),
    "ergodicity_1": ("ergodicity coefficient tau_1", ".4g"),
    "ergodicity_inf": ("ergodicity coefficient tau_inf", ".4g"),
    "condition": ("condition (how far errors can move it)", ".4g"),
}


def print_matrix_release(release: Release[Any], *, job: Job[Any], written: Sequence[Path]) -> None:
    """The released matrix, as far as it fits, and what it guarantees."""
    console = new_console()
    value = release.value
    rows = release.row_labels or numbered(value.shape[0])
    columns = release.labels or numbered(value.shape[1])
    table = plain_table("from", *(label[:12] for label in columns[:_MOST_COLUMNS]))
    for label, row in list(zip(rows, value, strict=True))[:_MOST_ROWS]:
        table.add_row(label[:20], *(f"{entry:.3f}" for entry in row[:_MOST_COLUMNS]))
    console.print(table)
    if value.shape[0] > _MOST_ROWS or value.shape[1] > _MOST_COLUMNS:
        console.print(f"(the first rows and columns of {value.shape[0]} x {value.shape[1]})")
    console.print()
    print_baselines(console, release)
    print_guarantee(console, release)
    printed = published_beside(release)
    if printed is not None:
        console.print(
            f"(For comparison: the published formula ({printed.theorem}) gives {printed.epsilon:.4g} for "
            "the same release; the epsilon above is what holds.)"
        )
        if release.adjacency.describe()["changed"] != 1:
            console.print("(And it covers one changed row only: with more rows the losses add up.)")
    print_written(console, written)
    print_job(console, job)


def print_matrix_plan(plan: MatrixPlan) -> None:
    """The mechanisms from the most to the least accurate, with bars."""
    console = new_console()
    console.print(
        f"At epsilon = {plan.epsilon:g}, delta = {plan.delta:g}; neighbours: {plan.adjacency.words}."
    )
    counted = any(row.kl is not None for row in plan.rows)
    ranged = any(row.row_span is not None for row in plan.rows)
    also = ("range",) * ranged
    heads = ("row TV" if ranged else "row error", *also, "95 % below", "stationary", *also)
    heads += ("KL",) * counted
    # Ranges leave no room for bars in a terminal of 80 columns.
    bars = () if ranged else ("",)
    table = plain_table("mechanism", *heads, *bars)
    known = [row for row in plan.rows if row.mechanism is not None]
    widest = max((row.row_tv for row in known), default=1.0)
    for row in known:
        errors = [row.row_tv, row.row_tv95, row.stationary_tv, *((row.kl,) if row.kl is not None else ())]
        cells = ["-" if error is None else f"{error:.3g}" for error in errors]
        if ranged:
            spans = ("-" if span is None else span.words for span in (row.row_span, row.stationary_span))
            cells = [cells[0], next(spans), *cells[1:3], next(spans), *cells[3:]]
        table.add_row(row.name, *cells, *(bar(row.row_tv / widest, SHORT_BAR) for _ in bars))
    console.print(table)
    for row in plan.rows:
        if row.mechanism is None:
            console.print(f"{row.name}: {row.why}")
    if known:
        taken = f" auto takes it: {plan.reason}." if plan.over else ""
        console.print(
            f"Least error: {known[0].name}.{taken} A row error of {known[0].row_tv:.3g} means that where the "
            f"chain goes next is off by at most {100 * known[0].row_tv:.3g} percentage points on average."
        )
        if known[0].delta == 0.0:
            for text in unused_delta(known[0].name, plan.delta):
                console.print(f"{text}.")


def print_chain(report: ChainReport) -> None:
    """The stationary distribution with bars, then a line for each figure."""
    console = new_console()
    facts = report.facts
    assert facts is not None
    console.print(f"A chain of {facts.words}.")
    if facts.classes > 1:
        closed = sum(group.closed for group in report.classes)
        console.print(
            f"It is reducible: {facts.classes} classes of states, {closed} of them closed. What needs an "
            "irreducible chain is left out."
        )
        for group in report.classes[:8]:
            names = ", ".join(map(str, group.states[:6])) + (", ..." if len(group.states) > 6 else "")
            console.print(f"  {'closed' if group.closed else 'open'}, period {group.period}: {names}")
    top = report.top()
    if top:
        intervals, why = (
            report.intervals,
            None if report.intervals is None else report.intervals.no_stationary,
        )
        if why is not None:
            intervals = None
        limits = ("true: low", "high") if intervals is not None else ()
        table = plain_table("state", "share of time", *limits, "")
        labels = short_labels([name for name, _, _ in top], 30, drawn=False)
        for name, (_, share, i) in zip(labels, top, strict=True):
            ends = [f"{end:.4f}" for end in intervals.stationary[i]] if intervals is not None else []
            table.add_row(name, f"{share:.4f}", *ends, bar(share / top[0][1], SHORT_BAR))
        console.print(table)
        if facts.states > len(top):
            console.print(f"and {facts.states - len(top):,} more")
        if intervals is not None:
            console.print(
                "low, high: 95 % confidence for the true chain, from the release and its "
                "mechanism alone (coverage measured, not proved)"
            )
        if why is not None:
            console.print(f"No error bars for shares of time: {why}.")
    if report.no_bars is not None:
        console.print(f"No error bars: {report.no_bars}.")
    console.print()
    for field, (text, digits) in _LINES.items():
        number = getattr(facts, field)
        if number is not None:
            console.print(f"{text:46} {'never' if math.isinf(number) else format(number, digits)}")


def print_comparison_of_chains(comparison: ChainComparison, name: str) -> None:
    """How another chain differs."""
    console = new_console()
    console.print()
    console.print(f"Against {name}:")
    for text, number in (
        ("stationary distribution (TV)", comparison.stationary_tv),
        ("  at most, by the row errors", comparison.bound),
        ("largest row (TV)", comparison.largest_row_tv),
        ("mean row (TV)", comparison.mean_row_tv),
        ("divergence a step (nats)", comparison.kl_rate),
        ("difference of tau_1", comparison.ergodicity_1),
        ("difference of tau_inf", comparison.ergodicity_inf),
    ):
        if not math.isnan(number):
            console.print(f"{text:46} {'infinite' if math.isinf(number) else f'{number:.4g}'}")
