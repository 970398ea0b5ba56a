"""Reading one labelled vector: from CSV, JSON or a pipe, from tables, from what is in memory."""

from __future__ import annotations

import csv
import io
import json
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from os import PathLike, fspath
from typing import Any

from veil.core.errors import InvalidArgument, InvalidData, UnreadableFile
from veil.core.intake import Labels, as_floats, labels_of
from veil.tables.cells import decimal_point, delimiter_of, is_number, kind_of, read_text
from veil.tables.plain_tables import file_columns, frame_columns, is_table_file

# What tables in memory have, of whatever library.
_FRAMES = ("columns", "__arrow_c_stream__")


@dataclass(frozen=True, slots=True)
class LabelledVector:
    """Numbers in the order in which they came, with their labels if they have any. It is sensitive data."""

    values: tuple[float, ...] = field(repr=False)
    labels: Labels | None = None


def read_vector(
    source: Any, *, label_column: str | None = None, value_column: str | None = None, name: str = "value"
) -> LabelledVector:
    """The vector that a source holds: a path ("-" is standard input), a table, or numbers in memory.

    CSV: one number in each line, or a label and a number in each line, with or without a header; or a header
    of labels over one line of numbers. JSON: a list of numbers, or an object of label and number. Parquet,
    JSON lines and frames: a column of numbers, and one of labels. In memory: {label: number}, a Series, a
    list or an array.

    name: what errors call a source that has no name of its own.
    """
    if isinstance(source, LabelledVector):
        return source
    if isinstance(source, (str, PathLike)):
        path = fspath(source)
        name = "standard input" if path == "-" else path
        vector = _from_file(path, name, label_column, value_column)
    elif type(source).__name__ != "Series" and any(map(partial(hasattr, source), _FRAMES)):
        vector = _from_columns(frame_columns(source, None) or {}, name, label_column, value_column)
    else:
        if label_column is not None or value_column is not None:
            given = "label_column" if value_column is None else "value_column"
            raise InvalidArgument(given, expected="a table with it", found="numbers without columns")
        vector = _in_memory(source, name)
    _check(vector, name)
    return vector


def _in_memory(source: Any, name: str) -> LabelledVector:
    numbers, labels = as_floats(name, source), labels_of(source)
    if numbers.ndim != 1:
        raise InvalidData(
            name,
            expected="one vector",
            found=f"an array of shape {numbers.shape}",
            hint="Several vectors are released with veil.release and a mechanism of your choice.",
        )
    return LabelledVector(tuple(numbers.tolist()), labels)


def _from_file(path: str, name: str, label_column: str | None, value_column: str | None) -> LabelledVector:
    if is_table_file(path) and not path.lower().endswith(".json"):
        return _from_columns(file_columns(path, None), name, label_column, value_column)
    text = read_text(path, name)
    if not text.strip():
        raise UnreadableFile(name, expected="numbers", found="an empty file")
    if path.lower().endswith(".json") or text.lstrip()[:1] in "[{":
        return _from_json(text, name)
    return _from_csv(text, name, label_column, value_column)


def _from_columns(
    columns: Mapping[str, Any], name: str, label_column: str | None, value_column: str | None
) -> LabelledVector:
    """The vector of a table with names and types."""
    names = list(columns)
    value_at, label_at = _places(names, len(names), name, label_column, value_column)
    values = columns[names[value_at]].to_pylist()
    labels = None if label_at is None else tuple(map(str, columns[names[label_at]].to_pylist()))
    return LabelledVector(
        tuple(_number(item, f"{name}, row {row}") for row, item in enumerate(values)), labels
    )


def _places(
    header: Sequence[str] | None, width: int, name: str, label_column: str | None, value_column: str | None
) -> tuple[int, int | None]:
    """Which columns hold the numbers and the labels."""
    value_at = _position(header, value_column, name, default=width - 1)
    label_at = _position(header, label_column, name, default=0 if width > 1 else None)
    if width > 2 and (value_column is None or label_column is None):
        raise InvalidData(
            name,
            expected="two columns, a label and a number",
            found=f"{width} columns",
            hint="Name them with {label_column} and {value_column}.",
            names=("label_column", "value_column"),
        )
    assert value_at is not None
    return value_at, label_at


