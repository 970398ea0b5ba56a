"""Reading a matrix of transitions or a policy: from CSV, JSON or a pipe, or from what is in memory."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from os import PathLike
from typing import Any

import numpy as np

from veil.core.errors import InvalidData, UnreadableFile
from veil.core.intake import NamedMatrix, named_matrix
from veil.tables.cells import is_number, numbers_in
from veil.tables.dialect import above_numbers, has_header
from veil.tables.files import file_of, name_of, text_bytes
from veil.tables.json_texts import is_json, parse_json
from veil.tables.text_tables import TextTable, parse_rows

FROM = {"from", "origin", "source", "state", "start"}
_TO = {"to", "destination", "target", "next", "end"}
NUMBERS = {"probability", "weight", "p", "share", "value", "count"}


def read_matrix(source: Any, field: str = "matrix") -> NamedMatrix:
    """The matrix that a source holds: a path ("-" is standard input), or whatever `named_matrix` takes.

    CSV: rows of numbers; with a header and a first column of labels if it has any. Or a list of
    transitions: a header such as from,to,probability over one transition in each line (the rest is zero).
    JSON: a list of rows, or {"from": {"to": probability}}.

    field: what errors call a matrix in memory.
    """
    if not isinstance(source, (str, PathLike)):
        return named_matrix(field, source)
    file = file_of(source)
    return parse_matrix(text_bytes(file), name_of(file))


def parse_matrix(raw: bytes, name: str) -> NamedMatrix:
    """The matrix in the text of a file with this name."""
    if raw.strip() and is_json(raw, name):
        return _from_json(parse_json(raw, name), name)
    table, rows = parse_rows(raw, name, expected="a matrix", decimals=True)
    return _from_transitions(table, rows) if is_list_of_transitions(rows[0]) else _from_table(table, rows)


def _from_json(content: Any, name: str) -> NamedMatrix:
    if isinstance(content, dict) and content.get("format") == "veil-release":
        raise UnreadableFile(
            name,
            expected="a matrix",
            found="a release of Veil",
            hint="It is private already; `veil chain` analyses it and `veil inspect` explains it.",
        )
    if not isinstance(content, (list, dict)):
        raise UnreadableFile(name, expected="a list of rows, or {from: {to: probability}}", found="neither")
    return named_matrix(name, content)


def _from_table(table: TextTable, lines: list[list[str]]) -> NamedMatrix:
    name = table.name
    # Numbers may be labels: under an empty corner, or one that says what the rows are.
    cornered = lines[0][0].casefold() in {"", *FROM}
    kinds = {is_number(row[0]) for row in lines[1:] if row[0]}
    labelled = len(lines) > 1 and (cornered or False in kinds or _numbers_rows(lines))
    first = 1 if labelled else 0
    heads = lines[0][first:]
    header = cornered or _counts_up(heads) or bool(has_header([(heads, ())], judge=above_numbers))
    body = lines[1:] if header else lines
    if not body or len(body[0]) <= first:
        raise InvalidData(name, expected="rows of numbers", found="none")

    def place(row: int, column: int) -> str:
        return f"{table.place(row + header)}, column {column + first + 1}"

    matrix = np.array([numbers_in(row[first:], partial(place, i)) for i, row in enumerate(body)])
    columns = tuple(lines[0][first:]) if header else None
    labels = tuple(row[0] for row in body) if labelled else None
    for names in (columns, labels):
        if names is not None and len(set(names)) < len(names):
            raise InvalidData(name, expected="different labels", found="one label twice")
    return NamedMatrix(matrix, labels, columns)


def _numbers_rows(lines: list[list[str]]) -> bool:
    """Whether rows below a header are numbered: they sum to 1 without their first cell only."""
    if any(map(is_number, lines[0])) or len(lines[0]) < 3:
        return False
    if not all(is_number(cell) for row in lines[1:] for cell in row):
        return False
    rows = np.array([[float(cell) for cell in row] for row in lines[1:]])
    with np.errstate(over="ignore", invalid="ignore"):
        without = np.abs(rows[:, 1:].sum(axis=1) - 1.0) < 1e-6
        whole = np.abs(rows.sum(axis=1) - 1.0) < 1e-6
    return bool(without.all() and not whole.any()) and len(set(rows[:, 0])) == len(rows)


def _counts_up(cells: list[str]) -> bool:
    """Whether a line is 0, 1, 2, ... or 1, 2, 3, ...: what frames without labels write as a header."""
    return len(cells) > 2 and any(cells == [str(i + k) for i in range(len(cells))] for k in (0, 1))


def names_ends(header: Sequence[str]) -> bool:
    """Whether a first line begins with the usual names of the two ends of a transition."""
    return len(header) > 1 and header[0].casefold() in FROM and header[1].casefold() in _TO


def is_list_of_transitions(header: Sequence[str]) -> bool:
    """Whether a first line is that of a list of transitions with their probabilities."""
    return len(header) == 3 and names_ends(header) and header[2].casefold() in NUMBERS


def _from_transitions(table: TextTable, lines: list[list[str]]) -> NamedMatrix:
    from scipy.sparse import csr_array

    # Sorted: the order in which they happen to come would tell which transitions there are.
    states = sorted({state for row in lines[1:] for state in row[:2]})
    places = {state: i for i, state in enumerate(states)}
    origins = [places[row[0]] for row in lines[1:]]
    ends = [places[row[1]] for row in lines[1:]]
    if len(set(zip(origins, ends, strict=True))) < len(origins):
        raise InvalidData(table.name, expected="each transition once", found="one of them twice")
    numbers = numbers_in([row[2] for row in lines[1:]], lambda i: table.place(i + 1))
    entries = csr_array((np.array(numbers), (origins, ends)), shape=(len(states), len(states)))
    return NamedMatrix(
        named_matrix(table.name, entries).entries, tuple(places), tuple(places), names_found=True
    )
