"""A binary table as columns of cells, from wherever it is: text, Parquet, JSON lines, frames, arrays."""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import Any

import numpy as np

from veil.bits.headers import has_header
from veil.bits.values import GAPS, Cells, cells_of
from veil.core.errors import InvalidArgument, InvalidData, UnreadableFile
from veil.tables.complaints import empty_table
from veil.tables.delimited import (
    absent,
    checked_delimiter,
    column_names,
    guess_delimiter,
    named,
    read_cells,
    rows_of,
    sample_of,
)
from veil.tables.plain_tables import chosen, file_columns, frame_columns, is_table_file
from veil.tables.text_files import ending_of, files_of, name_of, text_bytes

HEADER = "the first line of the file names the columns, and is public"
# Files in which spaces may separate cells.
_SPACED = (".txt", ".data", ".dat", "")


def open_bits(
    source: Any, wanted: Sequence[str] | None, *, header: bool | None, delimiter: Any
) -> tuple[dict[str, Cells], list[str]]:
    """The cells of each wanted column, and what was assumed to read them."""
    mark = checked_delimiter(delimiter)
    if header is not None and not isinstance(header, bool):
        raise InvalidArgument("header", expected="True, False or None", found=type(header).__name__)
    if isinstance(source, (str, os.PathLike)):
        path = os.fspath(source)
        if not is_table_file(path):
            return _from_text(path, wanted, header, mark)
        columns: dict[str, Any] | None = file_columns(path, wanted)
    else:
        columns = frame_columns(source, wanted)
    if columns is None:
        raise InvalidArgument(
            "source",
            expected="a path, a table in memory, an array or a list of rows",
            found=f"an object of type {type(source).__name__}",
        )
    for field, value in (("header", header), ("delimiter", mark)):
        if value is not None:
            raise InvalidArgument(field, expected="none for this kind of source", found="one")
    cells = {name: cells_of(array, name) for name, array in columns.items()}
    return _with_rows(cells), []


def _with_rows(columns: dict[str, Cells]) -> dict[str, Cells]:
    if not columns or len(next(iter(columns.values())).codes) == 0:
        raise empty_table()
    return columns


def _from_text(
    path: str, wanted: Sequence[str] | None, header: bool | None, delimiter: str | None
) -> tuple[dict[str, Cells], list[str]]:
    files = files_of(path)
    # Lines without anything before the first record and after the last are none of it.
    raws = [text_bytes(file).strip(b"\r\n") for file in files]
    for file, raw in zip(files, raws, strict=True):
        if not raw.strip():
            raise UnreadableFile(name_of(file), expected="rows of cells", found="an empty file")
    lines = sample_of(raws[0], name_of(files[0]))
    wrong = None if delimiter is None else absent(delimiter, lines)
    # A table of one column has no separator. One that has another should have more columns.
    wrong = wrong if _delimiter(files[0], lines) is not None else None
    try:
        columns, assumptions = _columns(files, raws, lines, wanted, header, delimiter)
    except InvalidData as error:
        raise wrong or error from None
    if wrong is not None and any(len(_values(cells)) > 2 for cells in columns.values()):
        raise wrong
    return _with_rows(columns), assumptions


def _values(cells: Cells) -> set[str]:
    present = (cells.texts[code] for code in cells.used)
    return {text for text in present if text is not None and text not in GAPS}


def _columns(
    files: Sequence[str],
    raws: Sequence[bytes],
    lines: Sequence[str],
    wanted: Sequence[str] | None,
    header: bool | None,
    delimiter: str | None,
) -> tuple[dict[str, Cells], list[str]]:
    """The columns of files that are alike. lines: the first of them."""
    name = name_of(files[0])
    mark = delimiter or _delimiter(files[0], lines)
    first = rows_of(lines, mark)[0]
    # Who names columns of the first line knows that it has names; who names one that is not there does not.
    guessed = header is None and not (wanted is not None and set(wanted) <= set(first))
    has_names = True if header is None else header
    every: list[Cells] | None = None
    if guessed:
        every = _all_cells(raws[0], name, first, range(len(first)), mark)
        has_names = has_header(every, name)
    names = named(first, name) if has_names else column_names(len(first))
    kept = chosen(names, wanted, "columns")
    places = [names.index(one) for one in kept]
    parts: list[list[Cells]] = []
    for file, raw in zip(files, raws, strict=True):
        if every is not None and not parts:
            found = [every[place] for place in places]
        else:
            _check_first(raw, name_of(file), first, mark, has_names=has_names)
            found = _all_cells(raw, name_of(file), first, places, mark)
        parts.append([cells.below_first() for cells in found] if has_names else found)
    columns = {one: _joined([part[i] for part in parts]) for i, one in enumerate(kept)}
    return columns, [HEADER] if guessed and has_names else []


def _all_cells(
    raw: bytes, name: str, first: Sequence[str], places: Sequence[int], delimiter: str | None
) -> list[Cells]:
    """The cells of some columns, of all lines."""
    columns = read_cells(raw, width=len(first), delimiter=delimiter, name=name, wanted=places)
    return [cells_of(column, name) for column in columns]


def _check_first(
    raw: bytes, name: str, first: Sequence[str], delimiter: str | None, *, has_names: bool
) -> None:
    if has_names and rows_of(sample_of(raw, name), delimiter)[0] != list(first):
        raise InvalidData(name, expected="the same first line as in the other files", found="another")


def _delimiter(path: str, lines: Sequence[str]) -> str | None:
    ending = ending_of(path)
    if ending in {".tsv", ".tab"}:
        return "\t"
    return guess_delimiter(lines, spaces=ending in _SPACED)


def _joined(parts: Sequence[Cells]) -> Cells:
    """The cells of several files as one column."""
    if len(parts) == 1:
        return parts[0]
    starts = np.cumsum([0, *(len(part.texts) for part in parts)])
    shifted = list(zip(parts, starts.tolist(), strict=False))
    return Cells(
        [text for part in parts for text in part.texts],
        np.concatenate([part.codes + start for part, start in shifted]),
        [code + start for part, start in shifted for code in part.used],
    )
