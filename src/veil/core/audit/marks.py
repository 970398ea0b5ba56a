"""Marks: small whole numbers that say how the last bits of an output look.

Every mark is computed from the output and the two candidate inputs alone, as an attacker who knows both could
do. So a bound that is found on marks is one for the mechanism, whatever the marks are. They are many and
crude: which of them tell two inputs apart is learned from draws (`mark_events`).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from itertools import combinations
from typing import Any

import numpy as np
from numpy.typing import NDArray

from veil.core.arrays import Floats, Places
from veil.core.audit.float_bits import (
    BITS,
    EXPONENTS,
    exponent,
    finest_bit,
    is_reached,
    is_reciprocal,
    lowest_bit,
    remainder,
)

Marks = NDArray[np.uint16]
# How an output is marked: a row for each draw.
Marker = Callable[[Any], Marks]
# Marks are below this: exponents, bits and counts of entries together come to just as many.
MOST = 2**16
# Rows of a table that are looked at, and entries of each: those that differ come first.
_ROWS, _ENTRIES = 3, 3
# The remainders after division by 24 are those by 8 (the last three bits) and by 3.
_DIVISOR = 24
# Counts of entries, trailing zeros and bits are told apart up to here.
_ENTRY_COUNTS, _FEW = 16, 4


def no_marks(draws: int) -> Marks:
    """None for any draw."""
    return np.empty((draws, 0), dtype=np.uint16)


@dataclass(frozen=True, eq=False)
class FloatMarks:
    """Marks of outputs that are floats, laid out as the inputs are, for two candidate inputs.

    before, after: the inputs, as tables of the same shape with the entries of an item along the last axis.
    """

    before: Floats
    after: Floats

    def __call__(self, drawn: Any) -> Marks:
        width = self.before.shape[-1]
        outputs = np.asarray(drawn, dtype=np.float64).reshape(len(drawn), -1, width)
        outputs = np.where(np.isfinite(outputs), outputs, 0.0)
        inputs = [table.reshape(-1, width) for table in (self.before, self.after)]
        differs = (inputs[0] != inputs[1]).any(axis=1)
        columns: list[Places] = []
        with np.errstate(over="ignore", divide="ignore", invalid="ignore"):
            for row in _first_and_last(np.flatnonzero(differs), len(differs), _ROWS).tolist():
                columns += _of_row(outputs[:, row], inputs[0][row], inputs[1][row])
        marks = np.empty((len(outputs), len(columns)), dtype=np.uint16, order="F")
        for place, column in enumerate(columns):
            marks[:, place] = column
        return marks


def _first_and_last(changed: Places, size: int, most: int) -> Places:
    """The first places that differ, and as many others from both ends; not more than `most` in all."""
    others = np.setdiff1d(np.arange(size), changed)
    ends = others[[0, -1]] if len(others) else others
    return np.asarray(list(dict.fromkeys([*changed[: most - 1], *ends[::-1], *changed]))[:most])


def _of_row(row: Floats, before: Floats, after: Floats) -> list[Places]:
    """What one item shows: as a whole, in some entries, and in pairs of them."""
    places = _first_and_last(np.flatnonzero(before != after), row.shape[1], _ENTRIES).tolist()
    present = np.minimum(np.count_nonzero(row, axis=1), _ENTRY_COUNTS - 1)
    largest = row.max(axis=1)
    columns = _whole(row, largest, present)
    for place in places:
        columns += _entry(row[:, place], float(before[place]), float(after[place]), present)
    several = [row[:, place] for place in places]
    # Of few entries the largest one is among them.
    for one, other in combinations([*several, largest] if row.shape[1] > _ENTRIES else several, 2):
        columns += _two(one, other)
    return columns


def _code(*digits: tuple[Places, int]) -> Places:
    """Several small numbers as one, each with how many values it can have."""
    code = np.zeros_like(digits[0][0])
    for digit, values in digits:
        code = code * values + digit
    return code


def _whole(row: Floats, largest: Floats, present: Places) -> list[Places]:
    """The sum, the finest lattice, entries that are equal; of the largest whether it is one over a sum."""
    half = _ENTRY_COUNTS // 2
    off = np.clip(np.rint((row.sum(axis=1) - 1.0) * 2.0**53), -half, half - 1).astype(np.int64) + half
    ordered = np.sort(row, axis=1)
    equal = np.minimum(((ordered[:, 1:] == ordered[:, :-1]) & (ordered[:, 1:] > 0.0)).sum(axis=1), _FEW - 1)
    place = np.minimum(row.argmax(axis=1), _ENTRY_COUNTS - 1)
    nonzero = present, _ENTRY_COUNTS
    return [
        _code((off, _ENTRY_COUNTS), nonzero),
        _code((lowest_bit(row).min(axis=1), BITS), nonzero),
        _code((equal, _FEW), nonzero),
        _code((is_reciprocal(largest).astype(np.int64), 2), (place, _ENTRY_COUNTS)),
        _code((exponent(largest), EXPONENTS), (lowest_bit(largest), BITS)),
        remainder(largest, _DIVISOR),
    ]


def _entry(entry: Floats, before: float, after: float, present: Places) -> list[Places]:
    """Its lattice and last bits, beside those of the inputs, and whether a float leads from them to it.

    How many entries are not zero decides, in a projection, what was subtracted from each.
    """
    last, finest = lowest_bit(entry), finest_bit(entry)
    inputs = np.array([before, after])
    finer = np.clip(finest_bit(inputs)[:, None] - last, 0, _FEW - 1)
    zeros = np.minimum(last - finest, _FEW - 1), _FEW
    nonzero = present, _ENTRY_COUNTS
    reached = [(is_reached(entry, start).astype(np.int64), 2) for start in (before, after)]
    own = (exponent(entry), EXPONENTS), (last, BITS)
    return [
        _code(*own),
        _code(*own, nonzero),
        remainder(entry, _DIVISOR),
        _code(*reached, zeros, nonzero),
        _code((finer[0], _FEW), (finer[1], _FEW), zeros, nonzero),
        lowest_bit(entry - before),
        lowest_bit(entry - after),
    ]


def _two(one: Floats, other: Floats) -> list[Places]:
    """The quotient, its last bits and whether it leads back; the lattice of the difference and of the sum."""
    quotient = one / other
    quotient = np.where(np.isfinite(quotient), quotient, 0.0)
    back, above = (quotient * other == one).astype(np.int64), (quotient >= 1.0).astype(np.int64)
    return [
        _code((remainder(quotient, _DIVISOR), _DIVISOR), (back, 2), (above, 2)),
        lowest_bit(one - other),
        lowest_bit(one + other),
    ]
