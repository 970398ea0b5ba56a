"""Which states may be named: exact probabilities on all small data sets and neighbours, planted faults."""

from __future__ import annotations

import math
from fractions import Fraction
from itertools import combinations, pairwise, product
from typing import Any

import numpy as np
import pytest

from tests.core.fit import mean_fits
from veil.chains.sparse.selection import Selection, chosen_selection
from veil.core.privacy.profile import NothingRevealed
from veil.errors import InvalidArgument, VeilError

ONE = Fraction(1, 2**128)
STATES, MOST_USERS = 3, 4

# The states that each user visits.
Users = tuple[frozenset[int], ...]


def chances(made: Selection) -> list[Fraction]:
    return [chance * ONE for chance in made.chances]


def law(users: Users, chance: list[Fraction], kept: int) -> dict[frozenset[int], Fraction]:
    """The probability of every set of named states. kept: a user counts for so many states."""
    numbers = [sum(state in sorted(user)[:kept] for user in users) for state in range(STATES)]
    each = [chance[min(number, len(chance) - 1)] for number in numbers]
    outcomes = {}
    for named in product((False, True), repeat=STATES):
        total = Fraction(1)
        for p, is_named in zip(each, named, strict=True):
            total *= p if is_named else 1 - p
        outcomes[frozenset(np.flatnonzero(named).tolist())] = total
    return outcomes


def worst_delta(chance: list[Fraction], kept: int, epsilon: float) -> Fraction:
    """The least delta that holds at this epsilon, over all small data sets with and without somebody."""
    # Slightly more than e^epsilon, so that what is found is a lower bound.
    factor = Fraction(math.exp(epsilon)) * (1 + Fraction(1, 2**40))
    somebody = [frozenset(one) for size in range(1, STATES + 1) for one in combinations(range(STATES), size)]
    worst = Fraction()
    for size in range(MOST_USERS):
        # All others are alike: what matters is how many users each state has.
        for others in product((frozenset({0}), frozenset({0, 1}), frozenset({1, 2})), repeat=size):
            without = law(others, chance, kept)
            for user in somebody:
                with_user = law((*others, user), chance, kept)
                for one, two in ((with_user, without), (without, with_user)):
                    gap = sum((max(Fraction(), one[key] - factor * two[key]) for key in one), Fraction())
                    worst = max(worst, gap)
    return worst


@pytest.mark.parametrize(
    ("each", "leak"),
    [
        (0.5, 0.05),
        pytest.param(1.0, 0.2, marks=pytest.mark.slow),
        pytest.param(0.1, 0.01, marks=pytest.mark.slow),
    ],
)
@pytest.mark.parametrize("kept", [1, 2, 3])
def test_exact_on_all_small_data(each: float, leak: float, kept: int) -> None:
    made = Selection(each, leak, kept)
    profile = made.profile_with(NothingRevealed())
    for epsilon in (0.0, 0.3 * each, each, 1.5 * each, kept * each, 2 * kept * each):
        claimed = Fraction(profile.delta(epsilon))
        assert worst_delta(chances(made), kept, epsilon) <= claimed
    # From the sum of all losses on nothing is left but what may be shown: the claim is hardly too large.
    most = worst_delta(chances(made), kept, kept * each)
    assert most >= Fraction(leak) * Fraction(99, 100)


def test_planted_faults_are_found() -> None:
    """A user who counts once too often, chances that are a little too large, one that is sure too soon."""
    made = Selection(0.5, 0.05, 1)
    profile = made.profile_with(NothingRevealed())

    def is_found(chance: list[Fraction], kept: int) -> bool:
        grid = (0.0, 0.25, 0.5, 0.75)
        return any(worst_delta(chance, kept, at) > Fraction(profile.delta(at)) for at in grid)

    true = chances(made)
    assert not is_found(true, 1)
    assert is_found(true, 2)
    assert is_found([Fraction(), *(min(Fraction(1), p + Fraction(1, 100)) for p in true[1:])], 1)
    assert is_found([*true[:2], Fraction(1)], 1)


def test_no_chance_could_be_larger() -> None:
    """At each number of users one of the two inequalities is met but for the rounding."""
    made = Selection(0.7, 1e-4, 1)
    p, r, delta = chances(made), Fraction(math.exp(0.7)), Fraction(1e-4)
    assert p[0] == 0
    assert p[-1] == 1
    for low, high in pairwise(p):
        room = min(r * low + delta - high, r * (1 - high) + delta - (1 - low))
        assert room <= Fraction(1, 2**45) or high == 1
        assert room >= -Fraction(1, 2**45)


def test_drawn_as_computed() -> None:
    made = Selection(0.5, 0.05, 1)
    users, rng = np.arange(len(made.chances) + 2), np.random.default_rng(7)
    draws = np.array([made.draw(rng, users) for _ in range(20_000)], dtype=float)
    assert not draws[:, 0].any()
    assert draws[:, -1].all()
    assert draws[:, -3].all()
    for place, chance in enumerate(chances(made)[1:-1], start=1):
        p = float(chance)
        assert mean_fits(draws[:, place], p, p * (1 - p))
        # Power: one user more would show.
        more = float(chances(made)[place + 1])
        assert more == p or not mean_fits(draws[:, place], more, max(more * (1 - more), 1e-9))


class Scripted(np.random.Generator):
    """Words that were written down."""

    def __init__(self, words: list[int]) -> None:
        super().__init__(np.random.PCG64(0))
        self.words = list(words)

    def integers(self, *_: Any, **named: Any) -> Any:
        size = named.get("size")
        some, self.words = self.words[: size or 1], self.words[size or 1 :]
        return np.array(some, dtype=np.uint64)


def test_open_words_are_settled_by_more_bits() -> None:
    made = Selection(0.5, 0.05, 1)
    chance = made.chances[2]
    head, rest = chance >> 64, chance & (2**64 - 1)
    assert rest > 0
    one = np.array([2])
    assert made.draw(Scripted([head - 1]), one).tolist() == [True]
    assert made.draw(Scripted([head + 1]), one).tolist() == [False]
    assert made.draw(Scripted([head, rest - 1]), one).tolist() == [True]
    assert made.draw(Scripted([head, rest]), one).tolist() == [False]


def test_chosen() -> None:
    for states in (1, 3, 30, 300):
        made = chosen_selection(1.0, 1e-6, states)
        assert made.profile_with(NothingRevealed()).covers(1.0, 1e-6)
        assert made.states == states
    # With many states the exact composition is better than equal shares.
    many = chosen_selection(1.0, 1e-6, 300)
    assert many.each > 1.0 / 300
    assert many.middle < Selection(1.0 / 300, 1e-6 / 300, 300).middle
    with pytest.raises(VeilError, match="delta"):
        chosen_selection(1.0, 0.0, 1)
    for wrong in ({"each": 0.0}, {"leak": 0.0}, {"states": 0}):
        with pytest.raises(InvalidArgument):
            Selection(**({"each": 1.0, "leak": 1e-6, "states": 1} | wrong))
    assert Selection.given(many.describe()) == many
