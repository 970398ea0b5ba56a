"""What the readers share: text from files and pipes, separators, cells."""

from __future__ import annotations

import sys
from pathlib import Path

from veil.core.errors import UnreadableFile


def read_text(source: str, name: str) -> str:
    """The text of a file, or of standard input if the source is "-"."""
    try:
        raw = sys.stdin.buffer.read() if source == "-" else Path(source).read_bytes()
    except FileNotFoundError:
        raise UnreadableFile(name, expected="a file", found="no such file") from None
    except OSError as error:
        raise UnreadableFile(name, expected="a readable file", found=error.strerror or "none") from None
    except ValueError:
        # A NUL or half a character in the name.
        raise UnreadableFile(name, expected="a file", found="a name that no file can have") from None
    try:
        return raw.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise UnreadableFile(
            name, expected="text in UTF-8", found=f"another encoding at byte {error.start}"
        ) from None


def delimiter_of(text: str) -> str:
    """The separator of the first line: semicolons or tabs if it has any, else commas."""
    first = text.lstrip().splitlines()[0]
    return next((mark for mark in (";", "\t") if mark in first), ",")


def decimal_point(cell: str) -> str:
    """A number with a decimal comma, with a point instead."""
    swapped = cell.replace(",", ".", 1)
    return swapped if is_number(swapped) else cell


def kind_of(cell: str) -> str:
    """What stands in a cell that is no number, without quoting it."""
    if not cell.strip():
        return "an empty cell"
    if cell.strip().endswith("%") and is_number(cell.strip()[:-1]):
        return "a percentage"
    if is_number(cell.replace(",", "").replace(" ", "").replace("'", "")):
        return "a number with separators of thousands"
    return "text"


def is_number(cell: str) -> bool:
    """Whether the cell holds a plain number."""
    try:
        float(cell)
    except ValueError:
        return False
    # float() takes 1_000 and infinity; a data file that holds them is more likely broken.
    return "_" not in cell
