"""Audits as a page, as pictures and in the terminal."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from rich.table import Table
from rich.text import Text

from veil.core.audit.auditing import Audit
from veil.core.audit.suite import AuditSuite
from veil.report import figures
from veil.report.console import bar, new_console
from veil.report.figures import BLUE, GREY, RED, axes_of, short_labels
from veil.report.page import page
from veil.version import __version__

if TYPE_CHECKING:
    from matplotlib.figure import Figure

_MOST_BARS, _WIDEST_LABEL = 40, 50
_SHORT_BAR, _WIDEST_NAME = 8, 38


@dataclass(frozen=True)
class AuditReport:
    """All that the page shows. Nothing of it comes from anybody's data.

    confidence: one less the chance of a false alarm in all suites together. source: the release file, if one.
    """

    suites: tuple[AuditSuite, ...]
    confidence: float
    source: str = ""

    @property
    def violated(self) -> bool:
        return any(suite.violated for suite in self.suites)

    @property
    def pairs(self) -> int:
        return sum(len(suite.pairs) for suite in self.suites)

    @property
    def exact(self) -> int:
        """How many pairs were enumerated."""
        return sum(found.exact for suite in self.suites for found in suite.audits)

    @property
    def false_alarm(self) -> float:
        return 1.0 - self.confidence

    def html(self) -> str:
        """The page."""
        pictures = [
            figures.svg(bounds_figure([pair.name for pair in suite.pairs], suite.audits))
            for suite in self.suites
        ]
        return page(
            "audit.html",
            infinity=math.inf,
            report=self,
            sections=list(zip(self.suites, pictures, strict=True)),
            version=__version__,
        )


def bounds_figure(names: Sequence[str], audits: Sequence[Audit]) -> Figure:
    """A bar for each pair up to the epsilon that was found, and a mark at the one that is claimed."""
    count = min(len(names), _MOST_BARS)
    shown = list(audits[:count])
    figure, axes = axes_of(8.4, 1.25 + 0.3 * count)
    finite = [number for one in shown for number in (one.lower, one.claimed) if math.isfinite(number)]
    right = 1.12 * max(finite, default=1.0) or 1.0
    for kind, colour, hatch in (("ε is at least this", BLUE, ""), ("at least this: a violation", RED, "//")):
        places = [i for i, one in enumerate(shown) if one.violated == (colour == RED)]
        lengths = [min(shown[i].lower, right) for i in places]
        if places:
            axes.barh(
                places,
                lengths,
                color=colour,
                alpha=0.8,
                height=0.6,
                hatch=hatch,
                edgecolor="white",
                label=kind,
            )
    for i, one in enumerate(shown):
        if math.isfinite(one.claimed):
            label = "claimed: at most this" if i == 0 else "_"
            axes.vlines(one.claimed, i - 0.4, i + 0.4, color="black", linewidth=2.0, label=label)
    axes.set_yticks(range(count), short_labels(list(names[:count]), _WIDEST_LABEL))
    axes.invert_yaxis()
    axes.set_xlim(0.0, right)
    axes.set_xlabel("privacy loss ε")
    axes.grid(axis="x", color=GREY, alpha=0.25)
    axes.set_axisbelow(True)
    figure.legend(loc="outside lower center", ncols=3, frameon=False, fontsize=9)
    return figure


def print_audits(found: Sequence[AuditSuite], *, confidence: float, written: Path | None) -> None:
    """A line for each pair of one mechanism, or for each of several mechanisms, and what it comes to."""
    console = new_console()
    console.print(_table(found))
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
        if suite.note:
            console.print(f"{suite.mechanism.name}: {suite.note}.")
    pairs = sum(len(suite.pairs) for suite in found)
    rate = f"A false alarm in all of this has probability at most {1.0 - confidence:.2g}."
    if not bad:
        console.print(f"No violation found on {pairs} pairs of made-up neighbours. {rate}")
        console.print("That is no proof: an audit can only show that a claim is wrong.")
    else:
        console.print(f"{len(bad)} of {len(found)} mechanisms do not keep what they claim. {rate}")
    if written is not None:
        console.print(f"Written: {written}")


def _table(found: Sequence[AuditSuite]) -> Table:
    alone = found[0] if len(found) == 1 else None
    table = Table(box=None, pad_edge=False)
    first = "mechanism" if alone is None else "made-up neighbours"
    table.add_column(first, max_width=_WIDEST_NAME, overflow="fold")
    for name in ("eps. >=", "claimed"):
        table.add_column(name, justify="right")
    table.add_column("")
    table.add_column("")
    lines: list[tuple[str, Audit | AuditSuite]] = [(suite.mechanism.name, suite) for suite in found]
    if alone is not None:
        lines = [(pair.name, audit) for pair, audit in alone.rows]
    for name, audit in lines:
        share = audit.lower / audit.claimed if audit.claimed > 0.0 else float(audit.violated)
        shown = Text(bar(share, _SHORT_BAR), style="red" if audit.violated else "blue")
        verdict = _verdict(audit.violated, "enumerated" if audit.exact else "sampled")
        table.add_row(name, f"{audit.lower:.3f}", f"{audit.claimed:.3f}", shown, verdict)
    if alone is not None:
        verdict = _verdict(alone.reuse.found, "independent")
        table.add_row("draws within and between calls", "", "", "", verdict)
    return table


def _verdict(violated: bool, text: str) -> Text:
    return Text("VIOLATION", style="bold red") if violated else Text(text, style="green")
