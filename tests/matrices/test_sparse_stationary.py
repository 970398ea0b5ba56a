"""Sparse chains: every entry against the dense solution, exact figures or multi-precision truth."""

from typing import Any

import numpy as np
import pytest
from scipy import sparse

from veil.errors import InvalidArgument, VeilError
from veil.matrices.numerics import sparse_stationary
from veil.matrices.numerics.elimination import stationary_dense
from veil.matrices.numerics.sparse_elimination import chain_of
from veil.matrices.numerics.sparse_stationary import balanced_weights, stationary_sparse

from .chains import birth_death_truth, coupled, random_chain, worst_error
from .sparse_chains import conductances, expander, grid, hub, line, links, nested, reversible, ring, wheel

CASES = {
    "expander": lambda rng: expander(rng, 300, 6),
    "wild expander": lambda rng: expander(rng, 300, 6, 12.0),
    "grid": lambda rng: grid(rng, 17),
    "ring": lambda rng: ring(rng, 301),
    "wheel": lambda rng: wheel(rng, 300),
    "nested": lambda rng: nested(rng, 800),
    "coupled": lambda rng: sparse.csr_array(coupled(rng, [60, 90, 75], 1e-12)),
    "directed ring": lambda rng: links(300, np.arange(300), (np.arange(300) + 1) % 300, 1.0),
    "line": lambda rng: line(rng.uniform(0.1, 0.2, 299), rng.uniform(0.2, 0.4, 299)),
}


@pytest.mark.slow_for("nested")
@pytest.mark.parametrize("name", CASES)
def test_elimination_agrees_with_the_dense_solution(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    # Eliminate to the last twenty states, where otherwise the chain would be solved densely at once.
    monkeypatch.setattr(sparse_stationary, "_SMALL", 20)
    monkeypatch.setattr(sparse_stationary, "_LARGEST_DENSE", 20)
    matrix = CASES[name](np.random.default_rng(1))
    np.testing.assert_allclose(stationary_sparse(matrix), stationary_dense(matrix.toarray()), rtol=1e-12)


@pytest.mark.parametrize("name", CASES)
def test_aggregation_agrees_with_the_dense_solution(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sparse_stationary, "_COARSEST", 30)
    matrix = CASES[name](np.random.default_rng(2))
    found = balanced_weights(chain_of(matrix))
    np.testing.assert_allclose(found, stationary_dense(matrix.toarray()), rtol=1e-10)


@pytest.mark.parametrize("name", CASES)
def test_where_elimination_would_fill_the_memory(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sparse_stationary, "_SMALL", 20)
    monkeypatch.setattr(sparse_stationary, "_LARGEST_DENSE", 20)
    monkeypatch.setattr(sparse_stationary, "_MOST_LEFT", 2000)
    monkeypatch.setattr(sparse_stationary, "_COARSEST", 30)
    matrix = CASES[name](np.random.default_rng(3))
    np.testing.assert_allclose(stationary_sparse(matrix), stationary_dense(matrix.toarray()), rtol=1e-10)


@pytest.mark.parametrize("coupling", [1e-3, 1e-6, 1e-9, 1e-12, 1e-15, 1e-30])
@pytest.mark.parametrize("seed", range(3))
def test_two_weakly_coupled_expanders(coupling: float, seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sparse_stationary, "_COARSEST", 30)
    rng = np.random.default_rng(seed)
    halves = [conductances(rng, 500, 3, 1.0), 7.0 * conductances(rng, 500, 3, 1.0)]
    bridge = links(1000, [3, 993], [993, 3], coupling)
    matrix, truth = reversible(sparse.csr_array(sparse.block_diag(halves) + bridge))
    np.testing.assert_allclose(balanced_weights(chain_of(matrix)), truth, rtol=1e-11)
    np.testing.assert_allclose(stationary_sparse(matrix), truth, rtol=1e-12)


@pytest.mark.parametrize("spread", [3.0, 8.0, 16.0])
def test_links_of_very_different_strength(spread: float, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sparse_stationary, "_COARSEST", 30)
    matrix, truth = reversible(conductances(np.random.default_rng(4), 2000, 3, spread))
    np.testing.assert_allclose(balanced_weights(chain_of(matrix)), truth, rtol=1e-10)


@pytest.mark.slow
def test_a_line_of_a_hundred_thousand_states_over_two_hundred_orders_of_magnitude() -> None:
    rng = np.random.default_rng(5)
    down = rng.uniform(0.2, 0.3, 99_999)
    # Down for the first half and up again for the second, by 1e-200 and back.
    slope = np.where(np.arange(99_999) < 50_000, 10.0 ** (-200 / 50_000), 10.0 ** (200 / 50_000))
    up = slope * down
    found, truth = stationary_sparse(line(up, down)), birth_death_truth(up, down)
    assert found.min() / found.max() < 1e-199
    assert worst_error(found, truth) < 1e-10


def test_a_hub_with_a_hundred_thousand_leaves() -> None:
    matrix, truth = hub(np.random.default_rng(6), 100_000)
    np.testing.assert_allclose(stationary_sparse(matrix), truth, rtol=1e-13)


@pytest.mark.parametrize("build", [wheel, ring])
def test_large_chains_balance(build: Any) -> None:
    matrix = build(np.random.default_rng(7), 100_000)
    found = stationary_sparse(matrix)
    np.testing.assert_allclose(found @ matrix, found, rtol=1e-13)


@pytest.mark.slow
def test_an_expander_too_large_for_elimination() -> None:
    matrix, truth = reversible(conductances(np.random.default_rng(8), 25_000, 4, 2.0))
    np.testing.assert_allclose(stationary_sparse(matrix), truth, rtol=1e-12)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("states", "out", "spread"), [(100_000, 4, 1.0), (100_000, 4, 6.0), (100_000, 4, 12.0)]
)
def test_a_hundred_thousand_states_and_a_million_transitions(states: int, out: int, spread: float) -> None:
    matrix, truth = reversible(conductances(np.random.default_rng(9), states, out, spread))
    np.testing.assert_allclose(stationary_sparse(matrix), truth, rtol=1e-10)


