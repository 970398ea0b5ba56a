"""The one reader of tables: whatever the format, and whatever kind of data is made of the cells."""

from __future__ import annotations

import os
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import Any

from veil.core.errors import InvalidArgument, UnreadableFile
from veil.tables.complaints import refuse_given
from veil.tables.dialect import checked_delimiter, checked_header
from veil.tables.engines.protocol import is_database, quoted, render
from veil.tables.files import JSON_LINES, PARQUET, ending_of, file_of, name_of, text_bytes
from veil.tables.frames import Columns, chosen, frame_columns, is_computed
from veil.tables.text_tables import TextTable, open_text, small_table
from veil.tables.typed_files import file_columns


@dataclass(frozen=True, slots=True)
class TableRead:
    """A table as it was read: columns with names and types, or text with separators.

    name: what messages call it. columns: of Arrow, by name. text: with its cells as they are written; None
    also for files without any, and for JSON. raw: a small text as it is. may_be_cells: the names of the
    columns are keys of JSON, which need not be names. unchecked: the table is what a query
    makes of other data, of which one record may be in several rows, or affect them. layout_guessed: an engine
    found out how the text is written.
    """

    name: str
    columns: Columns | None = None
    text: TextTable | None = None
    raw: bytes = b""
    may_be_cells: bool = False
    unchecked: bool = False
    layout_guessed: bool = False


def read_table(
    source: Any,
    wanted: Sequence[str] | None = None,
    *,
    expected: str,
    typed: Collection[str] = (*PARQUET, *JSON_LINES),
    small: bool = False,
    documents: bool = False,
    header: Any = None,
    delimiter: Any = None,
    least: int = 1,
    comments: bool = False,
    table: str | None = None,
    query: str | None = None,
) -> TableRead:
    """A table from files, from a database, or in memory. Files that would fill the memory are refused.

    wanted: columns of a typed table; all unless given. typed: endings of files that have names and types.
    expected: what errors say that the source, or the text of a small file, should be. small: a table in one
    file, whose separator and first line are never asked for. documents: text may also be JSON, as it is.
    header, delimiter: of text, as the user gave them. least: cells that each line must have. comments: lines
    that begin with # or % may be comments. table, query: which table of a database, or one SELECT whose
    result is read, of a database, or of a file or frame by the name `input`.
    """
    mark, header = checked_delimiter(delimiter), checked_header(header)
    if table is not None or query is not None or is_database(source):
        refuse_given("none for a database or a query", header=header, delimiter=mark)
        return _from_engine(source, wanted, table=table, query=query)
    if isinstance(source, (str, os.PathLike)):
        path = os.fspath(source)
        if small and ending_of(path) not in typed:
            return _small(path, expected, documents=documents)
        if ending_of(path) not in typed:
            text = open_text(path, delimiter=mark, least=least, comments=comments)
            return TableRead(name_of(path), text=text)
        is_json = ending_of(path) not in PARQUET
        read = TableRead(name_of(path), file_columns(path, wanted), may_be_cells=is_json)
    else:
        read = TableRead("source", frame_columns(source, wanted), unchecked=is_computed(source))
    if read.columns is None:
        raise InvalidArgument("source", expected=expected, found=f"an object of type {type(source).__name__}")
    refuse_given("none for this kind of source", header=header, delimiter=mark)
    return read


def _from_engine(
    source: Any, wanted: Sequence[str] | None, *, table: str | None, query: str | None
) -> TableRead:
    from veil.tables.engines.opening import open_engine

    asked = {f"columns[{i}]": name for i, name in enumerate(wanted or ())}
    engine = open_engine(source, asked, table=table, query=query, ordered=True)
    try:
        present = engine.columns()
        names = chosen(list(present), wanted, may_be_cells=engine.guesses_layout)
        columns = ", ".join(quoted(present[name].identifier) for name in names)
        text = render(f"SELECT {columns} FROM veil_source", engine.dialect)
        read = engine.run(f"WITH veil_source AS (\n{engine.relation}\n)\n{text}")
    finally:
        engine.close()
    return TableRead(
        "source",
        {name: read.column(i) for i, name in enumerate(names)},
        may_be_cells=engine.guesses_layout,
        unchecked=not engine.row_by_row,
        layout_guessed=engine.guesses_layout,
    )


def _small(path: str, expected: str, *, documents: bool) -> TableRead:
    file = file_of(path)
    name, raw = name_of(file), text_bytes(file)
    if not raw.strip():
        raise UnreadableFile(name, expected=expected, found="an empty file")
    is_json = documents and (ending_of(file) in JSON_LINES or raw.lstrip()[:1] in (b"[", b"{"))
    return TableRead(name, text=None if is_json else small_table(raw, name), raw=raw)


def read_rows(path: str, *, expected: str) -> tuple[str, list[list[str]]]:
    """What messages call a small file of text, and the cells of its rows."""
    read = read_table(path, expected=expected, typed=(), small=True)
    assert read.text is not None
    return read.name, read.text.rows(expected=expected)
