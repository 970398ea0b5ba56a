"""What a cell holds, told from how it is written: a number, a whole number, or something else."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from veil.core.errors import InvalidData

# Bytes that are looked at together.
_CHUNK = 1 << 24


def decimal_point(cell: str) -> str:
    """A number with a decimal comma, with a point instead."""
    swapped = cell.replace(",", ".", 1)
    return swapped if is_number(swapped) else cell


def kind_of(cell: str) -> str:
    """What is in a cell that is no number, without quoting it."""
    if not cell.strip():
        return "an empty cell"
    if cell.strip().endswith("%") and is_number(cell.strip()[:-1]):
        return "a percentage"
    if is_number(cell.replace(",", "").replace(" ", "").replace("'", "")):
        return "a number with separators of thousands"
    return "text"


def is_number(cell: str) -> bool:
    """Whether the cell holds a plain number."""
    try:
        float(cell)
    except ValueError:
        return False
    # float() takes 1_000 and infinity; a data file that holds them is more likely broken.
    return "_" not in cell


def numbers_in(cells: Sequence[str], place: Callable[[int], str]) -> list[float]:
    """The numbers in some cells. place: says where a cell is, for the error, which does not quote it."""
    for i, cell in enumerate(cells):
        if not is_number(cell):
            raise InvalidData(place(i), expected="a number such as 0.31", found=kind_of(cell))
    return list(map(float, cells))


def is_plain_integer(text: str) -> bool:
    """Whether the text is how a database writes a whole number of 64 bits."""
    digits = text.removeprefix("-")
    if not (digits.isascii() and digits.isdecimal()) or len(digits) > 19:
        return False
    return str(int(text)) == text and -(2**63) <= int(text) < 2**63


def has_odd_zeros(raw: bytes) -> bool:
    """Whether some number begins with a zero that a whole number would lose: 007 or -0."""
    if b"-0" in raw:
        return True
    cells = np.frombuffer(raw, dtype=np.uint8)
    for start in range(0, len(cells), _CHUNK):
        part = cells[max(start - 2, 0) : start + _CHUNK]
        digit = (part - np.uint8(48)) < 10
        zero = part == 48
        if start == 0 and len(part) > 1 and zero[0] and digit[1]:
            return True
        if bool((zero[1:-1] & digit[2:] & ~digit[:-2]).any()):
            return True
    return False


def numbers_of(column: Any) -> Any:
    """An Arrow column of numbers without gaps as an array of NumPy; to_numpy() would first import pandas."""
    chunks = column.chunks if hasattr(column, "chunks") else [column]
    some = [np.from_dlpack(chunk) for chunk in chunks if len(chunk)]
    if not some:
        return np.empty(0, dtype=np.int64)
    return some[0] if len(some) == 1 else np.concatenate(some)
