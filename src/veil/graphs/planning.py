"""What a budget buys for a graph, before any data is touched."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

from veil.core.plan import Plan
from veil.graphs.mechanisms.private_graph import PrivateGraph
from veil.graphs.numerics.leakage import kept_at_most
from veil.graphs.numerics.pairs import PairSpace


@dataclass(frozen=True)
class GraphPlan(Plan):
    """What to expect of a released graph; `edges` is a public guess of how many true ones there are."""

    space: PairSpace
    epsilon: float
    edges: int | None
    mechanism: PrivateGraph

    @property
    def best(self) -> PrivateGraph:
        return self.mechanism

    @property
    def flip_rate(self) -> float:
        return self.mechanism.flip_rate

    @property
    def false_edges(self) -> float:
        """How many pairs that are not joined are to be expected in the release."""
        return self.flip_rate * (self.space.count - (self.edges or 0))

    @property
    def true_edges(self) -> float | None:
        """How many of the true edges are to be expected in the release."""
        return None if self.edges is None else (1.0 - self.flip_rate) * self.edges

    @property
    def released(self) -> float:
        return self.false_edges + (self.true_edges or 0.0)

    @property
    def precision(self) -> float | None:
        """The part of the released edges that are true."""
        return None if self.true_edges is None else self.true_edges / max(self.released, 1e-300)

    @property
    def kept(self) -> float | None:
        """The largest share of true edges in any release of as many edges that looks at each pair alone."""
        if not self.edges:
            return None
        epsilon = self.mechanism.costs["graph"]
        return kept_at_most(self.edges, self.edges, self.space.count, epsilon)

    @property
    def noise(self) -> float:
        """The standard deviation of one pair's unbiased value."""
        q = self.flip_rate
        return math.sqrt(q * (1.0 - q)) / (1.0 - 2.0 * q)

    @property
    def edge_error(self) -> float:
        """The standard deviation of the number of edges as read off the release."""
        return self.noise * math.sqrt(self.space.count)

    @property
    def degree_error(self) -> float:
        """The standard deviation of one node's degree as read off the release."""
        return self.noise * math.sqrt(self.space.most_neighbours)

    @property
    def even(self) -> float | None:
        """The epsilon at which a release has as many false edges as true ones."""
        if not self.edges:
            return None
        return math.log(max((self.space.count - self.edges) / self.edges, 1.0))

    def to_dict(self) -> dict[str, Any]:
        names = "flip_rate released false_edges true_edges precision kept edge_error degree_error even"
        return {
            "kind": self.space.kind,
            "nodes": self.space.nodes,
            "pairs": self.space.count,
            "edges": self.edges,
            "epsilon": self.epsilon,
            "costs": self.mechanism.costs,
            **{name: getattr(self, name) for name in names.split()},
        }
