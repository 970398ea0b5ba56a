"""Learning which marks tell two inputs apart.

Each mark is a whole number without an order that means anything, so there is nothing to put a threshold on.
From some draws it is learned how much likelier each value of a mark is for the first input than for the
second; the logarithm of that is what thresholds are tried on, on other draws.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import combinations
from typing import Any

import numpy as np
from numpy.typing import NDArray

from veil.core.arrays import Floats
from veil.core.audit.marks import MOST, Marks

# A bound on log((P - delta) / Q) from hits and totals.
Bound = Callable[[Any, int, Any, int], Any]
# Anything that can be sorted: marks, pairs of them, whole rows.
Keys = NDArray[Any]
Score = Callable[[Marks], Floats]
# Columns that are scored alone, and those that are scored two by two.
_ALONE, _PAIRED = 6, 3
# By how many standard deviations the counts of a column differ that is taken to differ.
_SURE = 5.0


@dataclass(frozen=True, eq=False)
class Likelier:
    """How much likelier each key was among the first draws than among the second, as a logarithm."""

    keys: Keys
    scores: Floats

    @classmethod
    def learned(cls, first: Keys, second: Keys) -> Likelier:
        """From the keys of draws; one is added to every count, so that what was rare has a low score."""
        keys, which = np.unique(np.concatenate([first, second]), return_inverse=True)
        ahead = np.bincount(which[: len(first)], minlength=len(keys))
        behind = np.bincount(which[len(first) :], minlength=len(keys))
        return cls(keys, np.log((ahead + 1.0) / (behind + 1.0)))

    def __call__(self, keys: Keys) -> Floats:
        places = np.minimum(np.searchsorted(self.keys, keys), len(self.keys) - 1)
        return np.where(self.keys[places] == keys, self.scores[places], 0.0)


def learned_scores(first: Marks, second: Marks, bound: Bound) -> Iterator[Score]:
    """The columns that seem to tell most, pairs of them, and the sum of all that surely differ."""
    if not first.shape[1]:
        return
    promise, excess = np.array([_promise(a, b, bound) for a, b in zip(first.T, second.T, strict=True)]).T
    best = np.argsort(-np.maximum(promise, 0.0) - 1e-9 * excess, kind="stable").tolist()
    for column in best[:_ALONE]:
        yield _alone(first, second, column)
    for pair in combinations(best[:_PAIRED], 2):
        yield _pair(first, second, pair)
    sure = np.flatnonzero(excess > _SURE).tolist()
    if len(sure) > 1:
        yield _sum([_alone(first, second, column) for column in sure])


def _promise(first: Keys, second: Keys, bound: Bound) -> tuple[float, float]:
    """The bound that the values of a column would give if it were not learned from them.

    And by how many standard deviations their counts differ in all (the chi-square of two samples).
    """
    # Unsigned 16-bit marks: as many places as there are values.
    values = int(max(first.max(initial=0), second.max(initial=0))) + 1
    ahead, behind = (np.bincount(one, minlength=values) for one in (first, second))
    there = np.flatnonzero(ahead + behind)
    ahead, behind = ahead[there], behind[there]
    order = np.argsort(-(ahead + 1.0) / (behind + 1.0), kind="stable")
    above, below = np.cumsum(ahead[order]), np.cumsum(behind[order])
    freedom = max(1, len(there) - 1)
    chi_square = float(((ahead - behind) ** 2 / (ahead + behind)).sum())
    promise = float(np.max(bound(above, len(first), below, len(second))))
    return promise, (chi_square - freedom) / math.sqrt(2.0 * freedom)


def _alone(first: Marks, second: Marks, column: int) -> Score:
    score = Likelier.learned(first[:, column], second[:, column])
    return lambda marks: score(marks[:, column])


def _pair(first: Marks, second: Marks, columns: tuple[int, ...]) -> Score:
    def keys(marks: Marks) -> Keys:
        return np.asarray(marks[:, columns[0]].astype(np.int64) * MOST + marks[:, columns[1]])

    score = Likelier.learned(keys(first), keys(second))
    return lambda marks: score(keys(marks))


def _sum(scores: list[Score]) -> Score:
    return lambda marks: np.sum([score(marks) for score in scores], axis=0)
