"""What a cell holds, told from how it is written; and columns of labels, with every different text once."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from veil.core.errors import InvalidData

Integers = NDArray[np.int64]
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


@dataclass(frozen=True, eq=False)
class Coded:
    """A column of labels, as in dictionaries of Arrow.

    codes: for each row the place of its text; without texts, the whole number that it holds.
    texts: a text may be there twice; None is a gap.
    """

    codes: NDArray[Any]
    texts: list[Any] | None = None

    @classmethod
    def of(cls, array: Any) -> Coded:
        """A column of Arrow: whole numbers, or a dictionary of text, stripped of spaces around it."""
        import pyarrow as pa

        if pa.types.is_integer(array.type):
            return cls(numbers_of(array))
        whole = array.combine_chunks()
        return cls(numbers_of(whole.indices), [text.strip() for text in whole.dictionary.to_pylist()])

    @cached_property
    def used(self) -> list[int]:
        """The places of the texts that occur; one from a line of names may be among the texts."""
        places: list[int] = np.flatnonzero(np.bincount(self.codes)).tolist()
        return places

    @cached_property
    def values(self) -> set[Any]:
        """The different texts that occur."""
        texts = self.texts or []
        return {texts[code] for code in self.used}

    @cached_property
    def below(self) -> Coded:
        """The column without its first row."""
        return Coded(self.codes[1:], self.texts)

    @property
    def head(self) -> str:
        """The text of the first row."""
        return str((self.texts or [])[self.codes[0]])


def as_texts(column: Coded) -> Coded:
    """The same column with texts."""
    if column.texts is not None:
        return column
    numbers, (codes,) = distinct_numbers([column.codes])
    return Coded(codes, list(map(str, numbers.tolist())))


def joined(parts: Sequence[Coded]) -> Coded:
    """One column of several files: of numbers if they are so in all, otherwise of texts."""
    if len(parts) == 1:
        return parts[0]
    if all(part.texts is None for part in parts):
        return Coded(np.concatenate([part.codes for part in parts]))
    texts: list[Any] = []
    codes = []
    for part in map(as_texts, parts):
        codes.append(part.codes + len(texts))
        texts += part.texts or []
    return Coded(np.concatenate(codes), texts)


def distinct_numbers(columns: Sequence[Integers]) -> tuple[Integers, list[Integers]]:
    """The numbers that occur, sorted, and for each column their places among them."""
    some = [column for column in columns if len(column)]
    if not some:
        return np.empty(0, dtype=np.int64), list(columns)
    low, high = min(int(column.min()) for column in some), max(int(column.max()) for column in some)
    span = high - low + 1
    if span <= 4 * sum(map(len, some)) + 1_000_000:
        # A table over all numbers between is faster than sorting.
        present = np.zeros(span, dtype=np.bool_)
        for column in some:
            present[column - low] = True
        if bool(present.all()):
            return np.arange(span, dtype=np.int64) + low, [
                column - low if low else column for column in columns
            ]
        places = np.cumsum(present) - 1
        return np.flatnonzero(present) + low, [places[column - low] for column in columns]
    numbers, _ = sorted_once(np.concatenate(some))
    return numbers, [np.searchsorted(numbers, column) for column in columns]


def sorted_once(numbers: Integers) -> tuple[Integers, int]:
    """The numbers sorted, each once, and how many were repeated; np.unique is slower on millions of them."""
    ordered = np.sort(numbers)
    first = np.ones(len(ordered), dtype=np.bool_)
    first[1:] = ordered[1:] != ordered[:-1]
    once = ordered if bool(first.all()) else ordered[first]
    return once, len(ordered) - len(once)
