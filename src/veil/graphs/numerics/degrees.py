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
parts fall, and are estimated as falling.py says. On the Facebook graph at epsilon 1 the mean error of a
degree is 0.38 with plain isotonic regression on the falling sequence, 0.23 by the posterior of the same, and
0.10 by that of the profile.

Degrees that keep their nodes. The noisy degree of every node, with the same noise and the same proof (two of
them change by one); neighbours in the order do not help, so these are less accurate.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from veil.core.numerics.denoise import Noise, posterior
from veil.graphs.numerics.falling import falling, isotonic

Integers = NDArray[np.int64]
Floats = NDArray[np.float64]

# By how much the falling degrees, the profile, or the degrees node by node change when an edge does.
L1_SENSITIVITY = 2
# The cut in square roots of the number of nodes. From 2 to 4 the errors hardly differ.
_CUT = 3.0
# Rows are fitted so many scales further than the columns say that they reach.
_FURTHER = 6.0


@dataclass(frozen=True)
class DegreeProfile:
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

    @property
    def most(self) -> int:
        """The largest degree there can be."""
        return max(self.nodes - 1, 0)

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
        rows[:fitted] = falling(noisy_rows, scale=scale, most=self.most - self.cut)
        places = np.arange(1, self.nodes + 1)
        # The degree of a node within the columns: how many of them are at least as high as its place.
        within = np.searchsorted(-columns, -places, side="right")
        return np.asarray(np.where(within == self.cut, self.cut + rows, within), dtype=np.int64)


def isotonic_degrees(noisy: Integers) -> Integers:
    """Falling degrees from a noisy falling sequence by isotonic regression, rounded: the published way."""
    return np.rint(isotonic(noisy, most=max(len(noisy) - 1, 0))).astype(np.int64)


def labelled_degrees(noisy: Integers, *, scale: float) -> Floats:
    """The expected degree of every node, given its noisy one and the law of degrees that all show."""
    if not len(noisy):
        return np.zeros(0)
    values = np.asarray(noisy, dtype=np.float64)
    typical = np.full(len(values), max(float(values.mean()), 1.0 / len(values)))
    found = posterior(values, typical, Noise("geometric", scale)).mean
    return np.asarray(np.clip(found, 0.0, float(len(values) - 1)))


def degree_distribution(degrees: Integers, *, nodes: int) -> Floats:
    """The share of the nodes that have degree 0, 1 ... nodes - 1."""
    counts = np.bincount(np.asarray(degrees, dtype=np.int64), minlength=max(nodes, 1))
    return np.asarray(counts / max(counts.sum(), 1), dtype=np.float64)
