"""Columns of labels with every different text kept once, as in dictionaries of Arrow."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from veil.tables.cells import numbers_of

Integers = NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class Coded:
    """A column. codes: for each row the place of its text; without texts, the whole number that it holds.

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
        found: list[int] = np.flatnonzero(np.bincount(self.codes)).tolist()
        return found

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
