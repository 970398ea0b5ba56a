"""One mechanism under one adjacency: which pairs are tried, and how well they are told apart."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from flint import arb

from tests.neighbours.claims import Tally
from tests.neighbours.climbing import Climb, Pair, climbed
from veil.core.adjacency import Adjacency
from veil.errors import InvalidData


@dataclass(frozen=True)
class Study:
    """A mechanism under an adjacency.

    value: a random value. near: one near a given one. edit: a neighbour, as the sentence says. rough: about
    how well a pair is told apart at an epsilon. truths: the same, certain. loss: a loss that occurs, where
    the mechanism is pure. mix: a pair made of two pairs. epsilons: where the curve is looked at. reach: the
    part of the claim that the search must find at each of these; where it is below 0.95, why says why.
    """

    name: str
    mechanism: Any
    adjacency: Adjacency
    value: Callable[[np.random.Generator], Any]
    near: Callable[[np.random.Generator, Any], Any]
    edit: Callable[[np.random.Generator, Any], Any]
    rough: Callable[[Any, Any, float], float]
    truths: Callable[[Any, Any, float], list[arb]]
    epsilons: tuple[float, ...]
    loss: Callable[[Any, Any], Fraction | arb] | None = None
    mix: Callable[[np.random.Generator, Pair, Pair], Pair] | None = None
    reach: float = 0.95
    why: str = ""

    def taken(self, value: Any) -> bool:
        """Whether the mechanism takes the value."""
        try:
            self.mechanism.validate(value)
        except InvalidData:
            return False
        return True

    def neighbours(self, rng: np.random.Generator, value: Any) -> Pair | None:
        """The value and a neighbour of it that is taken as well; None if ten tries found none."""
        if not self.taken(value):
            return None
        for _ in range(10):
            other = self.edit(rng, value)
            if other is not None and other != value and self.taken(other):
                return value, other
        return None

    def start(self, rng: np.random.Generator) -> Pair:
        while True:
            pair = self.neighbours(rng, self.value(rng))
            if pair is not None:
                return pair

    def next(self, rng: np.random.Generator, pair: Pair) -> Pair:
        """Another neighbour of the same value, or of one near it; the roles may be exchanged."""
        value = pair[int(rng.integers(2))]
        for _ in range(20):
            tried = value if rng.random() < 0.4 else self.near(rng, value)
            found = self.neighbours(rng, tried)
            if found is not None:
                return found if self.mix is None else self.mix(rng, pair, found)
        return pair

    def run(self, seed: int, *, starts: int, steps: int, short: bool = False) -> Tally:
        """Search at every epsilon, then compare what was found with the claim.

        A short run compares the worst pair of each epsilon at this one, a long one more of them at all.
        """
        assert self.reach >= 0.95 or self.why
        rng = np.random.default_rng(seed)
        tally = Tally(self.name, self.mechanism.profile(self.adjacency))
        worst: list[Pair] = []
        for epsilon in self.epsilons:

            def score(pair: Pair, at: float = epsilon) -> float:
                return self.rough(*pair, at)

            found = climbed(Climb(self.start, self.next, score), rng, starts=starts, steps=steps)
            tally.pairs += found.looked
            # The worst, one on the way to it, and one that nobody chose.
            worst += [found.best, found.trail[len(found.trail) // 2], self.start(rng)]
        for place, pair in enumerate(worst):
            if short and place % 3:
                continue
            for epsilon in self.epsilons[place // 3 : place // 3 + 1] if short else self.epsilons:
                tally.add(epsilon, self.truths(*pair, epsilon), pair)
            if self.loss is not None:
                tally.add_loss(self.loss(*pair), pair)
        return tally


def searched(studies: tuple[Study, ...]) -> pytest.MarkDecorator:
    """The parameter `study`, by name."""
    return pytest.mark.parametrize("study", studies, ids=lambda study: study.name)
