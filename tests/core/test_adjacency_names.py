"""Short names of adjacencies."""

from __future__ import annotations

import json

import pytest

import veil
from veil.core.adjacency_names import adjacency_named
from veil.errors import InvalidArgument


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("add-remove", veil.Records()),
        ("replace", veil.Records("replace")),
        (" event ", veil.Transitions("event")),
        ("user", veil.Transitions("user", cap=1)),
        ("row-replace", veil.Transitions("row", "replace")),
        ("edge", veil.BitFlips(1)),
        ("bits:3", veil.BitFlips(3)),
        ("row-bits:16", veil.BitFlips(16, where="row")),
        ("words:2", veil.Hamming(2)),
        ("transfer:0.1", veil.Transfer(0.1)),
        ("matrix-row:0.1", veil.Rows(1, veil.Transfer(0.1))),
        ("matrix:0.1", veil.Rows("all", veil.Transfer(0.1))),
        ("rectangle:0.2", veil.Rectangle(0.2)),
        (json.dumps(veil.BitFlips(2).describe()), veil.BitFlips(2)),
        (json.dumps(veil.Records().describe() | {"words": "one record"}), veil.Records()),
    ],
)
def test_names(text: str, expected: object) -> None:
    assert adjacency_named(text) == expected


@pytest.mark.parametrize(
    "text",
    [
        "",
        "user:",
        "word",
        "words",
        "words:x",
        "words:0",
        "transfer:2",
        "edge:1",
        "{}",
        "{",
        '{"name": 1}',
        "[]",
    ],
)
def test_others_are_refused(text: str) -> None:
    with pytest.raises(InvalidArgument):
        adjacency_named(text)
