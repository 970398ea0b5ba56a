"""Several labelled vectors at once: tables with a row for each, such as a course, or a line for a count."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from veil.core.errors import InvalidArgument, InvalidData
from veil.core.intake import Labels

# How a release writes its noisy counts beside the shares: of one vector, and of a label of several.
NOISY_COLUMN, NOISY_COLUMN_OF = "noisy_count", "noisy_count {}"
_ONE_RELEASED = ("label", "probability", NOISY_COLUMN)
Numbers = Callable[[Sequence[Any]], list[float]]


@dataclass(frozen=True, slots=True)
class LabelledVectors:
    """One vector for each row of a table. It is sensitive data, and so may be the names of the rows."""

    values: tuple[tuple[float, ...], ...] = field(repr=False)
    labels: Labels | None = None
    row_labels: Labels | None = field(default=None, repr=False)


class Columns(NamedTuple):
    """The names of the columns that are asked for. row: of the names of vectors, which may be `unnamed`."""

    label: str | None = None
    value: str | None = None
    row: str | None = None
    unnamed: bool = False

    @property
    def names(self) -> tuple[str | None, ...]:
        """Of columns that must be there."""
        return self.label, self.value, self.row


def vectors_in(
    header: Sequence[str] | None,
    columns: Sequence[Sequence[Any]],
    wanted: Columns,
    name: str,
    *,
    is_number: Callable[[Any], bool],
    numbers: Numbers,
) -> LabelledVectors | None:
    """The vectors of a table that holds several; None where it may hold one.

    header: the names of the columns. is_number: whether a cell may be a number; numbers: of the cells of a
    column, or an error that says where there is none. Without `wanted.row` it is the first column that names
    the vectors, where all others, at least two, are numbers.
    """
    if wanted.unnamed:
        return _wide(header, columns, None, name, numbers)
    if wanted.row is None and (
        header is None or len(columns) < 3 or (wanted.label, wanted.value) != (None, None)
    ):
        return None
    if wanted.row is None:
        texts = [place for place, cells in enumerate(columns) if not all(map(is_number, cells))]
        _refuse_gaps(columns, texts, is_number, name)
        return _wide(header, columns, 0, name, numbers) if texts == [0] else None
    if header is None:
        raise InvalidData(name, expected=f"a column {wanted.row!r}", found="no header")
    if (wanted.label is None) != (wanted.value is None):
        missing = "label_column" if wanted.label is None else "value_column"
        raise InvalidArgument(
            missing, expected="both or neither beside {row_column}", found="one", names=("row_column",)
        )
    if wanted.label is None or wanted.value is None:
        return _wide(header, columns, header.index(wanted.row), name, numbers)
    places = [header.index(column) for column in (wanted.row, wanted.label, wanted.value)]
    rows, labels, cells = (columns[place] for place in places)
    return long_rows([str(row) for row in rows], [str(label) for label in labels], numbers(cells), name)


def _refuse_gaps(
    columns: Sequence[Sequence[Any]], texts: list[int], is_number: Callable[[Any], bool], name: str
) -> None:
    """Refuse a table that would hold several vectors, were it not for empty cells."""
    if texts[:1] != [0] or len(texts) == 1 or any(map(is_number, columns[0])):
        return
    others = [cell for place in texts[1:] for cell in columns[place] if not is_number(cell)]
    if all(cell is None or str(cell).strip() == "" for cell in others):
        raise InvalidData(
            name,
            expected="a number in every cell of a table with one row for each vector",
            found=f"{len(others):,} empty",
            hint="Write 0 where there is none.",
        )


def _wide(
    header: Sequence[str] | None,
    columns: Sequence[Sequence[Any]],
    at: int | None,
    name: str,
    numbers: Numbers,
) -> LabelledVectors:
    """One line for each vector, one column for each label. at: where the names of the vectors are."""
    labels = None if header is None else tuple(label for place, label in enumerate(header) if place != at)
    entries = [numbers(cells) for place, cells in enumerate(columns) if place != at]
    names = None if at is None else tuple(map(str, columns[at]))
    return checked(LabelledVectors(tuple(zip(*entries, strict=True)), labels, names), name)


def beside_shares(header: Sequence[str] | None) -> frozenset[int]:
    """The places of the noisy counts in a table that a release was written to; by the names alone.

    Such a table is read as the shares: counts beside them are not further labels.
    """
    names = tuple(header or ())
    if names == _ONE_RELEASED:
        return frozenset({2})
    noisy = {NOISY_COLUMN_OF.format(name) for name in names} & set(names)
    # All others but that of the names have one.
    complete = len(names) == 2 * len(noisy) + 1 and not {names[0]} & noisy
    return frozenset(i for i, name in enumerate(names) if name in noisy and complete)


def long_rows(rows: list[str], labels: list[str], numbers: list[float], name: str) -> LabelledVectors:
    """One line for each number; what is left out is zero."""
    cells: dict[tuple[str, str], float] = {}
    for row, label, number in zip(rows, labels, numbers, strict=True):
        if (row, label) in cells:
            raise InvalidData(name, expected="one line for each row and label", found="two lines of one")
        cells[row, label] = number
    across, down = tuple(dict.fromkeys(labels)), tuple(dict.fromkeys(rows))
    values = tuple(tuple(cells.get((row, label), 0.0) for label in across) for row in down)
    return checked(LabelledVectors(values, across, down), name)


def checked(vectors: LabelledVectors, name: str) -> LabelledVectors:
    """The vectors, if each has the same two or more labels and a name of its own."""
    if not vectors.values:
        raise InvalidData(name, expected="at least one row", found="none")
    if len(vectors.values[0]) < 2:
        raise InvalidData(name, expected="at least two entries", found=f"{len(vectors.values[0])}")
    for what, labels in (("labels", vectors.labels), ("names of rows", vectors.row_labels)):
        if labels is not None and len(set(labels)) < len(labels):
            raise InvalidData(name, expected=f"different {what}", found="one twice")
        if labels is not None and not all(label.strip() for label in labels):
            raise InvalidData(name, expected=f"{what} that are not empty", found="an empty one")
    return vectors
