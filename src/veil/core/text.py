"""Text of others: which labels can be written and read again, and how any text is shown to people.

The classes of characters are fixed here rather than looked up, so that a file that one version of Python
accepts is accepted by all.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable
from typing import Any

# Characters that change the order in which the text around them is shown.
_OVERRIDES = "\u202a-\u202e\u2066-\u2069"
_DIRECTION_MARKS = "\u061c\u200e\u200f"
_CONTROLS = "\x00-\x1f\x7f-\x9f"
_BREAKS = "\u2028\u2029"
_HALVES = "\ud800-\udfff"
# Readers of files drop the byte order mark; the others are defined never to be characters.
_NONE = "\ufeff\ufdd0-\ufdef" + "".join(
    chr(plane + last) for plane in range(0, 0x110000, 0x10000) for last in (0xFFFE, 0xFFFF)
)
_REFUSED = re.compile(f"[{_CONTROLS}{_BREAKS}{_OVERRIDES}{_HALVES}{_NONE}]")
_SHOWN_BY_NUMBER = re.compile(f"[{_CONTROLS}{_BREAKS}{_OVERRIDES}{_DIRECTION_MARKS}{_HALVES}{_NONE}]")
_ABOVE_ASCII = re.compile(f"[\x7f-\x9f{_BREAKS}{_OVERRIDES}{_DIRECTION_MARKS}{_HALVES}\ufeff]")
_NAMES = (
    (_CONTROLS + _BREAKS, "a control character"),
    (_OVERRIDES, "a character that turns the direction of text"),
    (_HALVES, "half a character"),
    (_NONE, "a code that is no character"),
)


def is_plain_text(text: str) -> bool:
    """Whether a label can be written to every file and read again as it is.

    Joiners, soft hyphens and marks of direction are part of how languages are written. Line breaks, tabs and
    other control characters, overrides of the direction, and codes that are no characters are not.
    """
    # Nothing that is refused counts as printable, which is quicker to tell.
    return text.isprintable() or _REFUSED.search(text) is None


def fault_in(texts: Iterable[str]) -> str | None:
    """What the first text that is not plain holds, and where, without quoting it; None if all are plain."""
    listed = list(texts)
    if is_plain_text("".join(listed)):
        return None
    for place, text in enumerate(listed, 1):
        found = _REFUSED.search(text)
        if found is not None:
            kind = next(name for marks, name in _NAMES if re.match(f"[{marks}]", found[0]))
            return f"{kind} at position {found.start() + 1} of label {place}"
    return None


def texts_in(content: Any) -> list[str]:
    """All texts in plain data, names of fields included."""
    if isinstance(content, str):
        return [content]
    if isinstance(content, dict):
        return [text for pair in content.items() for part in pair for text in texts_in(part)]
    if isinstance(content, (list, tuple)):
        return [text for part in content if not isinstance(part, (int, float)) for text in texts_in(part)]
    return []


def visible(text: str) -> str:
    r"""One line for people: what would steer a terminal or turn the order of text is shown by its number.

    >>> print(visible("a\x1b[31m\u202eb"))
    a\x1b[31m\u202eb
    """
    return _SHOWN_BY_NUMBER.sub(lambda found: _number(found[0]), text)


def _number(mark: str) -> str:
    code = ord(mark)
    return f"\\x{code:02x}" if code < 0x100 else f"\\u{code:04x}" if code < 0x10000 else f"\\U{code:08x}"


def json_text(content: Any, *, indent: int | None = None) -> str:
    """JSON in which what steers a terminal is escaped by the rules of JSON: it is read as the same text."""
    text = json.dumps(content, indent=indent, ensure_ascii=False, allow_nan=False)
    return _ABOVE_ASCII.sub(lambda found: f"\\u{ord(found[0]):04x}", text)
