"""Reading one labelled vector: from CSV, JSON or a pipe, from tables, from what is in memory."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from os import PathLike, fspath
from typing import Any, NamedTuple

from veil.core.errors import InvalidArgument, InvalidData, UnreadableFile
from veil.core.intake import Labels, as_floats, labels_of
from veil.tables.cells import is_number, numbers_in
from veil.tables.dialect import above_numbers, has_header
from veil.tables.engines.protocol import missing_column
from veil.tables.files import PARQUET, name_of, parse_json
from veil.tables.reading import read_table
from veil.tables.text_tables import TextTable

# What tables in memory have, of whatever library.
_FRAMES = ("columns", "__arrow_c_stream__")
# Files with names and types; .json is one value.
_TYPED = (*PARQUET, ".jsonl", ".ndjson")


@dataclass(frozen=True, slots=True)
class LabelledVector:
    """Numbers in the order in which they came, with their labels if they have any. It is sensitive data."""

    values: tuple[float, ...] = field(repr=False)
    labels: Labels | None = None


def read_vector(
    source: Any, *, label_column: str | None = None, value_column: str | None = None, name: str = "value"
) -> LabelledVector:
    """The vector that a source holds: a path ("-" is standard input), a table, or numbers in memory.

    The forms that are read are those of `vectors.read`. name: of a source that has no name of its own.
    """
    if isinstance(source, LabelledVector):
        return source
    for field_name, column in (("label_column", label_column), ("value_column", value_column)):
        if column is not None and not isinstance(column, str):
            raise InvalidArgument(field_name, expected="the name of a column", found=type(column).__name__)
    wanted = _Columns(label_column, value_column)
    if isinstance(source, (str, PathLike)):
        name = name_of(fspath(source))
        vector = _from_file(fspath(source), wanted)
    elif type(source).__name__ != "Series" and any(map(partial(hasattr, source), _FRAMES)):
        vector = _from_columns(read_table(source, expected="a table").columns or {}, name, wanted)
    else:
        if label_column is not None or value_column is not None:
            given = "label_column" if value_column is None else "value_column"
            raise InvalidArgument(given, expected="a table with it", found="numbers without columns")
        vector = _in_memory(source, name)
    if len(vector.values) < 2:
        raise InvalidData(name, expected="at least two entries", found=f"{len(vector.values)}")
    if vector.labels is not None and len(set(vector.labels)) < len(vector.labels):
        raise InvalidData(name, expected="different labels", found="one label twice")
    return vector


class _Columns(NamedTuple):
    """The names of the columns that are asked for."""

    label: str | None
    value: str | None

    def places(
        self, header: Sequence[str] | None, width: int, name: str, *, may_be_cells: bool = False
    ) -> tuple[int, int | None]:
        """Which columns hold the numbers and the labels. may_be_cells: the header may be a record."""

        def place(column: str | None, default: Any) -> Any:
            if column is None:
                return default
            if header is None:
                raise InvalidData(name, expected=f"a column {column!r}", found="no header")
            if column not in header:
                raise missing_column(list(header), column, name, asked=self if may_be_cells else None)
            return header.index(column)

        places = place(self.value, width - 1), place(self.label, 0 if width > 1 else None)
        if width > 2 and None in self:
            raise InvalidData(
                name,
                expected="two columns, a label and a number",
                found=f"{width} columns",
                hint="Name them with {label_column} and {value_column}.",
                names=("label_column", "value_column"),
            )
        return places


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


def _from_file(path: str, wanted: _Columns) -> LabelledVector:
    read = read_table(path, expected="numbers", typed=_TYPED, small=True, documents=True)
    if read.columns is not None:
        return _from_columns(read.columns, read.name, wanted, may_be_cells=read.may_be_cells)
    if read.text is None:
        return _from_json(parse_json(read.raw, read.name), read.name)
    return _from_text(read.text, wanted)


def _from_columns(
    columns: Mapping[str, Any], name: str, wanted: _Columns, *, may_be_cells: bool = False
) -> LabelledVector:
    """The vector of a table with names and types."""
    names = list(columns)
    value_at, label_at = wanted.places(names, len(names), name, may_be_cells=may_be_cells)
    labels = None if label_at is None else map(str, columns[names[label_at]].to_pylist())
    return _labelled(columns[names[value_at]].to_pylist(), f"{name}, row", labels)


def _from_json(content: Any, name: str) -> LabelledVector:
    if isinstance(content, dict):
        return _labelled(content.values(), f"{name}, entry", content)
    if isinstance(content, list):
        return _labelled(content, f"{name}, entry", None)
    expected = "a list of numbers or an object of labels and numbers"
    raise UnreadableFile(name, expected=expected, found="neither")


def _labelled(items: Iterable[Any], place: str, labels: Iterable[str] | None) -> LabelledVector:
    numbers = tuple(_number(item, f"{place} {i}") for i, item in enumerate(items))
    return LabelledVector(numbers, None if labels is None else tuple(labels))


def _number(item: Any, place: str) -> float:
    if isinstance(item, bool) or not isinstance(item, (int, float)):
        raise InvalidData(place, expected="a number", found="something else")
    try:
        return float(item)
    except OverflowError:
        raise InvalidData(place, expected="a number", found="one too large") from None


def _from_text(table: TextTable, wanted: _Columns) -> LabelledVector:
    name, rows = table.name, table.rows(expected="numbers", decimals=True)
    is_wide = _is_wide(rows)
    below = {row[-1] for row in rows[1:]}
    header = rows[0] if is_wide or has_header([(rows[0][-1:], below)], judge=above_numbers) else None
    body = rows[1:] if header is not None else rows
    if not body:
        raise InvalidData(name, expected="numbers below the header", found="none")
    if header is not None and is_wide:
        return LabelledVector(tuple(map(float, body[0])), tuple(header))
    value_at, label_at = wanted.places(header, len(rows[0]), name, may_be_cells=True)
    skipped = len(rows) - len(body)
    values = tuple(numbers_in([row[value_at] for row in body], lambda i: table.place(i + skipped)))
    return LabelledVector(values, None if label_at is None else tuple(row[label_at] for row in body))


def _is_wide(lines: Sequence[Sequence[str]]) -> bool:
    """A header of labels over one line of numbers."""
    return (
        len(lines) == 2
        and len(lines[0]) > 2
        and not any(map(is_number, lines[0]))
        and all(map(is_number, lines[1]))
    )
