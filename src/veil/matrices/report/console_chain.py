"""A chain in the terminal."""

from __future__ import annotations

import math

from rich.table import Table

from veil.matrices.chain_comparison import ChainComparison
from veil.matrices.report.chain import ChainReport
from veil.report.console import SHORT_BAR, new_console
from veil.report.labels import shorts


def print_chain(report: ChainReport) -> None:
    """The stationary distribution with bars, then one line a figure."""
    console = new_console()
    facts = report.facts
    assert facts is not None
    console.print(f"A chain of {facts.states:,} states and {facts.transitions:,} transitions.")
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
        table = Table(box=None, pad_edge=False)
        table.add_column("state")
        table.add_column("share of time", justify="right")
        intervals = report.intervals is not None
        if intervals:
            table.add_column("true: low", justify="right")
            table.add_column("high", justify="right")
        table.add_column("")
        labels = shorts([name for name, _, _ in top], 30)
        for name, (_, share, bar) in zip(labels, top, strict=True):
            limits = [f"{bar[0]:.4f}", f"{bar[1]:.4f}"] if intervals else []
            table.add_row(name, f"{share:.4f}", *limits, bar(share / top[0][1], SHORT_BAR))
        console.print(table)
        if facts.states > len(top):
            console.print(f"and {facts.states - len(top):,} more")
        if intervals:
            console.print(
                "low, high: 95 % confidence for the true chain, from the release and its "
                "mechanism alone (coverage measured, not proved)"
            )
    if report.no_bars is not None:
        console.print(f"No error bars: {report.no_bars}.")
    console.print()
    for text, value in _lines(report):
        console.print(f"{text:46} {value}")


def _lines(report: ChainReport) -> list[tuple[str, str]]:
    facts = report.facts
    assert facts is not None
    lines: list[tuple[str, str]] = []

    def add(text: str, number: float | None, digits: str = ".4g") -> None:
        if number is not None:
            lines.append((text, "never" if math.isinf(number) else format(number, digits)))

    add("period (1: it forgets its start)", facts.period, "d")
    add("steps until the start is forgotten (TV 1/4)", facts.mixing_time, ",.0f")
    add("second eigenvalue (modulus)", facts.second_eigenvalue, ".6g")
    add("steps to a state drawn at random (Kemeny)", facts.kemeny)
    add("uncertainty of a step (nats)", facts.entropy_rate)
    add("  as many equally likely ways", facts.likely_ways)
    add("ergodicity coefficient tau_1", facts.ergodicity_1)
    add("ergodicity coefficient tau_inf", facts.ergodicity_inf)
    add("condition (how far errors can move it)", facts.condition)
    return lines


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
        console.print(f"{text:46} {'infinite' if math.isinf(number) else f'{number:.4g}'}")
