"""One matrix as the rows of a table: for CSV files and for notebooks."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape
from typing import Any

from veil.core.arrays import Floats
from veil.core.intake import Labels
from veil.core.record import MOST_SHOWN
from veil.vectors.array_kind import numbered


def matrix_lines(
    matrix: Floats, row_labels: Labels | None, labels: Labels | None
) -> tuple[Sequence[Any], Sequence[Sequence[Any]]]:
    """The header and the lines of a table whose first column names the rows."""
    names, columns = row_labels or numbered(len(matrix)), labels or numbered(matrix.shape[1])
    lines = [[name, *map(repr, row)] for name, row in zip(names, matrix.tolist(), strict=True)]
    return ["from", *columns], lines


def matrix_card(matrix: Floats, row_labels: Labels | None, labels: Labels | None) -> str:
    """The rows of a small HTML table with shades."""
    height, width = matrix.shape
    columns = (labels or numbered(width))[:MOST_SHOWN]
    names = (row_labels or numbered(height))[:MOST_SHOWN]
    text = f"<tr><th></th>{''.join(f'<th>{escape(label)}</th>' for label in columns)}</tr>"
    for name, row in zip(names, matrix[:MOST_SHOWN, :MOST_SHOWN], strict=True):
        cells = "".join(
            f"<td style='background:rgba(0,114,178,{0.7 * entry:.2f})'>{entry:.3f}</td>" for entry in row
        )
        text += f"<tr><th>{escape(name)}</th>{cells}</tr>"
    if max(height, width) > MOST_SHOWN:
        text += f"<tr><td>of {height} x {width}</td></tr>"
    return text
