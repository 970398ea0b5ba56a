"""XOR paper, Algorithm 3: a graph by its whole adjacency matrix, both halves (proofs in bits.md)."""

from __future__ import annotations

from dataclasses import KW_ONLY, dataclass
from typing import Any, ClassVar, Self

import numpy as np

from veil.bits.adjacency import BitFlips
from veil.bits.domain import Table
from veil.bits.mechanisms.bit_mechanism import BitMechanism
from veil.bits.mechanisms.matrix_bernoulli import MatrixBernoulli
from veil.bits.mechanisms.xor import Xor
from veil.core.adjacency import Adjacency
from veil.core.errors import InvalidArgument, InvalidData
from veil.core.mechanism import Published, adjacency_of
from veil.core.random.streams import Rng
from veil.graphs.graph import Graph
from veil.graphs.mechanisms.randomized_response import OnGraphs

# Both halves of the matrix are made; beyond this they do not fit.
MOST_NODES = 30_000
_CELLS_AT_A_TIME = 2**22


@dataclass(frozen=True)
class XorGraph(OnGraphs, BitMechanism):
    """The published form: XOR the adjacency matrix with noise, and keep what both halves show.

    noise: as many rows and columns as there are nodes. complement: as for `bits.Xor`.

    An edge is two bits of the matrix. `RandomizedResponse`, which draws each pair once, keeps far more at the
    same loss.
    """

    noise: MatrixBernoulli
    _: KW_ONLY
    complement: bool = True
    accept: str = ""
    name: ClassVar[str] = "XorGraph"

    def __post_init__(self) -> None:
        _ = self.table
        if self.noise.rows != self.noise.columns or not 2 <= self.noise.rows <= MOST_NODES:
            expected = f"as many rows as columns, 2 to {MOST_NODES:,}"
            raise InvalidArgument(
                "noise", expected=expected, found=f"{self.noise.rows} x {self.noise.columns}"
            )

    @classmethod
    def rebuilt(cls, noise: dict[str, Any], **rest: Any) -> Self:
        """The mechanism with the noise that `describe` described."""
        return cls(MatrixBernoulli.from_description(noise), **rest)

    @property
    def table(self) -> Xor:
        """What is done to the whole matrix."""
        return Xor(self.noise, complement=self.complement, accept=self.accept)

    @property
    def flip_rate(self) -> float:
        """Of one bit of the matrix; an edge is two of them."""
        return self.table.flip_rate

    def loss(self, near: BitFlips) -> float:
        return self.table.loss(_in_matrix(near))

    def assumptions(self, adjacency: Adjacency | None = None) -> tuple[str, ...]:
        return self.table.assumptions(adjacency)

    def validate(self, value: Any) -> Graph:
        graph = super().validate(value)
        if graph.space.kind != "undirected" or graph.space.loops:
            raise InvalidData("graph", expected="an undirected graph without loops", found=repr(graph))
        if graph.space.rows != self.noise.rows:
            raise InvalidData("graph", expected=f"{self.noise.rows} nodes", found=f"{graph.space.rows}")
        # Refuses noise that is only approximately drawn, unless that was accepted.
        self.table.validate(np.zeros((self.noise.rows, self.noise.rows), dtype=np.bool_))
        return graph

    def draw_noise(self, rng: Rng, times: int, rows: int, columns: int) -> Table:
        return self.table.draw_noise(rng, times, rows, columns)

    def draw_graphs(self, rng: Rng, graph: Graph, times: int) -> list[Graph]:
        matrix, nodes = graph.matrix().toarray(), self.noise.rows
        together = max(1, _CELLS_AT_A_TIME // nodes**2)
        drawn: list[Graph] = []
        for begin in range(0, times, together):
            noisy = matrix ^ self.draw_noise(rng, min(together, times - begin), nodes, nodes)
            halves = np.triu(noisy & noisy.transpose(0, 2, 1), 1)
            drawn += [graph.replaced(graph.space.codes(*np.nonzero(both))) for both in halves]
        return drawn

    def published(self, adjacency: Adjacency | None = None, *, gamma: Any = None) -> Published:
        """What the XOR paper states: condition (4) with a sensitivity of two for an edge."""
        near: BitFlips = adjacency_of(self, adjacency, BitFlips)
        stated = self.table.published(_in_matrix(near))
        return Published(stated.epsilon, 0.0, 0.0, "XOR paper, Theorem 1 and 3", stated.violations)


def _in_matrix(near: BitFlips) -> BitFlips:
    """An edge is two bits of the matrix."""
    return BitFlips(2 * near.count)
