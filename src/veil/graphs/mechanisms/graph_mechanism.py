"""What the mechanisms on graphs share (proofs in bits.md): one edge more or less is one bit."""

from __future__ import annotations

from abc import abstractmethod
from typing import Any

from veil.bits.adjacency import BitFlips
from veil.core.random.streams import Rng
from veil.graphs.domain import Graphs
from veil.graphs.graph import Graph


class OnGraphs:
    """A mechanism that is built for graphs."""

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
        drawn = [self.draw_graph(rng, value) for _ in range(size or 1)]
        return drawn[0] if size is None else drawn

    @abstractmethod
    def draw_graph(self, rng: Rng, graph: Graph) -> Any:
        """A private version of the graph."""
