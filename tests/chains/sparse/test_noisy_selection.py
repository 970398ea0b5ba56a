"""States named by a noisy number of users: exact probabilities on small data, planted faults, the draw."""

from __future__ import annotations

import math
from itertools import product

import numpy as np
import pytest

from tests.core.fit import mean_fits
from veil.chains.sparse.noisy_selection import NoisySelection, given_selection, least_users, noisy_selection
from veil.chains.sparse.selection import Selection
from veil.core.privacy.profile import NothingRevealed
from veil.errors import InvalidArgument, VeilError

# What sums of floats may be off by.
ROUNDING = 1e-12


def chance(made: NoisySelection, users: int, *, without_users: bool = False) -> float:
    """The probability that a state with so many users is named, by summing the law of the noise."""
    if users == 0 and not without_users:
        return 0.0
    grid = np.arange(-60, 61)
    weights = np.exp(-(grid**2) / (2.0 * made.scale**2))
    return float(weights[users + grid >= made.threshold].sum() / weights.sum())


def worst_delta(made: NoisySelection, epsilon: float, states: int, most: int = 9, **options: bool) -> float:
    """The least delta that holds, over all numbers of users of states that one more user has."""
    worst, factor = 0.0, math.exp(epsilon)
    for numbers in product(range(most), repeat=states):
        laws = []
        for more in (0, 1):
            law = np.ones(1)
            for number in numbers:
                p = chance(made, number + more, **options)
                law = np.outer(law, [p, 1.0 - p]).ravel()
            laws.append(law)
        for one, two in (laws, laws[::-1]):
            worst = max(worst, float(np.maximum(0.0, one - factor * two).sum()))
    return worst


@pytest.mark.parametrize(("scale", "threshold"), [(1.5, 4), (3.0, 6), (2.0, 2)])
@pytest.mark.parametrize("states", [1, 2])
def test_exact_on_small_data(scale: float, threshold: int, states: int) -> None:
    made = NoisySelection(scale, threshold, states)
    profile = made.profile_with(NothingRevealed())
    for epsilon in (0.0, 0.3, 1.0, 2.0, 4.0):
        assert worst_delta(made, epsilon, states) <= profile.delta(epsilon) + ROUNDING
    # Far out only what a state of one user shows is left, and the claim is hardly larger.
    assert profile.delta(12.0) <= 1.01 * worst_delta(made, 12.0, states) + 1e-4
    # Two people's states, where one is replaced by another.
    both = made.profile_with(NothingRevealed(), people=2)
    assert worst_delta(made, 1.0, 2 * states, most=4) <= both.delta(1.0) + ROUNDING


def test_planted_faults_are_found() -> None:
    made = NoisySelection(1.5, 6, 1)
    profile = made.profile_with(NothingRevealed())
    grid = (0.0, 0.5, 1.0, 2.0, 3.0, 5.0)

    def is_found(other: NoisySelection, states: int, **options: bool) -> bool:
        return any(worst_delta(other, at, states, most=12, **options) > profile.delta(at) for at in grid)

    assert not is_found(made, 1)
    assert is_found(made, 2)
    assert is_found(NoisySelection(1.5, 5, 1), 1)
    assert is_found(NoisySelection(0.8, 6, 1), 1)


def test_drawn_as_computed() -> None:
    made = NoisySelection(2.0, 5, 1)
    rng = np.random.default_rng(5)
    draws = np.array([made.draw(rng, np.arange(12)) for _ in range(20_000)], dtype=float)
    assert not draws[:, 0].any()
    for users in range(1, 12):
        p = chance(made, users)
        assert mean_fits(draws[:, users], p, p * (1.0 - p))
        # Power: a threshold that is off by one would show.
        more = chance(made, users + 1)
        assert not mean_fits(draws[:, users], more, max(more * (1.0 - more), 1e-9)) or more - p < 0.01
    assert chance(made, 1) <= made.leak <= 1.0001 * chance(made, 1)
    assert chance(made, made.surely) >= 0.95 > chance(made, made.surely - 2)


def test_the_one_that_names_with_fewer_users_is_chosen() -> None:
    few, many = least_users(1.0, 1e-6, 1), least_users(1.0, 1e-6, 10)
    assert isinstance(few, Selection)
    assert isinstance(many, NoisySelection)
    assert many.surely < Selection(0.1, 1e-7, 10).surely
    for states in (1, 2, 5, 30):
        for people in (1, 2):
            made = least_users(0.5, 1e-7, states, people=people)
            assert made.states == states
            assert made.profile_with(NothingRevealed(), people=people).covers(0.5, 1e-7)
            assert given_selection(made.describe()) == made
            noisy = noisy_selection(0.5, 1e-7, states, people=people)
            assert noisy.profile_with(NothingRevealed(), people=people).covers(0.5, 1e-7)
            assert made.surely <= noisy.surely
    with pytest.raises(VeilError, match="delta"):
        least_users(1.0, 0.0, 1)
    for wrong in ({"scale": 0.0}, {"threshold": 1}, {"states": 0}):
        with pytest.raises(InvalidArgument):
            NoisySelection(**({"scale": 2.0, "threshold": 5, "states": 1} | wrong))
