"""The likely graph behind a released one as a picture: its nodes in their communities."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from veil.core.numerics.communities import communities
from veil.graphs.likely_graph import Decoding
from veil.graphs.numerics.pairs import Codes
from veil.report.figures import svg
from veil.report.networks import MOST_EDGES, network_figure

# Smaller ones are not drawn.
_LEAST_COMMUNITY = 3


class CommunityLine(NamedTuple):
    """A community: its number on the picture, how many nodes it has, and edges inside and to others.

    Nobody is named: pages of graphs are handed on.
    """

    number: int
    nodes: int
    inside: int
    outwards: int


class Network(NamedTuple):
    """The picture, and in words what it shows."""

    picture: str
    lines: tuple[CommunityLine, ...]
    # Nodes in no community, and whether only the likeliest edges are drawn.
    alone: int
    edges: int

    @classmethod
    def of(cls, decoded: Decoding) -> Network | None:
        """None where nothing hangs together."""
        edges, groups = _grouped(decoded)
        count = int(groups.max(initial=-1)) + 1
        if count == 0:
            return None
        lines = []
        for group in range(count):
            ends = (groups[edges] == group).sum(axis=1)
            nodes, inside = int((groups == group).sum()), int((ends == 2).sum())
            lines.append(CommunityLine(group + 1, nodes, inside, int((ends == 1).sum())))
        figure = network_figure(edges, groups)
        return cls(svg(figure), tuple(lines), int((groups < 0).sum()), min(len(edges), MOST_EDGES))


def _grouped(decoded: Decoding) -> tuple[Codes, Codes]:
    """The edges, the likeliest first; the community of each node, -1 for very small ones."""
    from scipy.sparse import coo_array

    graph = decoded.graph
    rows, columns = graph.edges()
    if graph.space.kind == "bipartite":
        columns = columns + graph.space.rows
    edges = np.stack([rows, columns], axis=1)[np.argsort(-decoded.probabilities, kind="stable")]
    edges = edges[edges[:, 0] != edges[:, 1]]
    size = graph.space.nodes
    joined = coo_array((np.ones(len(edges)), (edges[:, 0], edges[:, 1])), shape=(size, size))
    groups = communities(joined)
    groups[np.bincount(groups)[groups] < _LEAST_COMMUNITY] = -1
    kept = np.unique(groups[groups >= 0])
    return edges, np.where(groups < 0, -1, np.searchsorted(kept, groups))
