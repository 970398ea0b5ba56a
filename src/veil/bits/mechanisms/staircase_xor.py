"""Records of bits by a staircase in the number of flipped bits (proofs in bits.md)."""

from __future__ import annotations

from dataclasses import KW_ONLY, dataclass
from fractions import Fraction
from functools import lru_cache
from typing import Any, ClassVar

import numpy as np

from veil.bits.adjacency import BitFlips
from veil.bits.domain import Bits, Table
from veil.bits.lazy_response import LazyResponse
from veil.bits.mechanisms.bit_mechanism import LARGEST_EPSILON, BitMechanism
from veil.bits.numerics.step_chance import step_chance
from veil.core.adjacency import Adjacency
from veil.core.arrays import Floats
from veil.core.checks import integer, positive
from veil.core.errors import InvalidArgument
from veil.core.mechanism import adjacency_of
from veil.core.numerics.rounding import rate_above, times_above
from veil.core.numerics.staircase import WordStaircase, free_counts, staircase
from veil.core.privacy.profile import PrivacyProfile
from veil.core.privacy.responses import RandomizedResponses
from veil.core.random.free_words import sample_free_by_distance
from veil.core.random.streams import Rng

# The tables of the noise have an exact number for every weight.
MOST_BITS = 5_000
# Up to so many bits the chance of a step is summed up in a moment.
_MOST_EXACT = 256


@dataclass(frozen=True)
class StaircaseXor(BitMechanism):
    """Flip a random set of a record's bits, whose probability depends on its size by a staircase.

    columns: the bits of a record. epsilon: what a release costs. flips: how many bits of a record may differ
    between neighbours; None for all of them. rows: given, the noise spans a whole table of so many rows, and
    `flips` bits anywhere in it are hidden together.

    No epsilon-private mechanism has fewer wrong bits, in the worst case over tables.

    >>> from veil import bits
    >>> round(bits.StaircaseXor(16, 1.0).flip_rate, 4)
    0.4501
    """

    columns: int
    epsilon: float
    _: KW_ONLY
    flips: int | None = None
    rows: int | None = None
    name: ClassVar[str] = "StaircaseXor"

    def __post_init__(self) -> None:
        object.__setattr__(self, "columns", integer("columns", self.columns, least=1))
        epsilon = positive("epsilon", self.epsilon, least=1e-6, most=LARGEST_EPSILON)
        object.__setattr__(self, "epsilon", epsilon)
        if self.rows is not None:
            object.__setattr__(self, "rows", integer("rows", self.rows, least=1))
        if self.flips is not None:
            flips = integer("flips", self.flips, least=1)
            if flips > self.bits:
                raise InvalidArgument(
                    "flips", expected=f"at most the {self.bits} bits there are", found=str(flips)
                )
            object.__setattr__(self, "flips", flips)
        if self.bits > MOST_BITS:
            raise InvalidArgument(
                "columns" if self.rows is None else "rows",
                expected=f"noise over at most {MOST_BITS:,} bits together",
                found=f"{self.bits:,}",
                hint="RandomizedResponse(epsilon / flips) hides as much, with any number of bits.",
            )

    @property
    def bits(self) -> int:
        """Over how many bits the noise is drawn together."""
        return self.columns * (self.rows or 1)

    @property
    def protected(self) -> int:
        """How many bits may differ between neighbours."""
        return self.columns if self.flips is None else self.flips

    @property
    def domain(self) -> Bits:
        return Bits(self.columns, rows=self.rows)

    @property
    def adjacency(self) -> BitFlips:
        return BitFlips(self.protected, where="row" if self.rows is None else "anywhere")

    @property
    def steps(self) -> WordStaircase:
        """The weights of sets of 0, 1, 2 ... flipped bits."""
        return _steps(self.bits, self.protected, self.epsilon)

    @property
    def flip_rate(self) -> float:
        return self.steps.expected_error / self.bits

    def sizes(self) -> Floats:
        """The probability of 0, 1, 2 ... flipped bits."""
        return self.steps.distances()

    def loss(self, near: BitFlips) -> float:
        each = rate_above(self.steps.decay)
        if self.rows is None and near.where == "anywhere":
            # The bits may be in different rows, of which each can go down a step with a single one.
            return times_above(each, near.count * self._drops(1))
        return times_above(each, self._drops(near.count))

    def _drops(self, count: int) -> int:
        """By how many steps the weights of two sets differ at most if they differ in `count` bits."""
        levels = self.steps.levels
        count = min(count, self.bits)
        return int((levels[count:] - levels[:-count]).max())

    def profile(self, adjacency: Adjacency | None = None) -> PrivacyProfile:
        """Exact up to the protected number of bits of a row: the loss is that of one step, or none."""
        near: BitFlips = adjacency_of(self, adjacency, BitFlips)
        # Built for a stated epsilon, and certified not to exceed it: charged as it stands.
        loss = self.epsilon if near == self.adjacency else self.loss(near)
        together = self.rows is not None or near.where == "row" or near.count == 1
        if together and near.count <= self.protected and self.bits <= _MOST_EXACT:
            return LazyResponse(loss, _step_chance(self.steps, near.count))
        return RandomizedResponses(loss, kind="upper bound")

    def log_noise(self, tables: Any) -> Floats:
        ones = np.asarray(tables).sum(axis=-1)
        if self.rows is not None:
            return np.asarray(self.steps.log_weights[ones.sum(axis=-1)])
        return np.asarray(self.steps.log_weights[ones].sum(axis=-1))

    def draw_noise(self, rng: Rng, rows: int, columns: int) -> Table:
        counts = free_counts(self.bits, 2)
        levels, (top, bottom) = self.steps.levels.tolist(), self.steps.decay.as_integer_ratio()
        # All of them times bottom^(the last level): whole numbers, which need no reducing.
        law = [
            Fraction(n * top**level * bottom ** (levels[-1] - level))
            for n, level in zip(counts, levels, strict=True)
        ]
        none = np.zeros((rows * columns // self.bits, self.bits), dtype=np.int32)
        drawn = sample_free_by_distance(rng, words=none, alphabet=2, law=law)
        return drawn.astype(np.bool_).reshape(rows, columns)


@lru_cache(maxsize=256)
def _steps(bits: int, flips: int, epsilon: float) -> WordStaircase:
    return staircase(bits, 2, flips, epsilon)


@lru_cache(maxsize=256)
def _step_chance(steps: WordStaircase, flips: int) -> float:
    return step_chance(steps, flips)
