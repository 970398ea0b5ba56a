"""Doubly stochastic matrices and their neighbours: what is taken, what is refused, and how."""

import json
import math
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from veil.errors import InvalidArgument, InvalidData
from veil.matrices.adjacency import Rectangle
from veil.matrices.mechanisms.doubly_stochastic import SUM_TOLERANCE, Birkhoff

SECRET = 0.12345
SHAPE = "2 rows and 2 columns along the last two axes"
SUMS = "rows and columns that sum to 1 (within 1e-09)"
NUMBERS = "an array of numbers"
OTHER = "a list of other things or of uneven length"


def mixed(*weights: float) -> NDArray[np.float64]:
    """An average of the cyclic shifts."""
    size = len(weights)
    return np.array([[weights[(j - i) % size] for j in range(size)] for i in range(size)])


@pytest.mark.parametrize("matrix", [np.eye(3), np.full((3, 3), 1 / 3), mixed(0.2, 0.3, 0.5)])
def test_doubly_stochastic_matrices_are_taken_as_they_are(matrix: NDArray[np.float64]) -> None:
    assert matrix in Birkhoff(3)
    assert np.array_equal(Birkhoff(3).validate(matrix), matrix)
    assert np.array_equal(Birkhoff(3).validate(matrix.tolist()), matrix)


def test_batches_keep_their_shape() -> None:
    batch = np.broadcast_to(mixed(0.1, 0.2, 0.7), (2, 5, 3, 3))
    assert Birkhoff(3).validate(batch).shape == (2, 5, 3, 3)


BROKEN: list[tuple[Any, str, str]] = [
    ([[math.nan, 1], [1, 0]], "finite numbers", "1 entry not finite, the first at position (0, 0)"),
    ([[1, 0], [0, math.inf]], "finite numbers", "1 entry not finite, the first at position (1, 1)"),
    (
        [[1 + SECRET, -SECRET], [-SECRET, 1 + SECRET]],
        "no negative entry",
        "2 entries negative, the first at position (0, 1)",
    ),
    ([[1.0, 0.0], [SECRET, 0.5]], SUMS, "another sum of row 1"),
    ([[SECRET, 1 - SECRET], [SECRET, 1 - SECRET]], SUMS, "another sum of column 0"),
    (
        [np.eye(2), np.eye(2), [[1.0, 0.0], [1.0, 0.0]]],
        SUMS,
        "another sum of column (2, 0)",
    ),
    ([SECRET, 1 - SECRET], SHAPE, "an array of shape (2,)"),
    (np.eye(3), SHAPE, "an array of shape (3, 3)"),
    (np.full((2, 3), 0.5), SHAPE, "an array of shape (2, 3)"),
    (np.empty((0, 2, 2)), SHAPE, "an array of shape (0, 2, 2)"),
    (SECRET, SHAPE, "an array of shape ()"),
    ([], SHAPE, "an array of shape (0,)"),
    ([[str(SECRET), "b"], ["c", "d"]], NUMBERS, OTHER),
    ([[SECRET, 0.5], [1.0]], NUMBERS, OTHER),
    ("matrix", NUMBERS, "text"),
    (None, NUMBERS, "NoneType"),
]


@pytest.mark.parametrize(("value", "expected", "found"), BROKEN)
def test_a_broken_rule_is_named_and_no_value_is_quoted(value: Any, expected: str, found: str) -> None:
    with pytest.raises(InvalidData) as caught:
        Birkhoff(2).validate(value)
    assert (caught.value.field, caught.value.expected, caught.value.found) == ("value", expected, found)
    assert "1234" not in str(caught.value)
    assert value not in Birkhoff(2)


def test_the_tolerance() -> None:
    matrix = mixed(0.3, 0.7)
    assert matrix * (1.0 + 0.9 * SUM_TOLERANCE) in Birkhoff(2)
    assert matrix * (1.0 + 1.1 * SUM_TOLERANCE) not in Birkhoff(2)
    huge = np.array([[1e308, 1e308], [1e308, 1e308]])
    assert huge not in Birkhoff(2)


def test_the_callers_array_is_neither_aliased_nor_changed() -> None:
    mine = mixed(0.25, 0.75)
    before = mine.copy()
    Birkhoff(2).validate(mine)[:] = 0.0
    assert (mine == before).all()


@pytest.mark.parametrize("size", [1, 0, -2, 2.5, "3", None, True])
def test_a_size_that_cannot_be(size: Any) -> None:
    with pytest.raises(InvalidArgument) as caught:
        Birkhoff(size)
    assert caught.value.field == "size"


@pytest.mark.parametrize("mass", [0.0, -0.1, 1.1, math.nan, math.inf, "0.1", None, True])
def test_a_mass_that_cannot_be(mass: Any) -> None:
    with pytest.raises(InvalidArgument) as caught:
        Rectangle(mass)
    assert caught.value.field == "mass"
    assert caught.value.expected
    assert caught.value.found


def test_descriptions_rebuild() -> None:
    for made in (Birkhoff(4), Rectangle(0.05)):
        description = json.loads(json.dumps(made.describe()))
        assert description.pop("name") == made.name
        assert type(made)(**description) == made


def test_words() -> None:
    assert "4 rows and columns" in Birkhoff(4).words
    assert "at most 0.05" in Rectangle(0.05).words
