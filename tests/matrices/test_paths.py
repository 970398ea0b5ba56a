"""Simulated paths have the transition probabilities of their chain.

Each statistical test has one level, ALPHA, for all transitions of the chain together. A planted fault of
the size stated must be rejected at the same level, on the same number of steps and with fixed seeds.
"""

from dataclasses import replace
from typing import cast

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy import sparse, stats

from veil.errors import InvalidArgument
from veil.matrices.numerics.paths import Walker

from .chains import Floats, random_chain

ALPHA = 1e-6
STEPS = 2_000_000
ORIGIN = np.zeros(1, dtype=np.int64)


def fit(matrix: Floats, paths: NDArray[np.int32]) -> float:
    """The p-value of a chi-square test of all transitions; 0 if one was seen that cannot be."""
    states = len(matrix)
    seen = np.zeros((states, states))
    np.add.at(seen, (paths[:, :-1].ravel(), paths[:, 1:].ravel()), 1.0)
    expected = seen.sum(axis=1, keepdims=True) * matrix
    if seen[matrix == 0.0].any():
        return 0.0
    # Rare transitions of one state are joined into one cell, so that each cell expects enough.
    statistic, freedom = 0.0, 0
    for found, wanted in zip(seen, expected, strict=True):
        common = wanted >= 10.0
        rare = (~common) & (wanted > 0.0)
        observed, hoped = found[common], wanted[common]
        if wanted[rare].sum() >= 10.0:
            observed, hoped = np.append(observed, found[rare].sum()), np.append(hoped, wanted[rare].sum())
        statistic += float(((observed - hoped) ** 2 / hoped).sum())
        freedom += max(len(hoped) - 1, 0)
    return float(stats.chi2.sf(statistic, freedom))


def chain(name: str) -> Floats:
    rng = np.random.default_rng(1)
    if name == "dense":
        return random_chain(rng, 50)
    if name == "skewed":
        return np.asarray(rng.dirichlet(np.full(20, 0.05), size=20))
    if name == "two states":
        return np.array([[0.9, 0.1], [0.3, 0.7]])
    # Rows of one transition, rows of several, and impossible transitions between them.
    matrix = np.zeros((12, 12))
    for i in range(12):
        matrix[i, (i + 1) % 12] = 1.0
        matrix[i, rng.choice(12, i % 4, replace=False)] += rng.random(i % 4)
    return np.asarray(matrix / matrix.sum(axis=1, keepdims=True))


CHAINS = ["dense", "skewed", "two states", "sparse"]


