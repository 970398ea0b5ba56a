"""Random search, and hill climbing from the best that it finds."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

# A value and a neighbour of it.
Pair = tuple[Any, Any]


@dataclass(frozen=True)
class Climb:
    """Where to begin, where to go on, and what is to be large.

    start: a random pair. near: another pair, next to a given one. score: of a pair, not necessarily certain.
    """

    start: Callable[[np.random.Generator], Pair]
    near: Callable[[np.random.Generator, Pair], Pair]
    score: Callable[[Pair], float]


@dataclass
class Found:
    """looked: how many pairs were scored. best: the one with the largest score. trail: all that were once."""

    looked: int
    best: Pair
    score: float
    trail: list[Pair]


def climbed(climb: Climb, rng: np.random.Generator, *, starts: int, steps: int, tops: int = 2) -> Found:
    """The worst pair of `starts` random ones, after `steps` steps uphill from each of the `tops` best."""
    pairs = [climb.start(rng) for _ in range(starts)]
    scored = sorted(((climb.score(pair), i) for i, pair in enumerate(pairs)), reverse=True)
    trail, looked = [pairs[scored[0][1]]], starts
    summit, height = trail[0], scored[0][0]
    for score, i in scored[:tops]:
        here, level = pairs[i], score
        for _ in range(steps):
            there = climb.near(rng, here)
            looked += 1
            reached = climb.score(there)
            # A step along a ridge is taken too.
            if reached >= level:
                here, level = there, reached
                if level > height:
                    summit, height = here, level
                    trail.append(here)
    return Found(looked, summit, height, trail)
