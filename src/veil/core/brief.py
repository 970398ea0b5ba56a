"""Short forms of large values, for the prompt and for notebooks: what a value is, never all of it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import fields
from html import escape
from typing import Any

import numpy as np

# Entries of an array or a list that are written out, and letters of a label or of a value inside another.
_MOST_ENTRIES, _MOST_LETTERS, _MOST_INSIDE = 6, 40, 120
# Letters of the head of a narrow column.
_MOST_SHADED = 16


def brief_repr(value: Any) -> str:
    """A dataclass in one line: long arrays, lists and texts by how long they are.

    For `__repr__ = brief_repr` in the body of a dataclass.
    """
    shown = ", ".join(f"{one.name}={brief(getattr(value, one.name))}" for one in fields(value) if one.repr)
    return f"{type(value).__qualname__}({shown})"


def brief(value: Any) -> str:
    """A value as a part of a line."""
    if isinstance(value, np.ndarray):
        if value.size <= _MOST_ENTRIES and value.ndim == 1:
            return f"array({value.tolist()!r})"
        return f"<array of {' x '.join(map(str, value.shape)) or 'one number'}>"
    if isinstance(value, (Mapping, Sequence)) and not isinstance(value, str) and len(value) > _MOST_ENTRIES:
        return f"<{len(value):,} items>"
    text = repr(value)
    return text if len(text) <= _MOST_INSIDE else f"<{type(value).__name__}>"


def short(label: Any, most: int = _MOST_LETTERS) -> str:
    """A label without its middle, where it is long: long labels often differ at their end only."""
    text = str(label)
    end = most // 3
    return text if len(text) <= most else f"{text[: most - end - 1]}…{text[-end:]}"


def card_rows(header: Iterable[Any], lines: Iterable[Iterable[Any]]) -> str:
    """Lines of a small HTML table for notebooks: the first cell to the left, the others to the right."""
    names = "".join(f"<th>{escape(short(name))}</th>" for name in header)
    text = f"<tr>{names}</tr>" if names else ""
    for line in lines:
        first, *others = line
        cells = "".join(f"<td style='text-align:right'>{escape(short(cell))}</td>" for cell in others)
        text += f"<tr><td style='text-align:left'>{escape(short(first))}</td>{cells}</tr>"
    return text


def shaded_rows(columns: Iterable[Any], names: Iterable[Any], rows: Any) -> str:
    """A small HTML table of probabilities for notebooks, the darker the larger. columns, names: labels."""
    text = (
        f"<tr><th></th>{''.join(f'<th>{escape(short(label, _MOST_SHADED))}</th>' for label in columns)}</tr>"
    )
    for name, row in zip(names, rows, strict=True):
        cells = "".join(
            f"<td style='background:rgba(0,114,178,{0.7 * entry:.2f})'>{entry:.3f}</td>" for entry in row
        )
        text += f"<tr><th style='text-align:left'>{escape(short(name))}</th>{cells}</tr>"
    return text
