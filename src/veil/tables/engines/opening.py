"""Which engine a source lives in, and how DuckDB is to read files.

CSV is written as `veil.tables.dialect` finds. DuckDB guesses types, dates and lines to skip, once, from the
first file. Users, states and other labels are read as text whatever it guesses: 7 and 007 are two labels.
"""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from glob import escape
from pathlib import Path
from typing import Any

from veil.core.errors import InvalidArgument, UnreadableFile, VeilError
from veil.tables.complaints import refuse_given
from veil.tables.dialect import guess_delimiter, rows_of
from veil.tables.engines import duck
from veil.tables.engines.protocol import Engine, quoted, text_literal
from veil.tables.files import (
    JSON_LINES,
    MOST_COLUMNS,
    PARQUET,
    check_packed,
    ending_of,
    files_of,
    head_bytes,
    name_of,
    too_large,
)
from veil.tables.frames import frame_columns, is_frame
from veil.tables.text_tables import sample_of
from veil.tables.typed_files import check_parquet

_ADDRESSES = ("postgresql://", "postgres://", "postgresql+psycopg://", "postgresql+psycopg2://")
_CSV, _DATABASE = (".csv", ".tsv", ".txt"), (".duckdb", ".db")
# How DuckDB says that it found no such mark.
_NONE = "(empty)"
# A whole number as a database writes it, for DuckDB; spaces around it are no part of it.
_WHOLE = text_literal(r" *(0|-?[1-9][0-9]{0,17}) *")
# Roles of columns that are compared by size, and not label by label.
_TIMES = {"order", "tie_break"}


def open_engine(
    source: Any,
    wanted: Mapping[str, str],
    *,
    table: str | None = None,
    query: str | None = None,
    numbers: bool = False,
) -> Engine:
    """The engine that holds the source. wanted: the columns that will be used, by role.

    numbers: labels in CSV come as numbers where a column has whole numbers alone, after another look at them.
    """
    for field, value in (("table", table), ("query", query)):
        if value is not None and (not isinstance(value, str) or not value.strip()):
            raise InvalidArgument(field, expected="text", found=type(value).__name__)
    if table is not None and query is not None:
        raise InvalidArgument("query", expected="either a table or a query", found="both")
    if isinstance(source, str) and source.startswith(_ADDRESSES):
        from veil.tables.engines.postgres import PostgresEngine

        return PostgresEngine(source, table=table, query=query)
    if isinstance(source, (str, os.PathLike)):
        return _open_files(str(os.fspath(source)), wanted, table, query, numbers=numbers)
    if type(source).__module__.startswith("pyspark."):
        from veil.tables.engines.spark import SparkEngine

        return SparkEngine(source, table=table, query=query)
    if type(source).__name__ == "DuckDBPyConnection":
        return duck.connection_engine(source, table, query)
    refuse_given("none for this kind of source", table=table, query=query)
    if type(source).__name__ == "DuckDBPyRelation":
        return duck.relation_engine(source)
    if is_frame(source):
        roles = {name: role for role, name in wanted.items()}
        return duck.frame_engine(frame_columns(source, list(roles), roles=roles, mixed=False) or {})
    expected = "a path, a table in memory, a DuckDB or Spark table, or a postgresql:// address"
    raise InvalidArgument("source", expected=expected, found=f"an object of type {type(source).__name__}")


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
        return duck.database_engine(files[0], table, query)
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
    relation = f"SELECT * FROM {'read_parquet' if suffix in PARQUET else 'read_json_auto'}({listed})"
    connection, close = duck.private_connection()
    try:
        if suffix in _CSV:
            with duck.translated(name):
                relation = _csv_relation(connection, files, listed, wanted, numbers=numbers)
    except VeilError:
        close()
        raise
    return duck.DuckEngine(
        name, connection.sql, relation, close=close, watches=connection, guesses_layout=suffix not in PARQUET
    )


