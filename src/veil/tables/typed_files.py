"""Files of tables with names and types, Parquet and JSON lines, as Arrow columns with their rows in order."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from glob import escape
from pathlib import Path
from typing import Any

from veil.core.errors import InvalidData, UnreadableFile
from veil.tables.dialect import places_of
from veil.tables.engines.protocol import quoted, text_literal
from veil.tables.files import (
    PARQUET,
    check_packed,
    checked_cells,
    ending_of,
    files_of,
    most_from,
    name_of,
    swells,
)
from veil.tables.frames import Columns, chosen, nested
from veil.tables.trace import asked

# A place of a column takes at least so much in memory.
_PLACE = 8
# So few columns take about as much in memory as they take in JSON.
_FEW = 8
# What DuckDB makes of text that looks like it; it stays text, since 9:00 and 09:00 may be two labels.
_READ_AS_TEXT = ("DATE", "TIME", "UUID")


def file_columns(source: str, wanted: Sequence[str] | None) -> Columns:
    """The columns of a Parquet or JSON lines file, or of several with the same columns."""
    import pyarrow as pa

    tables = []
    for path in files_of(source):
        if not Path(path).is_file():
            found, hint = "one that is read only once", "Write it to a file first."
            raise UnreadableFile(name_of(path), expected="a file", found=found, hint=hint)
        read = _parquet if ending_of(path) in PARQUET else _json
        tables.append(checked_cells(read(path, name_of(path), wanted), name_of(path)))
    names = tables[0].column_names
    if any(table.column_names != names for table in tables):
        raise InvalidData("source", expected="files with the same columns", found="others")
    try:
        table = pa.concat_tables(tables, promote_options="permissive")
    except (pa.ArrowInvalid, pa.ArrowTypeError):
        expected = "columns of the same type in all files"
        raise InvalidData("source", expected=expected, found="others") from None
    return {name: table.column(i) for i, name in enumerate(names)}


def _parquet(path: str, name: str, wanted: Sequence[str] | None) -> Any:
    import pyarrow.parquet as pq

    asked(name, "the schema is read")
    with _readable(name), pq.ParquetFile(path) as file:
        names = chosen(list(file.schema_arrow.names), wanted)
        _check_size(file.metadata, len(names), path, name)
        asked(name, f"the columns {', '.join(names)} are read")
        return file.read(columns=names)


def check_parquet(path: str, columns: int) -> None:
    """Raise if a Parquet file, of which DuckDB reads so many columns, claims to hold more than the limits."""
    import pyarrow.parquet as pq

    name = name_of(path)
    asked(name, "the schema and the number of rows are read")
    with _readable(name):
        _check_size(pq.read_metadata(path), columns, path, name)


def parquet_types(path: str) -> dict[str, str]:
    """The types of the columns of a Parquet file, as far as they tell labels apart: sizes do not matter."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    def told(kind: Any) -> str:
        value = kind.value_type if pa.types.is_dictionary(kind) else kind
        if pa.types.is_integer(value):
            return "whole numbers"
        is_text = (
            pa.types.is_string(value) or pa.types.is_large_string(value) or pa.types.is_string_view(value)
        )
        return "text" if is_text else str(value)

    asked(name_of(path), "the schema is read")
    with _readable(name_of(path)):
        return {one.name: told(one.type) for one in pq.read_schema(path)}


@contextmanager
def _readable(name: str) -> Iterator[None]:
    import pyarrow as pa

    try:
        yield
    except (pa.ArrowException, OSError, UnicodeError, MemoryError):
        raise UnreadableFile(name, expected="a Parquet file", found="something else") from None


def _check_size(metadata: Any, columns: int, path: str, name: str) -> None:
    """Before a place is set aside for every row that the file claims to have, in the columns to be read."""
    rows = [metadata.row_group(i).num_rows for i in range(metadata.num_row_groups)]
    if min(rows, default=0) < 0 or sum(rows) != metadata.num_rows:
        raise UnreadableFile(name, expected="a Parquet file", found="one whose parts do not add up")
    most = most_from(Path(path).stat().st_size)
    if _PLACE * metadata.num_rows * max(1, columns) > most:
        raise swells(name, most, hint="Write it as CSV if it is right.")


def _json(path: str, name: str, wanted: Sequence[str] | None) -> Any:
    """JSON lines by DuckDB, in the order of the lines."""
    from veil.tables.engines.duck import private_connection, translated

    check_packed(path)
    connection, close = private_connection(files=[path], ordered=True)
    try:
        with translated(name, reads_rows=True):
            file = text_literal(escape(path))
            rows = connection.sql(f"DESCRIBE SELECT * FROM read_json({file}, sample_size = -1)").fetchall()
            kinds = {str(row[0]): str(row[1]) for row in rows}
            names = chosen(list(kinds), wanted, may_be_cells=True)
            shown = places_of(list(kinds)) if wanted is None else {}
            types = {one: "VARCHAR" if kinds[one].startswith(_READ_AS_TEXT) else kinds[one] for one in names}
            _check_cells(connection, file, types, path, name)
            stated = ", ".join(f"{text_literal(one)}: {text_literal(kind)}" for one, kind in types.items())
            listed = ", ".join(_selected(one, types[one], shown.get(one, one)) for one in names)
            return connection.sql(
                f"SELECT {listed} FROM read_json({file}, columns = {{{stated}}})"
            ).to_arrow_table()
    finally:
        close()


def _check_cells(connection: Any, file: str, types: dict[str, str], path: str, name: str) -> None:
    """Before every row gets a place in each column: objects without most of the names are short to write."""
    if len(types) <= _FEW:
        return
    first = next(iter(types))
    counted = f"SELECT count(*) FROM read_json({file}, columns = {{{text_literal(first)}: 'JSON'}})"
    rows = connection.sql(counted).fetchall()[0][0]
    most = most_from(Path(path).stat().st_size)
    if _PLACE * rows * len(types) > most:
        raise swells(name, most, hint="Write it as Parquet if it is right.")


def _selected(name: str, kind: str, shown: str) -> str:
    """The column in SQL. shown: what errors call it."""
    if kind.startswith(("STRUCT", "MAP", "UNION")) or kind.endswith("]"):
        raise nested(shown)
    # Where numbers and text are in one column DuckDB calls it JSON, and text would keep its quotes.
    return f"{quoted(name)} ->> '$' AS {quoted(name)}" if kind == "JSON" else quoted(name)
