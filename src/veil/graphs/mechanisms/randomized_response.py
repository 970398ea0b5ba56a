"""What mechanisms on graphs share, and every pair of nodes flipped on its own (proofs in bits.md)."""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from veil.bits.adjacency import BitFlips
from veil.bits.mechanisms.randomized_response import RandomizedResponse as OnBits
from veil.bits.samplers.flips import sample_flips
from veil.core.errors import InvalidArgument
from veil.core.random.streams import Rng
from veil.graphs.graph import Graph, Graphs
from veil.graphs.numerics.pairs import Codes, PairSpace

# Edges of a released graph that fit into some gigabytes.
MOST_EDGES = 400_000_000
_PAIRS_AT_A_TIME = 2**22


class OnGraphs:
    """A mechanism that is built for graphs: one edge more or less is one bit."""

    @property
    def domain(self) -> Any:
        return Graphs()

    @property
    def adjacency(self) -> BitFlips:
        return BitFlips(1)

    def is_batch(self, valid: Any) -> bool:
        return False

    def validate(self, value: Any) -> Graph:
        return Graphs().validate(value)

    def can_enumerate(self, value: Any) -> bool:
        """Whether all outputs for such a graph can be listed."""
        return False

    def _draw(self, rng: Rng, value: Graph, size: int | None) -> Any:
        drawn = self.draw_graphs(rng, value, size or 1)
        return drawn[0] if size is None else drawn

    def draw_graph(self, rng: Rng, graph: Graph) -> Any:
        """A private version of the graph."""
        return self.draw_graphs(rng, graph, 1)[0]

    @abstractmethod
    def draw_graphs(self, rng: Rng, graph: Graph, times: int) -> list[Any]:
        """So many private versions of the graph."""


@dataclass(frozen=True)
class RandomizedResponse(OnGraphs, OnBits):
    """Flip each pair of nodes, joined or not, with probability 1 / (1 + e^epsilon).

    No epsilon-private release of a single pair errs less.

    >>> from veil import graphs
    >>> round(graphs.RandomizedResponse(3.0).flip_rate, 4)
    0.0474
    """

    name: ClassVar[str] = "RandomizedResponse"

    def validate(self, value: Any) -> Graph:
        graph = super().validate(value)
        self.check_size(graph.space)
        return graph

    def check_size(self, space: PairSpace) -> None:
        """Refuse, before anything is charged, what would not fit into memory."""
        if space.count * self.flip_rate > MOST_EDGES:
            raise InvalidArgument(
                "epsilon",
                expected=f"one at which {space.nodes:,} nodes have at most {MOST_EDGES:,} false edges",
                found=f"{self.epsilon:g}, at which it has {space.count * self.flip_rate:.3g}",
            )

    def draw_graphs(self, rng: Rng, graph: Graph, times: int) -> list[Graph]:
        """Work and memory grow with the edges of the graphs, not with the pairs."""
        pairs, drawn = graph.space.count, []
        together = max(1, _PAIRS_AT_A_TIME // pairs)
        for begin in range(0, times, together):
            several = min(together, times - begin)
            # Pairs of as many graphs as there are, one after the other.
            flips = sample_flips(rng, count=several * pairs, chance=self.flip_rate)
            ends = np.searchsorted(flips, pairs * np.arange(several + 1))
            for place in range(several):
                own = flips[ends[place] : ends[place + 1]] - place * pairs
                drawn.append(graph.replaced(xor_codes(graph.codes, own)))
        return drawn


def xor_codes(codes: Codes, flips: Codes) -> Codes:
    """What is in one of two sorted lists but not in both, sorted."""
    # A stable sort merges sorted runs in time linear in their lengths.
    both = np.sort(np.concatenate((codes, flips)), kind="stable")
    equal = both[1:] == both[:-1]
    alone = np.ones(len(both), dtype=np.bool_)
    alone[1:] &= ~equal
    alone[:-1] &= ~equal
    return both[alone]
