"""Budgets in the terminal."""

from __future__ import annotations

from collections.abc import Sequence

from rich.console import Console
from rich.table import Table
from rich.text import Text

from veil.ledger.accounting import words_of
from veil.ledger.history import BudgetHistory, Moment

_BAR = 16
# Columns that are read as one.
_WHOLE = ("entry", "time (UTC)", "kind", "cost")
_SYMBOLS = {"epsilon": "ε", "delta": "δ", "rho": "ρ"}


def _console() -> Console:
    return Console(highlight=False, soft_wrap=True, markup=False)


def _bar(share: float) -> Text:
    """Filled as far as the budget is used; the words beside it say the same without colour."""
    full = min(_BAR, round(share * _BAR))
    colour = "green" if share < 0.5 else "yellow" if share < 0.9 else "red"
    return Text("█" * full, style=colour) + Text("░" * (_BAR - full), style="dim") + Text(f" {share:4.0%}")


def print_datasets(histories: Sequence[BudgetHistory], where: str) -> None:
    """All datasets of a ledger, one a line."""
    console = _console()
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
    console = _console()
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
        table.add_column(name, justify="right" if name == "entry" else "left", no_wrap=name in _WHOLE)
    for moment in shown:
        table.add_row(
            str(moment.entry.number),
            moment.entry.time[:19].replace("T", " "),
            moment.entry.kind,
            moment.what,
            _cost(moment),
            Text(moment.state, style="yellow" if "not" in moment.state else ""),
            moment.by,
        )
    console.print(table)
    left = len(known) - len(shown)
    if len(known) < len(history.moments):
        console.print("Numbers that are left out are notes that a release was made.")
    if left:
        console.print(f"({left} earlier ones: --last N shows more)")


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
    cost = moment.entry.content.get("cost")
    if cost is None:
        return ""
    lines = moment.terms.rule.limits if moment.terms.rule.name != "renyi" else ("epsilon", "delta")
    known = {line: float(cost[line]) for line in lines if float(cost[line]) > 0.0}
    return ", ".join(f"{_SYMBOLS[line]} {amount:.4g}" for line, amount in known.items())