@pytest.mark.parametrize("name", CHAINS)
@pytest.mark.parametrize("paths", [7, *(pytest.param(n, marks=pytest.mark.slow) for n in (1, 20_000))])
def test_all_transitions_have_their_probabilities(name: str, paths: int) -> None:
    matrix = chain(name)
    starts = np.arange(paths) % len(matrix)
    for form in (matrix, sparse.csr_array(matrix)):
        walked = Walker.of(form).paths(starts, STEPS // paths, np.random.default_rng(2))
        assert walked.shape == (paths, STEPS // paths + 1)
        assert walked.dtype == np.int32
        assert (walked[:, 0] == starts).all()
        assert fit(matrix, walked) > ALPHA


@pytest.mark.parametrize(
    "name",
    ["dense", "two states", *(pytest.param(name, marks=pytest.mark.slow) for name in ("skewed", "sparse"))],
)
def test_a_swapped_outcome_is_noticed(name: str) -> None:
    """Power: in the worst of all cells, outcomes that change places are rejected.

    Cells whose outcomes are alike, or that are cut at an end, hold no fault to find; of the others the
    three in which a swap moves most probability are planted one by one.
    """
    matrix = chain(name)
    walker = Walker.of(matrix)
    state, cut = cells_of(walker)
    moved = np.abs(2.0 * cut - 1.0) / walker.rows["width"][state]
    moved[(walker.cells["below"] == walker.cells["above"]) | (cut == 1.0)] = 0.0
    assert moved.max() > 0.0
    for cell in np.argsort(-moved)[:3]:
        if moved[cell] > 0.0:
            cells = walker.cells.copy()
            cells["below"][cell], cells["above"][cell] = cells["above"][cell], cells["below"][cell]
            walked = replace(walker, cells=cells).paths(ORIGIN, STEPS, np.random.default_rng(3))
            assert fit(matrix, walked) < ALPHA


def cells_of(walker: Walker) -> tuple[NDArray[np.int64], Floats]:
    """The state that each cell belongs to, and the part of the cell below its cut."""
    state = np.repeat(np.arange(len(walker.rows)), walker.rows["width"].astype(int))
    return state, walker.cells["cut"] - (np.arange(len(state)) - walker.rows["first"][state])


def shifted(walker: Walker, part: float) -> Walker:
    """The same with each cut lowered by a part of its cell."""
    cells = walker.cells.copy()
    cells["cut"] -= part
    return replace(walker, cells=cells)


@pytest.mark.parametrize("name", ["dense", "skewed", "two states"])
def test_a_small_shift_of_all_cuts_is_noticed(name: str) -> None:
    """Power: cells that give their first outcome 2 % of a cell less than they should are rejected."""
    matrix = chain(name)
    walker = Walker.of(matrix)
    walked = shifted(walker, 0.02).paths(ORIGIN, STEPS, np.random.default_rng(4))
    assert fit(matrix, walked) < ALPHA


@pytest.mark.parametrize("name", CHAINS)
def test_the_cells_hold_the_probabilities(name: str) -> None:
    """No draws: the probability that the cells give to each transition, added up."""
    matrix = chain(name)
    walker = Walker.of(matrix)
    state, cut = cells_of(walker)
    width = walker.rows["width"][state]
    held = np.zeros_like(matrix)
    np.add.at(held, (state, walker.cells["below"]), cut / width)
    np.add.at(held, (state, walker.cells["above"]), (1.0 - cut) / width)
    np.testing.assert_allclose(held, matrix, atol=1e-15)


@pytest.mark.parametrize("states", [10_000, pytest.param(100_000, marks=pytest.mark.slow)])
def test_many_states(states: int) -> None:
    """All transitions of a large chain that are expected five times or more, against the normal limit.

    Power: cells that give their first outcome 5 % of a cell less than they should are rejected.
    """
    rng = np.random.default_rng(5)
    out = 10
    start = np.repeat(np.arange(states), out)
    end = rng.integers(0, states, len(start))
    matrix = sparse.csr_array((rng.random(len(start)), (start, end)), shape=(states, states))
    matrix = sparse.csr_array(sparse.diags_array(1.0 / matrix.sum(axis=1)) @ matrix)
    walker = Walker.of(matrix)
    for tried, fits in ((walker, True), (shifted(walker, 0.05), False)):
        walked = tried.paths(np.arange(states), 100, np.random.default_rng(6))
        pair = (walked[:, :-1].ravel(), walked[:, 1:].ravel())
        seen = sparse.csr_array((np.ones(len(pair[0])), pair), shape=(states, states))
        assert (seen - seen.multiply(matrix > 0.0)).nnz == 0
        expected = sparse.csr_array(sparse.diags_array(seen.sum(axis=1)) @ matrix)
        row, column = expected.nonzero()
        wanted, found, probability = (np.asarray(x[row, column]) for x in (expected, seen, matrix))
        common = wanted >= 5.0
        assert common.sum() > 5 * states
        wanted, found, probability = wanted[common], found[common], probability[common]
        excess = ((found - wanted) ** 2 / wanted - (1.0 - probability)).sum()
        # The variance of each term is at most 2 + 1 / expected, and terms of one row fall with each other.
        p_value = float(stats.norm.sf(excess / np.sqrt((2.0 + 1.0 / wanted).sum())))
        assert (p_value > ALPHA) == fits


@pytest.mark.parametrize(("paths", "steps"), [(1, 200_000), (3, 70_000), (1000, 500), (70_000, 3)])
def test_the_same_generator_gives_the_same_paths(paths: int, steps: int) -> None:
    walker = Walker.of(chain("dense"))
    first, again = (
        walker.paths(np.zeros(paths, dtype=np.int64), steps, np.random.default_rng(8)) for _ in range(2)
    )
    np.testing.assert_array_equal(first, again)
    other = walker.paths(np.zeros(paths, dtype=np.int64), steps, np.random.default_rng(9))
    assert (first != other).any()
    # Different paths are different.
    assert paths == 1 or (first[0] != first[-1]).any()


def test_no_steps_and_no_paths() -> None:
    walker = Walker.of(chain("dense"))
    rng = np.random.default_rng(10)
    assert walker.paths(np.array([4, 2]), 0, rng).tolist() == [[4], [2]]
    assert walker.paths(ORIGIN[:0], 5, rng).shape == (0, 6)


def test_one_transition_in_each_row() -> None:
    walked = Walker.of(np.roll(np.eye(5), 1, axis=1)).paths(np.array([3]), 7, np.random.default_rng(11))
    assert walked.tolist() == [[3, 4, 0, 1, 2, 3, 4, 0]]
    walked = Walker.of(np.ones((1, 1))).paths(ORIGIN, 3, np.random.default_rng(12))
    assert walked.tolist() == [[0, 0, 0, 0]]


def test_numbers_next_to_one_stay_in_the_row() -> None:
    class Ones:
        def random(self, shape: tuple[int, int]) -> Floats:
            return np.full(shape, 1.0 - 2.0**-53)

    # From even states to even ones and from odd to odd: a step into the next state's cells shows.
    matrix = np.tril(np.add.outer(np.arange(300), np.arange(300)) % 2 == 0).astype(float)
    walked = Walker.of(matrix).paths(np.arange(300), 1, cast("np.random.Generator", Ones()))
    assert (matrix[walked[:, 0], walked[:, 1]] > 0.0).all()


def test_the_argument_is_left_alone() -> None:
    matrix = sparse.csr_array(chain("sparse"))
    before = matrix.copy()
    Walker.of(matrix)
    assert (matrix != before).nnz == 0


@pytest.mark.parametrize(
    ("matrix", "message"),
    [
        (np.ones((2, 3)), "as many rows as columns"),
        (np.array([[1.0, -0.1], [0.5, 0.5]]), "not negative"),
        (np.array([[1.0, np.nan], [0.5, 0.5]]), "finite"),
        (np.array([[0.0, 0.0], [0.5, 0.5]]), "none from 0"),
    ],
)
def test_what_is_no_chain_is_refused(matrix: Floats, message: str) -> None:
    with pytest.raises(InvalidArgument, match=message):
        Walker.of(matrix)


@pytest.mark.parametrize("starts", [[-1], [0, 50]])
def test_starts_outside_the_chain_are_refused(starts: list[int]) -> None:
    with pytest.raises(InvalidArgument, match="starts: expected states from 0 to 49"):
        Walker.of(chain("dense")).paths(np.array(starts), 3, np.random.default_rng(13))


def test_a_negative_number_of_steps_is_refused() -> None:
    with pytest.raises(InvalidArgument, match="steps"):
        Walker.of(chain("dense")).paths(ORIGIN, -1, np.random.default_rng(14))
