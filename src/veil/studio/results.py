"""What came of a release: its record, the views of it, and the files that it can be had as."""

from __future__ import annotations

import io
import tempfile
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any

from veil.core.errors import VeilError
from veil.core.files import load
from veil.core.record import Release
from veil.report.figures import svg
from veil.report.views import Lines, Look, View
from veil.report.views.view import FEW, MANY, USUAL

MOST = (FEW, USUAL, MANY)
# Releases that are kept in memory, since pages ask for the same one again and again.
_KEPT = 8
# Places in which two releases differ most.
_DIFFERENCES = 12


def release_in(record: Path) -> Release[Any] | None:
    """The release in a record; None where it cannot be read."""
    try:
        return _loaded(record, record.stat().st_mtime_ns)
    except (OSError, VeilError):
        return None


@lru_cache(maxsize=_KEPT)
def _loaded(record: Path, _: int) -> Release[Any]:
    return load(record)


def views_of(release: Release[Any]) -> tuple[View, ...]:
    """What can be drawn of a release; its table always."""
    return release.derived("views", lambda: (*release.kind.views(release), _table(release)))


def _table(release: Release[Any]) -> View:
    header, lines = release.kind.rows(release)
    return Lines("Table", [str(name) for name in header], lines)


def look_of(query: Any) -> Look:
    """How a view is to be looked at, from the address of a page."""
    most = query.get("most", "")
    wanted = int(most) if most.isdecimal() and int(most) in MOST else USUAL
    return Look(query.get("search", "")[:200], query.get("order", ""), wanted)


def view_numbered(views: Sequence[View], text: str) -> int:
    """The number of a view, from the address of a page; the first one for any other text."""
    return int(text) if text.isdecimal() and len(text) < 6 and int(text) < len(views) else 0


@dataclass(frozen=True, slots=True)
class Difference:
    """Where two releases differ. place: the labels of the number; first, second: what it is in each."""

    place: str
    first: float
    second: float


def largest_differences(one: Release[Any], other: Release[Any]) -> list[Difference] | None:
    """Where two releases differ most; None where they are not of the same things."""
    tables = [release.kind.rows(release) for release in (one, other)]
    (header, lines), (other_header, other_lines) = tables
    labels = [[line[0] for line in those] for those in (lines, other_lines)]
    if one.kind.name != other.kind.name or list(header) != list(other_header) or labels[0] != labels[1]:
        return None
    found = []
    for line, beside in zip(lines, other_lines, strict=True):
        for name, first, second in zip(header[1:], line[1:], beside[1:], strict=True):
            with suppress(TypeError, ValueError):
                place = f"{line[0]}, {name}"
                found.append(Difference(place, float(first), float(second)))
    return sorted(found, key=lambda at: -abs(at.first - at.second))[:_DIFFERENCES]


# Files


def as_csv(release: Release[Any]) -> bytes:
    """The value as text with separators, safe for spreadsheets."""
    with tempfile.TemporaryDirectory() as beside:
        path = Path(beside) / "release.csv"
        release.save(path, csv_safe=True)
        return path.read_bytes()


def as_parquet(release: Release[Any]) -> bytes:
    """The value as a Parquet table, with numbers as numbers."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    header, lines = release.kind.rows(release)
    columns = [_typed([line[place] for line in lines]) for place in range(len(header))]
    written = io.BytesIO()
    pq.write_table(pa.Table.from_arrays(list(map(pa.array, columns)), list(map(str, header))), written)
    return written.getvalue()


def _typed(cells: list[Any]) -> list[Any]:
    """A column as whole numbers, as numbers, or as text."""
    kinds: tuple[Callable[[Any], Any], ...] = (int, float)
    for kind in kinds:
        try:
            found = [kind(cell) for cell in cells]
        except (TypeError, ValueError):
            continue
        # 007 is a name, and 0.5 is not 0.
        if kind is float or [str(one) for one in found] == [str(cell) for cell in cells]:
            return found
    return list(map(str, cells))


def as_svg(release: Release[Any]) -> bytes:
    """The picture of the value, which can be made larger without loss."""
    text = svg(release.plot())
    if "xmlns=" not in text.partition(">")[0]:
        text = text.replace("<svg ", '<svg xmlns="http://www.w3.org/2000/svg" ', 1)
    return text.encode()


def as_png(release: Release[Any]) -> bytes:
    """The picture of the value as points."""
    written = io.BytesIO()
    release.plot().savefig(written, format="png", dpi=200, bbox_inches="tight")
    return written.getvalue()


# By what they are called in an address: ending, type, and how they are made.
FILES: dict[str, tuple[str, str, Callable[[Release[Any]], bytes]]] = {
    "table": ("csv", "text/csv", as_csv),
    "parquet": ("parquet", "application/vnd.apache.parquet", as_parquet),
    "picture": ("svg", "image/svg+xml", as_svg),
    "points": ("png", "image/png", as_png),
}
