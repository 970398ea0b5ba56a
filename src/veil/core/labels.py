"""Labels as they come from files."""

from __future__ import annotations

from typing import Any

from veil.core.errors import InvalidArgument
from veil.core.intake import Labels
from veil.core.text import is_plain_text


def checked_labels(content: Any) -> Labels | None:
    """The labels of a file as text, or None if it has none."""
    if content is None:
        return None
    if not isinstance(content, list):
        raise InvalidArgument("labels", expected="a list", found=type(content).__name__)
    if any(isinstance(name, str) and not is_plain_text(name) for name in content):
        raise InvalidArgument("labels", expected="printable text", found="control characters")
    return tuple(map(str, content))
