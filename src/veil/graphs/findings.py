"""What the holder of a graph should know of it before a release, from the graph itself: sensitive."""

from __future__ import annotations

from typing import Any

import numpy as np

from veil.core.job import Job
from veil.graphs.graph import Graph
from veil.graphs.reading import EdgeSource


def graph_findings(job: Job[Any]) -> tuple[str, ...]:
    """Lines that named an edge again, nodes without edges, and more false edges than true ones."""
    graph, found = job.value, []
    repeated = job.source.repeated if isinstance(job.source, EdgeSource) else 0
    if repeated:
        found.append(f"lines that name an edge again, and count once: {repeated:,}")
    alone = _nodes_alone(graph)
    if alone:
        found.append(f"{alone:,} of {graph.space.nodes:,} nodes have no edge")
    rate = getattr(job.mechanism, "flip_rate", 0.0)
    false = rate * (graph.space.count - len(graph))
    if false > len(graph):
        found.append(f"about {false:,.0f} false edges are to be expected beside {len(graph):,} true ones")
    return tuple(found)


def _nodes_alone(graph: Graph) -> int:
    rows, columns = graph.space.ends(graph.codes)
    if graph.columns:
        return graph.space.nodes - len(np.unique(rows)) - len(np.unique(columns))
    return graph.space.nodes - len(np.union1d(rows, columns))
