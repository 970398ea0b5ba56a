"""The domain of graphs."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

from veil.core.domain import Domain
from veil.core.errors import InvalidData
from veil.graphs.graph import Graph

NODES_ARE_PUBLIC = "the list of nodes is public"


@dataclass(frozen=True, slots=True)
class Graphs(Domain):
    """Graphs on any public list of nodes; each pair of nodes is a bit."""

    name: ClassVar[str] = "Graphs"
    kind: ClassVar[str] = "graph"

    @property
    def words(self) -> str:
        return "graphs"

    def validate(self, value: Any) -> Graph:
        """The value as a Graph in which two nodes could be joined."""
        graph = Graph.of(value)
        if graph.space.count < 1:
            raise InvalidData("nodes", expected="at least two nodes", found=f"{graph.space.nodes}")
        return graph

    def describe(self) -> dict[str, Any]:
        return {"name": self.name}
