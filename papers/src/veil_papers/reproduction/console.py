"""The reproduction in the terminal: the headlines, and where the pages are."""

from __future__ import annotations

from collections.abc import Sequence

from rich.table import Table

from veil.report.console import new_console
from veil_papers.reproduction.pages import agreement, headlines, shown_value
from veil_papers.reproduction.runner import Shown


def print_papers(shown: Sequence[Shown], written: Sequence[str]) -> None:
    """The headlines, how many printed numbers are met, and where the pages are."""
    console = new_console()
    table = Table(box=None, pad_edge=False)
    for name in ("paper", "what", "printed", "its recipe", "Veil"):
        table.add_column(name, justify="left" if name in ("paper", "what") else "right")
    for one, line in headlines(shown):
        where = one.paper.cite(one.exhibit)
        table.add_row(where, line.what, line.printed, shown_value(line.found), shown_value(line.veil))
    console.print(table)
    stood_in = [one for one in shown if one.finding.stand_in]
    console.print()
    console.print(f"{len(shown)} tables and figures. {agreement(shown)}")
    if stood_in:
        names = "; ".join(one.paper.cite(one.exhibit) for one in stood_in)
        console.print(f"With stand-ins for data that cannot be had here: {names}.")
    console.print(f"Written: {written[0]}")
