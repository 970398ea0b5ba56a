"""The XOR of a graph's matrix with exchangeable noise, for five nodes: 2^20 sets of flips off the diagonal.

The columns of the noise are independent, and a column of M ones weighs exp(diagonal M + between M (M - 1)).
So a set of flips weighs the product over the columns of a number that depends on how many of their bits
off the diagonal are ones; the bit on the diagonal is summed out. Renaming nodes changes no probability: one
graph of each shape is enough, with all of its neighbours.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from itertools import combinations, permutations
from typing import Any

import numpy as np
from flint import arb
from numpy.typing import NDArray

from tests.review.divergences import ball
from tests.review.tails import precision

BITS = 256


@dataclass(frozen=True)
class ExchangeableGraphs:
    """All graphs of so many nodes, and the noise on their matrix."""

    nodes: int
    diagonal: float
    between: float
    complement: bool

    @cached_property
    def pairs(self) -> list[tuple[int, int]]:
        return list(combinations(range(self.nodes), 2))

    @cached_property
    def _flips(self) -> list[tuple[NDArray[np.int64], NDArray[np.int64]]]:
        """Of each pair, the flips of its two cells in every set of flips."""
        every, size = np.arange(4 ** len(self.pairs)), len(self.pairs)
        return [((every >> k) & 1, (every >> (size + k)) & 1) for k in range(size)]

    @cached_property
    def _weights(self) -> tuple[NDArray[np.int64], list[arb]]:
        """The kind of each set of flips, and the weights of the kinds."""
        ones = [np.zeros(4 ** len(self.pairs), dtype=np.int64) for _ in range(self.nodes)]
        for (i, j), (upper, lower) in zip(self.pairs, self._flips, strict=True):
            ones[j] += 1 - upper if self.complement else upper
            ones[i] += 1 - lower if self.complement else lower
        base = self.nodes + 1
        codes, kind = np.unique(sum(base**column for column in ones), return_inverse=True)
        with precision(BITS):
            each = [self._column(many) for many in range(self.nodes)]
            weights = []
            for code in codes.tolist():
                weight = arb(1)
                for many in range(self.nodes):
                    weight *= each[many] ** (code // base**many % base)
                weights.append(weight)
        return np.asarray(kind).ravel(), weights

    def _column(self, ones: int) -> arb:
        """A column with so many ones off the diagonal, with and without the one on it."""

        def energy(many: int) -> Fraction:
            return Fraction(self.diagonal) * many + Fraction(self.between) * many * (many - 1)

        return ball(energy(ones)).exp() + ball(energy(ones + 1)).exp()

    def law(self, graph: int) -> list[arb]:
        """The probability of every graph that may be shown for this one."""
        kind, weights = self._weights
        shown: Any = 0
        for k, (upper, lower) in enumerate(self._flips):
            both = (1 - upper) & (1 - lower) if graph >> k & 1 else upper & lower
            shown = shown | both << k
        size = 2 ** len(self.pairs)
        often = np.bincount(shown * len(weights) + kind, minlength=size * len(weights))
        with precision(BITS):
            masses = [
                sum((n * w for n, w in zip(row, weights, strict=True) if n), arb(0))
                for row in often.reshape(size, -1).tolist()
            ]
            total = sum(masses, arb(0))
            return [mass / total for mass in masses]

    # One graph of each shape

    @cached_property
    def _renamings(self) -> list[NDArray[np.int64]]:
        """What becomes of every graph when the nodes are renamed, for all ways to do so."""
        place = {pair: k for k, pair in enumerate(self.pairs)}
        every = np.arange(2 ** len(self.pairs))
        found = []
        for names in permutations(range(self.nodes)):
            moved = np.zeros_like(every)
            for k, (i, j) in enumerate(self.pairs):
                a, b = sorted((names[i], names[j]))
                moved |= ((every >> k) & 1) << place[a, b]
            found.append(moved)
        return found

    @cached_property
    def shapes(self) -> dict[int, list[arb]]:
        """The law of the first graph of each shape."""
        first = np.min(self._renamings, axis=0)
        return {graph: self.law(graph) for graph in sorted(set(first.tolist()))}

    def law_of(self, graph: int) -> list[arb]:
        """The law of any graph, by renaming the first one of its shape."""
        for moved in self._renamings:
            known = self.shapes.get(int(moved[graph]))
            if known is not None:
                return [known[int(y)] for y in moved]
        raise AssertionError("every graph has a shape")
