"""Files and globs: which of DuckDB's readers takes them."""

from __future__ import annotations

from collections.abc import Sequence
from glob import has_magic
from pathlib import Path
from typing import Any

from veil.core.errors import InvalidArgument, UnreadableFile
from veil.tables.engines.csv_files import csv_relation
from veil.tables.engines.duck import DuckEngine, database_engine, file_engine
from veil.tables.engines.names import text_literal

_PACKED = (".gz", ".zst")
_CSV, _PARQUET = (".csv", ".tsv", ".txt"), (".parquet", ".pq")
_JSON, _DATABASE = (".json", ".jsonl", ".ndjson"), (".duckdb", ".db")


def is_database(path: str) -> bool:
    return _suffix(path) in _DATABASE


def _suffix(path: str) -> str:
    bare = path.lower()
    for packed in _PACKED:
        bare = bare.removesuffix(packed)
    return Path(bare).suffix


def open_files(
    path: str, wanted: Sequence[str], *, table: str | None, query: str | None, as_text: Sequence[str] = ()
) -> DuckEngine:
    """The engine for a path or a glob.

    as_text: columns of a CSV file that are to be read as text even if they look like numbers.
    """
    _check_exists(path)
    if is_database(path):
        return database_engine(path, table, query)
    for field, value in (("table", table), ("query", query)):
        if value is not None:
            raise InvalidArgument(field, expected="none for a file", found="one")
    suffix, name = _suffix(path), Path(path).name
    if suffix not in {*_CSV, *_PARQUET, *_JSON}:
        raise UnreadableFile(
            name,
            expected="a file of a known kind",
            found=f"the ending {suffix or 'none'}",
            hint="Known are .csv, .tsv and .jsonl (also .gz), .parquet, .duckdb and .db.",
        )

    def relation(connection: Any) -> str:
        pattern = _escaped(path) if Path(path).is_file() else path
        files = connection.sql(f"SELECT file FROM glob({text_literal(pattern)}) ORDER BY file").fetchall()
        if not files:
            raise UnreadableFile(path, expected="files that match", found="none")
        if suffix in _CSV:
            first = _escaped(str(files[0][0]))
            return csv_relation(
                connection, pattern, first=first, several=len(files) > 1, wanted=wanted, as_text=as_text
            )
        reader = "read_parquet" if suffix in _PARQUET else "read_json_auto"
        return f"SELECT * FROM {reader}({text_literal(pattern)})"

    return file_engine(name, relation, guesses_layout=suffix not in _PARQUET)


def _escaped(path: str) -> str:
    """A pattern that this path alone matches, whatever marks are in its name."""
    return "".join(f"[{mark}]" if mark in "*?[" else mark for mark in path)


def _check_exists(path: str) -> None:
    if "://" in path:
        raise InvalidArgument(
            "source", expected="a path, a glob or a postgresql:// address", found="another address"
        )
    plain = Path(path)
    if plain.is_dir():
        raise UnreadableFile(
            plain.name, expected="a file", found="a folder", hint="Use a glob such as folder/*.parquet."
        )
    if not plain.is_file() and not has_magic(path):
        raise UnreadableFile(path, expected="a file", found="no such file")
