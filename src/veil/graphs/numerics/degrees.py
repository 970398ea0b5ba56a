"""Degrees of a graph under privacy: what to ask, and what the noisy answers say.

Degrees in falling order. Adding an edge raises two degrees by one. Raising one degree from v to v + 1 changes
the falling sequence in one place, by one: the first v in it becomes v + 1. So a graph and its neighbour have
falling degree sequences at an L1 distance of 2, and whole-number noise with P(z) ~ exp(-epsilon |z| / 2) on
every entry is epsilon-private (Hay, Li, Miklau and Jensen, ICDM 2009).

The profile. Draw the falling degrees as rows of boxes, d_i boxes in row i. By the above an edge adds exactly
two boxes. Any division of the boxes into groups therefore has counts at an L1 distance of at most 2: at the
same epsilon we may choose which to ask for. Rows suit large degrees, which few nodes have; there columns
would change by one at unknown places. Columns (the k-th counts the nodes of degree k or more) suit small
degrees, which many nodes have: one noisy number tells where hundreds of rows end. So the profile asks for
the columns 1 ... cut, and for what the rows hold beyond the cut:

    N_k = number of nodes of degree >= k, k = 1 ... cut;   e_i = max(d_i - cut, 0) in falling order.

Every box is counted once, so the profile has L1 sensitivity 2. With cut 0 it is the falling sequence. Both
parts fall, and are estimated as is said below. On the Facebook graph at epsilon 1 the mean error of a
degree is 0.38 with plain isotonic regression on the falling sequence, 0.23 by the posterior of the same, and
0.10 by that of the profile.

A falling sequence behind a noisy one. x_1 >= x_2 >= ... >= x_K >= 0 was released with whole-number noise,
P(z) ~ exp(-|z| / scale), on every entry. Isotonic regression takes the falling sequence nearest to it (Hay,
Li, Miklau and Jensen, ICDM 2009). It knows nothing about how steps are spread, so it follows the noise
wherever the truth is flat, and at both ends.

The answer here is the posterior of each entry under a law of the steps that is learnt from the sequence
itself (empirical Bayes). Steps x_k - x_{k+1} are geometric, with a mean that is the slope of the present
estimate over a window about k. The law is a chain in k, so the posterior of every entry is found by one pass
in each direction over the values near the isotonic fit; then the slopes are computed again. The posterior
median has the least expected absolute error, is a whole number, and falls as the sequence does.

All of this is a function of the noisy sequence and the public scale: post-processing.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from scipy.optimize import isotonic_regression

from veil.core.arrays import Floats
from veil.core.numerics.compiled import compiled
from veil.graphs.numerics.triangles import Integers

# By how much the falling degrees, the profile, or the degrees node by node change when an edge does.
L1_SENSITIVITY = 2
# The cut in square roots of the number of nodes. From 2 to 4 the errors hardly differ.
_CUT = 3.0
# Rows are fitted so many scales further than the columns say that they reach.
_FURTHER = 6.0
# Values this many scales to each side of the isotonic fit are weighed.
_REACH, _LEAST_REACH = 12.0, 4
# A slope is taken over this part of an entry's number to each side, within these bounds.
_WINDOW, _LEAST_WINDOW, _MOST_WINDOW = 0.25, 3, 50
# A flat stretch counts as if it held half a step more: no step is impossible.
_HALF = 0.5
_ROUNDS = 4
# The ratio of the steps after the last entry, where the sequence goes on and need not come down to 0.
_OPEN = 0.9999


class DegreeProfile(NamedTuple):
    """Columns 1 ... cut of the boxes of n falling degrees, then the rows beyond the cut."""

    nodes: int
    cut: int

    @classmethod
    def among(cls, nodes: int) -> DegreeProfile:
        """The profile that suits most networks; the cut depends on the number of nodes alone."""
        return cls(nodes, max(0, min(nodes - 1, int(np.ceil(_CUT * np.sqrt(nodes))))))

    @property
    def size(self) -> int:
        """How many numbers it holds."""
        return self.cut + self.nodes

    def of(self, degrees: Integers) -> Integers:
        """The profile of a graph with these degrees, in any order.

        >>> import numpy as np
        >>> DegreeProfile(5, 2).of(np.array([1, 4, 3, 1, 1])).tolist()
        [5, 2, 2, 1, 0, 0, 0]
        """
        rising = np.sort(np.asarray(degrees, dtype=np.int64))
        columns = self.nodes - np.searchsorted(rising, np.arange(1, self.cut + 1))
        return np.concatenate([columns, np.maximum(rising[::-1] - self.cut, 0)]).astype(np.int64)

    def degrees(self, noisy: Integers, *, scale: float) -> Integers:
        """The falling degrees that a noisy profile stands for: whole numbers from 0 to n - 1."""
        columns = falling(noisy[: self.cut], scale=scale, most=self.nodes, comes_down=False)
        # Beyond the nodes that reach the cut there is nothing in the rows but noise.
        fitted = self.nodes
        if self.cut:
            fitted = min(self.nodes, int(columns[-1]) + int(np.ceil(_FURTHER * scale)))
        rows = np.zeros(self.nodes, dtype=np.int64)
        noisy_rows = np.asarray(noisy[self.cut :][:fitted], dtype=np.int64)
        rows[:fitted] = falling(noisy_rows, scale=scale, most=max(self.nodes - 1, 0) - self.cut)
        places = np.arange(1, self.nodes + 1)
        # The degree of a node within the columns: how many of them are at least as high as its place.
        within = np.searchsorted(-columns, -places, side="right")
        return np.asarray(np.where(within == self.cut, self.cut + rows, within), dtype=np.int64)


def isotonic_degrees(noisy: Integers) -> Integers:
    """Falling degrees from a noisy falling sequence by isotonic regression, rounded: the published way."""
    return np.rint(isotonic(noisy, most=max(len(noisy) - 1, 0))).astype(np.int64)


def degree_distribution(degrees: Integers, *, nodes: int) -> Floats:
    """The share of the nodes that have degree 0, 1 ... nodes - 1."""
    counts = np.bincount(np.asarray(degrees, dtype=np.int64), minlength=max(nodes, 1))
    return np.asarray(counts / max(counts.sum(), 1), dtype=np.float64)


def isotonic(noisy: Integers, *, most: int) -> Floats:
    """The falling sequence within 0 ... most that is nearest in squares."""
    if not len(noisy):
        return np.zeros(0)
    fitted = isotonic_regression(np.asarray(noisy, dtype=np.float64), increasing=False).x
    return np.asarray(np.clip(fitted, 0.0, float(most)), dtype=np.float64)


def falling(noisy: Integers, *, scale: float, most: int, comes_down: bool = True) -> Integers:
    """The posterior medians, within 0 ... most.

    comes_down: what follows the last entry is 0; otherwise it may be anything.

    >>> import numpy as np
    >>> noisy = np.array([13, 12, 9, 11, 3, 1, 2, 0, 1, -2, 0, 1])
    >>> falling(noisy, scale=1.0, most=20).tolist()
    [13, 12, 10, 9, 3, 2, 1, 0, 0, 0, 0, 0]
    """
    if not len(noisy):
        return np.zeros(0, dtype=np.int64)
    estimate = isotonic(noisy, most=most)
    half = int(np.ceil(_REACH * scale)) + _LEAST_REACH
    lowest = np.minimum.accumulate(np.maximum(np.rint(estimate).astype(np.int64) - half, 0))
    band = min(2 * half + 1, most + 1)
    values = np.arange(band, dtype=np.float64)
    heard = np.asarray(noisy, dtype=np.float64)
    chances = np.zeros((0, band))
    for _ in range(_ROUNDS):
        slopes = _slopes(estimate)
        ratios = slopes / (1.0 + slopes)
        if not comes_down:
            ratios[-1] = _OPEN
        chances = _posterior(heard, lowest, band, ratios, 1.0 / scale, most)
        estimate = chances @ values + lowest
    medians = lowest + (np.cumsum(chances, axis=1) < 0.5).sum(axis=1)
    # Medians of a sequence that surely falls do too; this only undoes rounding.
    return np.asarray(np.minimum(np.minimum.accumulate(medians), most), dtype=np.int64)


def _slopes(estimate: Floats) -> Floats:
    """The mean step after each entry."""
    size = len(estimate)
    extended = np.append(estimate, 0.0)
    places = np.arange(size)
    window = np.clip((_WINDOW * (places + 1)).astype(np.int64), _LEAST_WINDOW, _MOST_WINDOW)
    begin = np.maximum(places - window, 0)
    # The step to the 0 at the end counts for the last entry only.
    end = np.minimum(np.maximum(np.minimum(places + window + 1, size - 1), begin + 1), size)
    return np.asarray((extended[begin] - extended[end] + _HALF) / (end - begin + _HALF))


@compiled
def _posterior(heard: Floats, lowest: Integers, band: int, ratios: Floats, rate: float, most: int) -> Floats:
    """[k, s]: the chance that entry k is lowest[k] + s.

    With a geometric law of ratio r a message is m(x) = r m(x - 1) + (1 - r) f(x): one step a value.
    """
    size = len(heard)
    # What nothing else speaks for still has some chance, so that no row sums to 0.
    tiny = 1e-250
    chances = np.zeros((size, band))
    noise = np.zeros((size, band))
    for k in range(size):
        # The nearest value weighs 1, however far off it is.
        nearest = min(max(heard[k], float(lowest[k])), float(min(lowest[k] + band - 1, most)))
        for s in range(min(band, most + 1 - lowest[k])):
            gap = abs(heard[k] - lowest[k] - s) - abs(heard[k] - nearest)
            noise[k, s] = np.exp(-rate * max(gap, 0.0))
    for k in range(size - 1, -1, -1):
        ratio = ratios[k]
        if k == size - 1 or lowest[k] >= lowest[k + 1] + band:
            # From below all that is known is a geometric tail.
            weight = 1.0
            for s in range(band):
                chances[k, s] = weight
                weight *= ratio
        else:
            message = 0.0
            for value in range(lowest[k + 1], lowest[k] + band):
                at = value - lowest[k + 1]
                message *= ratio
                if at < band:
                    message += (1.0 - ratio) * chances[k + 1, at]
                if value >= lowest[k]:
                    chances[k, value - lowest[k]] = message
        chances[k] = (chances[k] + tiny) * noise[k]
        chances[k] /= chances[k].sum()
    above = np.ones(band)
    for k in range(size):
        if k > 0:
            ratio = ratios[k - 1]
            here = np.zeros(band)
            message, highest = 0.0, 0.0
            if lowest[k - 1] >= lowest[k] + band:
                weight = 1.0
                for s in range(band - 1, -1, -1):
                    here[s] = weight
                    weight *= ratio
                highest = 1.0
            else:
                for value in range(lowest[k - 1] + band - 1, lowest[k] - 1, -1):
                    at = value - lowest[k - 1]
                    message *= ratio
                    if at >= 0:
                        message += (1.0 - ratio) * above[at] * noise[k - 1, at]
                    if value - lowest[k] < band:
                        here[value - lowest[k]] = message
                        highest = max(highest, message)
            above = here / highest + tiny
        chances[k] *= above
        chances[k] /= chances[k].sum()
    return chances
