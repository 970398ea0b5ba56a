"""A binary table as columns of cells, from wherever it is: text, Parquet, JSON lines, frames, arrays."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import Any

from veil.bits.values import GAPS, cells_of, usual_pair
from veil.core.errors import InvalidData, UnreadableFile
from veil.core.mechanism import LAYOUT_IS_PUBLIC, ROW_BY_ROW
from veil.tables.cells import Coded
from veil.tables.complaints import empty_table
from veil.tables.dialect import by_numbers, has_header, places_of
from veil.tables.frames import chosen
from veil.tables.reading import TableRead, read_table
from veil.tables.text_tables import TextTable

HEADER = "the first line of the file names the columns, and is public"


def open_bits(
    source: Any,
    wanted: Sequence[str] | None,
    *,
    header: bool | None,
    delimiter: Any,
    table: str | None = None,
    query: str | None = None,
) -> tuple[dict[str, Coded], list[str], dict[str, str]]:
    """The cells of each wanted column, what was assumed to read them, and what errors call the columns."""
    expected = "a path, a table in memory, an array or a list of rows, or a database"
    read = read_table(
        source, wanted, expected=expected, header=header, delimiter=delimiter, table=table, query=query
    )
    if read.columns is None:
        columns, assumptions = _from_text(read, wanted, header)
        shown = places_of(list(columns)) if wanted is None else {}
    else:
        shown = places_of(list(read.columns)) if read.may_be_cells and wanted is None else {}
        columns = {name: cells_of(array, shown.get(name, name)) for name, array in read.columns.items()}
        assumptions = [ROW_BY_ROW] if read.unchecked else []
        assumptions += [LAYOUT_IS_PUBLIC] if read.layout_guessed else []
    if not columns or len(next(iter(columns.values())).codes) == 0:
        raise empty_table()
    return columns, assumptions, {name: shown.get(name, name) for name in columns}


def _from_text(
    read: TableRead, wanted: Sequence[str] | None, header: bool | None
) -> tuple[dict[str, Coded], list[str]]:
    table = read.text
    if table is None:
        raise UnreadableFile(read.name, expected="rows of cells", found="an empty file")
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

    def judge(columns: Sequence[Coded]) -> bool | None:
        return has_header([([cells.head], cells.below.values) for cells in columns], judge=_two_values)

    stated = table.has_names(header, wanted)
    names = table.names(stated)
    # Who names a column that is not in the first line does not know whether that has names: all are judged.
    kept = names if stated is None else chosen(names, wanted, may_be_cells=True)
    places = [names.index(one) for one in kept]
    cells, has_names = table.columns(places, header=stated, judge=judge, record="a record")
    if stated is not None:
        return dict(zip(kept, cells, strict=True)), False
    columns = dict(zip(table.names(has_names), cells, strict=True))
    return {one: columns[one] for one in chosen(list(columns), wanted, may_be_cells=True)}, has_names


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
