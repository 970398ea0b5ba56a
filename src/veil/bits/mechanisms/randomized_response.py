"""Every bit flipped on its own: for graphs, and for single bits (proofs in bits.md)."""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import Any, ClassVar

import numpy as np

from veil.bits.bit_flips import BitFlips
from veil.bits.domain import Table
from veil.bits.mechanisms.bit_mechanism import LARGEST_EPSILON, BitMechanism, OnGraphs, check_pairs
from veil.bits.samplers.flips import sample_flip_mask, sample_flips
from veil.core.checks import positive
from veil.core.errors import InvalidArgument
from veil.core.intake import Floats
from veil.core.mechanism import adjacency_of
from veil.core.numerics.rounding import decay_above, float_above, float_below, stated
from veil.core.privacy.profile import PrivacyProfile
from veil.core.privacy.responses import RandomizedResponses
from veil.core.random.streams import Rng
from veil.graphs.graph import Graph
from veil.graphs.numerics.pairs import Codes, PairSpace
from veil.vectors.adjacency import Adjacency

# Edges of a released graph that fit into some gigabytes.
MOST_EDGES = 400_000_000
# Answers whose sum of losses is looked at value by value: a second.
_MOST_TIMES = 5_000


@dataclass(frozen=True)
class RandomizedResponse(OnGraphs, BitMechanism):
    """Flip each bit with probability 1 / (1 + e^epsilon): of a graph, each pair of nodes.

    No epsilon-private release of a single bit errs less.

    >>> import veil
    >>> round(veil.RandomizedResponse(3.0).flip_rate, 4)
    0.0474
    """

    epsilon: float
    name: ClassVar[str] = "RandomizedResponse"

    def __post_init__(self) -> None:
        epsilon = positive("epsilon", self.epsilon, least=1e-6, most=LARGEST_EPSILON)
        object.__setattr__(self, "epsilon", epsilon)

    @cached_property
    def flip_rate(self) -> float:
        """The probability of a flip: the float as it stands, not below 1 / (1 + e^epsilon)."""
        decay = Fraction(decay_above(float_below(stated(self.epsilon))))
        # x / (1 + x) grows with x.
        return float_above(decay / (1 + decay))

    def loss(self, near: BitFlips) -> float:
        return float_above(Fraction(self.epsilon) * near.count)

    def profile(self, adjacency: Adjacency | None = None) -> PrivacyProfile:
        """Exactly so many randomised responses as bits differ; of very many, one response to all of them."""
        near: BitFlips = adjacency_of(self, adjacency, BitFlips)
        if near.count > _MOST_TIMES:
            return RandomizedResponses(self.loss(near), kind="upper bound")
        return RandomizedResponses(self.epsilon, times=near.count)

    def draw_noise(self, rng: Rng, rows: int, columns: int) -> Table:
        return sample_flip_mask(rng, count=rows * columns, chance=self.flip_rate).reshape(rows, columns)

    def log_noise(self, tables: Any) -> Floats:
        ones = np.asarray(tables).sum(axis=(-2, -1))
        cells = np.asarray(tables).shape[-1] * np.asarray(tables).shape[-2]
        return np.asarray(ones * math.log(self.flip_rate) + (cells - ones) * math.log1p(-self.flip_rate))

    def validate(self, value: object) -> Table | Graph:
        valid = super().validate(value)
        if isinstance(valid, Graph):
            check_pairs(valid.space)
            self.check_size(valid.space)
        return valid

    def check_size(self, space: PairSpace) -> None:
        """Refuse, before anything is charged, what would not fit into memory."""
        if space.count * self.flip_rate > MOST_EDGES:
            raise InvalidArgument(
                "epsilon",
                expected=f"one at which {space.nodes:,} nodes have at most {MOST_EDGES:,} false edges",
                found=f"{self.epsilon:g}, at which it has {space.count * self.flip_rate:.3g}",
            )

    def draw_graph(self, rng: Rng, graph: Graph) -> Graph:
        """Work and memory grow with the edges of the two graphs, not with the pairs."""
        flips = sample_flips(rng, count=graph.space.count, chance=self.flip_rate)
        return graph.replaced(xor_codes(graph.codes, flips))


def xor_codes(codes: Codes, flips: Codes) -> Codes:
    """What is in one of two sorted lists but not in both, sorted."""
    # A stable sort merges sorted runs in time linear in their lengths.
    both = np.sort(np.concatenate((codes, flips)), kind="stable")
    equal = both[1:] == both[:-1]
    alone = np.ones(len(both), dtype=np.bool_)
    alone[1:] &= ~equal
    alone[:-1] &= ~equal
    return both[alone]
