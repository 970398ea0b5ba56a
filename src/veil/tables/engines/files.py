"""Files and globs: which of DuckDB's readers takes them."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from veil.core.errors import InvalidArgument, UnreadableFile
from veil.tables.engines.csv_files import csv_relation
from veil.tables.engines.duck import DuckEngine, database_engine, file_engine
from veil.tables.engines.names import text_literal
from veil.tables.files import JSON_LINES, PARQUET, escaped, files_of

_CSV, _DATABASE = (".csv", ".tsv", ".txt"), (".duckdb", ".db")


def open_files(path: str, wanted: Mapping[str, str], *, table: str | None, query: str | None) -> DuckEngine:
    """The engine for a path or a glob. wanted: the columns that will be used, by role."""
    if "://" in path:
        raise InvalidArgument(
            "source", expected="a path, a glob or a postgresql:// address", found="another address"
        )
    files, name = files_of(path), Path(path).name
    if not all(Path(file).is_file() for file in files):
        raise UnreadableFile(path, expected="a file", found="no such file, or one that is read only once")
    suffix = Path(path.lower().removesuffix(".gz").removesuffix(".zst")).suffix
    if suffix in _DATABASE:
        return database_engine(files[0], table, query)
    for field, value in (("table", table), ("query", query)):
        if value is not None:
            raise InvalidArgument(field, expected="none for a file", found="one")
    if suffix not in {*_CSV, *PARQUET, *JSON_LINES}:
        raise UnreadableFile(
            name,
            expected="a file of a known kind",
            found=f"the ending {suffix or 'none'}",
            hint="Known are .csv, .tsv and .jsonl (also .gz), .parquet, .duckdb and .db.",
        )

    def relation(connection: Any) -> str:
        if suffix in _CSV:
            return csv_relation(connection, files, wanted)
        reader = "read_parquet" if suffix in PARQUET else "read_json_auto"
        return f"SELECT * FROM {reader}([{', '.join(text_literal(escaped(file)) for file in files)}])"

    return file_engine(name, relation, guesses_layout=suffix not in PARQUET)
