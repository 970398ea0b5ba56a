"""Tables for the terminal."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from rich.console import Console
from rich.table import Table

from veil.chains.report.sections import also_holds
from veil.core.privacy.beliefs import rounded_up
from veil.core.record import Release
from veil.matrices.job import MatrixPlan
from veil.vectors.comparison import Comparison, Row
from veil.vectors.report.page import best_guess, error_bars, matrix_published_beside
from veil.vectors.typical import assumed_records

_BAR = 20
# Beside several columns of numbers: a terminal is 80 wide.
_SHORT_BAR = 10
_MOST_ROWS = 30
_MOST_COLUMNS = 12


def _console() -> Console:
    # Labels in brackets are labels, not markup.
    return Console(highlight=False, soft_wrap=True, markup=False)


def _bar(share: float, width: int = _BAR) -> str:
    """A bar of eighths of a character, so that small differences show."""
    eighths = round(max(0.0, min(share, 1.0)) * width * 8)
    whole, rest = divmod(eighths, 8)
    return "█" * whole + ("▏▎▍▌▋▊▉"[rest - 1] if rest else "")


def print_release(release: Release, *, kept: float, written: Sequence[Path], tip: str = "") -> None:
    """The released vector and what it guarantees."""
    console = _console()
    bars, bars_are = error_bars(release)
    table = Table(box=None, pad_edge=False)
    table.add_column("entry")
    table.add_column("released", justify="right")
    if bars is not None:
        table.add_column("low", justify="right")
        table.add_column("high", justify="right")
    table.add_column("")
    value = release.array
    labels = release.labels or tuple(map(str, range(value.size)))
    for i in range(min(value.size, _MOST_ROWS)):
        limits = [] if bars is None else [f"{bars[i, 0]:.4f}", f"{bars[i, 1]:.4f}"]
        table.add_row(labels[i], f"{value[i]:.4f}", *limits, _bar(float(value[i] / value.max())), style=None)
    console.print(table)
    if value.size > _MOST_ROWS:
        console.print(f"and {value.size - _MOST_ROWS} more")
    if bars is not None:
        console.print(f"low, high: {bars_are}")
    console.print()
    _print_guarantee(console, release)
    if kept < 0.5:
        console.print(
            f"Note: at this budget only {100 * kept:.0f} % of the weight is on the data, the rest on a "
            "public constant (all entries equal). A larger epsilon or more records would keep more."
        )
    for path in written:
        console.print(f"Written: {path}")
    if tip:
        console.print(tip)


def _print_guarantee(console: Console, release: Release) -> None:
    console.print(
        f"epsilon = {rounded_up(release.epsilon)}, delta = {rounded_up(release.delta, 3)} "
        f"({release.profile.kind} profile)"
    )
    console.print(release.guarantee)
    guess = rounded_up(100 * best_guess(release.profile), 3)
    console.print(
        f"The best attacker would tell two such versions apart {guess} times in 100 (blind guessing: 50)."
    )
    for text in release.assumptions:
        console.print(f"This holds only if {text}.")
    if release.reproducible:
        console.print("NOT PRIVATE: drawn from a seed.")


def print_matrix_release(release: Release, *, kept: float, written: Sequence[Path], tip: str = "") -> None:
    """The released matrix, as far as it fits, and what it guarantees."""
    console = _console()
    value = release.array
    rows = release.row_labels or tuple(map(str, range(value.shape[0])))
    columns = release.labels or tuple(map(str, range(value.shape[1])))
    table = Table(box=None, pad_edge=False)
    table.add_column("from")
    for label in columns[:_MOST_COLUMNS]:
        table.add_column(label[:12], justify="right")
    for label, row in list(zip(rows, value, strict=True))[:_MOST_ROWS]:
        table.add_row(label[:20], *(f"{entry:.3f}" for entry in row[:_MOST_COLUMNS]))
    console.print(table)
    if value.shape[0] > _MOST_ROWS or value.shape[1] > _MOST_COLUMNS:
        console.print(f"(the first rows and columns of {value.shape[0]} x {value.shape[1]})")
    console.print()
    _print_guarantee(console, release)
    if kept < 0.5:
        console.print(
            f"WARNING: at this budget only {100 * kept:.2g} % of the weight is on the data, the rest on a "
            "public constant (all entries equal). Take a larger epsilon, or --mechanism auto."
        )
    printed = matrix_published_beside(release)
    if printed is not None:
        console.print(
            f"(For comparison: the formula of the paper, {printed.theorem}, gives {printed.epsilon:.4g} for "
            "the same release; the epsilon above is what holds.)"
        )
        if release.adjacency.describe()["changed"] != 1:
            console.print("(And it covers one changed row only: with more rows the losses add up.)")
    for path in written:
        console.print(f"Written: {path}")
    if tip:
        console.print(tip)


def print_matrix_plan(plan: MatrixPlan) -> None:
    """The mechanisms from the most to the least accurate, with bars."""
    console = _console()
    console.print(
        f"At epsilon = {plan.epsilon:g}, delta = {plan.delta:g}; neighbours: {plan.adjacency.words}."
    )
    table = Table(box=None, pad_edge=False)
    counted = any(row.kl is not None for row in plan.rows)
    for name in ("mechanism", "row error", "95 % below", "stationary", *(("KL",) * counted)):
        table.add_column(name, justify="left" if name == "mechanism" else "right")
    table.add_column("")
    known = [row for row in plan.rows if row.mechanism is not None]
    widest = max((row.row_tv for row in known), default=1.0)
    for row in known:
        stationary = "-" if row.stationary_tv is None else f"{row.stationary_tv:.3g}"
        bar = _bar(row.row_tv / widest, _SHORT_BAR)
        divergence = [f"{row.kl:.3g}"] if counted and row.kl is not None else []
        table.add_row(row.name, f"{row.row_tv:.3g}", f"{row.row_tv95:.3g}", stationary, *divergence, bar)
    console.print(table)
    for row in plan.rows:
        if row.mechanism is None:
            console.print(f"{row.name}: {row.why}")
    if known:
        console.print(
            f"Least error: {known[0].name}. A row error of {known[0].row_tv:.3g} means that where the chain "
            f"goes next is off by at most {100 * known[0].row_tv:.3g} percentage points on average "
            "(errors are total variation)."
        )


def print_inspection(release: Release, *, computed: float, missing: Sequence[str]) -> None:
    """What a file is, and whether the guarantee it records is the true one."""
    console = _console()
    console.print(f"A release of {release.kind_of_value}, by {release.mechanism.name}.")
    console.print(f"Made {release.created} by Veil {release.version}; {release.size}.")
    more = also_holds(release)
    if more is not None:
        console.print(more)
    _print_guarantee(console, release)
    whose = "to no ledger" if release.entry is None else f"to a ledger, as {release.entry}"
    console.print(f"Charged {whose}.")
    for text in missing:
        console.print(f"WRONG: the file leaves out that this holds only if {text}. Do not trust this file.")
    if computed <= release.epsilon * (1.0 + 1e-9):
        console.print(f"Checked: the mechanism as described has epsilon = {computed:.6g} at this delta.")
    else:
        console.print(
            f"WRONG: the file says epsilon = {release.epsilon:.6g}, but the mechanism as described has "
            f"{computed:.6g}. Do not trust this file."
        )


def print_comparison(comparison: Comparison, *, size: int, records: int | None) -> None:
    """The mechanisms from the most to the least accurate, with bars."""
    console = _console()
    console.print(
        f"At epsilon = {comparison.epsilon:g}, delta = {comparison.delta:g}; neighbours: "
        f"{comparison.adjacency.words}."
    )
    assumed = assumed_records(comparison.adjacency, size, records)
    if assumed is not None:
        console.print(
            f"Assuming {assumed} records, since their number is not given; --records N changes that."
        )
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
        table.add_row(row.name, *cells, _bar(errors.tv / widest, _SHORT_BAR))
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
