"""A made-up town: 43 segments of road between junctions, each with 3 to 5 segments to go on to."""

from __future__ import annotations

import csv

from veil.samples import path

Ends = tuple[tuple[float, float], tuple[float, float]]


def segments() -> dict[str, Ends]:
    """The segments by name, with the coordinates of their two ends in blocks."""
    with path("streets.csv").open(encoding="utf-8", newline="") as lines:
        return {
            row["segment"]: ((float(row["x1"]), float(row["y1"])), (float(row["x2"]), float(row["y2"])))
            for row in csv.DictReader(lines)
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
