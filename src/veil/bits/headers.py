"""Whether the first line of a text names the columns or is a record: told by the rest of the file.

A cell of the first line speaks for a record if it occurs again in its column, or belongs to the same usual
pair as the others. It speaks for names if without it the column has two values, or values of a usual pair,
or numbers alone. Where both kinds occur, or neither, the user has to say: no record may be lost.
"""

from __future__ import annotations

from collections.abc import Sequence

from veil.bits.values import GAPS, Cells, usual_pair
from veil.core.errors import InvalidData
from veil.tables.cells import is_number


def has_header(columns: Sequence[Cells], name: str) -> bool:
    """Whether the first row of these columns is one of names."""
    verdicts = {_speaks_for_names(cells) for cells in columns} - {None}
    if len(verdicts) == 1:
        return bool(verdicts.pop())
    raise InvalidData(
        name,
        expected="a first line that names the columns, or one that is clearly a record",
        found="one that may be either",
        hint="Say which with {header}.",
        names=("header",),
    )


def _speaks_for_names(cells: Cells) -> bool | None:
    codes = cells.codes
    if len(codes) == 0:
        return None
    head, others = cells.texts[codes[0]], {cells.texts[code] for code in cells.below_first().used}
    if not head:
        return None
    if head in GAPS or head in others:
        return False
    values = {text for text in others if text is not None and text not in GAPS}
    if not values:
        return None
    if usual_pair({head, *values}) is not None:
        return False
    if len(values) == 2 or usual_pair(values) is not None:
        return True
    return True if not is_number(head) and all(map(is_number, values)) else None
