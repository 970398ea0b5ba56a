"""Short names of adjacencies."""

from __future__ import annotations

import json

import pytest

import veil
from veil.core.registry import adjacency_named
from veil.errors import InvalidArgument


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("add-remove", veil.vectors.Records()),
        ("replace", veil.vectors.Records("replace")),
        (" event ", veil.chains.Transitions("event")),
        ("user", veil.chains.Transitions("user", cap=1)),
        ("row-replace", veil.chains.Transitions("row", "replace")),
        ("edge", veil.bits.BitFlips(1)),
        ("bits:3", veil.bits.BitFlips(3)),
        ("row-bits:16", veil.bits.BitFlips(16, where="row")),
        ("words:2", veil.words.Hamming(2)),
        ("transfer:0.1", veil.vectors.Transfer(0.1)),
        ("l1:0.2", veil.vectors.L1(0.2)),
        ("matrix-row-l1:0.2", veil.matrices.Rows(1, veil.vectors.L1(0.2))),
        ("matrix-l1:0.2", veil.matrices.Rows("all", veil.vectors.L1(0.2))),
        ("matrix-row:0.1", veil.matrices.Rows(1, veil.vectors.Transfer(0.1))),
        ("matrix:0.1", veil.matrices.Rows("all", veil.vectors.Transfer(0.1))),
        ("rectangle:0.2", veil.matrices.Rectangle(0.2)),
        (json.dumps(veil.bits.BitFlips(2).describe()), veil.bits.BitFlips(2)),
        (json.dumps(veil.vectors.Records().describe() | {"words": "one record"}), veil.vectors.Records()),
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
