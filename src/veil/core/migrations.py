"""How release files of older versions become like those of today."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from veil.core.checks import shown
from veil.core.errors import InvalidArgument

Content = dict[str, Any]


def _entry_says_whose(content: Content) -> Content:
    """From 1 to 2: the entry of the ledger is an object that says of which ledger; it was a bare name."""
    entry = content["entry"]
    if entry is not None and (isinstance(entry, bool) or not isinstance(entry, (int, str))):
        raise InvalidArgument("entry", expected="a number or nothing", found=type(entry).__name__)
    return content | {"entry": None if entry is None else {"id": entry}}


def _words_are_attached(content: Content) -> Content:
    """From 2 to 3: a file beside the record is an attachment. Which kind wrote a record, the kinds know."""
    value = content["value"]
    if not isinstance(value, dict) or "file" not in value:
        return content
    rest = {key: item for key, item in value.items() if key not in ("file", "sha256")}
    attached = {"words": {key: value.get(key) for key in ("file", "sha256")}}
    return content | {"value": rest, "attachments": attached}


# The step under n leads from schema n to the next.
_STEPS: dict[int, Callable[[Content], Content]] = {1: _entry_says_whose, 2: _words_are_attached}


def brought_up(content: Content, schema: int) -> Content:
    """The content as the present schema has it; that of a newer one is refused."""
    found = content.get("schema")
    if isinstance(found, bool) or not isinstance(found, int) or not 1 <= found <= schema:
        raise InvalidArgument(
            "schema",
            expected=f"1 to {schema}",
            found=shown(found),
            hint="A newer Veil wrote this file; install it to read the file.",
        )
    for step in range(found, schema):
        content = _STEPS[step](content)
    return content
