"""Released words and their plans in the terminal."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from rich.table import Table

from veil.core.job import Job
from veil.core.record import Release
from veil.report.console import bar, new_console, print_baselines, print_guarantee, print_written
from veil.report.figures import short_labels
from veil.words.codec import batch
from veil.words.planning import WordPlan
from veil.words.word_batch import WordBatch

_MOST_SYMBOLS = 10


def print_word_release(release: Release[Any], *, job: Job[Any], written: Sequence[Path]) -> None:
    """How often the private words visit each symbol, what to expect of them, and what is guaranteed."""
    console = new_console()
    words: WordBatch = batch(release)
    plan: WordPlan | None = job.plan
    labels, shares = zip(*words.most_visited(_MOST_SYMBOLS), strict=True)
    table = _table("symbol", "share of all symbols")
    names = short_labels(list(map(str, labels)), 38, drawn=False)
    for name, share in zip(names, shares, strict=True):
        table.add_row(name, f"{share:.4f}", bar(share / shares[0]))
    console.print(table)
    if len(words.labels) > len(labels):
        console.print(f"and {len(words.labels) - len(labels):,} more")
    console.print()
    least, most = words.lengths.min(), words.lengths.max()
    lengths = f"{least}" if least == most else f"{least} to {most}"
    console.print(f"{len(words):,} word{'s' if len(words) != 1 else ''} of {lengths} symbols.")
    if plan is not None and plan.best.error is not None:
        n = plan.language.length
        console.print(
            f"To be expected: {plan.best.error:.3g} of {n} symbols wrong, on made-up words of that length."
        )
    print_baselines(console, release)
    print_guarantee(console, release)
    console.print(f"Mechanism: {job.chosen}{_why(plan)}.")
    for text in (*job.notes, *(f"WARNING: {text}" for text in job.warnings)):
        console.print(f"{text}.")
    print_written(console, written, ".csv")


def _table(name: str, *numbers: str) -> Table:
    """Names, numbers, and a bar or a remark without a heading."""
    table = Table(name, box=None, pad_edge=False)
    for heading in numbers:
        table.add_column(heading, justify="right")
    table.add_column("")
    return table


def _why(plan: WordPlan | None) -> str:
    """What it was chosen over."""
    if plan is None:
        return ""
    others = [f"{row.name} {row.error:.3g}" for row in plan.rows[1:] if row.error is not None]
    return f", the least expected error ({', '.join(others)} for others)" if others else ""


def print_word_plan(plan: WordPlan) -> None:
    """Every mechanism with its expected error, the best first."""
    console = new_console()
    n = plan.language.length
    if plan.error is not None:
        symbols = "symbol" if plan.error == 1.0 else "symbols"
        console.print(f"For {plan.error:g} wrong {symbols} of {n}: epsilon = {plan.epsilon:.3g}.")
    console.print(f"{plan.language.words[0].upper()}{plan.language.words[1:]}; epsilon = {plan.epsilon:g}.")
    console.print(f"Hidden: {plan.radius} symbol{'s' if plan.radius > 1 else ''} of a word.")
    ranges = ("range",) if len(plan.tried) > 1 else ()
    table = _table("mechanism", "wrong symbols", *ranges, "rate")
    for row in plan.rows:
        if row.error is None or row.mechanism is None or row.span is None:
            table.add_row(row.name, "-", *("-" for _ in ranges), "-", row.why)
        else:
            span = (row.span.words,) if ranges else ()
            rate = f"{row.mechanism.rate:.3g}"
            table.add_row(row.name, f"{row.error:.3g}", *span, rate, bar(row.error / n))
    console.print(table)
    like = "the examples given" if plan.from_examples else "random walks"
    console.print(f"Measured on {plan.walks} made-up words ({like}); no data was read.")
    console.print("rate: how fast a word's probability falls with each error, exp(-rate).")
