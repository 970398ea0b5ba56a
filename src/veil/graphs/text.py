"""Edges from text: two labels per line, between spaces, tabs, commas or semicolons.

In files other than .csv and .tsv lines that start with # or % are comments. What follows the two labels, such
as a weight or a time, is left out, but all lines have as many cells as the first: a label with a space in it
would else be taken for two. Files of whole numbers, which most graphs are, take a path of their own.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from veil.core.errors import InvalidData
from veil.graphs.headers import has_header
from veil.graphs.labels import Ends
from veil.graphs.spaces import cut, single_spaced, uneven
from veil.graphs.tables import checked_texts, places_of
from veil.tables.delimited import (
    absent,
    column_names,
    guess_delimiter,
    named,
    numbers_of,
    parse,
    read_cells,
    rows_of,
    sample_of,
)
from veil.tables.states import is_plain_integer
from veil.tables.text_files import ending_of, name_of, text_bytes

_TABLES = (".csv", ".tsv", ".tab")
# Bytes that are looked at together.
_CHUNK = 1 << 24


class TextEdges(NamedTuple):
    """The two ends of every edge; guessed: that the first line has names was found out from the file."""

    origins: Ends
    destinations: Ends
    guessed: bool


class _Layout(NamedTuple):
    """delimiter: None for any number of spaces and tabs. first: the cells of the first line."""

    delimiter: str | None
    first: list[str]
    quotes: bool


def ends_of_text(
    path: str, origin: str | None, destination: str | None, header: bool | None, delimiter: str | None
) -> TextEdges:
    """The edges in a text file."""
    name, text = name_of(path), text_bytes(path)
    is_table = ending_of(path) in _TABLES
    raw = (text if is_table else _without_comments(text)).strip(b"\r\n")
    if not raw.strip():
        empty = Ends(np.empty(0, dtype=np.int64))
        return TextEdges(empty, empty, False)
    layout = _layout(raw, name, is_table, "\t" if ending_of(path) in _TABLES[1:] else None, delimiter)
    names = _names(layout.first, header, origin, destination, name)
    places = places_of(names, origin, destination, name)
    guessed = header is None
    if _named_by_user(layout.first, header, origin, destination):
        header, guessed = True, False
    if layout.delimiter is not None:
        return _edges(raw, layout, places, name, header, guessed)
    try:
        return _edges(single_spaced(raw), layout._replace(delimiter=" "), places, name, header, guessed)
    except InvalidData as error:
        raise uneven(text, len(layout.first), name) or error from None


def _edges(
    raw: bytes, layout: _Layout, places: Sequence[int], name: str, header: bool | None, guessed: bool
) -> TextEdges:
    whole = _whole_numbers(raw, layout, places, name, header)
    if whole is not None:
        return TextEdges(Ends(whole[0]), Ends(whole[1]), guessed and not _is_whole(layout, places))
    return _texts(raw, layout, places, name, header, guessed)


def _without_comments(raw: bytes) -> bytes:
    start = 0
    while raw[start : start + 1] in (b"#", b"%"):
        end = raw.find(b"\n", start)
        start = len(raw) if end < 0 else end + 1
    raw = raw[start:] if start else raw
    if b"\n#" in raw or b"\n%" in raw:
        raw = re.sub(rb"\n[#%][^\n]*", b"", raw)
    return raw


def _layout(raw: bytes, name: str, is_table: bool, usual: str | None, delimiter: str | None) -> _Layout:
    lines = sample_of(raw, name)
    if delimiter not in (None, " "):
        wrong = absent(delimiter, lines)
        if wrong is not None:
            raise wrong
    mark = delimiter or usual
    if mark == " " and not is_table:
        mark = None
    elif mark is None:
        mark = guess_delimiter(lines)
        # Where each line has a comma, labels may still be between spaces: "a,b c,d".
        if not is_table and (mark is None or (mark != "\t" and _has_spaces(rows_of(lines, mark)))):
            mark = None
    if mark is None and not is_table:
        return _Layout(None, next(cells for cells in map(cut, lines) if cells), False)
    return _Layout(mark or ",", rows_of(lines, mark or ",")[0], True)


def _has_spaces(rows: Sequence[Sequence[str]]) -> bool:
    return any(len(cell.split()) > 1 for row in rows for cell in row[:2])


def _names(
    first: Sequence[str], header: bool | None, origin: str | None, destination: str | None, name: str
) -> list[str]:
    """The names by which columns may be asked for."""
    if header is True or _named_by_user(first, header, origin, destination):
        return named(first, name)
    names = column_names(len(first))
    if header is None and origin is not None and not {origin, destination} <= set(names):
        field, column = ("destination", destination) if origin in first else ("origin", origin)
        raise InvalidData(
            field,
            expected=f"a column {column!r}",
            # The first line may be an edge, of which nothing is to be shown.
            found="none of that name in the first line",
            hint="Without a line of names, leave {origin} and {destination} out.",
            names=("origin", "destination"),
        )
    return names


def _named_by_user(
    first: Sequence[str], header: bool | None, origin: str | None, destination: str | None
) -> bool:
    """Whether the user names two columns of the first line, and so knows that it has names."""
    return header is None and origin in first and destination in first


def _is_whole(layout: _Layout, places: Sequence[int]) -> bool:
    return all(is_plain_integer(layout.first[place]) for place in places)


def _whole_numbers(
    raw: bytes, layout: _Layout, places: Sequence[int], name: str, header: bool | None
) -> list[Any] | None:
    """The two columns as whole numbers; None if some cells are none, or are written as 007."""
    import pyarrow as pa

    heads = [is_plain_integer(layout.first[place]) for place in places]
    skip = int(header if header is not None else not any(heads))
    if (not skip and not all(heads)) or (header is None and any(heads) and not all(heads)):
        return None
    if _has_odd_zeros(raw):
        return None
    table = parse(
        raw,
        [pa.int64()] * 2,
        len(layout.first),
        layout.delimiter,
        name,
        places,
        layout.quotes,
        skip=skip,
    )
    if table is None or (table.num_rows == 0 and header is None):
        return None
    return [numbers_of(table.column(i)) for i in range(2)]


def _has_odd_zeros(raw: bytes) -> bool:
    """Whether some number begins with a zero that a whole number would lose: 007 or -0."""
    if b"-0" in raw:
        return True
    cells = np.frombuffer(raw, dtype=np.uint8)
    for start in range(0, len(cells), _CHUNK):
        part = cells[max(start - 2, 0) : start + _CHUNK]
        digit = (part - np.uint8(48)) < 10
        zero = part == 48
        if start == 0 and len(part) > 1 and zero[0] and digit[1]:
            return True
        if bool((zero[1:-1] & digit[2:] & ~digit[:-2]).any()):
            return True
    return False


def _texts(
    raw: bytes, layout: _Layout, places: Sequence[int], name: str, header: bool | None, guessed: bool
) -> TextEdges:
    columns = read_cells(
        raw,
        width=len(layout.first),
        delimiter=layout.delimiter,
        name=name,
        wanted=places,
        quotes=layout.quotes,
    )
    ends = []
    for column in columns:
        whole = column.combine_chunks()
        texts = [text.strip() for text in whole.dictionary.to_pylist()]
        ends.append(Ends(numbers_of(whole.indices).astype(np.int64), texts))
    if header is None:
        header = has_header(ends, name)
    if header:
        ends = [Ends(end.codes[1:], end.texts) for end in ends]
    origins, destinations = (_in_numbers(checked_texts(end, name)) for end in ends)
    return TextEdges(origins, destinations, guessed and bool(header))


def _in_numbers(ends: Ends) -> Ends:
    """The labels as whole numbers if all of them are, as far as they occur."""
    texts = ends.texts or []
    used = np.flatnonzero(np.bincount(ends.codes, minlength=1)[: len(texts)])
    if not len(used) or not all(is_plain_integer(texts[code]) for code in used):
        return ends
    numbers = np.zeros(len(texts), dtype=np.int64)
    numbers[used] = [int(texts[code]) for code in used]
    return Ends(numbers[ends.codes])
