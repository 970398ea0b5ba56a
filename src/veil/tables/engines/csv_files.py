"""CSV files in DuckDB: written as `veil.tables.dialect` finds, with labels that are read as text.

DuckDB guesses types, dates and lines to skip, once, from the first file. What it takes for whole numbers in a
column of users, states or other labels is read as such only if nothing is lost: 7 and 007 are two labels.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import Any

from veil.core.errors import VeilError
from veil.tables.dialect import guess_delimiter, rows_of
from veil.tables.engines.duck import translated
from veil.tables.engines.names import quoted, text_literal
from veil.tables.files import ending_of, escaped, head_bytes, name_of
from veil.tables.text_file import TextFile, sample_of

# How DuckDB says that it found no such mark.
_NONE = "(empty)"
# A whole number as a database writes it, for DuckDB; spaces around it are no part of it.
_WHOLE = text_literal(r" *(0|-?[1-9][0-9]{0,17}) *")
# Roles of columns that are compared by size, and not label by label.
_TIMES = {"order", "tie_break"}


def csv_relation(connection: Any, files: Sequence[str], wanted: Mapping[str, str]) -> str:
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
    lines = sample_of(TextFile(name_of(file), b"", head_bytes(file)))
    delimiter = guess_delimiter(lines, ending_of(file))
    options = {} if delimiter in (None, " ") else {"delim": text_literal(str(delimiter))}
    rows = rows_of(lines, delimiter)
    # Who names a column of the first line knows that it has names.
    headed = options | {"header": "true"}
    named = bool(rows) and bool(set(wanted) & set(rows[0]))
    guess = _sniff(connection, file, headed if named else options)
    if not named and not guess["HasHeader"] and not set(wanted) <= _names(guess):
        try:
            with translated(name_of(file)):
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
