"""Chains solved by hand and in rational numbers."""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import veil
from tests.matrices.chains import COURTOIS, coupled, exact_stationary, worst_error
from veil.errors import InvalidArgument, VeilError

from . import rational as exact
from .rational import Rationals, floats, rational

F = Fraction

CHAINS: dict[str, Rationals] = {
    "weather": rational([["9/10", "1/10"], ["1/2", "1/2"]]),
    "three": rational([["1/2", "3/10", "1/5"], ["1/10", "3/5", "3/10"], ["1/4", "1/4", "1/2"]]),
    "zeros": rational([["1/2", "1/2", 0], [0, "3/5", "2/5"], [1, 0, 0]]),
    "Oz": rational([["1/2", "1/4", "1/4"], ["1/2", 0, "1/2"], ["1/4", "1/4", "1/2"]]),
    "four": rational(
        [[0, "1/7", "2/7", "4/7"], ["1/3", "1/3", 0, "1/3"], [0, 0, "1/100", "99/100"], ["1/2", 0, "1/2", 0]]
    ),
    "five": rational(
        [
            ["1/5"] * 5,
            [0, "1/2", "1/2", 0, 0],
            ["1/9", "2/9", "3/9", "3/9", 0],
            [0, 0, 0, "1/8", "7/8"],
            ["19/20", 0, 0, 0, "1/20"],
        ]
    ),
    "cycle": rational([[0, 1, 0], [0, 0, 1], [1, 0, 0]]),
    "alone": rational([[1]]),
}
APERIODIC = [name for name in CHAINS if name != "cycle"]


def chain_of(name: str) -> veil.Chain:
    return veil.Chain(floats(CHAINS[name]))


def close(found: Any, truth: Any) -> None:
    np.testing.assert_allclose(found, np.array(truth, dtype=float), rtol=1e-12, atol=1e-14)


# In rational numbers


@pytest.mark.parametrize("name", CHAINS)
def test_long_run(name: str) -> None:
    chain, truth = chain_of(name), CHAINS[name]
    close(chain.stationary(), exact.stationary(truth))
    close(chain.fundamental(), exact.fundamental(truth))
    close(chain.group_inverse(), exact.group_inverse(truth))
    close(chain.condition(), exact.row_spread(exact.group_inverse(truth)))


@pytest.mark.parametrize("name", CHAINS)
def test_ergodicity_coefficients(name: str) -> None:
    chain, truth = chain_of(name), CHAINS[name]
    close(chain.ergodicity(), exact.row_spread(truth))
    close(chain.ergodicity(1), exact.row_spread(truth))
    close(chain.ergodicity("inf"), exact.column_spread(truth))


# None of these is attained exactly by one of the chains: floats could then fall on either side.
@pytest.mark.parametrize("distance", ["1/4", "3/10", "1/21", "1/1001", "9/10", "1"])
@pytest.mark.parametrize("name", APERIODIC)
def test_mixing_time(name: str, distance: str) -> None:
    found = chain_of(name).mixing_time(float(F(distance)))
    assert found == exact.mixing_time(CHAINS[name], F(distance))


@pytest.mark.parametrize("name", CHAINS)
def test_hitting_times(name: str) -> None:
    chain, truth = chain_of(name), CHAINS[name]
    every = chain.hitting_times()
    for target in range(len(chain)):
        close(every[:, target], exact.hitting_times(truth, target))
        close(chain.hitting_times(target), exact.hitting_times(truth, target))


def test_hitting_times_of_many_states() -> None:
    """Beyond 128 states all targets share one inverse; the first-step equations must still hold."""
    matrix = np.random.default_rng(4).dirichlet(np.full(150, 0.3), size=150)
    chain = veil.Chain(matrix)
    times = chain.hitting_times()
    assert (np.diag(times) == 0.0).all()
    onward = 1.0 + chain.to_numpy() @ times
    np.fill_diagonal(onward, 0.0)
    np.testing.assert_allclose(times, onward, rtol=1e-9)
    np.testing.assert_allclose(times[:, 7], chain.hitting_times(7), rtol=1e-9)


@pytest.mark.parametrize("name", CHAINS)
def test_after_some_steps(name: str) -> None:
    chain, truth = chain_of(name), CHAINS[name]
    power = exact.identity(len(chain))
    for steps in range(5):
        for start in range(len(chain)):
            close(chain.after(steps, start), power[start])
        power = exact.times(power, truth)


