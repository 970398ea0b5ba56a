"""Tables for the terminal."""

from __future__ import annotations

import errno
import os
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

from rich.console import Console, ConsoleOptions, RenderableType
from rich.segment import Segment
from rich.table import Table
from rich.text import Text

from veil.core.certificate import Certificate
from veil.core.claim import Claim
from veil.core.mechanism import ALARMING
from veil.core.numerics.rounding import rounded_up
from veil.core.privacy.profile import best_guess
from veil.core.record import Release
from veil.core.text import visible

_BAR = 20
# Beside several columns of numbers: a terminal is 80 wide.
SHORT_BAR = 10


class TerminalConsole(Console):
    """Rich's console for text of others: what would steer the terminal is shown by its number."""

    def render_str(self, text: str, **options: Any) -> Text:
        # Before it is measured, so that columns stay aligned.
        return super().render_str(visible(text), **options)

    def render(self, renderable: RenderableType, options: ConsoleOptions | None = None) -> Iterable[Segment]:
        for segment in super().render(renderable, options):
            text = segment.text if segment.control else "\n".join(map(visible, segment.text.split("\n")))
            yield segment._replace(text=text)

    def on_broken_pipe(self) -> None:
        # Who prints decides what follows; Rich would leave.
        raise BrokenPipeError(errno.EPIPE, os.strerror(errno.EPIPE))


def new_console(*, stderr: bool = False) -> Console:
    """Where commands print tables and coloured text."""
    # Labels in brackets are labels, not markup.
    return TerminalConsole(stderr=stderr, highlight=False, soft_wrap=True, markup=False)


def plain_table(*columns: str, left: int = 1, **options: Any) -> Table:
    """A table without lines: the first columns and those without a name to the left, the others right."""
    table = Table(box=None, pad_edge=False, **options)
    for place, name in enumerate(columns):
        table.add_column(name, justify="left" if place < left or not name else "right")
    return table


def bar(share: float, width: int = _BAR) -> str:
    """A bar of eighths of a character, so that small differences show."""
    eighths = round(max(0.0, min(share, 1.0)) * width * 8)
    whole, rest = divmod(eighths, 8)
    return "█" * whole + ("▏▎▍▌▋▊▉"[rest - 1] if rest else "")


def print_guarantee(console: Console, release: Release[Any]) -> None:
    """What is promised, what an attacker could do, and what it assumes."""
    console.print(
        f"epsilon = {rounded_up(release.epsilon)}, delta = {rounded_up(release.delta, 3)} "
        f"({release.profile.kind} profile)"
    )
    console.print(release.guarantee)
    guess = rounded_up(100 * best_guess(release.profile), 3)
    console.print(
        f"The best attacker would tell two such versions apart {guess} times in 100 (blind guessing: 50)."
    )
    print_assumptions(console, release.assumptions)
    if release.reproducible:
        console.print("NOT PRIVATE: drawn from a seed.")


def print_assumptions(console: Console, assumptions: Sequence[str]) -> None:
    """What must be true for the guarantee to hold; in red what nobody checked and everything rests on."""
    for text in assumptions:
        console.print(f"This holds only if {text}.", style="bold red" if text in ALARMING else None)


def print_baselines(console: Console, release: Release[Any]) -> None:
    """The errors to expect beside those of knowing nothing, and a warning where they are no smaller."""
    for baseline in release.kind.baselines(release):
        console.print(f"{'WARNING: ' if baseline.useless else ''}{baseline.words}")


def print_inspection(release: Release[Any], claim: Claim, *, certificate: Certificate | None = None) -> None:
    """What a file is, whether the guarantee it records is the true one, and what is left to trust."""
    console = new_console()
    console.print(f"A release of {release.kind.described(release)}, by {release.mechanism.name}.")
    console.print(f"Made {release.created} by Veil {release.version}; {release.size}.")
    if release.chosen:
        console.print(f"Mechanism chosen from public numbers: {release.chosen}.")
    for text in release.kind.details(release):
        console.print(text)
    print_baselines(console, release)
    print_guarantee(console, release)
    for text in claim.added:
        console.print(f"Today's analysis adds: {text}.")
    whose = "to no ledger" if release.entry is None else f"to a ledger, as {release.entry}"
    console.print(f"Charged {whose}.")
    for text in claim.missing:
        console.print(f"WRONG: the file leaves out that this holds only if {text}. Do not trust this file.")
    if claim.holds or claim.missing:
        shown = rounded_up(claim.epsilon, 6)
        console.print(f"Checked: the mechanism as described has epsilon = {shown} at this delta.")
    else:
        console.print(
            f"WRONG: the file says epsilon = {release.epsilon!r}, but the mechanism as described has "
            f"{claim.epsilon!r}. Do not trust this file."
        )
    if certificate is not None:
        console.print(str(certificate))
        if certificate.holds and not claim.holds and not claim.missing:
            console.print(
                "It holds, but is less than Veil charges for this: the number may have been changed."
            )
    trusted = ["what it says it assumes"] * bool(release.assumptions)
    trusted += ["that the value is the one that was drawn", "that it was drawn as described"]
    console.print(f"Not in the file, so taken on trust: {', '.join(trusted)}.")
    if release.entry is not None:
        console.print("veil ledger verify compares it with what was charged.")


def print_written(console: Console, written: Sequence[Path], ending: str = ".json") -> None:
    """Which files were written, or that nothing was kept. ending: of the file that most users want."""
    for path in written:
        console.print(f"Written: {path}")
    if not written:
        console.print(f"Not saved: add -o FILE{ending} to keep it.")
