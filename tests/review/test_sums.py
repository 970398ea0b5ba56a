"""The certified sums: by enumeration, and against floats."""

from __future__ import annotations

import pytest
from flint import arb

from tests.oracles.brute import discrete_gaussian_delta
from tests.review.divergences import is_known
from tests.review.sums import (
    one_cell_divergence,
    responses_divergence,
    two_cell_divergence,
    two_cells_by_enumeration,
)
from tests.review.tails import precision


@pytest.mark.parametrize("sigma", [0.3, 0.8, 1.7])
@pytest.mark.parametrize("epsilon", [0.0, 0.4, 2.0])
def test_two_cells_by_every_outcome(sigma: float, epsilon: float) -> None:
    found, brute = two_cell_divergence(sigma, epsilon), two_cells_by_enumeration(sigma, epsilon, reach=22)
    assert is_known(found)
    with precision(128):
        assert bool(abs(found / brute - 1) < arb(10) ** -18)


@pytest.mark.parametrize("sigma", [0.3, 2.0, 9.5])
@pytest.mark.parametrize("epsilon", [0.0, 0.1, 1.0])
def test_one_and_two_cells_in_floats(sigma: float, epsilon: float) -> None:
    one, two = one_cell_divergence(sigma, epsilon), two_cell_divergence(sigma, epsilon)
    assert float(one) == pytest.approx(discrete_gaussian_delta(sigma, [1], epsilon), rel=1e-9, abs=1e-14)
    assert float(two) == pytest.approx(discrete_gaussian_delta(sigma, [1, -1], epsilon), rel=1e-9, abs=1e-14)


def test_responses_by_hand() -> None:
    # Both right with 0.75^2: at a loss of 2 log 3 this is 0.5625 - 9 * 0.0625 = 0.
    three = 1.0986122886681098
    assert float(responses_divergence(three, 1, 0.0)) == pytest.approx(0.5, rel=1e-14)
    assert float(responses_divergence(three, 2, three)) == pytest.approx(0.5625 - 3 * 0.0625, rel=1e-14)