def _check(vector: LabelledVector, name: str) -> None:
    if len(vector.values) < 2:
        raise InvalidData(name, expected="at least two entries", found=f"{len(vector.values)}")
    if vector.labels is not None and len(set(vector.labels)) < len(vector.labels):
        raise InvalidData(name, expected="different labels", found="one label twice")


def _from_json(text: str, name: str) -> LabelledVector:
    try:
        content = json.loads(text, parse_constant=lambda word: math.nan)
    except (ValueError, RecursionError):
        raise UnreadableFile(name, expected="JSON", found="something else") from None
    if isinstance(content, dict):
        return LabelledVector(
            tuple(_number(item, f"{name}, entry {i}") for i, item in enumerate(content.values())),
            tuple(content),
        )
    if isinstance(content, list):
        return LabelledVector(
            tuple(_number(item, f"{name}, entry {i}") for i, item in enumerate(content)), None
        )
    raise UnreadableFile(
        name, expected="a list of numbers or an object of labels and numbers", found="neither"
    )


def _number(item: Any, place: str) -> float:
    if isinstance(item, bool) or not isinstance(item, (int, float)):
        raise InvalidData(place, expected="a number", found="something else")
    try:
        return float(item)
    except OverflowError:
        raise InvalidData(place, expected="a number", found="one too large") from None


def _from_csv(text: str, name: str, label_column: str | None, value_column: str | None) -> LabelledVector:
    delimiter = delimiter_of(text)
    try:
        rows = csv.reader(io.StringIO(text), delimiter=delimiter, strict=True)
        lines = [row for row in rows if any(cell.strip() for cell in row)]
        if delimiter == ";":
            # Where semicolons separate columns, a comma is a decimal comma.
            lines = [[decimal_point(cell) for cell in row] for row in lines]
    except csv.Error as error:
        raise UnreadableFile(name, expected="CSV", found=str(error)) from None
    if not lines:
        raise UnreadableFile(name, expected="numbers", found="empty cells")
    width = len(lines[0])
    uneven = next((i for i, row in enumerate(lines) if len(row) != width), None)
    if uneven is not None:
        raise InvalidData(
            f"{name}, line {uneven + 1}",
            expected=f"{width} columns like the first line",
            found=f"{len(lines[uneven])}",
        )
    header = lines[0] if not is_number(lines[0][-1]) or _is_wide(lines) else None
    body = lines[1:] if header is not None else lines
    if not body:
        raise InvalidData(name, expected="numbers below the header", found="none")
    if header is not None and _is_wide(lines):
        return LabelledVector(_column(body[0], name, 2, across=True), tuple(cell.strip() for cell in header))
    value_at, label_at = _places(header, width, name, label_column, value_column)
    first_line = 2 if header is not None else 1
    values = _column([row[value_at] for row in body], name, first_line)
    labels = None if label_at is None else tuple(row[label_at].strip() for row in body)
    return LabelledVector(values, labels)


def _is_wide(lines: Sequence[Sequence[str]]) -> bool:
    """A header of labels over one line of numbers."""
    return (
        len(lines) == 2
        and len(lines[0]) > 2
        and not any(map(is_number, lines[0]))
        and all(map(is_number, lines[1]))
    )


def _position(
    header: Sequence[str] | None, column: str | None, name: str, *, default: int | None
) -> int | None:
    if column is None:
        return default
    names = [] if header is None else [cell.strip() for cell in header]
    if column not in names:
        from difflib import get_close_matches

        near = get_close_matches(column, names, 1)
        raise InvalidData(
            name,
            expected=f"a column {column!r}",
            found=f"the columns {', '.join(names)}" if names else "no header",
            hint=f"Did you mean {near[0]!r}?" if near else "",
        )
    return names.index(column)


def _column(cells: Sequence[str], name: str, first_line: int, *, across: bool = False) -> tuple[float, ...]:
    values = []
    for i, cell in enumerate(cells):
        place = f"{name}, column {i + 1}" if across else f"{name}, line {first_line + i}"
        if not is_number(cell):
            raise InvalidData(place, expected="a number such as 1031 or 0.31", found=kind_of(cell))
        values.append(float(cell))
    return tuple(values)
