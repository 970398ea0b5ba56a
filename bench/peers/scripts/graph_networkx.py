"""Facts of a graph by NetworkX: edges, degrees, triangles, and the mean length of shortest paths."""

from __future__ import annotations

from collections import deque
from importlib import import_module
from typing import Any

import numpy as np

from bench.clock import least_seconds
from bench.peers.scripts.exchange import answer, given


def main() -> None:
    settings, arrays = given()
    networkx: Any = import_module("networkx")
    graph = networkx.Graph()
    graph.add_nodes_from(range(settings["nodes"]))
    graph.add_edges_from(arrays["edges"].tolist())
    found: dict[str, Any] = {"edges": graph.number_of_edges()}
    found["triangles"] = sum(networkx.triangles(graph).values()) // 3
    if settings.get("timed") or settings.get("triangles"):
        found["triangle_seconds"] = least_seconds(lambda: networkx.triangles(graph), runs=3)
    if settings.get("timed"):
        found["path_seconds"] = least_seconds(
            lambda: deque(networkx.all_pairs_shortest_path_length(graph), maxlen=0), runs=1
        )
    degrees = np.array([degree for _, degree in graph.degree()])
    answer("networkx", {"degrees": degrees}, **found)


if __name__ == "__main__":
    main()
