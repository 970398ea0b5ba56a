"""How a text is written: what separates its cells, and whether its first line names the columns.

The one guesser of separators and the one judge of headers, for every kind of data. Neither guesses what cells
hold. A first line that may be names or a record is for the user to decide: no record may be lost.
"""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Callable, Collection, Iterable, Sequence
from typing import Any

from veil.core.errors import InvalidArgument, InvalidData
from veil.core.request import option
from veil.tables.cells import is_number

MARKS = (",", ";", "\t", "|")
# Tables in which spaces are part of cells.
_UNSPACED = (".csv", ".tsv", ".tab")
# What is usually above a column of states, nodes or other labels.
_HEADINGS = {"state", "label", "id", "name", "code", "key", "value", "zone", "category", "node", "vertex"}
_HEADINGS |= {"states", "labels", "ids", "nodes", "nodeid"}
# Written so that nobody would take it for a word: not 1e5 or nan.
_NUMBER = re.compile(r"[+-]?(\d+([.,]\d+)?|\.\d+)")
# Cells of the first line, and the different cells below them.
Heads = tuple[Collection[str], Collection[str]]


def header_option() -> Any:
    """The field of a request for whether a text begins with a line of names."""
    help_text = "Whether the first line names the columns; found out unless given."
    return option(None, help=help_text, negative="--no-header", group="Input", advanced=True)


def delimiter_option() -> Any:
    """The field of a request for what separates the cells of a text."""
    help_text = "What separates the cells of a line; found out unless given."
    return option(None, help=help_text, group="Input", advanced=True)


def checked_delimiter(delimiter: Any) -> str | None:
    """The separator that the user gave: one mark; "tab" and "\\t" are words for one."""
    if delimiter is None:
        return None
    named = {"tab": "\t", "\\t": "\t", "space": " ", "comma": ",", "semicolon": ";"}
    mark = named.get(delimiter, delimiter) if isinstance(delimiter, str) else ""
    if len(mark) != 1 or not mark.isascii() or mark in '"\r\n':
        raise InvalidArgument(
            "delimiter", expected='one mark such as "," or ";" or "tab"', found=type(delimiter).__name__
        )
    return mark


def checked_header(header: Any) -> bool | None:
    """What the user says of the first line."""
    if header is not None and not isinstance(header, bool):
        raise InvalidArgument("header", expected="True, False or None", found=type(header).__name__)
    return header


def may_have_spaces(ending: str) -> bool:
    """Whether spaces may separate cells in files with this ending, and lines be comments."""
    return ending not in _UNSPACED


def rows_of(lines: Sequence[str], delimiter: str | None) -> list[list[str]]:
    """The cells of some lines, stripped of spaces around them; lines without any are left out.

    delimiter: None where each line is one cell; " " for any number of spaces and tabs.
    """
    mark = delimiter or "\x1f"
    if mark == " ":
        lines = [re.sub("[ \t]+", " ", line).strip(" ") for line in lines]
    rows = csv.reader(io.StringIO("\n".join(lines)), delimiter=mark)
    try:
        return [[cell.strip() for cell in row] for row in rows if row]
    except csv.Error:
        # Quotes that do not end in the sample, or a cell beyond the limit of that reader.
        return [[cell.strip() for cell in line.split(mark)] for line in lines if line]


def guess_delimiter(lines: Sequence[str], ending: str, *, least: int = 1) -> str | None:
    """The separator with which all lines have the same number of cells, the larger the better.

    None: there is no separator, so that each line is one cell. least: cells that a line must have. Where
    semicolons separate cells evenly and every comma is between digits, these are decimal commas. Spaces
    separate cells, in files that may have them, where nothing else does, or where it leaves spaces inside.
    """
    if ending in {".tsv", ".tab"}:
        return "\t"
    parsed = {mark: [row for row in rows_of(lines, mark) if row != [""]] for mark in (*MARKS, " ")}
    # The sample may end inside quotes that hold a line break.
    inner = {mark: rows[:-1] if len(rows) > 2 else rows for mark, rows in parsed.items()}
    widths = {mark: [len(row) for row in rows] for mark, rows in inner.items()}
    even = {mark: one[0] for mark, one in widths.items() if one and min(one) == max(one) > 1}
    spaces = even.pop(" ", None) is not None and may_have_spaces(ending)
    if ";" in even and "," in even and not any(re.search(r"(?<!\d),|,(?!\d)", line) for line in lines):
        del even[","]
    if even:
        best = max(even, key=lambda mark: even[mark])
        return " " if spaces and best != "\t" and _has_spaces(parsed[best]) else best
    if spaces:
        return " "
    uneven = {mark: widths[mark][0] for mark in MARKS if widths[mark] and widths[mark][0] > 1}
    if uneven:
        return max(uneven, key=lambda mark: uneven[mark])
    return " " if least > 1 and may_have_spaces(ending) else None