# By hand


@pytest.mark.parametrize(("a", "b"), [(0.1, 0.5), (0.9, 0.8), (1e-9, 0.25), (1.0, 0.5)])
def test_two_states(a: float, b: float) -> None:
    chain = veil.Chain([[1 - a, a], [b, 1 - b]], states=["dry", "wet"])
    s = a + b
    close(chain.stationary(), [b / s, a / s])
    close(chain.group_inverse(), [[a / s**2, -a / s**2], [-b / s**2, b / s**2]])
    assert chain.condition() == pytest.approx(1 / s, rel=1e-12)
    assert chain.second_eigenvalue() == pytest.approx(abs(1 - s), rel=1e-12, abs=1e-14)
    assert chain.ergodicity(1) == pytest.approx(abs(1 - s), rel=1e-12, abs=1e-14)
    assert chain.hitting_times("wet")[0] == pytest.approx(1 / a, rel=1e-12)

    def surprise(p: float) -> float:
        return -sum(q * math.log(q) for q in (p, 1 - p) if q > 0.0)

    rate = (b * surprise(a) + a * surprise(b)) / s
    assert chain.entropy_rate() == pytest.approx(rate, rel=1e-12)
    assert chain.entropy_rate(2) == pytest.approx(rate / math.log(2), rel=1e-12)
    assert chain.entropy_rate(base=math.e) == pytest.approx(rate, rel=1e-12)


def test_the_doctrine_of_the_urn() -> None:
    """Ehrenfest: d balls, one changes its urn each step; binomial in the long run, eigenvalues 1 - 2k/d."""
    d = 8
    up = np.array([(d - i) / d for i in range(d)])
    matrix = np.diag(up, 1) + np.diag(np.array([(i + 1) / d for i in range(d)]), -1)
    chain = veil.Chain(matrix)
    close(chain.stationary(), [math.comb(d, i) / 2**d for i in range(d + 1)])
    assert chain.period() == 2
    assert chain.mixing_time() == math.inf
    lazy = veil.Chain(0.5 * (matrix + np.eye(d + 1)))
    assert lazy.period() == 1
    assert lazy.second_eigenvalue() == pytest.approx(1 - 1 / d, rel=1e-12)


def test_walk_on_a_line() -> None:
    """From one end of n steps to the other takes n^2, back likewise; ends are half as likely."""
    n = 12
    matrix = np.zeros((n + 1, n + 1))
    matrix[0, 1] = matrix[n, n - 1] = 1.0
    for i in range(1, n):
        matrix[i, i - 1] = matrix[i, i + 1] = 0.5
    chain = veil.Chain(matrix)
    close(chain.stationary(), [1 / (2 * n)] + [1 / n] * (n - 1) + [1 / (2 * n)])
    close(chain.hitting_times(n), [n**2 - i**2 for i in range(n + 1)])
    assert chain.hitting_times()[0, n] == pytest.approx(n**2, rel=1e-12)
    assert chain.second_eigenvalue() == pytest.approx(1.0, rel=1e-12)


@pytest.mark.parametrize("size", [5, 610])
def test_second_eigenvalue_of_a_lazy_ring(size: int) -> None:
    """Few states: all eigenvalues; many: the leading ones. Both have a closed form."""
    step = np.eye(size)[np.roll(np.arange(size), -1)]
    chain = veil.Chain(0.5 * np.eye(size) + 0.25 * (step + step.T))
    assert chain.second_eigenvalue() == pytest.approx(0.5 + 0.5 * math.cos(2 * math.pi / size), rel=1e-12)


@pytest.mark.parametrize("size", [8, 620])
def test_second_eigenvalue_of_a_triangle(size: int) -> None:
    """A triangular Q has its diagonal as eigenvalues; (1 - a) 1u' + a Q has 1 and a times the others."""
    diagonal = np.concatenate([[1.0, 0.9, 0.6, 0.3], np.full(size - 4, 0.1)])
    triangle = np.diag(diagonal)
    triangle[1:, 0] = 1.0 - diagonal[1:]
    chain = veil.Chain(0.3 / size + 0.7 * triangle)
    assert chain.second_eigenvalue() == pytest.approx(0.7 * 0.9, rel=1e-9)


