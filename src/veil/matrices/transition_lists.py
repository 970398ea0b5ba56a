"""Allowed transitions as rows of a table, and whether a CSV file holds such rows or a matrix."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NamedTuple

from veil.core.errors import InvalidData
from veil.core.intake import NamedMatrix
from veil.matrices.reading import NUMBERS, names_ends, parse_matrix
from veil.tables.cells import is_number, is_plain_integer
from veil.tables.dialect import column_names, has_header, named
from veil.tables.text_tables import parse_rows

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


def from_text(raw: bytes, name: str) -> Any:
    """What text with separators holds: a list of transitions or a matrix."""
    _, lines = parse_rows(raw, name, expected="allowed transitions", decimals=True)
    if _is_matrix(lines):
        return _with_numbers(parse_matrix(raw, name))
    if len(lines[0]) < 2:
        raise InvalidData(name, expected=_SHAPES, found="1 column")
    if _hold_decimals([row[:2] for row in lines]):
        raise InvalidData(name, expected=_SHAPES, found="numbers with decimals in place of states")
    body = lines[1:] if _has_header(lines) else lines
    names = column_names(len(lines[0])) if body is lines else named(lines[0], name)
    edges = listed({key: [row[i] for row in body] for i, key in enumerate(names)}, name).edges
    cells = {cell for edge in edges for cell in edge[:2]}
    return Edges(_in_numbers(edges)) if all(map(is_plain_integer, cells)) else Edges(edges)


def _in_numbers(edges: Sequence[Edge]) -> list[Edge]:
    return [(int(start), int(end), number) for start, end, number in edges]


def _with_numbers(taken: NamedMatrix) -> NamedMatrix:
    """The matrix with labels that are whole numbers as such, if all are."""
    names = [names for names in (taken.rows, taken.columns) if names is not None]
    if not names or not all(is_plain_integer(str(label)) for labels in names for label in labels):
        return taken
    rows, columns = (
        None if labels is None else tuple(int(str(label)) for label in labels)
        for labels in (taken.rows, taken.columns)
    )
    return NamedMatrix(taken.entries, rows, columns)


def _has_header(lines: Sequence[Sequence[str]]) -> bool:
    """Whether the first line of a public list names the columns; it does unless it can be a transition."""
    states = {cell for row in lines[1:] for cell in row[:2]}
    usual = names_ends(lines[0])
    found = has_header([(lines[0][:2], states)], usual=usual)
    return (usual or bool(states)) if found is None else found


def _is_matrix(lines: Sequence[Sequence[str]]) -> bool:
    """Whether a table is a square one of numbers, perhaps with labels."""
    width, height = len(lines[0]), len(lines)
    if names_ends(lines[0]):
        return False
    body = [row[1:] for row in lines[1:]]
    if width == height and width > 2 and _are_numbers(body):
        labels = sorted(row[0] for row in lines[1:])
        if sorted(lines[0][1:]) == labels:
            return True
    bare = [row[1:] for row in lines]
    if width == height + 1 and width > 2 and _are_numbers(bare):
        return not any(is_number(row[0]) for row in lines)
    has_header = not all(map(is_number, lines[0]))
    numbers = [cell for row in (lines[1:] if has_header else lines) for cell in row]
    if height - has_header != width or width < 2 or not all(map(is_number, numbers)):
        return False
    # Two rows of two whole numbers may as well be two transitions.
    return width > 2 or not all(map(is_plain_integer, numbers))


def _are_numbers(rows: Iterable[Sequence[str]]) -> bool:
    return all(is_number(cell) for row in rows for cell in row)


def _hold_decimals(rows: Iterable[Sequence[str]]) -> bool:
    """Whether all cells are numbers and not all are whole, as in a matrix that is not square."""
    cells = [cell for row in rows for cell in row]
    return all(map(is_number, cells)) and any("." in cell for cell in cells)
