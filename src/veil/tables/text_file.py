"""A file of text with separators, before it is known what separates its cells."""

from __future__ import annotations

import re
from dataclasses import dataclass

from veil.tables.files import decoded, name_of, text_bytes
from veil.tables.limits import LONGEST_LINE, too_large

# So much of a file is looked at for its separator.
_SAMPLE, _LINES = 65_536, 200


@dataclass(frozen=True, slots=True)
class TextFile:
    """A file with separators. text: as it is. body: without comments, and with single spaces."""

    name: str
    text: bytes
    body: bytes


def open_file(path: str, *, comments: bool) -> TextFile:
    """The text of a file. comments: lines that begin with # or % are left out."""
    text = text_bytes(path)
    return TextFile(name_of(path), text, (_without_comments(text) if comments else text).strip(b"\r\n"))


def sample_of(file: TextFile) -> list[str]:
    """The first lines of a text, and the first one whole."""
    first = re.search(rb"[\r\n]", file.body)
    end = len(file.body) if first is None else first.start()
    if end > LONGEST_LINE:
        raise too_large(file.name, "bytes in the first line", LONGEST_LINE)
    part = file.body[: max(_SAMPLE, end)]
    if max(_SAMPLE, end) < len(file.body) and end < _SAMPLE:
        # The last line may be cut off, even in the middle of a letter.
        part = part[: max(part.rfind(b"\n"), part.rfind(b"\r"))]
    return re.split(r"\r\n|[\r\n]", decoded(part, file.name))[:_LINES]


def _without_comments(raw: bytes) -> bytes:
    start = 0
    while raw[start : start + 1] in (b"#", b"%"):
        end = raw.find(b"\n", start)
        start = len(raw) if end < 0 else end + 1
    raw = raw[start:] if start else raw
    if b"\n#" in raw or b"\n%" in raw:
        raw = re.sub(rb"\n[#%][^\n]*", b"", raw)
    return raw


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
