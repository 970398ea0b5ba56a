"""Objects of JSON in which every name stands once: of a name that is there twice, one value would be lost.

Readers differ in which of the two they take, so that two people could read two things in one file.
"""

from __future__ import annotations

from typing import Any

from veil.core.errors import InvalidData


def unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """The object with these names and values, unless it has a name twice."""
    found = dict(pairs)
    if len(found) < len(pairs):
        raise twice("object")
    return found


def twice(where: str) -> InvalidData:
    """The error for a name that is there twice."""
    return InvalidData(where, expected="each name once in an object", found="one of them twice")
