"""What every view of a release has: a title, orders to choose from, and how it is drawn."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from html import escape
from typing import ClassVar

# Of what a view shows at once.
FEW, USUAL, MANY = 20, 40, 64
# Orders by these words mean the same in every view.
LISTED, NAMED, LARGEST = "as listed", "by name", "largest first"


@dataclass(frozen=True, slots=True)
class Look:
    """How a view is looked at.

    search: a part of a label; order: one of the orders of the view; most: how much is shown.
    """

    search: str = ""
    order: str = ""
    most: int = USUAL

    def finds(self, label: object) -> bool:
        """Whether a label has what is searched."""
        return self.search.strip().casefold() in str(label).casefold()


class View(ABC):
    """A picture of a release, or a table. It is made from what was released, and may be handed out.

    Drawings are HTML without scripts and styles: the page that shows them colours their classes.
    """

    title: str
    orders: ClassVar[tuple[str, ...]] = (LISTED, NAMED)

    @abstractmethod
    def draw(self, look: Look) -> str:
        """The view as HTML, with all text escaped."""

    def order(self, look: Look) -> str:
        """The order that is asked for, or the first one."""
        return look.order if look.order in self.orders else self.orders[0]


def picture(name: str, wide: float, high: float, said: str, parts: Iterable[str]) -> str:
    """An SVG element. said: what it shows, for those who do not see it."""
    return (
        f'<svg class="view {name}" viewBox="0 0 {wide:.0f} {high:.0f}" role="img" '
        f'aria-label="{escape(said)}">{"".join(parts)}</svg>'
    )


def text_at(x: float, y: float, text: str, *, kind: str = "", more: str = "") -> str:
    """Text in a picture."""
    named = f' class="{kind}"' if kind else ""
    return f'<text x="{x:.1f}" y="{y:.1f}"{named}{more}>{escape(text)}</text>'


def table(header: Sequence[str], lines: Iterable[Sequence[object]]) -> str:
    """A plain table."""
    head = "".join(f'<th scope="col">{escape(str(cell))}</th>' for cell in header)
    body = "".join(
        "<tr>" + "".join(f"<td>{escape(str(cell))}</td>" for cell in line) + "</tr>" for line in lines
    )
    return f"<table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>"


def in_numbers(header: Sequence[str], lines: Iterable[Sequence[object]]) -> str:
    """The same in numbers, under a picture."""
    return f"<details><summary>In numbers</summary>{table(header, lines)}</details>"


def nothing_found(look: Look) -> str:
    """Where no label has what is searched."""
    return f'<p class="quiet">Nothing here is called “{escape(look.search)}”.</p>'


def shown_of(shown: int, of: int, what: str) -> str:
    """How much of it is shown, where that is not all."""
    return f'<p class="quiet">{shown:,} of {of:,} {what} are shown.</p>' if shown < of else ""
