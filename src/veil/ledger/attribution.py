"""Who did something to a budget, and why."""

from __future__ import annotations

import getpass
from typing import Any

from veil.core.checks import shown
from veil.core.errors import InvalidArgument


def by_whom(by: str | None) -> str:
    """Who acts: as said, else the user of this machine."""
    if by is not None:
        return one_line("by", by)
    try:
        return getpass.getuser()
    except (OSError, KeyError, ImportError):
        return "unknown"


def one_line(field: str, text: Any) -> str:
    """A sentence that a table can hold."""
    if not isinstance(text, str) or not text.strip() or len(text) > 500 or not text.isprintable():
        raise InvalidArgument(field, expected="a sentence of at most 500 characters", found=shown(text))
    return text.strip()
