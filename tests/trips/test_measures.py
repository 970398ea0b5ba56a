"""The measures, against cases worked out by hand."""

from __future__ import annotations

import math

import numpy as np
import pytest

from veil import trips
from veil.errors import InvalidArgument
from veil.trips.measuring import divergence

GRID = trips.Grid(trips.Box(0.0, 0.0, 0.08, 0.08), 8, 8)


def test_divergences_by_hand() -> None:
    assert divergence([1, 0], [0, 1]) == pytest.approx(math.log(2.0))
    assert divergence([3, 1], [6, 2]) == 0.0
    # p = (1, 0), q = (1/2, 1/2), m = (3/4, 1/4)
    by_hand = 0.5 * math.log(4 / 3) + 0.5 * (0.5 * math.log(2 / 3) + 0.5 * math.log(2.0))
    assert divergence([1, 0], [1, 1]) == pytest.approx(by_hand)
    assert divergence([0, 0], [1, 1]) == pytest.approx(math.log(2.0))


def test_repeats_are_dropped_and_gaps_are_filled() -> None:
    """0 to 18 is two diagonal steps: by 9."""
    one = trips.measures([[0, 0, 18]], [[0, 9, 18]], GRID)
    assert (one.density, one.transitions, one.length, one.patterns, one.tau) == (0.0, 0.0, 0.0, 1.0, 1.0)


def test_a_swapped_direction() -> None:
    there, back = [[0, 1, 2]], [[2, 1, 0]]
    found = trips.measures(there, back, GRID)
    assert found.density == 0.0
    assert found.transitions == pytest.approx(math.log(2.0))
    assert found.patterns == 0.0
    assert found.support == 1.0
    # All on one block of 4 x 4 only where cells 0 to 2 are: columns 0, 1 and 2 are blocks 0, 0 and 1.
    assert found.trip_4 == pytest.approx(math.log(2.0))
    assert found.diameter == found.length == 0.0


def test_visits_and_squares_by_hand() -> None:
    """Half of all visits move from the first cell to the last: every square that holds one of them is off."""
    true, synthetic = [[0], [63]], [[63], [63]]
    found = trips.measures(true, synthetic, GRID)
    assert found.density == pytest.approx(divergence([1, 1], [0, 2]))
    rng = np.random.default_rng(20_000)
    errors = []
    for _ in range(200):
        side = int(rng.integers(1, 5))
        south, west = (int(rng.integers(0, 8 - side + 1)) for _ in range(2))
        first, last = south == 0 and west == 0, south + side == 8 and west + side == 8
        errors.append(1.0 if first or last else 0.0)
    assert found.squares == pytest.approx(np.mean(errors))
    assert found.squares_touched == found.squares


def test_patterns_count_trips_not_occurrences() -> None:
    """One trip that goes round and round shows a pattern once."""
    round_and_round = [[0, 1] * 20]
    others = [[0, 1, 0, 1]]
    assert trips.measures(round_and_round, others, GRID).support < 0.8
    assert trips.measures([[0, 1]], [[0, 1]] * 5, GRID).support == 0.0


@pytest.mark.parametrize("wrong", [[], [[]], [[64]], [[-1]]])
def test_bad_trips_are_refused(wrong: list[list[int]]) -> None:
    with pytest.raises(InvalidArgument, match="true: expected"):
        trips.measures(wrong, [[0]], GRID)
    with pytest.raises(InvalidArgument, match="synthetic: expected"):
        trips.measures([[0]], wrong, GRID)
