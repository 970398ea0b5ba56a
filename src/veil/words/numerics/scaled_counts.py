"""Counts of words beyond the range of floats: each has a mantissa and an exponent of its own."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from veil.core.arrays import Floats, Ints, Places
from veil.core.numerics.compiled import compiled
from veil.words.numerics.tables import DEEPEST, NOTHING, POWERS, Exponents, Ways


@dataclass(frozen=True)
class ScaledWays:
    """The layers of counts as mantissas and exponents, position by position."""

    ways: Ways
    mantissa: Floats
    raised: Exponents

    @classmethod
    def of(cls, ways: Ways) -> ScaledWays:
        """With the weights of the edges cut into mantissas and exponents."""
        mantissa, raised = np.frexp(ways.weight)
        return cls(ways, mantissa, raised.astype(np.int32))

    def final_layer(self, most: int) -> tuple[Floats, Exponents]:
        """The layer of the last position."""
        value = np.zeros((self.ways.size, most + 1))
        exponent = np.full(value.shape, NOTHING, dtype=np.int32)
        value[:, 0] = np.where(self.ways.last, 0.5, 0.0)
        exponent[self.ways.last, 0] = 1
        return value, exponent

    def layer_before(
        self, value: Floats, exponent: Exponents, read: int, errors: int
    ) -> tuple[Floats, Exponents]:
        """The layer one position before; `read` is the symbol that the given layer's nodes should read."""
        return self._summed(0, self.ways.size, value, exponent, read, errors)

    def beginning(self, value: Floats, exponent: Exponents, read: int) -> tuple[Floats, Exponents]:
        """The sums over the first nodes."""
        size = self.ways.size
        found = self._summed(size, size + 1, value, exponent, read, value.shape[1] - 1)
        return found[0][0], found[1][0]

    def _summed(
        self, begin: int, end: int, value: Floats, exponent: Exponents, read: int, errors: int
    ) -> tuple[Floats, Exponents]:
        here = np.zeros((end - begin, value.shape[1]))
        raised = np.full(here.shape, NOTHING, dtype=np.int32)
        _count_scaled(
            self.ways.symbol,
            self.ways.starts[begin:],
            self.ways.targets,
            self.mantissa,
            self.raised,
            read,
            min(errors, value.shape[1] - 1),
            value,
            exponent,
            here,
            raised,
        )
        return here, raised


@compiled
def _count_scaled(
    symbol: Ints,
    starts: Places,
    targets: Ints,
    weight: Floats,
    weight_raised: Exponents,
    read: int,
    errors: int,
    value: Floats,
    exponent: Exponents,
    here: Floats,
    raised: Exponents,
) -> None:
    top = np.empty(errors + 1, dtype=np.int32)
    total = np.empty(errors + 1)
    # No branches within the loops over the errors, so that they become vector instructions. A zero has an
    # exponent near NOTHING, and adds nothing whatever it is aligned by.
    for x in range(len(here)):
        top[:] = NOTHING
        total[:] = 0.0
        for edge in range(starts[x], starts[x + 1]):
            z, factor = targets[edge], weight_raised[edge]
            wrong = 0 if symbol[z] == read else 1
            for many in range(errors + 1 - wrong):
                top[many + wrong] = max(top[many + wrong], exponent[z, many] + factor)
        for edge in range(starts[x], starts[x + 1]):
            z, factor = targets[edge], weight_raised[edge]
            wrong = 0 if symbol[z] == read else 1
            for many in range(errors + 1 - wrong):
                below = min(top[many + wrong] - exponent[z, many] - factor, DEEPEST - 1)
                total[many + wrong] += weight[edge] * value[z, many] * POWERS[below]
        for many in range(errors + 1):
            if total[many] > 0.0:
                mantissa, shift = math.frexp(total[many])
                here[x, many] = mantissa
                raised[x, many] = top[many] + shift
