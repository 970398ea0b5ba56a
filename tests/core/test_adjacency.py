"""What neighbours are."""

import math
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from veil.core.registry import adjacency_from
from veil.errors import InvalidArgument
from veil.vectors.counts import Records
from veil.vectors.l1 import L1
from veil.vectors.simplex import Transfer


def test_constructors_of_a_transfer() -> None:
    assert Transfer.from_l1(0.5).mass == 0.25
    assert Transfer.from_l1(2).mass == 1.0
    assert Transfer.from_records(98).mass == pytest.approx(1.0 / 98.0, rel=1e-15)
    assert Transfer.from_records(1).mass == 1.0
    assert Transfer.from_average(0.5, 10).mass == pytest.approx(0.025, rel=1e-15)
    assert Transfer.from_linear(0.5, 0.1).mass == pytest.approx(0.025, rel=1e-15)


@settings(derandomize=True, max_examples=100, deadline=None)
@given(st.integers(1, 10**12), st.floats(1e-6, 2.0), st.floats(1e-6, 1.0))
def test_a_mass_is_never_rounded_down(n: int, b: float, alpha: float) -> None:
    cases = [
        (Transfer.from_records(n), Fraction(1, n)),
        (Transfer.from_l1(b), Fraction(b) / 2),
        (Transfer.from_average(b, n), Fraction(b) / (2 * n)),
        (Transfer.from_linear(b, alpha), Fraction(b) * Fraction(alpha) / 2),
    ]
    for transfer, exact in cases:
        assert Fraction(transfer.mass) >= exact > Fraction(math.nextafter(transfer.mass, 0.0))


@settings(derandomize=True, max_examples=100, deadline=None)
@given(st.floats(1e-6, 2.0), st.integers(1, 10**9))
def test_an_average_is_a_linear_query_of_equal_weights(b: float, n: int) -> None:
    assert Transfer.from_average(b, n).mass == pytest.approx(Transfer.from_linear(b, 1.0 / n).mass, rel=1e-15)


@pytest.mark.parametrize("mass", [0, 0.0, -0.1, 1.0000001, math.nan, math.inf, "0.1", None, True, [0.1]])
def test_an_impossible_mass(mass: Any) -> None:
    with pytest.raises(InvalidArgument) as caught:
        Transfer(mass)
    assert caught.value.field == "mass"
    assert caught.value.expected == "a number above 0 and at most 1"


@pytest.mark.parametrize("b", [-0.1, 2.1, math.nan, "1"])
def test_an_impossible_distance(b: Any) -> None:
    with pytest.raises(InvalidArgument, match=r"^b: expected an L1 distance"):
        Transfer.from_l1(b)
    with pytest.raises(InvalidArgument, match=r"^b: expected an L1 distance"):
        Transfer.from_average(b, 3)


@pytest.mark.parametrize("n", [0, -3, 2.5, math.nan, "3", None, True])
def test_an_impossible_number_of_records(n: Any) -> None:
    with pytest.raises(InvalidArgument, match=r"^n: expected a whole number of at least 1"):
        Transfer.from_records(n)
    with pytest.raises(InvalidArgument, match=r"^n: expected a whole number of at least 1"):
        Transfer.from_average(0.5, n)


@pytest.mark.parametrize("n", [10**309, 10**400], ids=["1e309", "1e400"])
def test_more_records_than_a_float_can_count(n: int) -> None:
    with pytest.raises(InvalidArgument):
        Transfer.from_records(n)
    with pytest.raises(InvalidArgument):
        Transfer.from_average(0.5, n)


@pytest.mark.parametrize("alpha", [-0.1, 1.1, math.nan, "1"])
def test_an_impossible_weight(alpha: Any) -> None:
    with pytest.raises(InvalidArgument, match=r"^alpha: expected a weight"):
        Transfer.from_linear(0.5, alpha)


@pytest.mark.parametrize("change", ["add", "", None, 1, "Replace"])
def test_an_unknown_change_of_records(change: Any) -> None:
    with pytest.raises(InvalidArgument, match=r"^change: expected 'add-remove' or 'replace'"):
        Records(change)


@pytest.mark.parametrize(
    "adjacency",
    [
        Transfer(0.1),
        Transfer(1 / 3),
        Transfer(5e-324),
        Transfer(np.float64(0.25)),
        L1(0.1),
        L1(2),
        Records(),
        Records("replace"),
    ],
)
def test_a_description_gives_the_adjacency_back(adjacency: Transfer | L1 | Records) -> None:
    described = adjacency.describe()
    again = adjacency_from(described)
    assert again == adjacency
    assert again.words == adjacency.words
    assert described == adjacency.describe()


def test_words_tell_the_kinds_apart() -> None:
    words = {
        Transfer(0.1).words,
        Transfer(0.2).words,
        Records().words,
        Records("replace").words,
        L1(0.1).words,
    }
    assert len(words) == 5
    assert "0.1" in Transfer(0.1).words
    assert "added or removed" in Records().words
    assert "replaced" in Records("replace").words


@pytest.mark.parametrize(
    "description",
    [
        {},
        {"name": None},
        {"name": "Rows"},
        {"name": ["Transfer"], "mass": 0.1},
        {"name": "Transfer"},
        {"name": "Transfer", "mass": 2.0},
        {"name": "Transfer", "mass": 0.1, "colour": "red"},
        {"name": "Records", "change": "burn"},
    ],
)
def test_a_malformed_description(description: dict[str, Any]) -> None:
    # Missing and unknown fields stay errors of the call; whoever reads a file turns both into one kind.
    with pytest.raises((InvalidArgument, TypeError)):
        adjacency_from(description)


@pytest.mark.parametrize("name", [None, "Sphere", "", 3])
def test_an_unknown_name(name: Any) -> None:
    with pytest.raises(InvalidArgument, match=r"expected one of .*, found "):
        adjacency_from({"name": name})


def test_an_adjacency_cannot_be_changed() -> None:
    with pytest.raises(AttributeError):
        Transfer(0.1).mass = 0.2  # type: ignore[misc]
