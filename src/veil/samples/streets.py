"""A made-up town: 43 segments of road between junctions, each with 3 to 5 segments to go on to."""

from __future__ import annotations

import csv
from collections.abc import Sequence
from pathlib import Path
from random import Random

from veil.samples import rows

Ends = tuple[tuple[float, float], tuple[float, float]]


def segments() -> dict[str, Ends]:
    """The segments by name, with the coordinates of their two ends in blocks."""
    return {
        row["segment"]: ((float(row["x1"]), float(row["y1"])), (float(row["x2"]), float(row["y2"])))
        for row in rows("streets.csv")
    }


def streets() -> dict[str, list[str]]:
    """The segments that one may go on to: those that meet the segment at a junction.

    >>> from veil.samples.streets import streets
    >>> roads = streets()
    >>> len(roads), min(map(len, roads.values())), max(map(len, roads.values()))
    (43, 3, 5)
    """
    places = segments()
    return {
        name: [other for other, ends in places.items() if other != name and set(ends) & set(places[name])]
        for name in places
    }


def write_streets(target: Path) -> None:
    """The allowed transitions as a CSV of two columns."""
    table = [("from", "to"), *((name, end) for name, ends in streets().items() for end in ends)]
    _write(target, table)


def drives(count: int, *, seed: int = 1) -> list[list[str]]:
    """Made-up drives through the town, of 6 to 20 segments: mostly straight on, rarely straight back."""
    roads, places = streets(), segments()
    random = Random(seed)
    names = list(roads)
    driven = []
    for _ in range(count):
        drive = [random.choice(names)]
        before: set[tuple[float, float]] = set()
        for _ in range(random.randint(5, 19)):
            ahead = [road for road in roads[drive[-1]] if not set(places[road]) & before]
            chosen = random.choice(ahead or roads[drive[-1]])
            before = set(places[drive[-1]])
            drive.append(chosen)
        driven.append(drive)
    return driven


def write_drives(target: Path, *, count: int = 1000, seed: int = 1) -> None:
    """Made-up drives as a log: who, the minute, the segment."""
    table: list[tuple[object, ...]] = [("driver", "minute", "segment")]
    for driver, drive in enumerate(drives(count, seed=seed), start=1):
        table += [(f"driver {driver}", minute, segment) for minute, segment in enumerate(drive)]
    _write(target, table)


def _write(target: Path, table: Sequence[tuple[object, ...]]) -> None:
    with target.open("w", encoding="utf-8", newline="") as stream:
        csv.writer(stream, lineterminator="\n").writerows(table)
