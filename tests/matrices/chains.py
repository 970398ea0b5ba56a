"""Markov chains to test with, and their exact stationary distributions, visits and hitting times."""

from fractions import Fraction
from typing import Any

import numpy as np
from mpmath import mp, mpf
from numpy.typing import NDArray

Floats = NDArray[np.float64]

# Courtois (1977): eight states, three groups, coupled by about 1e-3.
COURTOIS = np.array(
    [
        [0.85, 0, 0.149, 0.0009, 0, 0.00005, 0, 0.00005],
        [0.1, 0.65, 0.249, 0, 0.0009, 0.00005, 0, 0.00005],
        [0.1, 0.8, 0.0996, 0.0003, 0, 0, 0.0001, 0],
        [0, 0.0004, 0, 0.7, 0.2995, 0, 0.0001, 0],
        [0.0004, 0, 0.0004, 0.399, 0.6, 0.0001, 0, 0.0001],
        [0, 0.00005, 0, 0, 0.00005, 0.6, 0.2499, 0.15],
        [0.00003, 0, 0.00003, 0.00004, 0, 0.1, 0.8, 0.0999],
        [0, 0.00005, 0, 0, 0.00005, 0.1999, 0.25, 0.55],
    ]
)


def normalised(matrix: Floats) -> Floats:
    """The rows divided by their sums."""
    return np.asarray(matrix / matrix.sum(axis=1, keepdims=True))


def random_chain(rng: np.random.Generator, states: int) -> Floats:
    return np.asarray(rng.dirichlet(np.ones(states), size=states))


def coupled(rng: np.random.Generator, sizes: list[int], coupling: float) -> Floats:
    """Random chains side by side, with weak links of random strength between all states."""
    groups = np.repeat(np.arange(len(sizes)), sizes)
    inside = groups[:, None] == groups
    matrix = rng.uniform(0.1, 1.0, inside.shape) * np.where(inside, 1.0, coupling)
    return normalised(matrix)


def birth_death(up: Floats, down: Floats) -> Floats:
    """up[i]: the probability of i -> i + 1; down[i]: that of i + 1 -> i; the rest stays."""
    matrix = np.diag(up, 1) + np.diag(down, -1)
    return np.asarray(matrix + np.diag(1.0 - matrix.sum(axis=1)))


def birth_death_truth(up: Floats, down: Floats) -> list[mpf]:
    """Its stationary distribution: ratios of neighbours are up / down."""
    with mp.workdps(40):
        weights = [mpf(1)]
        for rise, fall in zip(up, down, strict=True):
            weights.append(weights[-1] * mpf(float(rise)) / mpf(float(fall)))
        total = mp.fsum(weights)
        return [weight / total for weight in weights]


def exact_visits(matrix: Floats, target: int) -> list[list[Fraction]]:
    """(I - P)^-1 without the target, by elimination in rational numbers; 1 - P_ii is the sum of the rest."""
    others = [i for i in range(len(matrix)) if i != target]
    rows: list[list[Fraction]] = []
    for place, i in enumerate(others):
        leave = sum((Fraction(float(x)) for j, x in enumerate(matrix[i]) if j != i), Fraction(0))
        row = [leave if i == j else -Fraction(float(matrix[i, j])) for j in others]
        rows.append(row + [Fraction(int(place == k)) for k in range(len(others))])
    for k in range(len(rows)):
        rows[k] = [x / rows[k][k] for x in rows[k]]
        for i in range(len(rows)):
            if i != k and rows[i][k]:
                rows[i] = [x - rows[i][k] * y for x, y in zip(rows[i], rows[k], strict=True)]
    return [row[len(others) :] for row in rows]


def exact_stationary(matrix: Floats) -> list[Fraction]:
    """Proportional to the visits between two returns to state 0."""
    visits = exact_visits(matrix, 0)
    first = [Fraction(float(x)) for x in matrix[0, 1:]]
    columns = zip(*visits, strict=True)
    weights = [sum((p * x for p, x in zip(first, column, strict=True)), Fraction(0)) for column in columns]
    total = 1 + sum(weights, Fraction(0))
    return [1 / total, *(weight / total for weight in weights)]


def precise_stationary(matrix: Floats, digits: int = 80) -> list[mpf]:
    """By elimination in many digits, for chains too large for rational numbers."""
    with mp.workdps(digits):
        states = len(matrix)
        a = [[mpf(float(x)) for x in row] for row in matrix]
        for k in range(states - 1, 0, -1):
            leave = mp.fsum(a[k][:k])
            for i in range(k):
                share = a[i][k] = a[i][k] / leave
                row = a[k]
                a[i][:k] = [x + share * y for x, y in zip(a[i][:k], row, strict=False)]
        weights = [mpf(1)]
        for k in range(1, states):
            weights.append(mp.fsum(weights[i] * a[i][k] for i in range(k)))
        total = mp.fsum(weights)
        return [weight / total for weight in weights]


def worst_error(found: Any, truth: Any) -> float:
    """The largest relative error of any entry."""
    worst = 0.0
    with mp.workdps(60):
        for value, exact in zip(np.ravel(found), truth, strict=True):
            if isinstance(exact, Fraction):
                exact = mpf(exact.numerator) / mpf(exact.denominator)
            worst = max(worst, float(abs(mpf(float(value)) / exact - 1)))
    return worst
