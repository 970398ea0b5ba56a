"""The names of the columns of a source, read in a process of its own: never rows, values or counts.

Parquet files and catalogues of databases state names and types. The first line of a text file may be a
record: it is read only after the user has said that it names the columns.
"""

from __future__ import annotations

import json
import sys
from importlib import import_module
from pathlib import Path
from typing import Any

from veil.core.errors import InvalidData, VeilError
from veil.tables.dialect import guess_delimiter, rows_of
from veil.tables.engines.protocol import ADDRESSES, DATABASE, table_parts
from veil.tables.files import PARQUET, ending_of, file_of, head_bytes, name_of
from veil.tables.trace import asked, bytes_read, tracing

# Of the first line of a text, and of what may be asked of it.
_LONGEST = 2**20
_MOST = 4096
# Of what the end of a Parquet file may hold: text, and entries of a list.
_LONGEST_NAMES = 2**26
# Bytes of memory and seconds of a processor, which a hostile file must not go beyond.
_MEMORY, _SECONDS = 2**33, 30
Columns = list[tuple[str, str]]


def read_tables(source: str) -> list[str]:
    """The names of the tables of a database; none of any other source."""
    if source.startswith(ADDRESSES):
        return _named(_asked_of_postgres(source, _TABLES, {}))
    path = file_of(source)
    return _named(_asked_of_duckdb(path, _TABLES)) if ending_of(path) in DATABASE else []


def _named(rows: list[Any]) -> list[str]:
    """Names of tables, with their schema where it is not the usual one."""
    return [name if schema in ("main", "public") else f"{schema}.{name}" for schema, name in rows][:_MOST]


def read_schema(source: str, *, table: str | None, has_header: bool) -> Columns:
    """The names of the columns, with the types that are declared; none where nothing may be known."""
    if source.startswith(ADDRESSES):
        return _of_postgres(source, table) if table else []
    path = file_of(source)
    ending = ending_of(path)
    if ending in PARQUET:
        return _of_parquet(path)
    if ending in DATABASE:
        return _of_duckdb(path, table) if table else []
    return _of_text(path, ending) if has_header else []


def _of_parquet(path: str) -> Columns:
    import pyarrow.parquet as pq

    asked(name_of(path), "the names and types of the columns are read")
    limits = {"thrift_string_size_limit": _LONGEST_NAMES, "thrift_container_size_limit": _LONGEST_NAMES}
    try:
        with pq.ParquetFile(path, **limits) as file:
            schema = file.schema_arrow
    except Exception:
        raise InvalidData(name_of(path), expected="a Parquet file", found="another file") from None
    return [(field.name, str(getattr(field.type, "value_type", field.type))) for field in schema][:_MOST]


def _of_text(path: str, ending: str) -> Columns:
    """The cells of the first line alone; the rest of what was read is thrown away unseen."""
    head = head_bytes(path, _LONGEST).split(b"\n", 1)[0].rstrip(b"\r")
    asked(name_of(path), "only the first line is kept: it names the columns, by what the user says")
    lines = [head.decode("utf-8", "replace")]
    rows = rows_of(lines, guess_delimiter(lines, ending))
    return [(cell, "text") for cell in (rows[0] if rows else []) if cell][:_MOST]


_COLUMNS = (
    "SELECT column_name, data_type FROM information_schema.columns "
    "WHERE table_name = {name} AND ({schema} IS NULL OR table_schema = {schema}) ORDER BY ordinal_position"
)


# Views and tables, without those of the engine itself.
_TABLES = (
    "SELECT table_schema, table_name FROM information_schema.tables "
    "WHERE table_schema NOT IN ('information_schema', 'pg_catalog') ORDER BY table_schema, table_name"
)


def _of_duckdb(path: str, table: str) -> Columns:
    from veil.tables.engines.protocol import text_literal

    *above, name = table_parts(table)
    schema = text_literal(above[-1]) if above else "NULL"
    return _some(_asked_of_duckdb(path, _COLUMNS.format(name=text_literal(name), schema=schema)), table)


def _asked_of_duckdb(path: str, query: str) -> list[Any]:
    from veil.tables.engines.duck import private_connection

    connection, close = private_connection(path)
    try:
        rows: list[Any] = connection.sql(query).fetchall()
    finally:
        close()
    return rows


def _of_postgres(address: str, table: str) -> Columns:
    *above, name = table_parts(table)
    values = {"name": name, "schema": above[-1] if above else None}
    query = _COLUMNS.format(name="%(name)s", schema="%(schema)s::text")
    return _some(_asked_of_postgres(address, query, values), table)


def _asked_of_postgres(address: str, query: str, values: dict[str, Any]) -> list[Any]:
    import psycopg

    asked("database", query)
    scheme, _, rest = address.partition("://")
    try:
        with psycopg.connect(f"{scheme.partition('+')[0]}://{rest}", connect_timeout=10) as connection:
            connection.read_only = True
            rows: list[Any] = connection.execute(query, values).fetchall()
    except psycopg.Error:
        # The text of the error may hold the address, and so the password.
        expected, found = "a PostgreSQL server that answers", "none"
        raise InvalidData("source", expected=expected, found=found) from None
    return rows


def _some(rows: list[Any], table: str) -> Columns:
    if not rows:
        raise InvalidData("table", expected="a table of the database", found=f"no {table!r}"[:80])
    return [(str(name), str(kind)) for name, kind in rows][:_MOST]


def _load_readers(source: str) -> None:
    """Load the parts of the program that read such a source: what is read from then on is the source."""
    if source.startswith(ADDRESSES):
        import_module("psycopg")
        return
    ending = ending_of(source)
    if ending in PARQUET:
        import_module("pyarrow.parquet")
    elif ending in DATABASE:
        import_module("duckdb").connect().close()


def _bound() -> None:
    """Keep a hostile file from using up the machine, and from being written to."""
    try:
        import resource
    except ImportError:
        # Windows knows no such limits; the process is stopped by the clock.
        return
    resource.setrlimit(resource.RLIMIT_AS, (_MEMORY, _MEMORY))
    resource.setrlimit(resource.RLIMIT_CPU, (_SECONDS, _SECONDS))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))


def main() -> None:
    """Answer one question, given as JSON on standard input, with JSON on standard output."""
    order = json.load(sys.stdin)
    _bound()
    questions: list[tuple[str, str]] = []
    answer: dict[str, Any] = {"questions": questions}
    with tracing(lambda *question: questions.append(question)):
        try:
            source = order["source"]
            if not source.startswith(ADDRESSES) and not Path(source).is_file():
                raise InvalidData("source", expected="a file", found="no such file")
            _load_readers(source)
            before = bytes_read()
            answer["columns"] = read_schema(source, table=order["table"], has_header=order["has_header"])
            answer["tables"] = read_tables(source)
            answer["bytes"] = bytes_read() - before
        except VeilError as error:
            answer["error"] = str(error)
        except Exception as error:
            answer["error"] = f"The columns could not be read ({type(error).__name__})."
    json.dump(answer, sys.stdout)


if __name__ == "__main__":
    main()
