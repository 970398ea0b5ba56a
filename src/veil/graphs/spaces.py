"""Lines of cells between spaces and tabs, any number of them, as most lists of edges are written."""

from __future__ import annotations

import re

from veil.core.errors import InvalidData


def cut(line: str) -> list[str]:
    """The cells of a line between spaces and tabs; other white space, such as U+00A0, is part of a cell."""
    return [cell for cell in line.replace("\t", " ").split(" ") if cell]


def single_spaced(raw: bytes) -> bytes:
    """The text with one space between cells, and none around lines."""
    if b"\t" in raw:
        raw = raw.replace(b"\t", b" ")
    while b"  " in raw:
        raw = raw.replace(b"  ", b" ")
    for beside, edge in ((b" \n", b"\n"), (b" \r", b"\r"), (b"\n ", b"\n")):
        if beside in raw:
            raw = raw.replace(beside, edge)
    return raw.strip(b" \r\n")


def uneven(text: bytes, width: int, name: str) -> InvalidData | None:
    """What to say of the first line with more or fewer cells than the first one; None if there is none."""
    for number, line in enumerate(re.split(rb"\r\n|[\r\n]", text), start=1):
        cells = sum(map(bool, line.replace(b"\t", b" ").split(b" ")))
        if cells not in (0, width) and not line.startswith((b"#", b"%")):
            return InvalidData(
                f"{name}, line {number}",
                expected=f"{width} cells as in the first line",
                found=str(cells),
                hint="If labels have spaces in them, save the list as .csv, with commas between.",
            )
    return None
