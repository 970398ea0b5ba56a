"""Many released vectors side by side: a small panel for each, and a list by which one is found."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from veil.core.arrays import Floats
from veil.report.figures import short_labels

# Panels of one page; the others are in its table.
MOST_PANELS = 120
_MOST_ENTRIES, _MOST_LETTERS = 10, 10


@dataclass(frozen=True, slots=True)
class Entry:
    """One bar of a panel. share: what was released. width, mark: it and the mean, in percent of the scale."""

    label: str
    share: float
    width: float
    mark: float


@dataclass(frozen=True, slots=True)
class Panel:
    """One vector. number: its place; total: about how many records it has, where that is known."""

    number: int
    name: str
    entries: tuple[Entry, ...]
    total: int | None


@dataclass(frozen=True, slots=True)
class Panels:
    """What a page shows of many vectors.

    more: how many have no panel. names: (place, name) of all, by name, to find one. left_out: how many
    entries are in one bar together. letters: the room for their labels.
    """

    shown: tuple[Panel, ...]
    more: int
    names: tuple[tuple[int, str], ...]
    left_out: int
    letters: int


def panels_of(
    rows: Floats, names: Sequence[str], labels: Sequence[str], totals: Sequence[int] | None
) -> Panels:
    """A panel for each of the first rows, all on one scale, with the entries that lead on average."""
    columns, shares = leading_entries(rows, labels, _MOST_ENTRIES)
    means = shares.mean(axis=0)
    widest = max(float(shares[:MOST_PANELS].max()), float(means.max()), 1e-12)
    short = short_labels(columns, 16, drawn=False)
    shown = tuple(
        Panel(
            number,
            names[number],
            tuple(
                Entry(label, share, 100.0 * share / widest, 100.0 * mean / widest)
                for label, share, mean in zip(short, row, means.tolist(), strict=True)
            ),
            None if totals is None else int(totals[number]),
        )
        for number, row in enumerate(shares[:MOST_PANELS].tolist())
    )
    by_name = sorted(enumerate(names), key=lambda pair: pair[1].casefold())
    if all(name.isdecimal() for name in names):
        by_name = list(enumerate(names))
    left_out = len(labels) - len(columns) + 1 if len(columns) < len(labels) else 0
    letters = min(max(map(len, short)) + 1, _MOST_LETTERS)
    return Panels(shown, len(rows) - len(shown), tuple(by_name), left_out, letters)


def leading_entries(rows: Floats, labels: Sequence[str], most: int) -> tuple[list[str], Floats]:
    """The entries that lead on average, in their own order, and as a last one what the others sum to."""
    if len(labels) <= most:
        return list(labels), rows
    kept = np.sort(np.argsort(-rows.mean(axis=0), kind="stable")[: most - 1])
    shares = rows[:, kept]
    others = np.clip(1.0 - shares.sum(axis=1, keepdims=True), 0.0, 1.0)
    rest = f"other {len(labels) - len(kept):,}"
    return [*(labels[i] for i in kept), rest], np.concatenate([shares, others], axis=1)
