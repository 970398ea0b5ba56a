"""Records that were tampered with: read as what they say, or refused with one short line."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given

from veil.core.files import parse_release, to_json
from veil.core.releasing import expected_assumptions

from .byte_changes import changed
from .guard import guarded
from .json_values import changed_records
from .profiles import tries
from .readers import record_values, release_texts

_LONGEST_LINE = 4000


def read(text: str) -> Any:
    """A release as `veil inspect` looks at it, but for the work of computing its guarantee."""
    release = parse_release(text, "private.json")
    assert release.domain.words
    assert repr(release)
    expected_assumptions(release)
    return release


def check(text: str) -> None:
    """Refused in one line, or read, and then written and read again to the same."""
    outcome = guarded(lambda: read(text))
    if outcome.error is not None:
        said = str(outcome.error)
        assert said.isprintable()
        assert len(said) < _LONGEST_LINE
        return
    again = guarded(lambda: to_json(parse_release(to_json(outcome.result), "again.json")))
    assert again.error is None
    assert again.result == to_json(outcome.result)


@pytest.mark.parametrize("text", release_texts(), ids=lambda text: json.loads(text)["mechanism"]["name"])
def test_good_records_are_read(text: str) -> None:
    assert to_json(read(text)) == text


@tries(300)
@given(text=changed_records(record_values()))
def test_records_changed_in_their_structure(text: str) -> None:
    check(text)


@tries(100)
@given(content=changed([text.encode() for text in release_texts()]))
def test_records_changed_in_their_text(content: bytes) -> None:
    check(content.decode("utf-8", "replace"))
