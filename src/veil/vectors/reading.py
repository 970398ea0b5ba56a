"""Reading labelled vectors, one or several: from CSV, JSON or a pipe, from tables, from what is in memory."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from os import PathLike, fspath
from typing import Any

from veil.core.checks import truth
from veil.core.errors import InvalidArgument, InvalidData, UnreadableFile
from veil.core.intake import Labels, as_floats, labels_of, named_matrix, row_labels_of
from veil.tables.cells import is_number, numbers_in
from veil.tables.dialect import above_numbers, has_header
from veil.tables.engines.protocol import missing_column
from veil.tables.files import PARQUET, name_of, parse_json
from veil.tables.reading import read_table
from veil.tables.text_tables import TextTable
from veil.vectors.several import Columns, LabelledVectors, beside_shares, checked, long_rows, vectors_in

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
    """The one vector that a source holds, as of `read_vectors`. name: of a source without one of its own."""
    held = read_vectors(source, label_column=label_column, value_column=value_column, name=name)
    if isinstance(held, LabelledVectors):
        raise InvalidData(name, expected="one vector", found=f"{len(held.values)} of them")
    return held


def read_vectors(
    source: Any,
    *,
    label_column: str | None = None,
    value_column: str | None = None,
    row_column: str | None = None,
    unnamed: bool = False,
    name: str = "value",
) -> LabelledVector | LabelledVectors:
    """The vector, or vectors, of a source: a path ("-" is standard input), a table, or numbers in memory.

    The forms that are read are those of `vectors.read`. name: of a source that has no name of its own.
    """
    if isinstance(source, (LabelledVector, LabelledVectors)):
        return source
    asked = {"label_column": label_column, "value_column": value_column, "row_column": row_column}
    for field_name, column in asked.items():
        if column is not None and not isinstance(column, str):
            raise InvalidArgument(field_name, expected="the name of a column", found=type(column).__name__)
        if column is not None and truth("unnamed", unnamed):
            raise InvalidArgument("unnamed", expected="no name of a column with it", found=f"{field_name}")
    wanted = _Columns(label_column, value_column, row_column, truth("unnamed", unnamed))
    if isinstance(source, (str, PathLike)):
        name = name_of(fspath(source))
        vector = _from_file(fspath(source), wanted)
    elif _is_table(source) or (
        type(source).__name__ != "Series" and any(map(partial(hasattr, source), _FRAMES))
    ):
        vector = _from_frame(source, name, wanted)
    else:
        if wanted.names != _Columns().names:
            given = next(field for field, column in asked.items() if column is not None)
            raise InvalidArgument(given, expected="a table with it", found="numbers without columns")
        vector = _in_memory(source, name)
    if isinstance(vector, LabelledVectors):
        return vector
    if len(vector.values) < 2:
        raise InvalidData(name, expected="at least two entries", found=f"{len(vector.values)}")
    if vector.labels is not None and len(set(vector.labels)) < len(vector.labels):
        raise InvalidData(name, expected="different labels", found="one label twice")
    return vector


class _Columns(Columns):
    """The names of the columns that are asked for, and where they are."""

    def named(self, header: Sequence[str] | None, name: str, *, may_be_cells: bool) -> None:
        """Refuse columns that are not there. may_be_cells: the header may be a record."""
        for column in self.names if header is not None else ():
            if column is not None and column not in (header or ()):
                asked = self.names if may_be_cells else None
                raise missing_column(list(header or ()), column, name, asked=asked)

    def left_out(self, header: Sequence[str] | None) -> frozenset[int]:
        """The noisy counts of a release that is read again, unless columns of it are asked for."""
        return beside_shares(header) if (self.label, self.value) == (None, None) else frozenset()

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
                asked = self.names if may_be_cells else None
                raise missing_column(list(header), column, name, asked=asked)
            return header.index(column)

        places = place(self.value, width - 1), place(self.label, 0 if width > 1 else None)
        if width > 2 and None in (self.label, self.value):
            raise InvalidData(
                name,
                expected="two columns, a label and a number",
                found=f"{width} columns",
                hint="Name them with {label_column} and {value_column}; or, in a table with one row for each "
                "of several vectors, the column of their names with {row_column}, or {unnamed} if none does.",
                names=("label_column", "value_column", "row_column", "unnamed"),
            )
        return places


def _in_memory(source: Any, name: str) -> LabelledVector | LabelledVectors:
    nested = isinstance(source, Mapping) and any(isinstance(row, Mapping) for row in source.values())
    numbers = named_matrix(name, source).dense() if nested else as_floats(name, source)
    labels = labels_of(source)
    if numbers.ndim == 2:
        several = tuple(map(tuple, numbers.tolist()))
        return checked(LabelledVectors(several, labels if nested else None, row_labels_of(source)), name)
    if numbers.ndim != 1:
        expected, found = "a vector, or a row for each of several", f"an array of shape {numbers.shape}"
        raise InvalidData(name, expected=expected, found=found)
    return LabelledVector(tuple(numbers.tolist()), labels)


def _is_table(source: Any) -> bool:
    """Whether a mapping holds columns: the names of some vectors or entries, and numbers, in lists."""
    return (
        isinstance(source, Mapping)
        and len(source) > 1
        and all(isinstance(column, (list, tuple)) for column in source.values())
        and any(isinstance(cell, str) for column in source.values() for cell in column)
    )


def _from_frame(frame: Any, name: str, wanted: _Columns) -> LabelledVector | LabelledVectors:
    """A table in memory; a pandas frame of three or more columns of numbers has its names in the index."""
    columns = read_table(frame, expected="a table").columns or {}
    kinds = [getattr(kind, "kind", "O") in "iuf" for kind in getattr(frame, "dtypes", ())]
    if wanted == _Columns() and len(kinds) > 2 and all(kinds) and type(frame).__name__ == "DataFrame":
        held = named_matrix(name, frame)
        several = tuple(map(tuple, held.dense().tolist()))
        return checked(LabelledVectors(several, labels_of(frame), row_labels_of(frame)), name)
    return _from_columns(columns, name, wanted)


def _from_file(path: str, wanted: _Columns) -> LabelledVector | LabelledVectors:
    read = read_table(path, expected="numbers", typed=_TYPED, small=True, documents=True)
    if read.columns is not None:
        return _from_columns(read.columns, read.name, wanted, may_be_cells=read.may_be_cells)
    if read.text is None:
        if wanted.row is not None:
            raise InvalidArgument("row_column", expected="a table with it", found="a JSON document")
        return _from_json(parse_json(read.raw, read.name), read.name)
    return _from_text(read.text, wanted)


def _from_columns(
    columns: Mapping[str, Any], name: str, wanted: _Columns, *, may_be_cells: bool = False
) -> LabelledVector | LabelledVectors:
    """The vectors of a table with names and types."""
    names = list(columns)
    wanted.named(names, name, may_be_cells=may_be_cells)
    left_out = wanted.left_out(names)
    names = [column for place, column in enumerate(names) if place not in left_out]
    place = f"{name}, row"
    several = vectors_in(
        names,
        [columns[column].to_pylist() for column in names],
        wanted,
        name,
        is_number=lambda cell: isinstance(cell, (int, float)) and not isinstance(cell, bool),
        numbers=lambda cells: [_number(item, f"{place} {i}") for i, item in enumerate(cells)],
    )
    if several is not None:
        return several
    value_at, label_at = wanted.places(names, len(names), name, may_be_cells=may_be_cells)
    labels = None if label_at is None else map(str, columns[names[label_at]].to_pylist())
    return _labelled(columns[names[value_at]].to_pylist(), place, labels)


def _from_json(content: Any, name: str) -> LabelledVector | LabelledVectors:
    if isinstance(content, dict) and content and all(isinstance(row, dict) for row in content.values()):
        cells = [(row, label, number) for row, held in content.items() for label, number in held.items()]
        numbers = [_number(number, f"{name}, entry {i}") for i, (_, _, number) in enumerate(cells)]
        return long_rows([row for row, _, _ in cells], [label for _, label, _ in cells], numbers, name)
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


def _from_text(table: TextTable, wanted: _Columns) -> LabelledVector | LabelledVectors:
    name, rows = table.name, table.rows(expected="numbers", decimals=True)
    is_wide = _is_wide(rows)
    below = {row[-1] for row in rows[1:]}
    is_named = any(column in rows[0] for column in wanted.names if column is not None)
    has_names = is_wide or is_named or has_header([(rows[0][-1:], below)], judge=above_numbers)
    header = rows[0] if has_names else None
    body = rows[1:] if header is not None else rows
    if not body:
        raise InvalidData(name, expected="numbers below the header", found="none")
    wanted.named(header, name, may_be_cells=True)
    skipped = len(rows) - len(body)

    def numbers(cells: Sequence[str]) -> list[float]:
        return list(numbers_in(cells, lambda i: table.place(i + skipped)))

    columns = list(map(list, zip(*body, strict=True)))
    left_out = wanted.left_out(header)
    if header is not None and left_out:
        columns = [cells for place, cells in enumerate(columns) if place not in left_out]
        header = [column for place, column in enumerate(header) if place not in left_out]
    several = vectors_in(header, columns, wanted, name, is_number=is_number, numbers=numbers)
    if several is not None:
        return several
    if header is not None and is_wide:
        return LabelledVector(tuple(map(float, body[0])), tuple(header))
    value_at, label_at = wanted.places(header, len(columns), name, may_be_cells=True)
    return LabelledVector(
        tuple(numbers(columns[value_at])), None if label_at is None else tuple(columns[label_at])
    )


def _is_wide(lines: Sequence[Sequence[str]]) -> bool:
    """A header of labels over one line of numbers."""
    return (
        len(lines) == 2
        and len(lines[0]) > 2
        and not any(map(is_number, lines[0]))
        and all(map(is_number, lines[1]))
    )
