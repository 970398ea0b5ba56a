"""The entry of a ledger as it stands in the file of a release."""

from __future__ import annotations

from typing import Any

from veil.core.account import EntryId
from veil.core.errors import InvalidArgument
from veil.core.text import is_plain_text


def entry_to_json(entry: Any) -> dict[str, Any] | None:
    """Of Veil's ledger: which ledger, dataset and number. Of another one: its own name for it."""
    if entry is None:
        return None
    if isinstance(entry, EntryId):
        return entry.to_dict()
    return {"id": entry if type(entry) in (int, str) else str(entry)}


def entry_from_json(content: Any) -> Any:
    """The entry of a file, checked to be one."""
    if content is None:
        return None
    if not isinstance(content, dict):
        raise InvalidArgument("entry", expected="an entry of a ledger", found=type(content).__name__)
    if "id" in content:
        found = content["id"]
        if type(found) not in (int, str) or (isinstance(found, str) and not is_plain_text(found)):
            raise InvalidArgument("entry", expected="a number or a name", found="something else")
        return found
    texts = [content[key] for key in ("ledger", "dataset", "sha256")]
    if not all(isinstance(text, str) and is_plain_text(text) for text in texts):
        raise InvalidArgument("entry", expected="the names of a ledger and a dataset", found="something else")
    if type(content["number"]) is not int:
        raise InvalidArgument("entry", expected="the number of an entry", found="something else")
    return EntryId.from_dict(content)