def _csv_relation(
    connection: Any, files: Sequence[str], listed: str, wanted: Mapping[str, str], *, numbers: bool
) -> str:
    """The query that reads CSV files of the same format, which are listed as a literal of DuckDB."""
    layout, guess = _layout(connection, files[0], set(wanted.values()))
    types = {str(column["name"]): str(column["type"]) for column in guess["Columns"]}
    whole = {name for name in wanted.values() if types.get(name) == "BIGINT"}
    ordered = whole & {name for role, name in wanted.items() if role in _TIMES}
    labels = {role: name for role, name in wanted.items() if role not in _TIMES and name in types}
    if numbers:
        ordered |= _whole_numbers(connection, listed, layout, whole - ordered)
    text = {name: "VARCHAR" for name in labels.values() if name not in ordered}
    # Spaces around a number are no part of it. Who somebody is stays as it is written. To look for a space is
    # quicker than to trim, by a tenth of the time for a column of numbers.
    spaced = {name for role, name in labels.items() if name in whole & set(text) and role[:2] != "by"}
    if len(files) == 1:
        layout["auto_detect"] = "false"
        for option, field in (("dateformat", "DateFormat"), ("timestampformat", "TimestampFormat")):
            if guess[field] is not None:
                layout[option] = text_literal(guess[field])
    # Another column may be of a wider type in a later file: there DuckDB's own guess over all is better.
    stated = types | text if len(files) == 1 else text
    if stated:
        pairs = (f"{text_literal(name)}: {text_literal(kind)}" for name, kind in stated.items())
        layout["columns" if len(files) == 1 else "types"] = "{" + ", ".join(pairs) + "}"
    options = ", ".join(f"{option} = {value}" for option, value in layout.items())
    trimmed = ", ".join(
        f"CASE WHEN contains({name}, ' ') THEN trim({name}) ELSE {name} END AS {name}"
        for name in map(quoted, sorted(spaced))
    )
    replaced = f" REPLACE ({trimmed})" if trimmed else ""
    return f"SELECT *{replaced} FROM read_csv({listed}, {options})"


def _layout(connection: Any, file: str, wanted: set[str]) -> tuple[dict[str, str], dict[str, Any]]:
    """How a file is written, as options of DuckDB, and what DuckDB guesses besides."""
    name = name_of(file)
    lines = sample_of(head_bytes(file), name)
    delimiter = guess_delimiter(lines, ending_of(file))
    options = {} if delimiter in (None, " ") else {"delim": text_literal(str(delimiter))}
    rows = rows_of(lines, delimiter)
    if rows and len(rows[0]) > MOST_COLUMNS:
        raise too_large(name, "columns", MOST_COLUMNS)
    # Who names a column of the first line knows that it has names.
    headed = options | {"header": "true"}
    named = bool(rows) and bool(wanted & set(rows[0]))
    guess = _sniff(connection, file, headed if named else options)
    if not named and not guess["HasHeader"] and not wanted <= _names(guess):
        try:
            with duck.translated(name):
                other = _sniff(connection, file, headed)
            guess = other if wanted <= _names(other) else guess
        except VeilError:
            pass
    # Where no quote is in the sample there may still be one further down: it would end up in labels.
    quote = '"' if guess["Quote"] == _NONE else guess["Quote"]
    escaping = quote if guess["Escape"] == _NONE else guess["Escape"]
    layout = {"header": str(guess["HasHeader"]).lower(), "delim": text_literal(guess["Delimiter"])}
    layout |= {"quote": text_literal(quote), "escape": text_literal(escaping), "skip": str(guess["SkipRows"])}
    return layout | ({} if guess["Comment"] == _NONE else {"comment": text_literal(guess["Comment"])}), guess


def _names(guess: Mapping[str, Any]) -> set[str]:
    return {column["name"] for column in guess["Columns"]}


def _sniff(connection: Any, file: str, options: Mapping[str, str]) -> dict[str, Any]:
    stated = "".join(f", {option} = {value}" for option, value in options.items())
    result = connection.sql(f"SELECT * FROM sniff_csv({text_literal(escape(file))}{stated})")
    return dict(zip(result.columns, result.fetchall()[0], strict=True))


def _whole_numbers(connection: Any, listed: str, layout: Mapping[str, str], names: set[str]) -> set[str]:
    """The columns in which every cell is a whole number as a database writes it: not 007."""
    if not names:
        return set()
    tests = [f"coalesce(bool_and(regexp_full_match({quoted(name)}, {_WHOLE})), true)" for name in names]
    options = ", ".join(f"{option} = {value}" for option, value in layout.items())
    relation = f"read_csv({listed}, {options}, all_varchar = true)"
    are_whole = connection.sql(f"SELECT {', '.join(tests)} FROM {relation}").fetchall()[0]
    return {name for name, is_whole in zip(names, are_whole, strict=True) if is_whole}