def test_independent_draws() -> None:
    law = np.array([0.5, 0.3, 0.15, 0.05])
    chain = veil.Chain(np.tile(law, (4, 1)))
    close(chain.stationary(), law)
    assert chain.mixing_time(1e-9) == 1
    assert chain.ergodicity(1) == pytest.approx(0.0, abs=1e-15)
    assert chain.ergodicity("inf") == pytest.approx(0.0, abs=1e-15)
    assert chain.second_eigenvalue() == pytest.approx(0.0, abs=1e-12)
    assert chain.condition() == pytest.approx(1.0, rel=1e-12)
    assert chain.entropy_rate(2) == pytest.approx(-float(law @ np.log2(law)), rel=1e-12)


def test_a_sure_step_has_no_uncertainty() -> None:
    for name in ("cycle", "alone"):
        rate = chain_of(name).entropy_rate()
        assert rate == 0.0
        assert math.copysign(1.0, rate) == 1.0, "a zero that prints as -0"


def test_tau_inf_exceeds_one() -> None:
    """n rows of which half lead to state 0, half elsewhere: the column of state 0 spreads by n/2."""
    matrix = np.zeros((6, 6))
    matrix[:3, 0] = matrix[3:, 1] = 1.0
    assert veil.Chain(matrix).ergodicity("inf") == 3.0


@pytest.mark.parametrize("norm", [2, "one", None, "fro"])
def test_unknown_norms(norm: Any) -> None:
    with pytest.raises(InvalidArgument, match=r"^norm: expected '1' or 'inf', found"):
        chain_of("weather").ergodicity(norm)


@pytest.mark.parametrize("distance", [0, -0.1, 1.5, math.nan, "0.25"])
def test_impossible_distances(distance: Any) -> None:
    with pytest.raises(InvalidArgument, match=r"^distance: expected a number above 0 and at most 1"):
        chain_of("weather").mixing_time(distance)


def test_impossible_bases() -> None:
    for base in (1, 0, -2, math.nan, math.inf, "2"):
        with pytest.raises(InvalidArgument, match=r"^base: expected above 1"):
            chain_of("weather").entropy_rate(base)  # type: ignore[arg-type]


# Nearly decomposable chains


@pytest.mark.parametrize("coupling", [1e-6, 1e-12, 1e-15])
def test_loosely_coupled_groups_keep_every_digit(coupling: float) -> None:
    """And power: a plain linear solve loses most of them on the same chain."""
    matrix = veil.Chain(coupled(np.random.default_rng(5), [3, 4, 3], coupling)).to_numpy()
    truth = exact_stationary(matrix)
    assert worst_error(veil.Chain(matrix).stationary(), truth) < 1e-14
    system = matrix.T - np.eye(10)
    system[-1] = 1.0
    plain = np.linalg.solve(system, np.eye(10)[-1])
    assert worst_error(plain, truth) > 1e-18 / coupling


def test_courtois() -> None:
    matrix = veil.Chain(COURTOIS).to_numpy()
    assert worst_error(veil.Chain(matrix).stationary(), exact_stationary(matrix)) < 1e-14


def test_slow_mixing_is_counted_exactly() -> None:
    """Two states that change with 1e-12: |1 - 2e-12|^t / 2 <= 1/4."""
    chain = veil.Chain([[1 - 1e-12, 1e-12], [1e-12, 1 - 1e-12]])
    assert chain.mixing_time() == pytest.approx(math.log(2) / 2e-12, rel=1e-9)
    assert chain.condition() == pytest.approx(0.5e12, rel=1e-9)
    assert chain.hitting_times()[0, 1] == pytest.approx(1e12, rel=1e-12)


def test_what_never_mixes_in_practice_says_so() -> None:
    with pytest.raises(VeilError, match="mix"):
        veil.Chain([[1.0, 1e-25], [1e-25, 1.0]]).mixing_time()


# Whatever the chain


