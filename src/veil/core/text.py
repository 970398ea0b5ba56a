"""Text that comes from files, before it is shown or written."""

from __future__ import annotations

import unicodedata


def is_plain_text(text: str) -> bool:
    """Whether it has no line breaks or other control characters; spaces of all widths are fine."""
    return all(mark.isprintable() or unicodedata.category(mark) == "Zs" for mark in text)


def one_line(text: str) -> str:
    """Without line breaks and other control characters, with which a file could speak in our name."""
    return "".join(mark if mark.isprintable() else " " for mark in text)
