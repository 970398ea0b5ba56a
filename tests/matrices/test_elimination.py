"""Elimination of dense chains: every entry against rational or multi-precision truth."""

import numpy as np
import pytest

from veil.errors import InvalidArgument
from veil.matrices.numerics import elimination
from veil.matrices.numerics.elimination import hitting_times_to, stationary_dense, visits

from .chains import (
    COURTOIS,
    Floats,
    birth_death,
    birth_death_truth,
    coupled,
    exact_stationary,
    exact_visits,
    precise_stationary,
    random_chain,
    worst_error,
)


def ill_conditioned() -> list[Floats]:
    rng = np.random.default_rng(1)
    weak = [coupled(rng, [3, 4, 2], strength) for strength in (1e-3, 1e-8, 1e-12, 1e-16, 1e-60, 1e-200)]
    skewed = random_chain(rng, 9) ** 20
    return [COURTOIS, skewed / skewed.sum(axis=1, keepdims=True), *weak]


@pytest.mark.parametrize("states", [1, 2, 3, 5, 9, 14])
def test_random_chains(states: int) -> None:
    matrix = random_chain(np.random.default_rng(states), states)
    assert worst_error(stationary_dense(matrix), exact_stationary(matrix)) < 1e-15 * (states + 4)


@pytest.mark.mostly_slow(quick=4)
@pytest.mark.parametrize("case", range(8))
@pytest.mark.parametrize("block", [1, 2, 4, 64])
def test_ill_conditioned_chains_in_blocks_of_any_size(
    case: int, block: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(elimination, "_BLOCK", block)
    matrix = ill_conditioned()[case]
    assert worst_error(stationary_dense(matrix), exact_stationary(matrix)) < 1e-14
    times, truth = hitting_times_to(matrix, 5), exact_visits(matrix, 5)
    assert times[5] == 0.0
    assert worst_error(np.delete(times, 5), [sum(row) for row in truth]) < 1e-14
    assert worst_error(visits(matrix, 5), [x for row in truth for x in row]) < 1e-14


@pytest.mark.slow
@pytest.mark.parametrize("coupling", [1.0, 1e-12])
def test_several_blocks(coupling: float) -> None:
    matrix = coupled(np.random.default_rng(2), [50, 25, 20], coupling)
    assert worst_error(stationary_dense(matrix), precise_stationary(matrix)) < 2e-14


@pytest.mark.parametrize("ratio", [0.2, 5.0])
def test_birth_and_death_over_two_hundred_orders_of_magnitude(ratio: float) -> None:
    rng = np.random.default_rng(3)
    down = rng.uniform(0.05, 0.1, 299)
    up = ratio * down * rng.uniform(0.9, 1.1, 299)
    found, truth = stationary_dense(birth_death(up, down)), birth_death_truth(up, down)
    assert found.min() / found.max() < 1e-200
    assert worst_error(found, truth) < 1e-13


@pytest.mark.parametrize("ratio", [1e-7, 1e7])
def test_visits_that_overflow_split_the_block(ratio: float) -> None:
    # A block of 64 such states is left with probability 1e-441; entries down to 1e-300 must still be right.
    up = np.full(99, ratio / (1.0 + ratio))
    down = 1.0 - up
    found, truth = stationary_dense(birth_death(up, down)), birth_death_truth(up, down)
    large = [i for i, exact in enumerate(truth) if exact > 1e-300]
    assert len(large) > 40
    assert worst_error(found[large], [truth[i] for i in large]) < 1e-13
    assert found[[i for i, exact in enumerate(truth) if exact < 1e-320]].max() < 1e-300


def test_visits_and_hitting_times_across_blocks() -> None:
    matrix = coupled(np.random.default_rng(4), [60, 60, 50], 1e-9)
    for target in (0, 63, 169):
        times, inverse = hitting_times_to(matrix, target), visits(matrix, target)
        np.testing.assert_allclose(np.delete(times, target), inverse.sum(axis=1), rtol=1e-13)
        # Between two visits to the target, each state is visited pi / pi[target] times.
        stationary = stationary_dense(matrix)
        between = np.delete(matrix[target], target) @ inverse
        np.testing.assert_allclose(
            between, np.delete(stationary, target) / stationary[target], rtol=1e-13, atol=0
        )


@pytest.mark.parametrize("diagonal", [0.0, 0.7, -3.0, np.inf, np.nan])
def test_the_diagonal_is_never_read(diagonal: float) -> None:
    matrix = random_chain(np.random.default_rng(5), 130)
    other = matrix.copy()
    np.fill_diagonal(other, diagonal)
    np.testing.assert_array_equal(stationary_dense(other), stationary_dense(matrix))
    np.testing.assert_array_equal(visits(other, 7), visits(matrix, 7))
    np.testing.assert_array_equal(hitting_times_to(other, 7), hitting_times_to(matrix, 7))


def test_the_argument_is_left_alone() -> None:
    matrix = random_chain(np.random.default_rng(6), 100)
    before = matrix.copy()
    stationary_dense(matrix)
    stationary_dense(matrix.T)
    visits(matrix, 3)
    hitting_times_to(matrix, 3)
    np.testing.assert_array_equal(matrix, before)
    answer = stationary_dense(matrix)
    np.testing.assert_array_equal(stationary_dense(matrix, overwrite=True), answer)


def test_rates_serve_as_well_as_probabilities() -> None:
    rates = np.random.default_rng(7).uniform(1.0, 50.0, (10, 10))
    assert worst_error(stationary_dense(rates), exact_stationary(rates)) < 1e-14


@pytest.mark.parametrize("states", [4, 200])
def test_chains_that_are_not_irreducible_are_refused(states: int) -> None:
    matrix = random_chain(np.random.default_rng(8), states)
    matrix[states // 2 :, : states // 2] = 0.0
    with pytest.raises(InvalidArgument, match="every state leads to every other"):
        stationary_dense(matrix)
    with pytest.raises(InvalidArgument, match="every state leads to every other"):
        hitting_times_to(matrix, 0)
