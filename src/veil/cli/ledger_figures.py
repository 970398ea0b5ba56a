"""A picture of a budget over time."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import TYPE_CHECKING, Any

from veil.core.writing import replacing
from veil.ledger.history import BudgetHistory
from veil.report.figures import BLUE, GREY, ORANGE, RED

if TYPE_CHECKING:
    from matplotlib.figure import Figure

_SYMBOLS = {"epsilon": "ε", "delta": "δ", "rho": "ρ"}


def budget_figure(history: BudgetHistory) -> Figure:
    """What was spent, step by step, below what may be."""
    import matplotlib.dates as dates
    from matplotlib.figure import Figure

    figure = Figure(figsize=(8.0, 3.6), layout="constrained")
    axes = figure.add_subplot()
    axes.spines[["top", "right"]].set_visible(False)
    line = history.line
    known = [moment for moment in history.moments if moment.entry.kind != "confirm"]
    times: Any = [datetime.fromisoformat(moment.entry.time) for moment in known]
    spent = [float(moment.totals.get(line, 0)) for moment in known]
    limits = [float(moment.terms.rule.limits[line]) for moment in known]
    # Up to now, and a minute at least: what holds still holds.
    times.append(max(datetime.now(UTC), times[0] + timedelta(minutes=1), times[-1]))
    spent.append(spent[-1])
    limits.append(limits[-1])
    axes.step(times, limits, where="post", color=ORANGE, linewidth=2.0, linestyle="--")
    axes.step(times, spent, where="post", color=BLUE, linewidth=2.0)
    axes.fill_between(times, spent, step="post", color=BLUE, alpha=0.15)
    charges = [(t, s) for t, s, m in zip(times, spent, known, strict=False) if m.entry.kind == "reserve"]
    if len(charges) <= 60:
        axes.plot(*zip(*charges, strict=True) if charges else ([], []), "o", color=BLUE, markersize=4.0)
    ends = [t for t, m in zip(times, known, strict=False) if m.entry.kind == "close"]
    for end in ends:
        axes.axvline(end, color=RED, linestyle=":")
        axes.annotate("closed", (end, 0.0), xytext=(-4, 6), textcoords="offset points", ha="right", color=RED)
    axes.annotate("budget", (times[0], limits[0]), xytext=(4, 5), textcoords="offset points", color="#8a5f00")
    axes.annotate(
        f"spent {spent[-1]:.4g}",
        (times[-1], spent[-1]),
        xytext=(-4, 6 if spent[-1] < 0.85 * limits[-1] else -14),
        textcoords="offset points",
        ha="right",
        color=BLUE,
    )
    axes.set_ylim(0.0, 1.12 * max([*limits, *spent]) or 1.0)
    symbol = _SYMBOLS.get(line)
    axes.set_ylabel(f"{symbol} ({line})" if symbol else f"Rényi divergence, {line}")
    locator = dates.AutoDateLocator(maxticks=7)
    axes.xaxis.set_major_locator(locator)
    axes.xaxis.set_major_formatter(dates.ConciseDateFormatter(locator))
    axes.set_xlabel("time (UTC)")
    axes.set_title(f"Privacy budget of {history.name}", loc="left", fontsize=11, color=GREY)
    return figure


def save_budget(history: BudgetHistory, path: Path, *, overwrite: bool) -> None:
    """The picture in the format that the ending of the path names."""
    figure = budget_figure(history)
    with replacing(path, overwrite=overwrite) as beside:
        figure.savefig(beside, format=path.suffix.lower().removeprefix("."), dpi=150)
