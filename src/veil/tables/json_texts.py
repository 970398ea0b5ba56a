"""JSON as text: what is in it, or an error that does not quote it."""

from __future__ import annotations

import json
import math
from typing import Any

from veil.core.errors import UnreadableFile
from veil.tables.files import decoded


def is_json(raw: bytes, path: str) -> bool:
    """Whether a text is JSON: by its ending, or by how it begins."""
    return path.lower().endswith(".json") or raw.lstrip()[:1] in (b"[", b"{")


def parse_json(raw: bytes, name: str) -> Any:
    """The value in a text. NaN and Infinity, which JSON does not have, become NaN, to be refused later."""
    return _parsed(decoded(raw, name), name, "JSON")


def parse_json_lines(raw: bytes, name: str) -> list[Any]:
    """The value in every line that has one."""
    lines = decoded(raw, name).split("\n")
    return [_parsed(line, name, "JSON in every line") for line in lines if line.strip()]


def _parsed(text: str, name: str, expected: str) -> Any:
    try:
        return json.loads(text, parse_constant=lambda word: math.nan)
    except (ValueError, RecursionError):
        raise UnreadableFile(name, expected=expected, found="something else") from None
