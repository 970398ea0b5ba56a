"""Counts: each rule is tested by breaking it."""

import math
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from veil.errors import InvalidArgument, InvalidData
from veil.vectors.counts import LARGEST_COUNT, Counts

# Digits that must not show up in any message.
SECRET = 123456789

BROKEN: list[tuple[Any, str, str]] = [
    ([SECRET, math.nan], "finite counts", "1 entry not finite, the first at position 1"),
    ([SECRET, -SECRET], "no negative count", "1 entry negative, the first at position 1"),
    ([[1, 2], [SECRET + 0.5, 0.25]], "whole numbers", "2 entries not whole, the first at position (1, 0)"),
    ([SECRET, 1, 2], "2 counts along the last axis", "an array of shape (3,)"),
    (SECRET, "2 counts along the last axis", "an array of shape ()"),
    ([], "2 counts along the last axis", "an array of shape (0,)"),
    ([10**400, SECRET], "an array of numbers", "a list of other things or of uneven length"),
    ([str(SECRET), "1"], "an array of numbers", "a list of other things or of uneven length"),
    ([True, False], "an array of numbers", "a list of other things or of uneven length"),
    ([SECRET, None], "an array of numbers", "a list of other things or of uneven length"),
    ({SECRET, 1}, "an array of numbers", "set"),
    (b"123456789", "an array of numbers", "text"),
]


@pytest.mark.parametrize(("value", "expected", "found"), BROKEN)
def test_a_broken_rule_is_named_and_no_value_is_quoted(value: Any, expected: str, found: str) -> None:
    with pytest.raises(InvalidData) as caught:
        Counts(2).validate(value)
    assert (caught.value.field, caught.value.expected, caught.value.found) == ("value", expected, found)
    assert "12345" not in str(caught.value)
    assert value not in Counts(2)


@pytest.mark.parametrize("value", [[1e308, 1e308], [math.inf, 0.0], [1e300, 1.0]])
def test_huge_counts(value: Any) -> None:
    with pytest.raises(InvalidData):
        Counts(2).validate(value)
    assert value not in Counts(2)


@pytest.mark.parametrize("value", [[LARGEST_COUNT, 2], [10**30, SECRET], [2.0**60, 0.0]])
def test_too_many_records(value: Any) -> None:
    with pytest.raises(InvalidData, match=rf"^value: expected [a-z ]+ {LARGEST_COUNT} records, found more"):
        Counts(2).validate(value)


@pytest.mark.parametrize("value", [[LARGEST_COUNT + 1, 0], np.array([LARGEST_COUNT + 1, 0])])
def test_a_count_that_a_float_would_alter_is_refused(value: Any) -> None:
    with pytest.raises(InvalidData):
        Counts(2).validate(value)


def test_the_largest_count_is_kept_exactly() -> None:
    assert Counts(2).validate([LARGEST_COUNT - 1, 1]).tolist() == [LARGEST_COUNT - 1, 1]


@settings(derandomize=True, max_examples=100, deadline=None)
@given(st.lists(st.one_of(st.integers(-2, 50), st.floats(-2.0, 50.0)), min_size=3, max_size=3))
def test_membership_agrees_with_validation(row: list[float]) -> None:
    inside = all(item >= 0 and item == int(item) for item in row)
    assert (row in Counts(3)) == inside
    if inside:
        found = Counts(3).validate(row)
        assert found.dtype == np.int64
        assert found.tolist() == row


@pytest.mark.parametrize(
    "value", [[3, 4], (3, 4), [3.0, 4.0], np.array([3, 4], dtype=np.uint8), np.array([3, 4], dtype=object)]
)
def test_whole_numbers_of_every_kind(value: Any) -> None:
    assert Counts(2).validate(value).tolist() == [3, 4]


def test_batches_and_empty_rows() -> None:
    batch = np.arange(24).reshape(2, 3, 4)
    assert (Counts(4).validate(batch) == batch).all()
    assert Counts(2).validate([0, 0]).tolist() == [0, 0]


@pytest.mark.parametrize("size", [1, 0, -2, 2.5, "4", None, math.inf, True])
def test_a_size_that_cannot_be(size: Any) -> None:
    with pytest.raises(InvalidArgument, match=r"^size: expected a whole number of at least 2"):
        Counts(size)


@pytest.mark.parametrize("kind", ["int64", "float64"])
def test_the_callers_array_is_neither_aliased_nor_changed(kind: str) -> None:
    mine = np.array([5, 6]).astype(kind)
    found = Counts(2).validate(mine)
    found[:] = 0
    assert mine.tolist() == [5, 6]


def test_words() -> None:
    assert Counts(7).words == "counts of records in 7 categories"
