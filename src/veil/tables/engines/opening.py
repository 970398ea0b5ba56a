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
from veil.tables.engines.input_queries import columns_read, input_engine, one_input, queried_frame, wanted_by
from veil.tables.engines.protocol import ADDRESSES, DATABASE, Engine, text_literal
from veil.tables.files import JSON_LINES, PARQUET, check_packed, files_of
from veil.tables.frames import frame_columns, is_computed, is_frame
from veil.tables.sql.statement import Statement, one_select
from veil.tables.typed_files import check_parquet

_CSV = (".csv", ".tsv", ".txt")


def open_engine(
    source: Any,
    wanted: Mapping[str, str],
    *,
    table: str | None = None,
    query: str | None = None,
    numbers: bool = False,
    ordered: bool = False,
    has_format: bool = False,
) -> Engine:
    """The engine that holds the source. wanted: the columns that will be used, by role.

    has_format: it is stated how times in text files are written, so that they come as text.
    query: of a database, or of a file or frame, which it calls `input`. ordered: rows of files and frames
        come in their order. numbers: labels in CSV and JSON come as numbers where a column has whole numbers
        alone, after another look at them; columns that say who somebody is never do.
    """
    for field, value in (("table", table), ("query", query)):
        if value is not None and (not isinstance(value, str) or not value.strip()):
            raise InvalidArgument(field, expected="text", found=type(value).__name__)
    if table is not None and query is not None:
        raise InvalidArgument("query", expected="either a table or a query", found="both")
    if isinstance(source, str) and source.startswith(ADDRESSES):
        from veil.tables.engines.postgres import PostgresEngine

        return PostgresEngine(source, table=table, statement=_statement(query, "postgres"))
    if isinstance(source, (str, os.PathLike)):
        return _open_files(
            str(os.fspath(source)),
            Wanted.of(wanted, has_format=has_format),
            table,
            query,
            numbers=numbers,
            ordered=ordered,
        )
    if type(source).__module__.startswith("pyspark."):
        from veil.tables.engines.spark import SparkEngine

        return SparkEngine(source, table=table, statement=_statement(query, "spark"))
    if type(source).__name__ == "DuckDBPyConnection":
        return duck.connection_engine(source, table, _statement(query, "duckdb"))
    refuse_given("none for this kind of source", table=table)
    if type(source).__name__ == "DuckDBPyRelation":
        refuse_given("none for a relation, which is one", query=query)
        return duck.relation_engine(source)
    if is_frame(source):
        if query is not None:
            return queried_frame(source, one_input(query), ordered=ordered)
        roles = {name: role for role, name in wanted.items()}
        columns = frame_columns(source, list(roles), roles=roles, mixed=False) or {}
        return duck.frame_engine(columns, row_by_row=not is_computed(source))
    expected = "a path, a table in memory, a DuckDB or Spark table, or a postgresql:// address"
    raise InvalidArgument("source", expected=expected, found=f"an object of type {type(source).__name__}")


def _statement(query: str | None, dialect: str) -> Statement | None:
    """The query, checked before anything is connected."""
    return None if query is None else one_select(query, dialect)


def _open_files(
    path: str,
    wanted: Wanted,
    table: str | None,
    query: str | None,
    *,
    numbers: bool,
    ordered: bool,
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
    if suffix in DATABASE:
        return duck.database_engine(files[0], table, _statement(query, "duckdb"))
    refuse_given("none for a file", table=table)
    statement = None if query is None else one_input(query)
    if suffix not in {*_CSV, *PARQUET, *JSON_LINES}:
        expected, found = "a file of a known kind", f"the ending {suffix or 'none'}"
        hint = "Known are .csv, .tsv and .jsonl (also .gz), .parquet, .duckdb and .db."
        raise UnreadableFile(name, expected=expected, found=found, hint=hint)
    for file in files:
        if suffix in PARQUET:
            check_parquet(
                file,
                len(wanted.labels | wanted.times) if statement is None else columns_read(statement, file),
            )
        else:
            check_packed(file)
    listed = f"[{', '.join(text_literal(escape(file)) for file in files)}]"
    columns = wanted if statement is None else wanted_by(statement)
    connection, close = duck.private_connection(files=files, ordered=ordered)
    try:
        with duck.translated(name):
            if suffix in PARQUET:
                relation = parquet_relation(files, listed, columns)
            elif suffix in JSON_LINES:
                relation = json_relation(connection, listed, columns, numbers=numbers)
            else:
                relation = csv_relation(connection, files, listed, columns, numbers=numbers)
        is_guessed = suffix not in PARQUET
        if statement is not None:
            labels = wanted.words if numbers and is_guessed else set()
            return input_engine(
                name, connection, close, relation, statement, guesses_layout=is_guessed, labels=labels
            )
    except VeilError:
        close()
        raise
    return duck.DuckEngine(
        name, connection.sql, relation, close=close, watches=connection, guesses_layout=is_guessed
    )
