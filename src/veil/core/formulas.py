"""Cells of CSV files that a spreadsheet would take for formulas, made harmless."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

from veil.core.errors import InvalidArgument

_BEGINNINGS = ("=", "+", "-", "@", "\t", "\r")
_NUMBER = re.compile(r"[+-]?(\d+(\.\d*)?|\.\d+)(e[+-]?\d+)?", re.ASCII | re.IGNORECASE)


def safe_cell(cell: Any) -> Any:
    """The cell; text that begins as a formula does, and is no number, gets an apostrophe in front.

    >>> safe_cell("=1+1"), safe_cell("-5"), safe_cell("a=b")
    ("'=1+1", '-5', 'a=b')
    """
    if isinstance(cell, str) and cell.startswith(_BEGINNINGS) and _NUMBER.fullmatch(cell) is None:
        return f"'{cell}"
    return cell


def safe_texts(texts: Sequence[str]) -> list[str]:
    """The texts as safe cells; an error if two that differ would then be the same."""
    safe = [safe_cell(text) for text in texts]
    if len(set(safe)) < len(set(texts)):
        raise InvalidArgument(
            "csv_safe",
            expected="labels that differ by more than an apostrophe at the beginning",
            found="two that do not",
        )
    return safe
