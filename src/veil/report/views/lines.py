"""A table whose lines can be searched and put in order: what there is for every kind of data."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

from veil.report.views.view import LARGEST, LISTED, NAMED, Look, View, nothing_found, shown_of, table

_MOST_COLUMNS = 12


@dataclass(frozen=True, eq=False)
class Lines(View):
    """A header, and lines of cells."""

    title: str
    header: Sequence[Any]
    lines: Sequence[Sequence[Any]]
    orders: ClassVar[tuple[str, ...]] = (LISTED, NAMED, LARGEST)

    def draw(self, look: Look) -> str:
        found = [line for line in self.lines if any(map(look.finds, line))]
        if not found:
            return nothing_found(look)
        if self.order(look) == NAMED:
            found = sorted(found, key=lambda line: str(line[0]).casefold())
        elif self.order(look) == LARGEST:
            found = sorted(found, key=lambda line: -_number(line[-1]))
        kept = [[_plain(cell) for cell in line[:_MOST_COLUMNS]] for line in found[: look.most]]
        header = list(map(str, self.header[:_MOST_COLUMNS]))
        told = shown_of(len(kept), len(found), "lines") + shown_of(len(header), len(self.header), "columns")
        return table(header, kept) + told


def _number(cell: Any) -> float:
    try:
        return float(cell)
    except (TypeError, ValueError):
        return float("-inf")


def _plain(cell: Any) -> str:
    """A number with as many digits as people read; text as it is."""
    number = _number(cell)
    return str(cell) if number == float("-inf") or len(str(cell)) < 8 else f"{number:.5g}"
