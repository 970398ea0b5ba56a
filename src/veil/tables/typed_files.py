"""Files of tables with names and types, Parquet and JSON lines, as Arrow columns with their rows in order."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from veil.core.errors import InvalidArgument, InvalidData, UnreadableFile
from veil.tables.engines.names import quoted, text_literal
from veil.tables.files import JSON_LINES, PARQUET, ending_of, escaped, files_of, name_of
from veil.tables.frames import Columns, chosen, frame_columns, nested
from veil.tables.limits import most_from, swells

# A place of a column takes at least so much in memory.
_PLACE = 8
# What DuckDB makes of text that looks like it; it stays text, since 9:00 and 09:00 may be two labels.
_READ_AS_TEXT = ("DATE", "TIME", "UUID")


def is_table_file(path: str) -> bool:
    """Whether a file holds a table with names and types: Parquet or JSON lines."""
    return ending_of(path) in {*PARQUET, *JSON_LINES}


def typed_columns(
    source: Any, wanted: Sequence[str] | None, *, expected: str, given: Mapping[str, Any]
) -> Columns:
    """The columns of a typed file or of a table in memory.

    expected: what errors say that the source should be. given: fields that are for text alone.
    """
    is_path = isinstance(source, (str, os.PathLike))
    columns = file_columns(os.fspath(source), wanted) if is_path else frame_columns(source, wanted)
    if columns is None:
        found = f"an object of type {type(source).__name__}"
        raise InvalidArgument("source", expected=expected, found=found)
    for field, value in given.items():
        if value is not None:
            raise InvalidArgument(field, expected="none for this kind of source", found="one")
    return columns


def file_columns(source: str, wanted: Sequence[str] | None) -> Columns:
    """The columns of a Parquet or JSON lines file, or of several with the same columns."""
    import pyarrow as pa

    tables = []
    for path in files_of(source):
        read = read_parquet if ending_of(path) in PARQUET else _json
        tables.append(read(path, name_of(path), lambda names: chosen(names, wanted)))
    names = tables[0].column_names
    if any(table.column_names != names for table in tables):
        raise InvalidData("source", expected="files with the same columns", found="others")
    try:
        table = pa.concat_tables(tables, promote_options="permissive")
    except (pa.ArrowInvalid, pa.ArrowTypeError):
        raise InvalidData(
            "source", expected="columns of the same type in all files", found="others"
        ) from None
    return {name: table.column(i) for i, name in enumerate(names)}


def read_parquet(path: str, name: str, choose: Callable[[list[str]], list[str]] | None = None) -> Any:
    """The table in a Parquet file, checked: broken text would otherwise fail later, wherever it is used.

    choose: takes the names of all columns and returns those to be read. name: of the file, in messages.
    """
    import pyarrow as pa
    import pyarrow.parquet as pq

    try:
        with pq.ParquetFile(path) as file:
            wanted = None if choose is None else choose(list(file.schema_arrow.names))
            columns = file.metadata.num_columns if wanted is None else len(wanted)
            _check_size(file.metadata, columns, Path(path).stat().st_size, name)
            return with_whole_text(file.read(columns=wanted), name)
    except (pa.ArrowException, OSError, UnicodeError, MemoryError):
        raise UnreadableFile(name, expected="a Parquet file", found="something else") from None


def _check_size(metadata: Any, columns: int, packed: int, name: str) -> None:
    """Before a place is set aside for every row that the file claims to have, in the columns to be read."""
    groups = [metadata.row_group(i) for i in range(metadata.num_row_groups)]
    rows = [group.num_rows for group in groups]
    if min(rows, default=0) < 0 or sum(rows) != metadata.num_rows:
        raise UnreadableFile(name, expected="a Parquet file", found="one whose parts do not add up")
    most = most_from(packed)
    if _PLACE * metadata.num_rows * max(1, columns) > most:
        raise swells(name, most, hint="Write it as CSV if it is right.")


def with_whole_text(table: Any, name: str) -> Any:
    """The table, if all text in it is text: broken letters would fail later, wherever they are used."""
    import pyarrow as pa

    try:
        table.validate(full=True)
    except pa.ArrowInvalid:
        raise UnreadableFile(name, expected="text in UTF-8", found="bytes that are none") from None
    return table


def _json(path: str, name: str, choose: Callable[[list[str]], list[str]]) -> Any:
    """JSON lines by DuckDB, in the order of the lines."""
    from veil.tables.engines.duck import private_connection, translated

    connection, close = private_connection()
    try:
        with translated(name, reads_rows=True):
            connection.execute("SET preserve_insertion_order = true")
            file = text_literal(escaped(path))
            rows = connection.sql(f"DESCRIBE SELECT * FROM read_json({file}, sample_size = -1)").fetchall()
            kinds = {str(row[0]): str(row[1]) for row in rows}
            names = choose(list(kinds))
            types = {one: "VARCHAR" if kinds[one].startswith(_READ_AS_TEXT) else kinds[one] for one in names}
            stated = ", ".join(f"{text_literal(one)}: {text_literal(kind)}" for one, kind in types.items())
            listed = ", ".join(_selected(one, types[one]) for one in names)
            return connection.sql(
                f"SELECT {listed} FROM read_json({file}, columns = {{{stated}}})"
            ).to_arrow_table()
    finally:
        close()


def _selected(name: str, kind: str) -> str:
    if kind.startswith(("STRUCT", "MAP", "UNION")) or kind.endswith("]"):
        raise nested(name)
    # Where numbers and text are in one column DuckDB calls it JSON, and text would keep its quotes.
    return f"{quoted(name)} ->> '$' AS {quoted(name)}" if kind == "JSON" else quoted(name)
