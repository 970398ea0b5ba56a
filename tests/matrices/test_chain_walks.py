"""Walking, cutting and comparing chains.

Each statistical test accepts the truth with probability 1 - ALPHA, and rejects a planted fault at the same
level, on the same number of steps and with fixed seeds.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray
from scipy import sparse, stats

import veil
from veil.errors import InvalidArgument
from veil.matrices.chain_intake import Reducible

ALPHA = 1e-6
MATRIX = np.array(
    [[0.5, 0.3, 0.2, 0.0], [0.1, 0.6, 0.0, 0.3], [0.25, 0.25, 0.25, 0.25], [0.0, 0.05, 0.9, 0.05]]
)
STATES = ("home", "road", "shop", "work")
CHAIN = veil.Chain(MATRIX, states=STATES)


def fit(walks: NDArray[np.int32], matrix: Any) -> float:
    """The p-value of the transitions seen; 0 if an impossible one was."""
    seen = np.zeros(matrix.shape)
    np.add.at(seen, (walks[:, :-1].ravel(), walks[:, 1:].ravel()), 1.0)
    expected = seen.sum(axis=1, keepdims=True) * matrix
    if seen[matrix == 0.0].any():
        return 0.0
    possible = matrix > 0.0
    statistic = ((seen - expected)[possible] ** 2 / expected[possible]).sum()
    return float(stats.chi2.sf(statistic, np.count_nonzero(possible) - len(matrix)))


# Simulation


@pytest.mark.parametrize("given", [MATRIX, sparse.csr_array(MATRIX)], ids=["dense", "sparse"])
def test_steps_have_their_probabilities(given: Any) -> None:
    """Power: a chain two of whose transitions are 5 % off is rejected on the same walks."""
    chain = veil.Chain(given)
    walks = chain.simulate_indices(1_000, paths=300, rng=1)
    assert walks.shape == (300, 1_001)
    assert fit(walks, MATRIX) > ALPHA
    wrong = MATRIX.copy()
    wrong[1] += [0.0, -0.03, 0.0, 0.03]
    assert fit(walks, wrong) < ALPHA
    single = chain.simulate_indices(300_000, start=2, rng=2)
    assert single.shape == (300_001,)
    assert single[0] == 2
    assert fit(single[None], MATRIX) > ALPHA
    assert fit(single[None], wrong) < ALPHA


def test_starts_are_drawn_from_the_long_run() -> None:
    """Power: the long run of another chain, 0.03 away in total variation, is rejected."""
    pi = CHAIN.stationary()
    counts = np.bincount(CHAIN.simulate_indices(0, paths=40_000, rng=3)[:, 0], minlength=4)
    assert stats.chisquare(counts, 40_000 * pi).pvalue > ALPHA
    wrong = pi + np.array([0.03, -0.03, 0.0, 0.0])
    assert stats.chisquare(counts, 40_000 * wrong).pvalue < ALPHA
    # And what starts there stays there: the last state has the same law.
    last = np.bincount(CHAIN.simulate_indices(7, paths=40_000, rng=4)[:, -1], minlength=4)
    assert stats.chisquare(last, 40_000 * pi).pvalue > ALPHA


def test_the_law_after_some_steps_is_that_of_the_walks() -> None:
    walks = CHAIN.simulate_indices(3, start="work", paths=40_000, rng=5)
    counts = np.bincount(walks[:, -1], minlength=4)
    assert stats.chisquare(counts, 40_000 * CHAIN.after(3, "work")).pvalue > ALPHA
    assert stats.chisquare(counts, 40_000 * CHAIN.after(2, "work")).pvalue < ALPHA
    assert CHAIN.after(0, "work").tolist() == [0.0, 0.0, 0.0, 1.0]


def test_hitting_times_are_those_of_the_walks() -> None:
    """The mean of 4,000 walks within 5 standard errors (two-sided 6e-7); 10 % more is rejected."""
    walks = CHAIN.simulate_indices(400, start="home", paths=4_000, rng=6)
    there = walks == CHAIN.index("work")
    assert there.any(axis=1).all()
    first = there.argmax(axis=1)
    error = first.std() / math.sqrt(len(first))
    truth = CHAIN.hitting_times("work")[0]
    assert abs(first.mean() - truth) < 5 * error
    assert abs(first.mean() - 1.1 * truth) > 5 * error


def test_labels_and_numbers_tell_the_same_story() -> None:
    labels = CHAIN.simulate(50, paths=3, rng=7)
    places = CHAIN.simulate_indices(50, paths=3, rng=7)
    assert labels.shape == places.shape == (3, 51)
    assert places.dtype == np.int32
    assert labels.dtype.kind == "U"
    assert [[STATES[i] for i in row] for row in places] == labels.tolist()
    assert CHAIN.simulate(50, rng=7).shape == (51,)
    assert CHAIN.simulate(0, start="shop", rng=7).tolist() == ["shop"]
    assert (CHAIN.simulate(9, start="road", paths=4, rng=1)[:, 0] == "road").all()
    numbered = veil.Chain(MATRIX).simulate(5, rng=1)
    assert numbered.dtype.kind == "i"
    tens = veil.Chain(MATRIX, states=(10, 20, 30, 40)).simulate(200, rng=1)
    assert set(tens.tolist()) == {10, 20, 30, 40}
    pairs = veil.Chain(np.eye(2)[::-1], states=[("x", 1), ("y", 2)]).simulate(3, start=("x", 1), rng=1)
    assert pairs.tolist() == [("x", 1), ("y", 2)] * 2


def test_seeds() -> None:
    first, same, other = (CHAIN.simulate_indices(200, rng=seed) for seed in (1, 1, 2))
    assert np.array_equal(first, same)
    assert not np.array_equal(first, other)
    rng = np.random.default_rng(1)
    assert np.array_equal(CHAIN.simulate_indices(200, rng=rng), first)
    assert not np.array_equal(CHAIN.simulate_indices(200, rng=rng), first)
    assert not np.array_equal(CHAIN.simulate_indices(200), CHAIN.simulate_indices(200))


def test_reducible_chains_walk_from_a_given_start() -> None:
    chain = veil.Chain([[0.5, 0.5, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0]])
    assert chain.simulate(200, start=0, rng=1)[-1] == 1
    assert (chain.simulate(9, start=2, rng=1) == 2).all()
    with pytest.raises(Reducible, match="stationary"):
        chain.simulate(9, rng=1)


@pytest.mark.parametrize(
    ("change", "field"),
    [({"steps": -1}, "steps"), ({"steps": 2.5}, "steps"), ({"steps": "9"}, "steps"), ({"paths": 0}, "paths"),
     ({"paths": -1}, "paths"), ({"paths": 1.5}, "paths"), ({"start": "moon"}, "state"),
     ({"rng": "dice"}, "rng"), ({"rng": -1}, "rng")],
)  # fmt: skip
def test_impossible_walks(change: dict[str, Any], field: str) -> None:
    call: dict[str, Any] = {"steps": 5} | change
    with pytest.raises(InvalidArgument) as caught:
        CHAIN.simulate(call.pop("steps"), **call)
    assert caught.value.field == field
    with pytest.raises(InvalidArgument, match=r"^steps: expected a whole number of at least 0"):
        CHAIN.after(-1, "home")


# Parts of a chain


def test_restricted_rows_are_scaled() -> None:
    part = CHAIN.restrict(["shop", "home"])
    assert part.states == ("shop", "home")
    np.testing.assert_allclose(part.to_numpy(), [[0.5, 0.5], [2 / 7, 5 / 7]], rtol=1e-15)
    thin = veil.Chain(sparse.csr_array(MATRIX), states=STATES).restrict(["shop", "home"])
    assert thin.is_sparse
    np.testing.assert_allclose(thin.to_numpy(), part.to_numpy(), rtol=1e-15)
    assert CHAIN.restrict(STATES) == CHAIN


def test_impossible_parts() -> None:
    loop = veil.Chain([[0.0, 1.0, 0.0], [0.0, 0.0, 1.0], [1.0, 0.0, 0.0]])
    unknown: list[list[Any]] = [[0, 2], [0], []]
    for states in unknown:
        with pytest.raises(InvalidArgument, match=r"^states: expected states that lead to one another"):
            loop.restrict(states)
    with pytest.raises(InvalidArgument, match=r"^states: expected 2 different"):
        CHAIN.restrict(["home", "home"])
    with pytest.raises(InvalidArgument, match=r"^state: expected one of 0, 1, 2, found 7"):
        loop.restrict([0, 7])


# Comparison


def test_two_chains_by_hand() -> None:
    a, b, c, d = 0.1, 0.5, 0.2, 0.4
    one = veil.Chain([[1 - a, a], [b, 1 - b]], states=["dry", "wet"])
    other = veil.Chain([[1 - c, c], [d, 1 - d]], states=["dry", "wet"])
    found = one.compare(other)
    pi = b / (a + b), a / (a + b)
    assert found.stationary_tv == pytest.approx(abs(pi[0] - d / (c + d)), rel=1e-12)
    assert found.largest_row_tv == pytest.approx(max(abs(a - c), abs(b - d)), rel=1e-12)
    mean = pi[0] * abs(a - c) + pi[1] * abs(b - d)
    assert found.mean_row_tv == pytest.approx(mean, rel=1e-12)

    def divergence(p: float, q: float) -> float:
        return p * math.log(p / q) + (1 - p) * math.log((1 - p) / (1 - q))

    assert found.kl_rate == pytest.approx(pi[0] * divergence(a, c) + pi[1] * divergence(b, d), rel=1e-12)
    assert found.bound == pytest.approx(mean / (c + d), rel=1e-12)
    assert found.ergodicity_1 == pytest.approx(abs(1 - c - d) - abs(1 - a - b), abs=1e-15)
    assert found.ergodicity_inf == pytest.approx(abs(1 - c - d) - abs(1 - a - b), abs=1e-15)
    assert found.to_dict()["kl_rate"] == found.kl_rate


def test_a_chain_does_not_differ_from_itself() -> None:
    found = CHAIN.compare(veil.Chain(sparse.csr_array(MATRIX), states=STATES))
    for number in found.to_dict().values():
        assert number == pytest.approx(0.0, abs=1e-15)


def test_the_order_of_the_states_does_not_matter() -> None:
    rng = np.random.default_rng(8)
    other = veil.Chain(rng.dirichlet(np.ones(4), size=4), states=STATES)
    turned = other.restrict(["work", "home", "shop", "road"])
    first, second = CHAIN.compare(other), CHAIN.compare(turned)
    for name, number in first.to_dict().items():
        assert second.to_dict()[name] == pytest.approx(number, rel=1e-12)
    assert first.largest_row_tv > 0.1


def test_forbidden_steps_diverge() -> None:
    fewer = veil.Chain([[0.5, 0.5, 0.0, 0.0], *MATRIX[1:].tolist()], states=STATES)
    assert CHAIN.compare(fewer).kl_rate == math.inf
    assert CHAIN.compare(fewer).to_dict()["kl_rate"] is None
    # The other way round every step of the first is possible in the second.
    back = 0.5 * math.log(0.5 / 0.3)
    assert fewer.compare(CHAIN).kl_rate == pytest.approx(fewer.stationary()[0] * back, rel=1e-12)


@settings(derandomize=True, max_examples=60, deadline=None)
@given(st.integers(1, 6), st.integers(0, 2**32 - 1))
def test_comparisons_in_general(size: int, seed: int) -> None:
    rng = np.random.default_rng(seed)
    one, other = (veil.Chain(rng.dirichlet(np.ones(size), size=size)) for _ in range(2))
    found = one.compare(other)
    assert 0.0 <= found.stationary_tv <= found.bound + 1e-12
    assert found.mean_row_tv <= found.largest_row_tv + 1e-12 <= 1.0 + 1e-9
    # Pinsker, step by step
    assert 2.0 * found.mean_row_tv**2 <= found.kl_rate + 1e-12
    assert found.ergodicity_1 == pytest.approx(-other.compare(one).ergodicity_1, abs=1e-15)


def test_what_cannot_be_compared() -> None:
    with pytest.raises(InvalidArgument, match=r"^other: expected a chain on the same states"):
        CHAIN.compare(veil.Chain(MATRIX))
    with pytest.raises(InvalidArgument, match=r"^other: expected a veil\.Chain, found ndarray"):
        CHAIN.compare(MATRIX)  # type: ignore[arg-type]
    with pytest.raises(Reducible):
        CHAIN.compare(veil.Chain(np.eye(4), states=STATES))
