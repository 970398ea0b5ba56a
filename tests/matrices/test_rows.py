"""How many rows of a matrix may change, and how."""

import json
import math
import pickle
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import veil
from veil.core.registry import adjacency_from
from veil.errors import InvalidArgument
from veil.matrices.adjacency import Rows
from veil.vectors.counts import Records
from veil.vectors.l1 import L1
from veil.vectors.simplex import Transfer

EACH = Transfer(0.01)


@pytest.mark.parametrize(
    ("changed", "words"),
    [
        (1, "one row of the matrix may change"),
        (3, "at most 3 rows of the matrix may change"),
        ("all", "every row of the matrix may change at once"),
    ],
)
def test_words(changed: int | str, words: str) -> None:
    full = f"{words}, two protected entries of a row exchanging at most 0.25"
    assert Rows(changed, Transfer(0.25)).words == full
    moved = "such a row moving by an L1 distance of at most 0.25: some protected entries gain half of it "
    moved += "together, others lose as much"
    assert Rows(changed, L1(0.25)).words == f"{words}, {moved}"


@pytest.mark.parametrize(
    ("changed", "rows", "found"), [(1, 5, 1), (3, 5, 3), (5, 5, 5), (9, 5, 5), ("all", 5, 5), ("all", 1, 1)]
)
def test_among(changed: int | str, rows: int, found: int) -> None:
    assert Rows(changed, EACH).among(rows) == found


@settings(derandomize=True, max_examples=100, deadline=None)
@given(st.one_of(st.just("all"), st.integers(1, 10_000_000)), st.floats(1e-300, 1.0))
def test_a_description_gives_the_adjacency_back(changed: int | str, mass: float) -> None:
    rows = Rows(changed, Transfer(mass))
    described = json.loads(json.dumps(rows.describe()))
    assert described == {"name": "Rows", "changed": changed, "each": {"name": "Transfer", "mass": mass}}
    again = adjacency_from(described)
    assert again == rows
    spread = Rows(changed, L1(mass))
    assert adjacency_from(json.loads(json.dumps(spread.describe()))) == spread
    assert hash(again) == hash(rows)
    assert again.words == rows.words
    assert pickle.loads(pickle.dumps(rows)) == rows


def test_whole_numbers_of_any_type() -> None:
    for number in (2, 2.0, np.int64(2), np.float32(2)):
        rows = Rows(number, EACH)  # type: ignore[arg-type]
        assert rows.changed == 2
        assert type(rows.changed) is int
    assert veil.matrices.Rows is Rows


@pytest.mark.parametrize(
    "changed", [0, -1, 1.5, math.nan, math.inf, True, None, "every", "ALL", "1", "", [1]]
)
def test_impossible_numbers_of_rows(changed: Any) -> None:
    with pytest.raises(InvalidArgument) as caught:
        Rows(changed, EACH)
    assert caught.value.field == "changed"
    assert caught.value.expected.startswith("a whole number of at least 1")
    assert caught.value.found == repr(changed)


@pytest.mark.parametrize("each", [0.01, None, "0.01", Records(), Rows(1, EACH), Transfer])
def test_a_row_changes_by_a_transfer_or_a_distance(each: Any) -> None:
    with pytest.raises(InvalidArgument) as caught:
        Rows(1, each)
    assert (caught.value.field, caught.value.expected) == (
        "each",
        "a vectors.Transfer or vectors.L1",
    )
    assert caught.value.found == type(each).__name__


@pytest.mark.parametrize(
    "description",
    [
        {"name": "Rows"},
        {"name": "Rows", "changed": 1},
        {"name": "Rows", "changed": 1, "each": {}},
        {"name": "Rows", "changed": 1, "each": {"name": "Transfer"}},
        {"name": "Rows", "changed": 1, "each": {"name": "Transfer", "mass": 2.0}},
        {"name": "Rows", "changed": 1, "each": {"name": "Records", "change": "replace"}},
        {"name": "Rows", "changed": 1, "each": {"name": "Rows", "changed": 1, "each": EACH.describe()}},
        {"name": "Rows", "changed": "some", "each": EACH.describe()},
        {"name": "Rows", "changed": 0, "each": EACH.describe()},
        {"name": "Rows", "changed": 1, "each": EACH.describe(), "colour": "red"},
    ],
)
def test_a_malformed_description(description: dict[str, Any]) -> None:
    with pytest.raises((InvalidArgument, TypeError)):
        adjacency_from(description)


def test_rows_cannot_be_changed() -> None:
    with pytest.raises(AttributeError):
        Rows(1, EACH).changed = 2  # type: ignore[misc]
