"""Text with separators: which separator it has, its first record, and its cells as Arrow columns.

Nothing is guessed about what the cells hold: they come as they are written. Rows keep their order.
"""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Sequence
from typing import Any

import numpy as np

from veil.core.errors import InvalidArgument, InvalidData, UnreadableFile
from veil.tables.text_files import check_encoding

MARKS = (",", ";", "\t", "|")
# So much of a file is looked at for its separator.
_SAMPLE = 65_536
_LINES = 200


def checked_delimiter(delimiter: Any) -> str | None:
    """The separator that the user gave: one mark; "tab" and "\\t" are words for one."""
    if delimiter is None:
        return None
    mark = {"tab": "\t", "\\t": "\t", "space": " ", "comma": ",", "semicolon": ";"}.get(delimiter, delimiter)
    if not isinstance(mark, str) or len(mark) != 1 or not mark.isascii() or mark in '"\r\n':
        raise InvalidArgument(
            "delimiter", expected='one mark such as "," or ";" or "tab"', found=type(delimiter).__name__
        )
    return mark


def sample_of(raw: bytes, name: str) -> list[str]:
    """The first lines of a text."""
    part = raw[:_SAMPLE]
    if len(part) < len(raw):
        # The last line may be cut off, even in the middle of a letter.
        part = part[: part.rfind(b"\n") + 1] or part
    check_encoding(part, name)
    return re.split(r"\r\n|[\r\n]", part.decode("utf-8"))[:_LINES]


def rows_of(lines: Sequence[str], delimiter: str | None) -> list[list[str]]:
    """The cells of some lines, stripped of spaces around them; lines without any are left out."""
    mark = delimiter or "\x1f"
    rows = csv.reader(io.StringIO("\n".join(lines)), delimiter=mark)
    try:
        return [[cell.strip() for cell in row] for row in rows if row]
    except csv.Error:
        # Quotes that do not end in the sample.
        return [[cell.strip() for cell in line.split(mark)] for line in lines if line]


def guess_delimiter(lines: Sequence[str], *, spaces: bool = False) -> str | None:
    """The separator with which all lines have the same number of cells, the larger the better.

    None: there is no separator, so that each line is one cell. spaces: a space may be one.
    """
    best, width = None, 1
    uneven: tuple[int, str] | None = None
    for mark in (*MARKS, " ") if spaces else MARKS:
        widths = [len(row) for row in rows_of(lines, mark)]
        # The sample may end inside quotes that hold a line break.
        inner = widths[:-1] if len(widths) > 2 else widths
        if inner and min(inner) == max(inner) > width:
            best, width = mark, inner[0]
        elif widths and widths[0] > 1 and (uneven is None or widths[0] > uneven[0]):
            uneven = widths[0], mark
    if best is None and uneven is not None and uneven[1] != " ":
        return uneven[1]
    return best


def absent(mark: str, lines: Sequence[str]) -> InvalidData | None:
    """What to say of a separator that the user gave and that stands nowhere in the first lines."""
    if any(mark in line for line in lines):
        return None
    return InvalidData(
        "delimiter",
        expected="a mark that separates the cells",
        found=f"{mark!r}, which does not occur in the first lines",
        hint="Leave {delimiter} out: it is found out from the file.",
        names=("delimiter",),
    )


def read_cells(
    raw: bytes, *, width: int, delimiter: str | None, name: str, wanted: Sequence[int], quotes: bool = True
) -> list[Any]:
    """The wanted columns of a text as Arrow dictionaries of text, a row for each line that is not empty."""
    import pyarrow as pa

    encoded = pa.dictionary(pa.int32(), pa.string())
    table = parse(raw, [encoded] * len(wanted), width, delimiter, name, wanted, quotes)
    if table is None:
        check_encoding(raw, name)
        raise UnreadableFile(name, expected="text with separators", found="something else")
    columns = table.unify_dictionaries()
    return [columns.column(i) for i in range(len(wanted))]


def parse(
    raw: bytes,
    types: Sequence[Any],
    width: int,
    delimiter: str | None,
    name: str,
    wanted: Sequence[int],
    quotes: bool,
    *,
    skip: int = 0,
) -> Any | None:
    """The wanted columns as an Arrow table of these types; None if some cell is of no such type.

    A line with another number of cells is an error that says which line. skip: records before the first.
    """
    import pyarrow as pa
    from pyarrow import csv as arrow_csv

    uneven: list[tuple[int, int | None]] = []

    def note(row: Any) -> str:
        uneven.append((row.actual_columns, row.number))
        return "error"

    names = [f"c{i}" for i in range(width)]
    chosen = [names[i] for i in wanted]
    converting = arrow_csv.ConvertOptions(
        column_types=dict(zip(chosen, types, strict=True)),
        include_columns=chosen,
        null_values=[],
        strings_can_be_null=False,
    )
    reading = arrow_csv.ReadOptions(column_names=names, skip_rows_after_names=skip, use_threads=False)
    parsing = arrow_csv.ParseOptions(
        delimiter=delimiter or "\x1f",
        quote_char='"' if quotes else False,
        newlines_in_values=quotes and b'"' in raw,
        ignore_empty_lines=width > 1,
        invalid_row_handler=note,
    )
    try:
        return arrow_csv.read_csv(
            _held_by_arrow(raw), read_options=reading, parse_options=parsing, convert_options=converting
        )
    except pa.ArrowInvalid:
        # Its text would quote the line.
        pass
    if not uneven:
        return None
    cells, number = uneven[-1]
    raise InvalidData(
        name if number is None else f"{name}, record {number}",
        expected=f"{_cells(width)} as in the first",
        found=str(cells),
        hint="Is the separator another one? {delimiter} states it.",
        names=("delimiter",),
    )


def _held_by_arrow(raw: bytes) -> Any:
    """A copy of a text that is Arrow's alone.

    Arrow reads ahead in a thread of its own, and does the rest in others if it may. A thread that lets go of
    what is Python's when Python has ended aborts the process, after its work is done: a command that fails
    ends so soon after reading. So it reads a copy, and is told to work in one thread, which also counts the
    rows; this takes hardly longer, because two columns are little to share out.
    """
    import pyarrow as pa

    copy = pa.allocate_buffer(len(raw))
    memoryview(copy).cast("B")[:] = raw
    return pa.BufferReader(copy)


def numbers_of(column: Any) -> Any:
    """An Arrow column of numbers without gaps as an array of NumPy; to_numpy() would first import pandas."""
    chunks = column.chunks if hasattr(column, "chunks") else [column]
    some = [np.from_dlpack(chunk) for chunk in chunks if len(chunk)]
    if not some:
        return np.empty(0, dtype=np.int64)
    return some[0] if len(some) == 1 else np.concatenate(some)


def _cells(width: int) -> str:
    return "1 cell" if width == 1 else f"{width} cells"


def column_names(width: int) -> list[str]:
    """What the columns of a table without names are called."""
    return [f"column{i}" for i in range(1, width + 1)]


def named(header: Sequence[str], name: str) -> list[str]:
    """The names in a first line: all differ, and what has none is called after its place."""
    names = [cell or f"column{i}" for i, cell in enumerate(header, start=1)]
    if len(set(names)) < len(names):
        raise InvalidData(name, expected="columns with different names", found="a name that stands twice")
    return names
