"""Released matrices, chains, and plans for them, in the terminal."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from rich.table import Table

from veil.core.record import Release
from veil.matrices.planning import MatrixPlan
from veil.matrices.report.chain import matrix_published_beside
from veil.report.console import SHORT_BAR, bar, new_console, print_guarantee

_MOST_ROWS = 30
_MOST_COLUMNS = 12


def print_matrix_release(release: Release, *, kept: float, written: Sequence[Path], tip: str = "") -> None:
    """The released matrix, as far as it fits, and what it guarantees."""
    console = new_console()
    value = release.value
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
    print_guarantee(console, release)
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
    console = new_console()
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
        bar = bar(row.row_tv / widest, SHORT_BAR)
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
