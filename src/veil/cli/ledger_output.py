"""Budgets in the terminal and as pictures."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import TYPE_CHECKING, Any

from rich.table import Table
from rich.text import Text

from veil.core.writing import replacing
from veil.ledger.accounting import words_of
from veil.ledger.history import BudgetHistory, Moment
from veil.report.console import new_console
from veil.report.figures import BLUE, GREY, ORANGE, RED, axes_of
from veil.report.terminal import say

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from veil.ledger.verification import Verification

_BAR = 16
# Columns that are read as one.
_WHOLE = ("entry", "time (UTC)", "kind", "cost")
_SYMBOLS = {"epsilon": "ε", "delta": "δ", "rho": "ρ"}


def _bar(share: float) -> Text:
    """Filled as far as the budget is used; the words beside it say the same without colour."""
    full = min(_BAR, round(share * _BAR))
    colour = "green" if share < 0.5 else "yellow" if share < 0.9 else "red"
    return Text("█" * full, style=colour) + Text("░" * (_BAR - full), style="dim") + Text(f" {share:4.0%}")


def print_datasets(histories: Sequence[BudgetHistory], where: str) -> None:
    """All datasets of a ledger, one per line."""
    console = new_console()
    if not histories:
        console.print(f"No dataset in {where} yet. Open one: veil ledger open {where} NAME --epsilon 1")
        return
    table = Table(box=None, pad_edge=False)
    for name in ("dataset", "spent", "budget", "used", "charges", ""):
        table.add_column(name, justify="right" if name == "charges" else "left")
    for history in histories:
        rule = history.terms.rule
        table.add_row(
            history.name,
            _spent(history),
            f"ε {float(history.terms.epsilon):.6g}, δ {float(history.terms.delta):.3g}"
            + ("" if rule.name == "basic" else f" ({rule.name})"),
            _bar(history.now.used),
            str(history.charges),
            "closed" if history.terms.closed else "",
        )
    console.print(table)


def print_dataset(history: BudgetHistory, *, last: int) -> None:
    """One dataset: its terms, what is left, and its newest entries."""
    console = new_console()
    terms, now = history.terms, history.now
    console.print(Text(history.name, style="bold") + Text("  ") + _bar(now.used))
    console.print(f"Budget:    epsilon = {terms.epsilon}, delta = {terms.delta}; {_rule(history)}")
    console.print(f"Spent:     {words_of(terms.rule.along(now.totals))}")
    console.print(f"Remaining: {words_of(terms.rule.remaining(now.totals))}")
    console.print(f"Neighbours: {terms.neighbours}.")
    if terms.parts:
        how = "a record may move, so they count for two" if terms.moves else "a neighbour changes one of them"
        console.print(f"Parts: {len(terms.parts)}; {how}. Spent if in a part:")
        for name, totals in list(history.parts.items())[:12]:
            console.print(f"  {name}: {words_of(terms.rule.along(totals))}")
        if len(terms.parts) > 12:
            console.print(f"  ({len(terms.parts) - 12} more: --json shows all)")
    if terms.closed:
        console.print(Text("Closed: nothing more can be released.", style="red"))
    known = [moment for moment in history.moments if moment.entry.kind != "confirm"]
    shown = known[-last:]
    console.print()
    table = Table(box=None, pad_edge=False)
    for name in ("entry", "time (UTC)", "kind", "what", "cost", "state", "by"):
        justify: Any = "right" if name == "entry" else "left"
        table.add_column(name, justify=justify, no_wrap=name in _WHOLE, overflow="fold")
    for moment in shown:
        table.add_row(
            str(moment.entry.number),
            moment.entry.time[:19].replace("T", " "),
            moment.entry.kind,
            moment.what,
            _cost(moment),
            Text(moment.state, style="yellow" if "no result" in moment.state else ""),
            moment.by,
        )
    console.print(table)
    left = len(known) - len(shown)
    if len(known) < len(history.moments):
        console.print("Numbers that are left out are notes that a release was made.")
    if left:
        console.print(f"({left} earlier {'entry' if left == 1 else 'entries'}: --last N shows more)")


def print_verification(found: Verification, *, compared: bool) -> None:
    """What was verified, and what is odd."""
    for name, count in found.entries.items():
        start = found.keyed[name]
        keyed = (
            "not keyed" if start is None else "all keyed" if start == 1 else f"keyed from entry {start} on"
        )
        checked = " and authentic" if start is not None and found.authentic else ""
        say(f"{name}: {count} entries are consistent, each a lawful step; {keyed}{checked}.")
    if compared:
        say("Nothing that was exported or anchored is missing.")
    else:
        say("Nothing that this machine has seen is missing. Entries cut off at the end that it has not seen")
        say("do not show without --against FILE (see veil ledger export).")
    for text in found.findings:
        print_warning(text)


def print_warning(text: str) -> None:
    """A line that is not to be overlooked."""
    new_console().print(Text(f"WARNING: {text}.", style="red"), soft_wrap=True)


def _spent(history: BudgetHistory) -> str:
    """What is gone. A filter counts along lines that few people know: the bar says how much it is."""
    if history.terms.rule.name != "basic":
        return "by the filter" if history.charges else "nothing"
    totals = history.now.totals
    return f"ε {float(totals.get('epsilon', 0)):.6g}, δ {float(totals.get('delta', 0)):.3g}"


def _rule(history: BudgetHistory) -> str:
    rule = history.terms.rule
    if rule.name == "basic":
        return "epsilons and deltas add up"
    return f"{rule.name} filter: {words_of(rule.limits)}"


def _cost(moment: Moment) -> str:
    content = moment.entry.content
    # A restore charges again what is lost.
    cost = content["lost"]["whole"] if "lost" in content else content.get("cost")
    if cost is None:
        return ""
    lines = moment.terms.rule.limits if moment.terms.rule.name != "renyi" else ("epsilon", "delta")
    known = {line: float(cost[line]) for line in lines if float(cost.get(line, 0)) > 0.0}
    return ", ".join(f"{_SYMBOLS[line]} {amount:.4g}" for line, amount in known.items())


def budget_figure(history: BudgetHistory) -> Figure:
    """What was spent, step by step, below what may be."""
    import matplotlib.dates as dates

    figure, axes = axes_of(8.0, 3.6)
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
