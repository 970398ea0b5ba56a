"""Which engine a source lives in, and how DuckDB is to read files.

CSV is written as `veil.tables.dialect` finds, with labels that are read as text. DuckDB guesses types, dates
and lines to skip, once, from the first file. What it takes for whole numbers in a column of users, states or
other labels is read as such only if nothing is lost: 7 and 007 are two labels.
"""

from __future__ import annotations

import os
from collections.abc import Collection, Mapping, Sequence
from pathlib import Path
from typing import Any

from veil.core.errors import InvalidArgument, UnreadableFile, VeilError
from veil.tables.complaints import refuse_given
from veil.tables.dialect import guess_delimiter, rows_of
from veil.tables.engines import duck
from veil.tables.engines.names import quoted, text_literal
from veil.tables.engines.protocol import Engine
from veil.tables.files import JSON_LINES, PARQUET, check_packed, ending_of, escaped, files_of, name_of
from veil.tables.frames import frame_columns, is_frame
from veil.tables.limits import MOST_COLUMNS, too_large
from veil.tables.text_tables import first_lines
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
    source: Any, wanted: Mapping[str, str], *, table: str | None = None, query: str | None = None
) -> Engine:
    """The engine that holds the source. wanted: the columns that will be used, by role."""
    for field, value in (("table", table), ("query", query)):
        if value is not None and (not isinstance(value, str) or not value.strip()):
            raise InvalidArgument(field, expected="text", found=type(value).__name__)
    if table is not None and query is not None:
        raise InvalidArgument("query", expected="either a table or a query", found="both")
    if isinstance(source, str) and source.startswith(_ADDRESSES):
        from veil.tables.engines.postgres import PostgresEngine

        return PostgresEngine(source, table=table, query=query)
    if isinstance(source, (str, os.PathLike)):
        return _open_files(str(os.fspath(source)), wanted, table, query)
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


def _open_files(path: str, wanted: Mapping[str, str], table: str | None, query: str | None) -> Engine:
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
    refuse_given("none for a file", table=table, query=query)
    if suffix not in {*_CSV, *PARQUET, *JSON_LINES}:
        expected, found = "a file of a known kind", f"the ending {suffix or 'none'}"
        hint = "Known are .csv, .tsv and .jsonl (also .gz), .parquet, .duckdb and .db."
        raise UnreadableFile(name, expected=expected, found=found, hint=hint)
    for file in files:
        if suffix in PARQUET:
            check_parquet(file, len(wanted))
        else:
            check_packed(file)

    def relation(connection: Any) -> str:
        if suffix in _CSV:
            return _csv_relation(connection, files, wanted)
        reader = "read_parquet" if suffix in PARQUET else "read_json_auto"
        return f"SELECT * FROM {reader}([{', '.join(text_literal(escaped(file)) for file in files)}])"

    return duck.file_engine(name, relation, guesses_layout=suffix not in PARQUET)


def _csv_relation(connection: Any, files: Sequence[str], wanted: Mapping[str, str]) -> str:
    """The query that reads CSV files of the same format. wanted: the columns that will be used, by role."""
    layout, guess = _layout(connection, files[0], list(wanted.values()))
    types = {str(column["name"]): str(column["type"]) for column in guess["Columns"]}
    labels = {name for role, name in wanted.items() if role not in _TIMES and name in types}
    listed = ", ".join(text_literal(escaped(file)) for file in files)
    whole = _whole_numbers(
        connection,
        f"read_csv([{listed}], {_stated(layout)}, all_varchar = true)",
        labels & {name for name, kind in types.items() if kind == "BIGINT"},
    )
    types |= {name: "BIGINT" if name in whole else "VARCHAR" for name in labels}
    if len(files) == 1:
        layout |= {"auto_detect": "false", "columns": _struct(types)}
        for option, field in (("dateformat", "DateFormat"), ("timestampformat", "TimestampFormat")):
            if guess[field] is not None:
                layout[option] = text_literal(guess[field])
    elif labels:
        # Another column may be of a wider type in a later file: there DuckDB's own guess over all is better.
        layout["types"] = _struct({name: types[name] for name in labels})
    return f"SELECT * FROM read_csv([{listed}], {_stated(layout)})"


def _layout(connection: Any, file: str, wanted: Sequence[str]) -> tuple[dict[str, str], dict[str, Any]]:
    """How a file is written, as options of DuckDB, and what DuckDB guesses besides."""
    lines = first_lines(file)
    delimiter = guess_delimiter(lines, ending_of(file))
    options = {} if delimiter in (None, " ") else {"delim": text_literal(str(delimiter))}
    rows = rows_of(lines, delimiter)
    if rows and len(rows[0]) > MOST_COLUMNS:
        raise too_large(name_of(file), "columns", MOST_COLUMNS)
    # Who names a column of the first line knows that it has names.
    headed = options | {"header": "true"}
    named = bool(rows) and bool(set(wanted) & set(rows[0]))
    guess = _sniff(connection, file, headed if named else options)
    if not named and not guess["HasHeader"] and not set(wanted) <= _names(guess):
        try:
            with duck.translated(name_of(file)):
                other = _sniff(connection, file, headed)
            guess = other if set(wanted) <= _names(other) else guess
        except VeilError:
            pass
    # Where no quote is in the sample there may still be one further down: it would end up in labels.
    quote = '"' if guess["Quote"] == _NONE else guess["Quote"]
    escape = quote if guess["Escape"] == _NONE else guess["Escape"]
    layout = {"header": str(guess["HasHeader"]).lower(), "delim": text_literal(guess["Delimiter"])}
    layout |= {"quote": text_literal(quote), "escape": text_literal(escape), "skip": str(guess["SkipRows"])}
    return layout | ({} if guess["Comment"] == _NONE else {"comment": text_literal(guess["Comment"])}), guess


def _names(guess: Mapping[str, Any]) -> set[str]:
    return {column["name"] for column in guess["Columns"]}


def _sniff(connection: Any, file: str, options: Mapping[str, str]) -> dict[str, Any]:
    stated = "".join(f", {option} = {value}" for option, value in options.items())
    result = connection.sql(f"SELECT * FROM sniff_csv({text_literal(escaped(file))}{stated})")
    return dict(zip(result.columns, result.fetchall()[0], strict=True))


def _whole_numbers(connection: Any, relation: str, names: Collection[str]) -> set[str]:
    """The columns in which every cell is a whole number as a database writes it: not 007."""
    if not names:
        return set()
    listed = sorted(names)
    tests = [f"coalesce(bool_and(regexp_full_match({quoted(name)}, {_WHOLE})), true)" for name in listed]
    found = connection.sql(f"SELECT {', '.join(tests)} FROM {relation}").fetchall()[0]
    return {name for name, is_whole in zip(listed, found, strict=True) if is_whole}


def _struct(types: Mapping[str, str]) -> str:
    return (
        "{" + ", ".join(f"{text_literal(name)}: {text_literal(kind)}" for name, kind in types.items()) + "}"
    )


def _stated(options: Mapping[str, str]) -> str:
    return ", ".join(f"{option} = {value}" for option, value in options.items())
