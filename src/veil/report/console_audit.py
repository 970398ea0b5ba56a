"""Audits in the terminal."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from rich.table import Table
from rich.text import Text

from veil.core.audit.suite import AuditSuite
from veil.report.console import bar, new_console

SHORT_BAR = 8
_WIDEST = 38


def print_audits(found: Sequence[AuditSuite], *, confidence: float, written: Path | None) -> None:
    """A line for each pair of one mechanism, or for each of several mechanisms, and what it comes to."""
    console = new_console()
    console.print(_of_one(found[0]) if len(found) == 1 else _of_several(found))
    console.print()
    for delta in sorted({suite.delta for suite in found}):
        where = "" if len({suite.delta for suite in found}) == 1 else " for some of them"
        if delta > 0.0:
            console.print(
                f"Claimed and found are compared at delta = {delta:g}{where}, where draws can show something."
            )
    bad = [suite for suite in found if suite.violated]
    for suite in bad:
        for fault in suite.faults:
            console.print(Text(f"VIOLATION: {suite.mechanism.name}: {fault}.", style="bold red"))
    pairs = sum(len(suite.pairs) for suite in found)
    rate = f"A false alarm in all of this has probability at most {1.0 - confidence:.2g}."
    if not bad:
        console.print(f"No violation found on {pairs} pairs of made-up neighbours. {rate}")
        console.print("That is no proof: an audit can only show that a claim is wrong.")
    else:
        console.print(f"{len(bad)} of {len(found)} mechanisms do not keep what they claim. {rate}")
    if written is not None:
        console.print(f"Written: {written}")


def _of_one(suite: AuditSuite) -> Table:
    table = _table("made-up neighbours")
    for pair, audit in suite.rows:
        _row(table, pair.name, audit.lower, audit.claimed, audit.exact, audit.violated)
    independent = "not independent" if suite.reuse.found else "independent"
    table.add_row("draws within and between calls", "", "", "", _verdict(suite.reuse.found, independent))
    return table


def _of_several(found: Sequence[AuditSuite]) -> Table:
    table = _table("mechanism")
    for suite in found:
        _row(table, suite.mechanism.name, suite.lower, suite.claimed, suite.exact, suite.violated)
    return table


def _table(first: str) -> Table:
    table = Table(box=None, pad_edge=False)
    table.add_column(first, max_width=_WIDEST, overflow="fold")
    for name in ("eps. >=", "claimed"):
        table.add_column(name, justify="right")
    table.add_column("")
    table.add_column("")
    return table


def _row(table: Table, name: str, lower: float, claimed: float, exact: bool, violated: bool) -> None:
    share = lower / claimed if claimed > 0.0 else float(violated)
    how = "enumerated" if exact else "sampled"
    shown = Text(bar(share, SHORT_BAR), style="red" if violated else "blue")
    verdict = _verdict(violated, how)
    table.add_row(name, f"{lower:.3f}", f"{claimed:.3f}", shown, verdict)


def _verdict(violated: bool, text: str) -> Text:
    return Text("VIOLATION", style="bold red") if violated else Text(text, style="green")
