"""What users give as text where a list, pairs or files are meant: a,b,c or 0..23 or a=b or a path."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from glob import glob, has_magic
from os.path import exists
from pathlib import Path
from typing import Any

from veil.core.errors import InvalidArgument
from veil.tables.dialect import has_usual_header
from veil.tables.reading import read_rows
from veil.tables.states import place_of, split_path

_HEADERS = (["from", "to"], ["state", "into"], ["merge", "into"])


def listed(field: str, value: Any) -> Any:
    """A list of labels: as it is, or from text with commas or a range; the path of a file stays."""
    if not isinstance(value, str) or exists(value) or exists(value.split(":")[0]):
        return value
    labels = groups_from(value)
    if labels == [value.strip()]:
        return value
    if "" in labels:
        raise InvalidArgument(field, expected="labels", found="an empty one", hint="A comma too many?")
    return labels


def groups_from(value: Any) -> Any:
    """The public values of a column, as a list; 0..23, or 0-23, are all whole numbers from first to last."""
    if not isinstance(value, str):
        return value
    ends = re.fullmatch(r"\s*(\d{1,7})\s*(?:\.\.|-)\s*(\d{1,7})\s*", value)
    if ends is None:
        return [label.strip() for label in value.split(",")]
    return [str(number) for number in range(int(ends[1]), int(ends[2]) + 1)]


def pairs(field: str, value: Any) -> Mapping[Any, Any] | None:
    """{state: state}: as it is, from a=b,c=b, or from a file of two columns.

    A file with more columns is named with two of them: zones.csv:id:borough.
    """
    if value is None or isinstance(value, Mapping):
        return value
    text = str(value)
    if "=" in text and not exists(text):
        parts = [pair.partition("=") for pair in text.split(",")]
        return {key.strip(): other.strip() for key, _, other in parts}
    path, asked = split_path(text)
    name, rows = read_rows(path, expected="pairs of states")
    if len(asked or rows[0]) != 2:
        expected = "two columns, a state and the one it is counted as; of more, file:state:other"
        raise InvalidArgument(field, expected=expected, found=str(len(asked or rows[0])))
    if asked:
        key, label = (place_of(rows[0], column, name, asked) for column in asked)
        body = rows[1:]
    else:
        key, label = 0, 1
        header = [cell.casefold() for cell in rows[0]] in _HEADERS or has_usual_header(rows)
        body = rows[header:]
    found: dict[str, str] = {}
    for row in body:
        if found.setdefault(row[key], row[label]) != row[label]:
            raise InvalidArgument(field, expected="one line for each state", found="two that differ")
    return found


def files_among(*values: Any) -> tuple[str, ...]:
    """The files that a request names, which are read and so must not be overwritten."""
    named: list[str] = []
    for value in values:
        texts: Iterable[Any] = value if isinstance(value, (list, tuple)) else (value,)
        for text in texts:
            if not isinstance(text, (str, Path)) or "://" in str(text):
                continue
            name = str(text) if exists(str(text)) else str(text).split(":")[0]
            if exists(name):
                named.append(name)
            elif has_magic(str(text)):
                named += glob(str(text), recursive=True)
    return tuple(named)
