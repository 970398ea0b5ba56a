"""Tables of trips and logs whose transitions are known, and the counts behind a release without noise."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import Any

from .conftest import Run

Row = tuple[Any, ...]
STATES = ("a", "b", "c")
# Counts [from, to] of the trips; no two are alike.
COUNTS = [[30, 20, 10], [5, 40, 15], [25, 12, 8]]
# Who, when, where: two users, one of them with a row of the same time.
LOG: list[Row] = [
    ("u", 1, "a"),
    ("u", 2, "b"),
    ("u", 3, "a"),
    ("u", 4, "b"),
    ("v", 1, "c"),
    ("v", 1, "b"),
    ("v", 2, "c"),
    ("w", 5, "a"),
]
# Of the same time, b comes before c.
LOG_COUNTS = [[0, 2, 0], [1, 0, 1], [0, 0, 1]]
TRIPS = ("--from", "from", "--to", "to")
BY_HOUR = ("--group", "hour", "--groups", "0..2")
VISITS = ("--by", "who", "--order", "time", "--state", "page")
# So much that the noise is zero in all but one release of 10^20: what comes out is what was counted.
EXACT = ("-e", "20000", "-d", "0", "--json")


def trips() -> list[Row]:
    """(who, hour, from, to): 17 users in turn, three hours in turn."""
    rows: list[Row] = []
    for i, origin in enumerate(STATES):
        for j, end in enumerate(STATES):
            for _ in range(COUNTS[i][j]):
                rows.append((f"user {len(rows) % 17}", len(rows) % 3, origin, end))
    return rows


def csv_text(header: str, rows: list[Row]) -> str:
    return header + "\n" + "".join(",".join(map(str, row)) + "\n" for row in rows)


def write_trips(path: Path, rows: list[Row] | None = None) -> None:
    path.write_text(csv_text("who,hour,from,to", trips() if rows is None else rows))


def write_log(path: Path) -> None:
    path.write_text(csv_text("who,time,page", LOG))


def by_hour(hour: int) -> list[list[int]]:
    counted = Counter((row[2], row[3]) for row in trips() if row[1] == hour)
    return [[counted[a, b] for b in STATES] for a in STATES]


def released(run: Run, *arguments: str) -> Any:
    """The record of a release, from standard output, which holds nothing else."""
    done = run("release", "chain", *arguments)
    assert done.code == 0, done.err + done.out
    return done.json
