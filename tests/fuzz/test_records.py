"""Records that were tampered with: read as what they say, or refused with one short line."""

from __future__ import annotations

from typing import Any

import pytest

from veil.core.files import parse_release, to_json
from veil.errors import NoGuarantee

from .byte_changes import changed
from .guard import guarded
from .json_values import changed_records
from .profiles import tries
from .readers import RECORDS, record_values, release_text, release_texts

_LONGEST_LINE = 4000


def read(text: str) -> Any:
    """A release as `veil inspect` looks at it, but for the work of computing its guarantee."""
    release = parse_release(text, "private.json")
    assert release.domain.words
    assert repr(release)
    release.kind.implied_assumptions(release)
    return release


def check(text: str) -> None:
    """Refused in one line, or read, and then written and read again to the same."""
    outcome = guarded(lambda: read(text))
    if outcome.error is not None:
        said = str(outcome.error)
        assert said.isprintable()
        assert len(said) < _LONGEST_LINE
        return
    written = guarded(lambda: to_json(outcome.result))
    if written.error is not None:
        # Its guarantee is computed when it is written: more is claimed than can be proved.
        assert isinstance(written.error, NoGuarantee)
        return
    again = guarded(lambda: to_json(parse_release(written.result, "again.json")))
    assert again.error is None
    assert again.result == written.result


@pytest.mark.parametrize("name", RECORDS)
def test_good_records_are_read(name: str) -> None:
    text = release_text(name)
    assert to_json(read(text)) == text


@pytest.mark.slow
@tries(300, text=changed_records(record_values))
def test_records_changed_in_their_structure(text: str) -> None:
    check(text)


@tries(100, content=changed(lambda: [text.encode() for text in release_texts()]))
def test_records_changed_in_their_text(content: bytes) -> None:
    check(content.decode("utf-8", "replace"))
