"""A table of numbers as shades, whose rows and columns can be searched and put in order."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from html import escape
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from veil.core.arrays import Floats
from veil.core.brief import short
from veil.report.views.view import (
    LARGEST,
    LISTED,
    NAMED,
    Look,
    View,
    in_numbers,
    nothing_found,
    picture,
    shown_of,
    text_at,
)

_LEFT, _TOP, _CELL, _LETTERS = 130.0, 96.0, 12.0, 20
_STRONGEST = 15
_HOW = "Point at a cell, or move with the arrow keys."
ALIKE = "alike beside each other"
Places = NDArray[np.intp]


@dataclass(frozen=True, eq=False)
class HeatMap(View):
    """A number for each row and column.

    weights: how much each row matters; of a square table also each column. of: what the numbers are.
    """

    title: str
    rows: Sequence[str]
    columns: Sequence[str]
    values: Floats
    weights: Floats | None = None
    of: str = "probability"
    orders: ClassVar[tuple[str, ...]] = (LARGEST, LISTED, NAMED, ALIKE)

    def _sides(self, look: Look) -> tuple[Places, Places]:
        """The rows that are searched and the columns, both in order."""
        values = np.abs(self.values)
        down = self.weights if self.weights is not None else values.sum(axis=1)
        square = list(self.rows) == list(self.columns)
        across = down if square else values.sum(axis=0)
        rows = self._in_order(look, self.rows, down, values)
        columns = rows if square else self._in_order(look, self.columns, across, values.T)
        return np.array([row for row in rows if look.finds(self.rows[row])], dtype=np.intp), columns

    def _in_order(self, look: Look, labels: Sequence[str], weights: Floats, values: Floats) -> Places:
        order = self.order(look)
        if order == NAMED:
            return np.array(sorted(range(len(labels)), key=lambda at: str(labels[at]).casefold()))
        largest = np.argsort(-weights, kind="stable")
        if order == LARGEST:
            return largest
        kept = np.sort(largest[: look.most])
        return _alike(kept, values[kept]) if order == ALIKE else np.arange(len(labels))

    def draw(self, look: Look) -> str:
        down, across = self._sides(look)
        if not len(down):
            return nothing_found(look)
        rows, columns = down[: look.most], across[: look.most]
        shown = self.values[np.ix_(rows, columns)]
        top = max(float(np.abs(shown).max()), 1e-300)
        names = [escape(str(self.columns[column])) for column in columns]
        # Most shades are of small numbers, which the root tells apart.
        shades = np.sqrt(np.abs(shown) / top)
        parts = []
        for number, column in enumerate(columns):
            x = _LEFT + _CELL * (number + 0.75)
            turned = f' transform="rotate(-60 {x:.1f} {_TOP - 6})"'
            parts.append(text_at(x, _TOP - 6, short(str(self.columns[column]), _LETTERS), more=turned))
        for number, row in enumerate(rows):
            y, label = _TOP + _CELL * number, str(self.rows[row])
            parts.append(text_at(_LEFT - 6, y + 10, short(label, _LETTERS), kind="left"))
            cells = "".join(
                f'<rect x="{_LEFT + _CELL * at:g}" y="{y:g}" width="11.5" height="11.5" '
                f'fill-opacity="{shade:.2f}" data-said="{names[at]}: {value:.3g}"/>'
                for at, (value, shade) in enumerate(zip(shown[number], shades[number], strict=True))
            )
            parts.append(f'<g class="cells" data-row="{escape(label)}">{cells}</g>')
        wide, high = _LEFT + _CELL * len(columns) + 60.0, _TOP + _CELL * len(rows) + 4.0
        said = f"{self.title}: {len(rows)} rows and {len(columns)} columns, darker is more"
        drawn = picture("heat", wide, high, said, parts)
        told = f'<output class="pointed" aria-live="polite">{_HOW}</output>'
        return (
            f'<div class="explored" data-columns="{len(columns)}" tabindex="0" role="group" '
            f'aria-label="Cells of the heat map: arrow keys move">{drawn}</div>{told}'
            + shown_of(len(rows), len(down), "rows")
            + shown_of(len(columns), len(across), "columns")
            + in_numbers(("from", "to", self.of), self._strongest(rows, columns, shown))
        )

    def _strongest(self, rows: Places, columns: Places, shown: Floats) -> list[tuple[Any, ...]]:
        order = np.argsort(-shown, axis=None, kind="stable")[:_STRONGEST]
        downs, acrosses = np.unravel_index(order, shown.shape)
        return [
            (self.rows[rows[down]], self.columns[columns[across]], f"{shown[down, across]:.4g}")
            for down, across in zip(downs, acrosses, strict=True)
        ]


def _alike(kept: Places, values: Floats) -> Places:
    """Rows that are alike beside each other: by the leaves of a tree that joins the nearest first."""
    if len(kept) < 3:
        return kept
    from scipy.cluster.hierarchy import leaves_list, linkage

    return np.asarray(kept[leaves_list(linkage(values, "average", optimal_ordering=len(kept) <= 200))])
