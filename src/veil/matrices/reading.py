"""Reading a matrix of transitions or a policy: from CSV, JSON or a pipe, or from what is in memory."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from functools import partial
from os import PathLike
from typing import Any, NamedTuple

import numpy as np

from veil.core.errors import InvalidData, UnreadableFile
from veil.core.intake import NamedMatrix, named_matrix
from veil.tables.cells import is_number, is_plain_integer, numbers_in
from veil.tables.dialect import above_numbers, column_names, has_header, named
from veil.tables.files import parse_json
from veil.tables.reading import TableRead, read_table
from veil.tables.text_tables import TextTable

FROM = {"from", "origin", "source", "state", "start"}
_TO = {"to", "destination", "target", "next", "end"}
NUMBERS = {"probability", "weight", "p", "share", "value", "count"}


def read_matrix(source: Any, field: str = "matrix") -> NamedMatrix:
    """The matrix that a source holds, as `matrices.read` describes it. field: the name of one in memory."""
    if not isinstance(source, (str, PathLike)):
        return named_matrix(field, source)
    return matrix_of(read_table(source, expected="a matrix", typed=(), small=True, documents=True))


def matrix_of(read: TableRead) -> NamedMatrix:
    """The matrix in the text of a small file."""
    table = read.text
    if table is None:
        return _from_json(parse_json(read.raw, read.name), read.name)
    rows = table.rows(expected="a matrix", decimals=True)
    header = rows[0]
    is_list = len(header) == 3 and names_ends(header) and header[2].casefold() in NUMBERS
    return _from_transitions(table, rows) if is_list else _from_table(table, rows)


def _from_json(content: Any, name: str) -> NamedMatrix:
    if isinstance(content, dict) and content.get("format") == "veil-release":
        hint = "It is private already; `veil chain` analyses it and `veil inspect` explains it."
        raise UnreadableFile(name, expected="a matrix", found="a release of Veil", hint=hint)
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
    # Frames without labels write 0, 1, 2, ... or 1, 2, 3, ... as a header.
    counts_up = len(heads) > 2 and any(heads == [str(i + k) for i in range(len(heads))] for k in (0, 1))
    header = cornered or counts_up or bool(has_header([(heads, ())], judge=above_numbers))
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
    if any(map(is_number, lines[0])) or len(lines[0]) < 3 or not _are_numbers(lines[1:]):
        return False
    rows = np.array([[float(cell) for cell in row] for row in lines[1:]])
    with np.errstate(over="ignore", invalid="ignore"):
        without = np.abs(rows[:, 1:].sum(axis=1) - 1.0) < 1e-6
        whole = np.abs(rows.sum(axis=1) - 1.0) < 1e-6
    return bool(without.all() and not whole.any()) and len(set(rows[:, 0])) == len(rows)


def names_ends(header: Sequence[str]) -> bool:
    """Whether a first line begins with the usual names of the two ends of a transition."""
    return len(header) > 1 and header[0].casefold() in FROM and header[1].casefold() in _TO


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
    given = csr_array((np.array(numbers), (origins, ends)), shape=(len(states), len(states)))
    entries = named_matrix(table.name, given).entries
    return NamedMatrix(entries, tuple(places), tuple(places), names_found=True)


# A transition and, where it has one, its probability or weight.
Edge = tuple[Any, Any, float | None]
_SHAPES = "a square matrix, or two columns of states"


class Edges(NamedTuple):
    """A list of transitions, which is not to be taken for a matrix."""

    edges: Sequence[Edge]


def listed(columns: Mapping[str, list[Any]], name: str) -> Edges:
    """The transitions of a table, from its first two columns, and its column of numbers if it has one."""
    names = list(columns)
    if len(names) < 2:
        raise InvalidData(name, expected=_SHAPES, found=f"{len(names)} column")
    origin, destination, *others = names
    number = next((column for column in others if column.casefold() in NUMBERS), None)
    if number is None and len(others) == 1 and all(map(_is_numeric, columns[others[0]])):
        number = others[0]
    weights = [None] * len(columns[origin]) if number is None else list(map(weight_of, columns[number]))
    return Edges(list(zip(columns[origin], columns[destination], weights, strict=True)))


def _is_numeric(cell: Any) -> bool:
    return is_number(cell) if isinstance(cell, str) else isinstance(cell, (int, float))


def weight_of(cell: Any) -> float:
    """A number, or one that is refused later on."""
    return float(cell) if _is_numeric(cell) else math.nan


def from_text(read: TableRead) -> Any:
    """What text with separators holds: a list of transitions or a matrix."""
    assert read.text is not None
    name, lines = read.name, read.text.rows(expected="allowed transitions", decimals=True)
    if _is_matrix(lines):
        return _with_numbers(matrix_of(read))
    if len(lines[0]) < 2:
        raise InvalidData(name, expected=_SHAPES, found="1 column")
    ends = [cell for row in lines for cell in row[:2]]
    # Numbers that are not all whole: a matrix that is not square.
    if all(map(is_number, ends)) and any("." in cell for cell in ends):
        raise InvalidData(name, expected=_SHAPES, found="numbers with decimals in place of states")
    # The first line names the columns unless it can be a transition.
    states, usual = {cell for row in lines[1:] for cell in row[:2]}, names_ends(lines[0])
    header = has_header([(lines[0][:2], states)], usual=usual)
    body = lines[1:] if (header if header is not None else usual or states) else lines
    names = column_names(len(lines[0])) if body is lines else named(lines[0], name)
    columns = {key: [row[i] for row in body] for i, key in enumerate(names)}
    transitions = listed(columns, name)
    if all(is_plain_integer(cell) for edge in transitions.edges for cell in edge[:2]):
        return Edges([(int(start), int(end), number) for start, end, number in transitions.edges])
    return transitions


def _with_numbers(taken: NamedMatrix) -> NamedMatrix:
    """The matrix with labels that are whole numbers as such, if all are."""
    names = [names for names in (taken.rows, taken.columns) if names is not None]
    if not names or not all(is_plain_integer(str(label)) for labels in names for label in labels):
        return taken
    both = (taken.rows, taken.columns)
    rows, columns = (
        None if labels is None else tuple(int(str(label)) for label in labels) for labels in both
    )
    return NamedMatrix(taken.entries, rows, columns)


def _is_matrix(lines: Sequence[Sequence[str]]) -> bool:
    """Whether a table is a square one of numbers, perhaps with labels."""
    width, height = len(lines[0]), len(lines)
    if names_ends(lines[0]):
        return False
    bare, labels = [row[1:] for row in lines], [row[0] for row in lines]
    if width == height and width > 2 and _are_numbers(bare[1:]) and sorted(bare[0]) == sorted(labels[1:]):
        return True
    if width == height + 1 and width > 2 and _are_numbers(bare):
        return not any(map(is_number, labels))
    has_header = not all(map(is_number, lines[0]))
    numbers = [cell for row in (lines[1:] if has_header else lines) for cell in row]
    if height - has_header != width or width < 2 or not all(map(is_number, numbers)):
        return False
    # Two rows of two whole numbers may as well be two transitions.
    return width > 2 or not all(map(is_plain_integer, numbers))


def _are_numbers(rows: Iterable[Sequence[str]]) -> bool:
    return all(is_number(cell) for row in rows for cell in row)
