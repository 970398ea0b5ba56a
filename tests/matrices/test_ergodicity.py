"""Spreads of rows and columns against brute force over all pairs and all extreme points."""

from collections.abc import Callable
from itertools import combinations, product

import numpy as np
import pytest

from veil.matrices.numerics import stationary
from veil.matrices.numerics.stationary import column_spread, row_spread

from .chains import Floats, random_chain


def all_pairs(matrix: Floats) -> float:
    pairs = combinations(range(len(matrix)), 2)
    return 0.5 * max((float(np.abs(matrix[i] - matrix[j]).sum()) for i, j in pairs), default=0.0)


def extreme_points(states: int) -> Floats:
    """Those of {z: |z_i| <= 1, sum z = 0}: all entries -1 or 1 but at most one, which is then 0."""
    if states % 2 == 0:
        points = [z for z in product((-1.0, 1.0), repeat=states) if sum(z) == 0.0]
    else:
        halves = [z for z in product((-1.0, 1.0), repeat=states - 1) if sum(z) == 0.0]
        points = [(*z[:place], 0.0, *z[place:]) for z in halves for place in range(states)]
    return np.array(points)


def dyadic(rng: np.random.Generator, rows: int, columns: int) -> Floats:
    """Numbers whose sums and differences floats hold exactly, in any order."""
    return np.asarray(rng.integers(-(2**20), 2**20, (rows, columns)) / 2.0**16)


SHAPES: dict[str, Callable[[np.random.Generator], Floats]] = {
    "random": lambda rng: dyadic(rng, 150, 40),
    "tall": lambda rng: dyadic(rng, 203, 3),
    "wide": lambda rng: dyadic(rng, 9, 500),
    "two rows": lambda rng: dyadic(rng, 2, 7),
    "three rows": lambda rng: dyadic(rng, 3, 7),
    "five rows": lambda rng: dyadic(rng, 5, 7),
    "identity: all pairs alike": lambda rng: np.eye(130),
    "corners of a cube": lambda rng: np.array(list(product((-1.0, 1.0), repeat=7))),
    "cross: no row can be left out": lambda rng: np.vstack([np.eye(60), -np.eye(60)]),
    "one row far off": lambda rng: np.vstack([dyadic(rng, 100, 20) / 1024.0, np.full((1, 20), 64.0)]),
    "two clusters": lambda rng: dyadic(rng, 100, 20) / 1024.0 + 8.0 * (np.arange(100) % 2)[:, None],
    "off the centre": lambda rng: dyadic(rng, 120, 20) / 1024.0 + 9.0 * (np.arange(120) > 99)[:, None],
    "equal rows": lambda rng: np.ones((50, 1)) * dyadic(rng, 1, 20),
    "one row": lambda rng: dyadic(rng, 1, 20),
}


@pytest.mark.parametrize("name", SHAPES)
@pytest.mark.parametrize("seed", range(4))
def test_row_spread_is_that_of_the_farthest_pair(name: str, seed: int) -> None:
    matrix = SHAPES[name](np.random.default_rng(seed))
    assert row_spread(matrix) == all_pairs(matrix)


@pytest.mark.parametrize("name", SHAPES)
def test_row_spread_does_not_rest_on_a_good_first_guess(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(stationary, "_far_apart", lambda rows: 0.0)
    matrix = SHAPES[name](np.random.default_rng(5))
    assert row_spread(matrix) == all_pairs(matrix)


@pytest.mark.parametrize("states", [2, 7, 64, 200])
@pytest.mark.parametrize("power", [1, 5])
def test_row_spread_of_chains(states: int, power: int) -> None:
    matrix = np.linalg.matrix_power(random_chain(np.random.default_rng(states), states), power)
    assert row_spread(matrix) == pytest.approx(all_pairs(matrix), rel=1e-14)


@pytest.mark.parametrize("size", [2, 3, 4, 5, 6, 7])
def test_no_pair_is_forgotten(size: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(stationary, "_far_apart", lambda rows: 0.0)
    # Only two rows differ, wherever they stand.
    for i, j in combinations(range(size), 2):
        matrix = np.zeros((size, 2))
        matrix[i], matrix[j] = [1.0, 0.0], [0.0, 1.0]
        assert row_spread(matrix) == 1.0


@pytest.mark.parametrize("states", range(2, 10))
@pytest.mark.parametrize("seed", range(3))
def test_column_spread_is_the_coefficient_in_the_largest_entry(states: int, seed: int) -> None:
    matrix = random_chain(np.random.default_rng(seed), states)
    brute = float(np.abs(extreme_points(states) @ matrix).max())
    assert column_spread(matrix) == pytest.approx(brute, rel=1e-14)


@pytest.mark.parametrize("states", [6, 7])
def test_the_extreme_points_are_right(states: int) -> None:
    # No random z with sum 0 and entries up to 1 beats the extreme points.
    rng = np.random.default_rng(states)
    matrix = random_chain(rng, states)
    z = rng.normal(size=(20_000, states)) ** 3
    z -= z.mean(axis=1, keepdims=True)
    z /= np.abs(z).max(axis=1, keepdims=True)
    best = float(np.abs(z @ matrix).max())
    assert 0.8 * column_spread(matrix) < best <= column_spread(matrix) * (1.0 + 1e-14)
