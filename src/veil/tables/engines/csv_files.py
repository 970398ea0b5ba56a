"""CSV files: the format is guessed once, by DuckDB, and then stated, so that no file is guessed at twice."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from veil.core.errors import VeilError
from veil.tables.engines.duck import translated
from veil.tables.engines.names import text_literal

# How DuckDB says that it found no such mark.
_NONE = "(empty)"


def csv_relation(
    connection: Any, path: str, *, first: str, several: bool, wanted: Sequence[str], as_text: Sequence[str]
) -> str:
    """The query that reads a CSV file, or several of the same format, of which the first is looked at.

    as_text: columns to be read as text even if they look like numbers.
    """
    guess = _guess(connection, first, wanted)
    # Where no quote is in the sample there may still be one further down: it would end up in labels.
    quote = '"' if guess["Quote"] == _NONE else guess["Quote"]
    escape = quote if guess["Escape"] == _NONE else guess["Escape"]
    options = {"header": str(guess["HasHeader"]).lower(), "delim": text_literal(guess["Delimiter"])}
    options |= {"quote": text_literal(quote), "escape": text_literal(escape)}
    types = {
        column["name"]: "VARCHAR" if column["name"] in as_text else column["type"]
        for column in guess["Columns"]
    }
    if not several:
        listed = ", ".join(f"{text_literal(name)}: {text_literal(kind)}" for name, kind in types.items())
        options |= {"auto_detect": "false", "skip": str(guess["SkipRows"]), "columns": f"{{{listed}}}"}
        if guess["Comment"] != _NONE:
            options["comment"] = text_literal(guess["Comment"])
        for option, field in (("dateformat", "DateFormat"), ("timestampformat", "TimestampFormat")):
            if guess[field] is not None:
                options[option] = text_literal(guess[field])
    else:
        # A column may be of a wider type in a later file: there DuckDB's own guess over all is better.
        texts = ", ".join(f"{text_literal(name)}: 'VARCHAR'" for name in as_text if name in types)
        options |= {"types": f"{{{texts}}}"} if texts else {}
    stated = ", ".join(f"{option} = {value}" for option, value in options.items())
    return f"SELECT * FROM read_csv({text_literal(path)}, {stated})"


def _guess(connection: Any, file: str, wanted: Sequence[str]) -> dict[str, Any]:
    """DuckDB's guess of the format; with a header where the columns are found only then."""
    guess = _sniff(connection, file, "")
    if set(wanted) <= {column["name"] for column in guess["Columns"]} or guess["HasHeader"]:
        return guess
    try:
        with translated(Path(file).name):
            headed = _sniff(connection, file, ", header = true")
    except VeilError:
        return guess
    return headed if set(wanted) <= {column["name"] for column in headed["Columns"]} else guess


def _sniff(connection: Any, file: str, options: str) -> dict[str, Any]:
    result = connection.sql(f"SELECT * FROM sniff_csv({text_literal(file)}{options})")
    return dict(zip(result.columns, result.fetchall()[0], strict=True))
