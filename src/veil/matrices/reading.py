"""Reading a matrix of transitions or a policy: from CSV, JSON or a pipe, or from what is in memory."""

from __future__ import annotations

import csv
import io
import json
import math
from os import PathLike, fspath
from typing import Any

import numpy as np

from veil.core.errors import InvalidData, UnreadableFile
from veil.core.named_matrix import Taken, take_matrix
from veil.tables.cells import decimal_point, delimiter_of, is_number, kind_of, read_text

_FROM = {"from", "origin", "source", "state", "start"}
_TO = {"to", "destination", "target", "next", "end"}
_NUMBER = {"probability", "weight", "p", "share", "value"}


def read_matrix(source: Any, field: str = "matrix") -> Taken:
    """The matrix that a source holds: a path ("-" is standard input), or whatever `take_matrix` takes.

    CSV: rows of numbers; with a header and a first column of labels if it has any. Or a list of
    transitions: a header such as from,to,probability over one transition in each line (the rest is zero).
    JSON: a list of rows, or {"from": {"to": probability}}.

    field: what errors call a matrix in memory.
    """
    if not isinstance(source, (str, PathLike)):
        return take_matrix(field, source)
    path = fspath(source)
    name = "standard input" if path == "-" else path
    return parse_matrix(read_text(path, name), name)


def parse_matrix(text: str, name: str) -> Taken:
    """The matrix in the text of a file with this name."""
    if not text.strip():
        raise UnreadableFile(name, expected="a matrix", found="an empty file")
    if name.lower().endswith(".json") or text.lstrip()[:1] in "[{":
        return _from_json(text, name)
    return _from_csv(text, name)


def _from_json(text: str, name: str) -> Taken:
    try:
        content = json.loads(text, parse_constant=lambda word: math.nan)
    except (ValueError, RecursionError):
        raise UnreadableFile(name, expected="JSON", found="something else") from None
    if isinstance(content, dict) and content.get("format") == "veil-release":
        raise UnreadableFile(
            name,
            expected="a matrix",
            found="a release of Veil",
            hint="It is private already; `veil chain` analyses it and `veil inspect` explains it.",
        )
    if not isinstance(content, (list, dict)):
        raise UnreadableFile(name, expected="a list of rows, or {from: {to: probability}}", found="neither")
    return take_matrix(name, content)


def _from_csv(text: str, name: str) -> Taken:
    delimiter = delimiter_of(text)
    try:
        rows = csv.reader(io.StringIO(text), delimiter=delimiter, strict=True)
        numbered = [
            (rows.line_num, [cell.strip() for cell in row])
            for row in rows
            if any(cell.strip() for cell in row)
        ]
    except csv.Error as error:
        raise UnreadableFile(name, expected="CSV", found=str(error)) from None
    if not numbered:
        raise UnreadableFile(name, expected="a matrix", found="empty cells")
    places, lines = [place for place, _ in numbered], [row for _, row in numbered]
    if delimiter == ";":
        lines = [[decimal_point(cell) for cell in row] for row in lines]
    width = len(lines[0])
    uneven = next((i for i, row in enumerate(lines) if len(row) != width), None)
    if uneven is not None:
        raise InvalidData(
            f"{name}, line {places[uneven]}",
            expected=f"{width} columns like the first line",
            found=f"{len(lines[uneven])}",
        )
    if _is_list_of_transitions(lines[0]):
        return _from_transitions(lines, name, places)
    return _from_table(lines, name, places)


def _from_table(lines: list[list[str]], name: str, places: list[int]) -> Taken:
    # Numbers may be labels: under an empty corner, or one that says what the rows are.
    cornered = lines[0][0].casefold() in {"", *_FROM}
    kinds = {is_number(row[0]) for row in lines[1:] if row[0]}
    labelled = len(lines) > 1 and (cornered or False in kinds or _numbers_rows(lines))
    first = 1 if labelled else 0
    header = cornered or not all(is_number(cell) for cell in lines[0][first:]) or _counts_up(lines[0][first:])
    body = lines[1:] if header else lines
    if not body or len(body[0]) <= first:
        raise InvalidData(name, expected="rows of numbers", found="none")
    matrix = np.array(
        [
            [
                _number(cell, f"{name}, line {places[i + header]}, column {j + 1 + first}")
                for j, cell in enumerate(row[first:])
            ]
            for i, row in enumerate(body)
        ]
    )
    columns = tuple(lines[0][first:]) if header else None
    labels = tuple(row[0] for row in body) if labelled else None
    for names in (columns, labels):
        if names is not None and len(set(names)) < len(names):
            raise InvalidData(name, expected="different labels", found="one label twice")
    return Taken(matrix, labels, columns)


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


def _is_list_of_transitions(header: list[str]) -> bool:
    words = [cell.casefold() for cell in header]
    return len(words) == 3 and words[0] in _FROM and words[1] in _TO and words[2] in _NUMBER


def _from_transitions(lines: list[list[str]], name: str, at: list[int]) -> Taken:
    from scipy.sparse import csr_array

    # Sorted: the order in which they happen to come would tell which transitions there are.
    states = sorted({state for row in lines[1:] for state in row[:2]})
    places = {state: i for i, state in enumerate(states)}
    origins = [places[row[0]] for row in lines[1:]]
    ends = [places[row[1]] for row in lines[1:]]
    if len(set(zip(origins, ends, strict=True))) < len(origins):
        raise InvalidData(name, expected="each transition once", found="one of them twice")
    numbers = [_number(row[2], f"{name}, line {at[i + 1]}") for i, row in enumerate(lines[1:])]
    size = len(places)
    entries = csr_array((np.array(numbers), (origins, ends)), shape=(size, size))
    return Taken(take_matrix(name, entries).entries, tuple(places), tuple(places), names_found=True)


def _number(cell: Any, place: str) -> float:
    if not is_number(cell):
        raise InvalidData(place, expected="a number such as 0.31", found=kind_of(cell))
    return float(cell)
