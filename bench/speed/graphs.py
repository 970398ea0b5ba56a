"""Facts of graphs, against NetworkX."""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np

from bench.clock import least_seconds
from bench.measure import Ratio
from bench.work import Work
from veil.graphs.numerics.structure import path_lengths
from veil.graphs.numerics.triangles import count_triangles, neighbours

GROUP = "Speed: graphs"


def random_edges(nodes: int, degree: int, *, seed: int = 1) -> Any:
    """Different pairs of nodes, so many that they have this degree on average."""
    rng = np.random.default_rng(seed)
    pairs = np.sort(rng.integers(0, nodes, (nodes * degree // 2, 2)), axis=1)
    return np.unique(pairs[pairs[:, 0] < pairs[:, 1]], axis=0)


def run(work: Work) -> list[Ratio]:
    """All triangles, and the lengths of all shortest paths."""
    nodes, degree = work.either(1_000, 4_000), 20
    edges = random_edges(nodes, degree)
    graph = neighbours(nodes, edges[:, 0], edges[:, 1])
    triangles = count_triangles(graph)
    path_lengths(graph, sources=2)
    what = f"{nodes:,} nodes, {len(edges):,} edges"
    answer = work.ask("networkx", "graph", what, {"edges": edges}, nodes=nodes, timed=True)
    if answer is None:
        return []
    assert answer.numbers["triangles"] == triangles
    counted = least_seconds(partial(count_triangles, graph), runs=5)
    walked = least_seconds(partial(path_lengths, graph, sources=nodes), runs=2)
    setting = "one thread each; the graph is in memory"
    return [
        Ratio(GROUP, f"{what}: {name}", setting, ours, answer.numbers[key], "NetworkX", "seconds")
        for name, ours, key in (
            ("triangles", counted, "triangle_seconds"),
            ("all shortest paths", walked, "path_seconds"),
        )
    ]
