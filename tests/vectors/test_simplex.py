"""Probability vectors: each rule is tested by breaking it."""

import math
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from veil.errors import InvalidArgument, InvalidData
from veil.vectors.simplex import SUM_TOLERANCE, Simplex

# Digits that must not show up in any message.
SECRET = 0.12345678901
REST = 1.0 - SECRET

NUMBERS, OTHER = "an array of numbers", "a list of other things or of uneven length"
AXIS, FLOOR = "2 entries along the last axis", "protected entries of at least the floor 0.2"

BROKEN: list[tuple[Simplex, Any, str, str]] = [
    (Simplex(2), [SECRET, math.nan], "finite numbers", "1 entry not finite, the first at position 1"),
    (
        Simplex(2),
        [[1, 0], [math.inf, SECRET]],
        "finite numbers",
        "1 entry not finite, the first at position (1, 0)",
    ),
    (Simplex(2), [1.0 + SECRET, -SECRET], "no negative entry", "1 entry negative, the first at position 1"),
    (Simplex(2), [SECRET, 0.5], "entries that sum to 1 (within 1e-09)", "another sum"),
    (Simplex(3), [SECRET, REST], "3 entries along the last axis", "an array of shape (2,)"),
    (Simplex(2), SECRET, AXIS, "an array of shape ()"),
    (Simplex(2), np.empty((0, 2)), AXIS, "an array of shape (0, 2)"),
    (Simplex(2), [], AXIS, "an array of shape (0,)"),
    (Simplex(2), [str(SECRET), "b"], NUMBERS, OTHER),
    (Simplex(2), [[SECRET, REST], [1.0]], NUMBERS, OTHER),
    (Simplex(2), f"{SECRET}", NUMBERS, "text"),
    (Simplex(2), None, NUMBERS, "NoneType"),
    (Simplex(2), [SECRET + 1j, REST], NUMBERS, OTHER),
    (Simplex(2, floor=0.2), [SECRET, REST], FLOOR, "1 entry below it, the first at position 0"),
    (
        Simplex(3, protected=(0, 1), slack=0.1),
        [SECRET, REST, 0.0],
        "a mass of at least 0.1 outside the protected entries",
        "less",
    ),
]


@pytest.mark.parametrize(("domain", "value", "expected", "found"), BROKEN)
def test_a_broken_rule_is_named_and_no_value_is_quoted(
    domain: Simplex, value: Any, expected: str, found: str
) -> None:
    with pytest.raises(InvalidData) as caught:
        domain.validate(value)
    assert (caught.value.field, caught.value.expected, caught.value.found) == ("value", expected, found)
    assert "1234" not in str(caught.value)
    assert "8765" not in str(caught.value)
    assert caught.value.__cause__ is None
    assert value not in domain


def test_a_position_below_the_floor_is_one_of_the_whole_vector() -> None:
    with pytest.raises(InvalidData) as caught:
        Simplex(4, floor=0.2, protected=(2, 3)).validate([0.5, 0.1, 0.3, 0.1])
    assert "position 3" in caught.value.found


@pytest.mark.parametrize("value", [[1e308, 1e308], [1e300, 0.0], np.array([np.longdouble("1e4000"), 0.0])])
def test_huge_entries(value: Any) -> None:
    with pytest.raises(InvalidData):
        Simplex(2).validate(value)
    assert value not in Simplex(2)


@settings(derandomize=True, max_examples=100, deadline=None)
@given(st.lists(st.floats(0.01, 1.0), min_size=3, max_size=3), st.floats(0.0, 0.33))
def test_membership_agrees_with_validation(weights: list[float], floor: float) -> None:
    domain = Simplex(3, floor=floor)
    vector = np.array(weights) / sum(weights)
    inside = bool(vector.min() >= floor - 1e-12)
    assert (vector in domain) == inside
    if inside:
        found = domain.validate(vector)
        assert found == pytest.approx(vector, abs=1e-15)
        assert found.sum() == pytest.approx(1.0, abs=1e-15)
    else:
        with pytest.raises(InvalidData):
            domain.validate(vector)