@st.composite
def chains(draw: st.DrawFn) -> veil.Chain:
    """Irreducible: a ring through all states, and anything else on top."""
    size = draw(st.integers(1, 6))
    weights = draw(
        st.lists(st.lists(st.integers(0, 9), min_size=size, max_size=size), min_size=size, max_size=size)
    )
    matrix = np.array(weights, dtype=float)
    matrix[np.arange(size), (np.arange(size) + 1) % size] += 1.0
    return veil.Chain(matrix / matrix.sum(axis=1, keepdims=True), states=[f"s{i}" for i in range(size)])


@settings(derandomize=True, max_examples=30, deadline=None)
@given(chains())
def test_identities(chain: veil.Chain) -> None:
    P, pi, inverse = chain.to_numpy(), chain.stationary(), chain.group_inverse()
    A = np.eye(len(chain)) - P
    size = 1.0 + np.abs(inverse).max()

    def same(left: Any, right: Any) -> None:
        np.testing.assert_allclose(left, right, rtol=0, atol=1e-11 * size)

    assert pi.sum() == pytest.approx(1.0, abs=1e-14)
    assert (pi > 0.0).all()
    same(pi @ P, pi)
    same(A @ inverse @ A, A)
    same(inverse @ A @ inverse, inverse)
    same(A @ inverse, inverse @ A)
    same(inverse.sum(axis=1), 0.0)
    same(pi @ inverse, 0.0)
    same(chain.fundamental() @ (A + pi), np.eye(len(chain)))
    # Kemeny: from every start it is as far to a state drawn from the long run.
    same(chain.hitting_times() @ pi, np.full(len(chain), np.trace(inverse)))


@pytest.mark.slow
@settings(derandomize=True, max_examples=30, deadline=None)
@given(chains(), st.randoms(use_true_random=False))
def test_inequalities_and_the_order_of_states(chain: veil.Chain, random: Any) -> None:
    size = len(chain)
    tau, second = chain.ergodicity(1), chain.second_eigenvalue()
    assert 0.0 <= tau <= 1.0 + 1e-12
    assert second <= tau + 1e-7
    assert 0.0 <= chain.entropy_rate() <= math.log(size) + 1e-12
    assert veil.Chain(chain.to_numpy() @ chain.to_numpy()).ergodicity(1) <= tau**2 + 1e-12
    if chain.period() > 1:
        assert second == pytest.approx(1.0, abs=1e-9)
        assert chain.mixing_time() == math.inf
    else:
        steps = int(chain.mixing_time(0.01))
        gaps = [0.5 * np.abs(chain.after(steps, s) - chain.stationary()).sum() for s in chain.states]
        assert max(gaps) <= 0.01 * (1 + 1e-9)
    order = list(chain.states)
    random.shuffle(order)
    turned = chain.restrict(order)
    places = [chain.index(state) for state in order]
    close(turned.stationary(), chain.stationary()[places])
    close(turned.hitting_times(), chain.hitting_times()[np.ix_(places, places)])
    assert turned.condition() == pytest.approx(chain.condition(), rel=1e-9)


@settings(derandomize=True, max_examples=60, deadline=None)
@given(chains(), st.integers(0, 2**32 - 1))
def test_the_condition_bounds_what_a_change_can_do(chain: veil.Chain, seed: int) -> None:
    rng = np.random.default_rng(seed)
    other = rng.dirichlet(np.ones(len(chain)), size=len(chain))
    share = rng.uniform(0.0, 1.0) ** 3
    moved = veil.Chain((1.0 - share) * chain.to_numpy() + share * other, states=chain.states)
    rows = np.abs(moved.to_numpy() - chain.to_numpy()).sum(axis=1).max()
    shift = np.abs(moved.stationary() - chain.stationary()).sum()
    assert shift <= chain.condition() * rows + 1e-12


def test_the_condition_is_attained() -> None:
    """In the direction e_i - e_j of the farthest rows, and by no sum-zero direction exceeded."""
    chain = chain_of("five")
    inverse, rng = chain.group_inverse(), np.random.default_rng(3)
    z = rng.standard_normal((2_000, 5))
    z -= z.mean(axis=1, keepdims=True)
    stretched = np.abs(z @ inverse).sum(axis=1) / np.abs(z).sum(axis=1)
    pairs = [0.5 * np.abs(one - other).sum() for one in inverse for other in inverse]
    assert stretched.max() <= chain.condition() * (1 + 1e-12)
    assert max(pairs) == pytest.approx(chain.condition(), rel=1e-12)