@pytest.mark.slow
def test_a_square_of_a_hundred_thousand_places() -> None:
    matrix = grid(np.random.default_rng(10), 316)
    found = stationary_sparse(matrix)
    np.testing.assert_allclose(found @ matrix, found, rtol=1e-12)
    # An independent solution of the same chain.
    np.testing.assert_allclose(balanced_weights(chain_of(matrix)), found, rtol=1e-9)


def test_the_diagonal_zeros_and_duplicates_do_not_matter() -> None:
    matrix = expander(np.random.default_rng(11), 800, 4).tocoo()
    half = 0.5 * matrix.data
    place = np.arange(800)
    row = np.concatenate([matrix.row, matrix.row, place, place])
    column = np.concatenate([matrix.col, matrix.col, place, place[::-1]])
    data = np.concatenate([half, half, np.full(800, 5.0), np.zeros(800)])
    other = sparse.coo_array((data, (row, column)), shape=(800, 800))
    np.testing.assert_allclose(stationary_sparse(other), stationary_sparse(matrix), rtol=1e-13)


@pytest.mark.parametrize("states", [1, 2, 3])
def test_few_states(states: int) -> None:
    matrix = random_chain(np.random.default_rng(12), states)
    found = stationary_sparse(sparse.csr_array(matrix))
    np.testing.assert_allclose(found, stationary_dense(matrix), rtol=1e-15)


def test_the_argument_is_left_alone() -> None:
    matrix = expander(np.random.default_rng(13), 2000, 4)
    before = matrix.copy()
    stationary_sparse(matrix)
    assert (matrix != before).nnz == 0


@pytest.mark.parametrize("states", [300, pytest.param(3000, marks=pytest.mark.slow)])
def test_chains_that_are_not_irreducible_are_refused(states: int) -> None:
    halves = [expander(np.random.default_rng(seed), states, 4) for seed in range(2)]
    way = links(2 * states, [0], [states], 0.5)
    with pytest.raises(InvalidArgument, match="every state leads to every other"):
        stationary_sparse(sparse.csr_array(sparse.block_diag(halves) + way))


def test_an_iteration_that_does_not_settle_says_how_far_it_came(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sparse_stationary, "_COARSEST", 30)
    monkeypatch.setattr(sparse_stationary, "_MOST_CYCLES", 1)
    monkeypatch.setattr(sparse_stationary, "_MOST_CHOICES", 2)
    with pytest.raises(VeilError, match=r"did not settle: .* differ by \d.*e-.* where 1e-12 is asked for"):
        balanced_weights(chain_of(expander(np.random.default_rng(14), 1500, 6)))


def test_parts_without_a_way_between_them_are_refused_by_the_iteration(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(sparse_stationary, "_COARSEST", 30)
    parts = sparse.csr_array(sparse.block_diag([ring(np.random.default_rng(seed), 9) for seed in range(50)]))
    with pytest.raises(InvalidArgument, match="parts without a way between them"):
        balanced_weights(chain_of(parts))


def test_a_state_that_is_never_reached_is_refused_by_the_iteration(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sparse_stationary, "_COARSEST", 30)
    matrix = expander(np.random.default_rng(15), 500, 6).tolil()
    matrix[:, 7] = 0.0
    with pytest.raises(VeilError, match="zero or too small"):
        balanced_weights(chain_of(sparse.csr_array(matrix)))
