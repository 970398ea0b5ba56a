"""Every bit flipped on its own (proofs in bits.md)."""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import Any, ClassVar

import numpy as np

from veil.bits.adjacency import BitFlips
from veil.bits.domain import Bits, Table
from veil.bits.mechanisms.bit_mechanism import LARGEST_EPSILON, BitMechanism
from veil.bits.samplers.flips import sample_flip_mask
from veil.core.adjacency import Adjacency
from veil.core.arrays import Floats
from veil.core.checks import positive
from veil.core.mechanism import adjacency_of
from veil.core.numerics.rounding import charge_above, decay_above, float_above, float_below, stated
from veil.core.privacy.pairs import RandomizedResponses
from veil.core.privacy.profile import PrivacyProfile
from veil.core.random.streams import Rng

# Answers whose sum of losses is looked at value by value: a second.
_MOST_TIMES = 5_000


@dataclass(frozen=True)
class RandomizedResponse(BitMechanism):
    """Flip each bit with probability 1 / (1 + e^epsilon).

    No epsilon-private release of a single bit errs less.

    >>> from veil import bits
    >>> round(bits.RandomizedResponse(3.0).flip_rate, 4)
    0.0474
    """

    epsilon: float
    name: ClassVar[str] = "RandomizedResponse"

    def __post_init__(self) -> None:
        epsilon = positive("epsilon", self.epsilon, least=1e-6, most=LARGEST_EPSILON)
        object.__setattr__(self, "epsilon", epsilon)

    @property
    def domain(self) -> Any:
        return Bits()

    @property
    def adjacency(self) -> BitFlips:
        return BitFlips(1)

    @cached_property
    def flip_rate(self) -> float:
        """The probability of a flip: the float as it stands, not below 1 / (1 + e^epsilon)."""
        decay = Fraction(decay_above(float_below(stated(self.epsilon))))
        # x / (1 + x) grows with x.
        return float_above(decay / (1 + decay))

    def loss(self, near: BitFlips) -> float:
        # What is drawn loses at most the epsilon that was stated, for each bit.
        return charge_above(stated(self.epsilon) * near.count)

    def profile(self, adjacency: Adjacency | None = None) -> PrivacyProfile:
        """Exactly so many randomised responses as bits differ; of very many, one response to all of them."""
        near: BitFlips = adjacency_of(self, adjacency, BitFlips)
        if near.count > _MOST_TIMES:
            return RandomizedResponses(self.loss(near), kind="upper bound")
        return RandomizedResponses(self.epsilon, times=near.count)

    def draw_noise(self, rng: Rng, times: int, rows: int, columns: int) -> Table:
        flips = sample_flip_mask(rng, count=times * rows * columns, chance=self.flip_rate)
        return flips.reshape(times, rows, columns)

    def log_noise(self, tables: Any) -> Floats:
        ones = np.asarray(tables).sum(axis=(-2, -1))
        cells = np.asarray(tables).shape[-1] * np.asarray(tables).shape[-2]
        return np.asarray(ones * math.log(self.flip_rate) + (cells - ones) * math.log1p(-self.flip_rate))
