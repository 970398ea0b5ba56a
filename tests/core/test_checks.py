"""Plain numbers: what passes comes back as a float or an int, what fails names its field."""

import math
from decimal import Decimal
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

from veil.core import checks
from veil.core.job import cost
from veil.core.privacy.pairs import RandomizedResponses
from veil.errors import InvalidArgument

NOT_NUMBERS: list[Any] = ["1", None, True, [1.0], 1j, math.nan, np.array([1.0]), Decimal(1), np.bool_(True)]


@pytest.mark.parametrize("value", [2, 2.0, np.float32(2.0), np.int64(2), Fraction(4, 2)])
def test_numbers_of_every_kind_become_floats(value: Any) -> None:
    for found in (checks.within("x", value), checks.positive("x", value)):
        assert type(found) is float
        assert found == 2.0
    assert type(checks.integer("n", value, least=1)) is int


@pytest.mark.parametrize("value", [*NOT_NUMBERS, math.inf, -math.inf, 10**400, Fraction(10**400)])
def test_what_is_not_a_finite_number(value: Any) -> None:
    with pytest.raises(InvalidArgument) as caught:
        checks.within("k", value)
    assert caught.value.field == "k"
    assert caught.value.expected == "a finite number"


@pytest.mark.parametrize("value", [*NOT_NUMBERS, 0, -1.0, -math.inf])
def test_what_is_not_positive(value: Any) -> None:
    with pytest.raises(InvalidArgument, match=r"^k: expected a positive number, found "):
        checks.positive("k", value)


@pytest.mark.parametrize("value", [*NOT_NUMBERS, 2.5, 1, -3, math.inf, Fraction(5, 2)])
def test_what_is_not_a_whole_number(value: Any) -> None:
    with pytest.raises(InvalidArgument, match=r"^n: expected a whole number of at least 2, found "):
        checks.integer("n", value, least=2)


@pytest.mark.parametrize("value", [-0.1, 1.1, math.nan, "half"])
def test_what_lies_outside_a_range(value: Any) -> None:
    with pytest.raises(InvalidArgument, match=r"^share: expected a share, found "):
        checks.within("share", value, 0.0, 1.0, expected="a share")
    assert checks.within("share", 0.0, 0.0, 1.0, expected="a share") == 0.0
    assert checks.within("share", 1, 0.0, 1.0, expected="a share") == 1.0


@pytest.mark.parametrize("value", ["c", "", None, 3, ["a"]])
def test_choices(value: Any) -> None:
    assert checks.choice("kind", "a", ("a", "b")) == "a"
    with pytest.raises(InvalidArgument, match=r"^kind: expected 'a' or 'b', found "):
        checks.choice("kind", value, ("a", "b"))


@pytest.mark.parametrize("value", [-1e-9, math.nan, "1", None, True])
def test_epsilon(value: Any) -> None:
    assert RandomizedResponses(1.0).delta(math.inf) == 0.0
    assert RandomizedResponses(1.0).delta(0) > 0.0
    assert cost(RandomizedResponses(1.0), None, math.inf) == (math.inf, 0.0)
    with pytest.raises(InvalidArgument, match=r"^epsilon: "):
        RandomizedResponses(1.0).delta(value)
    if value is not None:
        with pytest.raises(InvalidArgument, match=r"^epsilon: "):
            cost(RandomizedResponses(1.0), None, value)


@pytest.mark.parametrize("value", [-1e-9, 1.0 + 1e-9, math.inf, math.nan, "0.1", None, False])
def test_delta(value: Any) -> None:
    assert checks.delta_of(0) == 0.0
    assert checks.delta_of(1) == 1.0
    with pytest.raises(InvalidArgument, match=r"^delta: "):
        checks.delta_of(value)


def test_a_long_value_is_not_printed() -> None:
    with pytest.raises(InvalidArgument) as caught:
        checks.within("k", list(range(1000)))
    assert caught.value.found == "list"
