"""Reading one labelled vector from CSV, JSON or a pipe."""

from __future__ import annotations

import csv
import io
import json
import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from veil.core.errors import InvalidData, UnreadableFile
from veil.tables.cells import decimal_point, delimiter_of, is_number, kind_of, read_text


@dataclass(frozen=True, slots=True)
class LabelledVector:
    """Numbers in the order of the file, with their labels if it has any."""

    values: tuple[float, ...]
    labels: tuple[str, ...] | None


def read_vector(
    source: str, *, label_column: str | None = None, value_column: str | None = None
) -> LabelledVector:
    """Read a vector from a path, or from standard input if the source is "-".

    CSV: one number a line, or a label and a number a line, with or without a header; or a header of
    labels over one line of numbers. JSON: a list of numbers, or an object of label and number.
    """
    name = "standard input" if source == "-" else source
    text = read_text(source, name)
    if not text.strip():
        raise UnreadableFile(name, expected="numbers", found="an empty file")
    if source.lower().endswith(".json") or text.lstrip()[:1] in "[{":
        vector = _from_json(text, name)
    else:
        vector = _from_csv(text, name, label_column, value_column)
    _check(vector, name)
    return vector


def _check(vector: LabelledVector, name: str) -> None:
    if len(vector.values) < 2:
        raise InvalidData(name, expected="at least two entries", found=f"{len(vector.values)}")
    if vector.labels is not None and len(set(vector.labels)) < len(vector.labels):
        raise InvalidData(name, expected="different labels", found="a label that stands twice")


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
    value_at = _position(header, value_column, name, default=width - 1)
    label_at = _position(header, label_column, name, default=0 if width > 1 else None)
    if width > 2 and (value_column is None or label_column is None):
        raise InvalidData(
            name,
            expected="two columns, a label and a number",
            found=f"{width} columns",
            hint="Name them with --label-column and --value-column.",
        )
    assert value_at is not None
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
