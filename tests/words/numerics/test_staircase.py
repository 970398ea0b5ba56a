"""The staircase in the Hamming distance: private for all pairs of words, and better than anything else."""

from __future__ import annotations

import math
from fractions import Fraction
from itertools import product

import numpy as np
import pytest

from veil.core.numerics.rounding import decay_above
from veil.core.numerics.staircase import WordStaircase, log_words_at, staircase

SMALL = [(n, m, b) for n, m in ((1, 2), (3, 2), (4, 2), (3, 3), (2, 4)) for b in (1, 2, 3, 5)]


def exp_below(epsilon: float) -> Fraction:
    """Surely not above e^epsilon: the first terms of the series."""
    x, term, total = Fraction(epsilon), Fraction(1), Fraction(1)
    for k in range(1, 200):
        term = term * x / k
        total += term
    return total


def distance(left: tuple[int, ...], right: tuple[int, ...]) -> int:
    return sum(a != b for a, b in zip(left, right, strict=True))


@pytest.mark.mostly_slow(quick=3)
@pytest.mark.parametrize(("n", "m", "b"), SMALL)
def test_private_for_all_pairs_of_words(n: int, m: int, b: int) -> None:
    """In exact numbers, over all neighbours and all outputs; the loss is used up."""
    words = list(product(range(m), repeat=n))
    far = {(v, w): distance(v, w) for v in words for w in words}
    # How far outputs are from an input and from its neighbour.
    both = {(far[v, w], far[v, near]) for w in words for near in words if far[w, near] <= b for v in words}
    for epsilon in (0.3, 1.0, 4.7):
        weights = staircase(n, m, b, epsilon).weights()
        totals = {sum(weights[far[v, w]] for v in words) for w in words}
        assert len(totals) == 1
        largest = max(weights[one] / weights[other] for one, other in both)
        assert largest <= exp_below(epsilon)
        assert math.log(largest) == pytest.approx(epsilon, rel=1e-14)


def test_a_step_more_is_not_private() -> None:
    """The check above would find steps that are less than b apart."""
    found = WordStaircase(4, 2, 1, 1, decay_above(1.0)).weights()
    assert found[0] / found[2] > exp_below(1.0) * 2


@pytest.mark.parametrize("epsilon", [1e-9, 0.1, 1.0, 5.0, 40.0, 700.0, 1000.0])
def test_the_decay_is_rounded_upwards(epsilon: float) -> None:
    decay = decay_above(epsilon)
    assert 0.0 < decay <= 1.0
    if epsilon <= 40.0:
        assert 1 / Fraction(decay) <= exp_below(epsilon)
        # And by less than the next float.
        assert decay <= math.nextafter(math.exp(-epsilon) * (1 + 2e-16), 1.0)


def least_over_distances(n: int, m: int, b: int, epsilon: float) -> float:
    """The best function of the distance by linear programming, monotone or not."""
    from scipy.optimize import linprog

    counts = np.exp(log_words_at(n, m))
    rows = []
    for i, j in product(range(n + 1), repeat=2):
        if i != j and abs(i - j) <= b:
            row = np.zeros(n + 1)
            row[i], row[j] = 1 / counts[i], -math.exp(epsilon) / counts[j]
            rows.append(row)
    found = linprog(
        np.arange(n + 1), A_ub=rows, b_ub=np.zeros(len(rows)), A_eq=np.ones((1, n + 1)), b_eq=[1.0]
    )
    return float(found.fun)


def test_no_function_of_the_distance_is_better() -> None:
    rng = np.random.default_rng(11)
    for _ in range(60):
        n, m, b = int(rng.integers(1, 10)), int(rng.integers(2, 6)), int(rng.integers(1, 6))
        epsilon = float(rng.uniform(0.2, 4.0))
        best = staircase(n, m, b, epsilon).expected_error
        assert best == pytest.approx(least_over_distances(n, m, b, epsilon), abs=2e-5)


@pytest.mark.parametrize(("n", "m", "b"), [(2, 2, 1), (2, 2, 2), (2, 3, 1), (3, 2, 2)])
def test_no_mechanism_at_all_is_better(n: int, m: int, b: int) -> None:
    """The least largest expected error over all mechanisms from words to words, by linear programming."""
    from scipy.optimize import linprog
    from scipy.sparse import lil_matrix

    words, epsilon = list(product(range(m), repeat=n)), 1.3
    size = len(words)
    far = np.array([[distance(v, w) for v in words] for w in words])
    near = [(i, j) for i in range(size) for j in range(size) if i != j and far[i, j] <= b]
    conditions = lil_matrix((len(near) * size + size, size * size + 1))
    for row, ((i, j), v) in enumerate(product(near, range(size))):
        conditions[row, i * size + v], conditions[row, j * size + v] = 1.0, -math.exp(epsilon)
    for i in range(size):
        conditions[len(near) * size + i, i * size : (i + 1) * size] = far[i]
        conditions[len(near) * size + i, size * size] = -1.0
    sums = lil_matrix((size, size * size + 1))
    for i in range(size):
        sums[i, i * size : (i + 1) * size] = 1.0
    cost = np.zeros(size * size + 1)
    cost[-1] = 1.0
    found = linprog(
        cost,
        A_ub=conditions.tocsr(),
        b_ub=np.zeros(conditions.shape[0]),
        A_eq=sums.tocsr(),
        b_eq=np.ones(size),
    )
    assert staircase(n, m, b, epsilon).expected_error == pytest.approx(float(found.fun), abs=1e-7)


def test_one_symbol_is_randomised_response() -> None:
    odds = 3 * math.exp(-2.0)
    found = staircase(7, 4, 1, 2.0)
    assert found.levels.tolist() == list(range(8))
    assert found.expected_error == pytest.approx(7 * odds / (1 + odds))


def test_figures_and_the_best_first_step() -> None:
    """n=5, m=2, b=2, epsilon=5: 0.155 against 0.379 of randomised response at epsilon / b for each symbol."""
    odds = math.exp(-2.5)
    assert 5 * odds / (1 + odds) == pytest.approx(0.379, abs=5e-4)
    assert staircase(5, 2, 2, 5.0).expected_error == pytest.approx(0.155, abs=5e-4)
    # The first step is not always the first symbol.
    assert staircase(10, 4, 3, 1.0).first == 2
    assert staircase(10, 4, 3, 2.0).first == 1
    assert staircase(10, 4, 3, 5.0).first == 3


def test_long_words_and_edges() -> None:
    found = staircase(10_000, 43, 5, 30.0)
    assert found.distances().sum() == pytest.approx(1.0)
    # By symmetry no more than 30 / 5 for each symbol, and no less than 30.
    assert 10_000 * 42 * math.exp(-30.0) < found.expected_error < 10_000 * 42 * math.exp(-6.0) / 1.1
    assert staircase(3, 2, 9, 1.0).first <= 3
    assert staircase(4, 1, 2, 1.0).expected_error == 0.0
    assert staircase(0, 2, 2, 1.0).expected_error == 0.0
