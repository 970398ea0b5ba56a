"""Which engine a source lives in."""

from __future__ import annotations

import os
from collections.abc import Mapping
from glob import escape
from pathlib import Path
from typing import Any

from veil.core.errors import InvalidArgument, UnreadableFile, VeilError
from veil.tables.complaints import refuse_given
from veil.tables.engines import duck
from veil.tables.engines.file_relations import Wanted, csv_relation, json_relation, parquet_relation
from veil.tables.engines.protocol import Engine, text_literal
from veil.tables.files import JSON_LINES, PARQUET, check_packed, files_of
from veil.tables.frames import frame_columns, is_computed, is_frame
from veil.tables.sql.statement import Statement, one_select
from veil.tables.typed_files import check_parquet

_ADDRESSES = ("postgresql://", "postgres://", "postgresql+psycopg://", "postgresql+psycopg2://")
_CSV, _DATABASE = (".csv", ".tsv", ".txt"), (".duckdb", ".db")


def open_engine(
    source: Any,
    wanted: Mapping[str, str],
    *,
    table: str | None = None,
    query: str | None = None,
    numbers: bool = False,
) -> Engine:
    """The engine that holds the source. wanted: the columns that will be used, by role.

    numbers: labels in CSV and JSON come as numbers where a column has whole numbers alone, after another look
        at them; columns that say who somebody is never do.
    """
    for field, value in (("table", table), ("query", query)):
        if value is not None and (not isinstance(value, str) or not value.strip()):
            raise InvalidArgument(field, expected="text", found=type(value).__name__)
    if table is not None and query is not None:
        raise InvalidArgument("query", expected="either a table or a query", found="both")
    if isinstance(source, str) and source.startswith(_ADDRESSES):
        from veil.tables.engines.postgres import PostgresEngine

        return PostgresEngine(source, table=table, statement=_statement(query, "postgres"))
    if isinstance(source, (str, os.PathLike)):
        return _open_files(str(os.fspath(source)), wanted, table, query, numbers=numbers)
    if type(source).__module__.startswith("pyspark."):
        from veil.tables.engines.spark import SparkEngine

        return SparkEngine(source, table=table, statement=_statement(query, "spark"))
    if type(source).__name__ == "DuckDBPyConnection":
        return duck.connection_engine(source, table, _statement(query, "duckdb"))
    refuse_given("none for this kind of source", table=table, query=query)
    if type(source).__name__ == "DuckDBPyRelation":
        return duck.relation_engine(source)
    if is_frame(source):
        roles = {name: role for role, name in wanted.items()}
        columns = frame_columns(source, list(roles), roles=roles, mixed=False) or {}
        return duck.frame_engine(columns, row_by_row=not is_computed(source))
    expected = "a path, a table in memory, a DuckDB or Spark table, or a postgresql:// address"
    raise InvalidArgument("source", expected=expected, found=f"an object of type {type(source).__name__}")


def _statement(query: str | None, dialect: str) -> Statement | None:
    """The query, checked before anything is connected."""
    return None if query is None else one_select(query, dialect)


def _open_files(
    path: str, wanted: Mapping[str, str], table: str | None, query: str | None, *, numbers: bool
) -> Engine:
    """The engine for a path or a glob, unless a file would swell beyond the limits."""
    if "://" in path:
        raise InvalidArgument(
            "source", expected="a path, a glob or a postgresql:// address", found="another address"
        )
    files, name = files_of(path), Path(path).name
    if not all(Path(file).is_file() for file in files):
        raise UnreadableFile(path, expected="a file", found="no such file, or one that is read only once")
    suffix = Path(path.lower().removesuffix(".gz").removesuffix(".zst")).suffix
    if suffix in _DATABASE:
        return duck.database_engine(files[0], table, _statement(query, "duckdb"))
    for field, value in (("table", table), ("query", query)):
        if value is not None:
            raise InvalidArgument(field, expected="none for a file", found="one")
    if suffix not in {*_CSV, *PARQUET, *JSON_LINES}:
        expected, found = "a file of a known kind", f"the ending {suffix or 'none'}"
        hint = "Known are .csv, .tsv and .jsonl (also .gz), .parquet, .duckdb and .db."
        raise UnreadableFile(name, expected=expected, found=found, hint=hint)
    for file in files:
        if suffix in PARQUET:
            check_parquet(file, len(wanted))
        else:
            check_packed(file)
    listed = f"[{', '.join(text_literal(escape(file)) for file in files)}]"
    columns = Wanted.of(wanted)
    connection, close = duck.private_connection(files=files)
    try:
        with duck.translated(name):
            if suffix in PARQUET:
                relation = parquet_relation(files, listed, columns)
            elif suffix in JSON_LINES:
                relation = json_relation(connection, listed, columns, numbers=numbers)
            else:
                relation = csv_relation(connection, files, listed, columns, numbers=numbers)
    except VeilError:
        close()
        raise
    return duck.DuckEngine(
        name, connection.sql, relation, close=close, watches=connection, guesses_layout=suffix not in PARQUET
    )