def test_a_sum_within_the_tolerance_is_left_as_it_is() -> None:
    off = np.array([0.3, 0.7]) * (1.0 + 0.9 * SUM_TOLERANCE)
    assert np.array_equal(Simplex(2).validate(off), off)
    assert np.array([0.3, 0.7]) * (1.0 + 1.5 * SUM_TOLERANCE) not in Simplex(2)


def test_batches_keep_their_shape() -> None:
    batch = np.random.default_rng(1).dirichlet([1.0] * 4, size=(2, 3))
    assert Simplex(4).validate(batch) == pytest.approx(batch)
    assert Simplex(4).validate(batch).shape == (2, 3, 4)


def test_exactly_at_every_border() -> None:
    assert [0.2] * 5 in Simplex(5, floor=0.2)
    assert Simplex(5, floor=0.2).room == 0.0
    assert [0.1, 0.1, 0.8] in Simplex(3, floor=0.1, protected=(0, 1), slack=0.8)
    assert [1.0, 0.0] in Simplex(2)


@pytest.mark.parametrize(
    ("arguments", "field"),
    [
        ({"size": 1}, "size"),
        ({"size": 2.5}, "size"),
        ({"size": "3"}, "size"),
        ({"size": 3, "floor": -0.1}, "floor"),
        ({"size": 3, "floor": 0.34}, "floor"),
        ({"size": 3, "floor": math.nan}, "floor"),
        ({"size": 3, "floor": "0.1"}, "floor"),
        ({"size": 3, "slack": 0.1}, "slack"),
        ({"size": 3, "protected": (0, 1, 2), "slack": 0.1}, "slack"),
        ({"size": 3, "protected": (0, 1), "slack": 1.5}, "slack"),
        ({"size": 3, "floor": 0.3, "protected": (0, 1), "slack": 0.5}, "floor"),
        ({"size": 3, "protected": (0,)}, "protected"),
        ({"size": 3, "protected": (0, 0)}, "protected"),
        ({"size": 3, "protected": (0, 3)}, "protected"),
        ({"size": 3, "protected": (-1, 0)}, "protected"),
        ({"size": 3, "protected": 2}, "protected"),
        ({"size": 3, "protected": "01"}, "protected"),
        ({"size": 3, "protected": (0.5, 1)}, "protected"),
    ],
)
def test_a_domain_that_cannot_be(arguments: dict[str, Any], field: str) -> None:
    with pytest.raises(InvalidArgument) as caught:
        Simplex(**arguments)
    assert caught.value.field == field
    assert caught.value.expected
    assert caught.value.found


@pytest.mark.parametrize("protected", [[2, 0], {0, 2}, np.array([0, 2]), (i for i in (2, 0)), range(0, 3, 2)])
def test_protected_entries_in_any_container(protected: Any) -> None:
    domain = Simplex(4, floor=0.1, protected=protected)
    assert domain.protected == (0, 2)
    assert all(type(index) is int for index in domain.protected)
    assert domain.protected_count == 2


def test_protecting_every_entry_is_protecting_all() -> None:
    assert Simplex(3, floor=0.1, protected=(0, 1, 2)) == Simplex(3, floor=0.1)


@pytest.mark.parametrize(
    ("domain", "room"),
    [
        (Simplex(5, floor=0.073), 1.0 - 5 * 0.073),
        (Simplex(5, floor=0.1, protected=(0, 1), slack=0.3), 0.5),
        (Simplex(5, floor=0.1, protected=(0, 1)), 0.8),
        (Simplex(10, floor=0.1), 0.0),
    ],
)
def test_room(domain: Simplex, room: float) -> None:
    assert domain.room == pytest.approx(room, abs=1e-15)


def test_the_callers_array_is_neither_aliased_nor_changed() -> None:
    mine = np.array([0.25, 0.75])
    before = mine.copy()
    found = Simplex(2).validate(mine)
    found[:] = 0.0
    assert (mine == before).all()
    mine.setflags(write=False)
    assert Simplex(2).validate(mine) == pytest.approx(before)


def test_words() -> None:
    text = Simplex(6, floor=0.05, protected=(0, 1), slack=0.2).words
    assert "6 entries" in text
    assert "2 protected entries at least 0.05" in text
    assert "at least 0.2 outside" in text
