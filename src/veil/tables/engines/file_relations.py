"""How DuckDB is to read files: as queries that give their rows, with users, states and other labels as text.

CSV is written as `veil.tables.dialect` finds. DuckDB guesses types, dates and lines to skip, once, from the
first rows. Labels are read as text whatever it guesses: 7 and 007 are two people, also where all rows that it
looked at hold plain numbers. In JSON a label is text or a whole number; the number 7 and the text "7" are the
same. Parquet has types of its own, which must be the same in all files: DuckDB would make those of the first
of the others.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from glob import escape
from typing import Any

from veil.core.errors import InvalidData, VeilError
from veil.tables.dialect import guess_delimiter, rows_of
from veil.tables.engines import duck
from veil.tables.engines.protocol import DERIVED, TIMES, quoted, text_literal
from veil.tables.files import MOST_COLUMNS, ending_of, head_bytes, name_of, too_large
from veil.tables.text_tables import sample_of
from veil.tables.typed_files import parquet_types

# How DuckDB says that it found no such mark.
_NONE = "(empty)"
# A whole number as a database writes it, for DuckDB; spaces around it are no part of it.
_WHOLE = text_literal(r" *(0|-?[1-9][0-9]{0,17}) *")
# What DuckDB calls cells of JSON that are labels; it calls whole numbers beyond 64 bits DOUBLE.
_LABELS = "'VARCHAR', 'BIGINT', 'UBIGINT', 'BOOLEAN'"
_DIGITS = text_literal("-?[0-9]+")


@dataclass(frozen=True)
class Wanted:
    """The columns that are wanted: those that hold labels, of which some say who somebody is, and times.

    every: they are named by a query, in any case, and all columns are to be read as they are written.
    moments: the times but for those that break ties; derived: those of which an hour or so is taken.
    has_format: it is stated how they are written.
    """

    labels: set[str]
    people: set[str]
    times: set[str]
    every: bool = False
    moments: frozenset[str] = frozenset()
    derived: frozenset[str] = frozenset()
    has_format: bool = False

    @classmethod
    def of(cls, roles: Mapping[str, str], *, has_format: bool = False) -> Wanted:
        """From the columns by role."""
        times = {name for role, name in roles.items() if role in TIMES}
        labels = {name for role, name in roles.items() if role not in TIMES}
        people = {name for role, name in roles.items() if role.startswith("by")}
        derived = frozenset(name for role, name in roles.items() if role in DERIVED)
        moments = derived | {name for role, name in roles.items() if role == "order"}
        return cls(
            labels, people, times - people, moments=moments - people, derived=derived, has_format=has_format
        )

    @property
    def words(self) -> set[str]:
        """The labels other than those that say who somebody is."""
        return self.labels - self.people - self.times

    def among(self, cells: Sequence[str]) -> set[str]:
        """The names among the cells of a first line."""
        if not self.every:
            return (self.labels | self.times) & set(cells)
        folded = {name.casefold() for name in self.labels}
        return {cell for cell in cells if cell.casefold() in folded}

    def text(self, types: Mapping[str, str]) -> set[str]:
        """The columns to be read as text. Whole numbers that are a time as well as a label stay numbers."""
        if self.every:
            return set(types)
        return {
            name for name in self.labels & set(types) if name not in self.times or types[name] != "BIGINT"
        }

    def written(self, types: Mapping[str, str], formats: Mapping[str, str | None]) -> set[str]:
        """The times to be read as text: DuckDB would guess from the data how they are written.

        formats: those that it found, by the beginning of the names of types. It knows ISO without looking.
        """
        found = {
            name
            for name in self.moments & set(types)
            for kind, form in formats.items()
            if types[name].startswith(kind) and not (form or "%Y").startswith("%Y")
        }
        zoned = {name for name in self.derived & set(types) if types[name] == "TIMESTAMP WITH TIME ZONE"}
        return set(self.moments & set(types)) if self.has_format else found | zoned


def parquet_relation(files: Sequence[str], listed: str, wanted: Wanted) -> str:
    """The query that reads Parquet files."""
    if len(files) > 1:
        every = [parquet_types(file) for file in files]
        for name in sorted(wanted.among([name for types in every for name in types])):
            if len({types[name] for types in every if name in types}) > 1:
                expected, hint = "the same type in all files", "Cast it to text in all of them."
                raise InvalidData(name, expected=expected, found="others", hint=hint)
    return f"SELECT * FROM read_parquet({listed})"


def json_relation(connection: Any, listed: str, wanted: Wanted, *, numbers: bool) -> str:
    """The query that reads files of JSON lines. numbers: see `open_engine`."""
    guess = connection.sql(f"DESCRIBE SELECT * FROM read_json_auto({listed})").fetchall()
    types = {str(row[0]): str(row[1]) for row in guess}
    types |= dict.fromkeys(wanted.written(types, {}) - wanted.labels, "VARCHAR")

    def cells(labels: set[str]) -> str:
        stated = types | dict.fromkeys(labels, "JSON")
        pairs = ", ".join(f"{text_literal(name)}: {text_literal(kind)}" for name, kind in stated.items())
        return f"read_json({listed}, columns = {{{pairs}}})"

    labels = {one for one in wanted.text(types) if not types[one].endswith("]")}
    labels = {one for one in labels if not types[one].startswith(("STRUCT", "MAP", "UNION"))}
    if wanted.every:
        texts = {name: f"{quoted(name)} ->> '$'" for name in labels}
        return f"SELECT *{replaced(texts)} FROM {cells(labels)}"
    # To DuckDB whole numbers beyond 64 bits are floats; real floats are left to be refused as such.
    for name in {one for one in labels if types[one] == "DOUBLE"}:
        is_float = f"json_type({quoted(name)}) = 'DOUBLE' AND NOT {_is_large(quoted(name))}"
        test = f"SELECT 1 FROM {cells({name})} WHERE {is_float} LIMIT 1"
        labels -= {name} if connection.sql(test).fetchall() else set()
    texts = {name: _json_text(quoted(name)) for name in labels}
    relation = f"SELECT *{replaced(texts)} FROM {cells(labels)}"
    whole = {name for name in labels - wanted.people if types[name] == "BIGINT"} if numbers else set()
    casts = {name: f"CAST({quoted(name)} AS BIGINT)" for name in whole_numbers(connection, relation, whole)}
    return f"SELECT *{replaced(casts)} FROM ({relation}) AS veil_lines" if casts else relation


def _is_large(cell: str) -> str:
    """Whether a cell of JSON, which DuckDB takes for a float, is a whole number beyond 64 bits."""
    return f"regexp_full_match(CAST({cell} AS VARCHAR), {_DIGITS})"


def _json_text(cell: str) -> str:
    """A label in JSON as text. A number with decimals has several texts, so that it is no label."""
    refused = text_literal("a label that is neither text nor a whole number")
    return (
        f"CASE WHEN json_type({cell}) IN ({_LABELS}) THEN {cell} ->> '$' WHEN {cell} IS NULL THEN NULL "
        f"WHEN {_is_large(cell)} THEN {cell} ->> '$' ELSE error({refused}) END"
    )


def replaced(expressions: Mapping[str, str]) -> str:
    """The part of a query that puts expressions in the place of columns."""
    parts = ", ".join(f"{expressions[name]} AS {quoted(name)}" for name in sorted(expressions))
    return f" REPLACE ({parts})" if parts else ""


def csv_relation(connection: Any, files: Sequence[str], listed: str, wanted: Wanted, *, numbers: bool) -> str:
    """The query that reads CSV files of the same format, which are listed as a literal of DuckDB.

    numbers: see `open_engine`.
    """
    layout, guess = _layout(connection, files[0], wanted)
    types = {str(column["name"]): str(column["type"]) for column in guess["Columns"]}
    labels = wanted.text(types)
    # Spaces around a number are no part of it. Who somebody is stays as it is written.
    whole = {name for name in labels - wanted.people if types[name] == "BIGINT" and not wanted.every}
    if numbers:
        options = ", ".join(f"{option} = {value}" for option, value in layout.items())
        cells = f"SELECT * FROM read_csv({listed}, {options}, all_varchar = true)"
        as_numbers = whole_numbers(connection, cells, whole)
        labels, whole = labels - as_numbers, whole - as_numbers
    formats = {"DATE": guess["DateFormat"], "TIMESTAMP": guess["TimestampFormat"]}
    text = dict.fromkeys(sorted(labels | wanted.written(types, formats)), "VARCHAR")
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
    trimmed = replaced({name: _trimmed(quoted(name)) for name in whole})
    return f"SELECT *{trimmed} FROM read_csv({listed}, {options})"


def _trimmed(cell: str) -> str:
    """To look for a space is quicker than to trim, by a tenth of the time for a column of numbers."""
    return f"CASE WHEN contains({cell}, ' ') THEN trim({cell}) ELSE {cell} END"


def _layout(connection: Any, file: str, wanted: Wanted) -> tuple[dict[str, str], dict[str, Any]]:
    """How a file is written, as options of DuckDB, and what DuckDB guesses besides."""
    name = name_of(file)
    lines = sample_of(head_bytes(file), name)
    delimiter = guess_delimiter(lines, ending_of(file))
    options = {} if delimiter in (None, " ") else {"delim": text_literal(str(delimiter))}
    rows = rows_of(lines, delimiter)
    if rows and len(rows[0]) > MOST_COLUMNS:
        raise too_large(name, "columns", MOST_COLUMNS)
    heads = wanted.among(rows[0]) if rows else set()
    for one in sorted(heads):
        if rows[0].count(one) > 1:
            # DuckDB would call the second one differently, and take the first.
            raise InvalidData(name, expected=f"one column {one!r}", found="several of that name")
    # Who names a column of the first line knows that it has names.
    headed = options | {"header": "true"}
    guess = _sniff(connection, file, headed if heads else options)
    asked = wanted.labels | wanted.times
    if not heads and not guess["HasHeader"] and not asked <= _names(guess):
        try:
            with duck.translated(name):
                other = _sniff(connection, file, headed)
            guess = other if asked <= _names(other) else guess
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


def whole_numbers(connection: Any, relation: str, names: set[str]) -> set[str]:
    """The columns of text in which every cell is a whole number as a database writes it: not 007."""
    if not names:
        return set()
    tests = [f"coalesce(bool_and(regexp_full_match({quoted(name)}, {_WHOLE})), true)" for name in names]
    are_whole = connection.sql(f"SELECT {', '.join(tests)} FROM ({relation}) AS veil_cells").fetchall()[0]
    return {name for name, is_whole in zip(names, are_whole, strict=True) if is_whole}
