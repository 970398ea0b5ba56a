"""Neighbours of counts: a list of records is edited and counted again."""

from __future__ import annotations

import numpy as np

from tests.neighbours.written import Written
from veil.vectors import Contributions, Records

Counts = list[int]


def records_of(counts: Counts) -> list[int]:
    """A list of records with these counts: the category of each."""
    return [category for category, count in enumerate(counts) for _ in range(count)]


def counted(records: list[int], size: int) -> Counts:
    return [records.count(category) for category in range(size)]


def one_record(rng: np.random.Generator, counts: Counts, change: str) -> Counts | None:
    """ "one record is added or removed; the number of records is not assumed public", or
    "one record is replaced by another; the number of records stays and is public"."""
    records, size = records_of(counts), len(counts)
    if change == "replace" or rng.random() < 0.5:
        if not records:
            return None
        del records[int(rng.integers(len(records)))]
        if change == "add-remove":
            return counted(records, size)
    return counted([*records, int(rng.integers(size))], size)


def several_records(rng: np.random.Generator, counts: Counts, added: int, removed: int) -> Counts | None:
    """ "at most ADDED records are added and at most REMOVED are removed, or the reverse".

    Often as many as may be, and often all of them of one category.
    """
    records, size = records_of(counts), len(counts)
    come, gone = (added, removed) if rng.random() < 0.5 else (removed, added)
    if rng.random() < 0.3:
        come, gone = int(rng.integers(come + 1)), int(rng.integers(gone + 1))
    if gone > len(records):
        return None
    if rng.random() < 0.5 and records:
        one = records[int(rng.integers(len(records)))]
        records.sort(key=lambda category: category == one)
    else:
        records = [records[i] for i in rng.permutation(len(records))]
    kept = records[: len(records) - gone]
    same = rng.random() < 0.5
    new = [int(rng.integers(size))] * come if same else [int(i) for i in rng.integers(size, size=come)]
    return counted(kept + new, size)


def counts_of(rng: np.random.Generator, size: int, *, most: int = 4) -> Counts:
    """Counts that are small, of which some are zero."""
    return [int(n) for n in rng.integers(0, most + 1, size) * (rng.random(size) < 0.6)]


def near_counts(rng: np.random.Generator, counts: Counts) -> Counts:
    """The counts with some more in one category, or with none in it."""
    near = list(counts)
    place = int(rng.integers(len(near)))
    near[place] = 0 if rng.random() < 0.4 else max(0, near[place] + int(rng.integers(-2, 3)))
    return near


def _gap(first: Counts, second: Counts) -> tuple[int, int]:
    """How many records came, and how many went, at least."""
    gaps = [b - a for a, b in zip(first, second, strict=True)]
    return sum(gap for gap in gaps if gap > 0), -sum(gap for gap in gaps if gap < 0)


_COUNTS = [3, 0, 1, 2]

WRITTEN = (
    Written(
        Records("add-remove"),
        "one record is added or removed; the number of records is not assumed public",
        lambda rng, counts: one_record(rng, counts, "add-remove"),
        _COUNTS,
        lambda first, second: _gap(first, second) in ((1, 0), (0, 1)),
    ),
    Written(
        Records("replace"),
        "one record is replaced by another; the number of records stays and is public",
        lambda rng, counts: one_record(rng, counts, "replace"),
        _COUNTS,
        lambda first, second: _gap(first, second) in ((1, 1), (0, 0)),
    ),
    Written(
        Contributions(1),
        "one record is added or removed",
        lambda rng, counts: several_records(rng, counts, 1, 0),
        _COUNTS,
        lambda first, second: sum(_gap(first, second)) <= 1,
    ),
    Written(
        Contributions(1, 1),
        "one record is added and one is removed, or the reverse",
        lambda rng, counts: several_records(rng, counts, 1, 1),
        _COUNTS,
        lambda first, second: max(_gap(first, second)) <= 1,
    ),
    Written(
        Contributions(3),
        "at most 3 records are added or removed",
        lambda rng, counts: several_records(rng, counts, 3, 0),
        _COUNTS,
        lambda first, second: max(_gap(first, second)) <= 3 and min(_gap(first, second)) == 0,
    ),
    Written(
        Contributions(3, 2),
        "at most 3 records are added and at most 2 are removed, or the reverse",
        lambda rng, counts: several_records(rng, counts, 3, 2),
        _COUNTS,
        lambda first, second: max(_gap(first, second)) <= 3 and min(_gap(first, second)) <= 2,
    ),
)