def _has_spaces(rows: Sequence[Sequence[str]]) -> bool:
    return any(" " in cell or "\t" in cell for row in rows for cell in row[:2])


def absent(mark: str, lines: Sequence[str]) -> InvalidData | None:
    """The error for a separator that the user gave and that does not occur in the first lines."""
    if any(mark in line for line in lines):
        return None
    expected, found = "a mark that separates the cells", f"{mark!r}, which does not occur in the first lines"
    hint = "Leave {delimiter} out: it is found out from the file."
    return InvalidData("delimiter", expected=expected, found=found, hint=hint, names=("delimiter",))


def has_header(
    columns: Iterable[Heads],
    *,
    usual: bool = False,
    judge: Callable[[Collection[str], Collection[str]], bool | None] | None = None,
) -> bool | None:
    """Whether the first line names the columns: True, False, or None where it may be either.

    columns: for each column the cell in the first line and the different cells below it; columns over the
        same labels are one, with several heads. A head that occurs again below is no name.
    usual: the line is one that usually names columns. judge: what heads and the cells below speak for, names
        (True) or a record (False), if not `by_numbers`.
    """
    verdicts = {True} if usual else set()
    for heads, below in columns:
        if any(head in below for head in heads):
            verdicts.add(False)
        else:
            verdict = (judge or by_numbers)(heads, below)
            verdicts |= set() if verdict is None else {verdict}
    return verdicts.pop() if len(verdicts) == 1 else None


def has_usual_header(rows: Sequence[Sequence[str]], *, names: Iterable[str] = ()) -> bool:
    """Whether the first row of a public list of labels names its columns.

    It does if its first cell is a usual heading or one of the names, or if numbers alone are below some text.
    """
    if not rows:
        return False
    first = rows[0][0].casefold()
    if first in _HEADINGS | {name.casefold() for name in names} or first.endswith(("_id", " id")):
        return True
    columns = zip(*rows, strict=True)
    return any(has_header([((head,), below)]) for head, *below in columns)


def by_numbers(heads: Collection[str], below: Collection[str]) -> bool | None:
    """Text above numbers alone is a name; a number above numbers is not."""
    kinds = {_NUMBER.fullmatch(head) is not None for head in heads}
    if not any(heads) or not below or len(kinds) > 1 or not all(map(_NUMBER.fullmatch, below)):
        return None
    return not kinds.pop()


def above_numbers(heads: Collection[str], below: Collection[str]) -> bool:
    """In columns of numbers, whatever is not a number is a name."""
    return not all(map(is_number, heads))


def either(name: str, record: str) -> InvalidData:
    """The error for a first line that may be names or a record."""
    expected = f"a first line that names the columns, or one that is clearly {record}"
    found, hint = "one that may be either", "Say which with {header}."
    return InvalidData(name, expected=expected, found=found, hint=hint, names=("header",))


def places_of(names: Sequence[str]) -> dict[str, str]:
    """What errors call columns whose names may be cells of a first line that is a record after all."""
    return {name: f"column{i}" for i, name in enumerate(names, start=1)}


def column_names(width: int) -> list[str]:
    """What the columns of a table without names are called."""
    return [f"column{i}" for i in range(1, width + 1)]


def named(header: Sequence[str], name: str) -> list[str]:
    """The names in a first line: all differ, and what has none is called after its place."""
    names = [cell or f"column{i}" for i, cell in enumerate(header, start=1)]
    if len(set(names)) < len(names):
        raise InvalidData(name, expected="columns with different names", found="one of them twice")
    return names
