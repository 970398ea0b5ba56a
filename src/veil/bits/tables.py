"""A binary table as columns of cells, from wherever it is: text, Parquet, JSON lines, frames, arrays."""

from __future__ import annotations

import os
from collections.abc import Collection, Sequence
from typing import Any

from veil.bits.values import GAPS, cells_of, usual_pair
from veil.core.errors import InvalidData, UnreadableFile
from veil.tables.coded import Coded
from veil.tables.complaints import empty_table
from veil.tables.dialect import (
    by_numbers,
    checked_delimiter,
    checked_header,
    column_names,
    either,
    has_header,
    named,
)
from veil.tables.files import name_of
from veil.tables.frames import chosen
from veil.tables.text_tables import TextTable, open_text
from veil.tables.typed_files import is_table_file, typed_columns

HEADER = "the first line of the file names the columns, and is public"


def open_bits(
    source: Any, wanted: Sequence[str] | None, *, header: bool | None, delimiter: Any
) -> tuple[dict[str, Coded], list[str]]:
    """The cells of each wanted column, and what was assumed to read them."""
    mark, header = checked_delimiter(delimiter), checked_header(header)
    if isinstance(source, (str, os.PathLike)) and not is_table_file(os.fspath(source)):
        columns, assumptions = _from_text(os.fspath(source), wanted, header, mark)
    else:
        expected = "a path, a table in memory, an array or a list of rows"
        given = {"header": header, "delimiter": mark}
        arrays = typed_columns(source, wanted, expected=expected, given=given)
        columns, assumptions = {name: cells_of(array, name) for name, array in arrays.items()}, []
    if not columns or len(next(iter(columns.values())).codes) == 0:
        raise empty_table()
    return columns, assumptions


def _from_text(
    path: str, wanted: Sequence[str] | None, header: bool | None, delimiter: str | None
) -> tuple[dict[str, Coded], list[str]]:
    table = open_text(path, delimiter=delimiter)
    if table is None:
        raise UnreadableFile(name_of(path), expected="rows of cells", found="an empty file")
    try:
        columns, guessed = _columns(table, wanted, header)
    except InvalidData as error:
        raise table.doubt or error from None
    if table.doubt is not None and any(len(cells.values - GAPS) > 2 for cells in columns.values()):
        raise table.doubt
    return columns, [HEADER] if guessed else []


def _columns(
    table: TextTable, wanted: Sequence[str] | None, header: bool | None
) -> tuple[dict[str, Coded], bool]:
    """The wanted columns, and whether their names were found out from the file."""
    first, name = table.first, table.name

    def judge(columns: Sequence[Coded]) -> bool:
        found = has_header([([cells.head], cells.below.values) for cells in columns], judge=_two_values)
        if found is None:
            raise either(name, "a record")
        return found

    # Who names columns of the first line knows that it has names; who names one that is not there does not.
    if header is None and wanted is not None and set(wanted) <= set(first):
        header = True
    if header is None:
        found, has_names = table.columns(range(len(first)), header=None, judge=judge)
        names = named(first, name) if has_names else column_names(len(first))
        columns = dict(zip(names, found, strict=True))
        return {one: columns[one] for one in chosen(names, wanted)}, has_names
    names = named(first, name) if header else column_names(len(first))
    kept = chosen(names, wanted)
    found, _ = table.columns([names.index(one) for one in kept], header=header, judge=judge)
    return dict(zip(kept, found, strict=True)), False


def _two_values(heads: Collection[str], below: Collection[str]) -> bool | None:
    """What a head and the cells below it speak for: names (True) or a record (False).

    A record if the head is a gap or belongs to the same usual pair as the cells below; names if those have
    two values, or values of a usual pair, or are numbers and the head is not.
    """
    values = set(below) - GAPS
    if not any(heads) or not (values or GAPS & set(heads)):
        return None
    if GAPS & set(heads) or usual_pair({*heads, *values}) is not None:
        return False
    if len(values) == 2 or usual_pair(values) is not None:
        return True
    return by_numbers(heads, values) or None
