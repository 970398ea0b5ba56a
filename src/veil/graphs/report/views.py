"""What can be explored of a released graph."""

from __future__ import annotations

from typing import Any

import numpy as np

from veil.core.record import Release
from veil.graphs.estimation import estimates
from veil.graphs.graph import Graph
from veil.graphs.likely_graph import decoding
from veil.graphs.mechanisms.xor_graph import XorGraph
from veil.report.views import Bars, Network, View
from veil.report.views.links import Links

# Decoding takes a second for so many nodes.
_MOST_NODES = 2_000
# Standard errors on either side that hold 95 % of a normal law.
_NORMAL_95 = 1.96


def graph_views(release: Release[Any]) -> tuple[View, ...]:
    """The likely graph, as far as the release tells it, and how many edges each node seems to have."""
    graph = release.value
    if not isinstance(graph, Graph) or isinstance(release.mechanism, XorGraph):
        return ()
    if graph.space.nodes > _MOST_NODES:
        return ()
    labels = list(map(str, (*graph.node_labels, *(graph.other_labels if graph.columns else ()))))
    decoded = decoding(release)
    views: list[View] = []
    if not decoded.says_little and len(decoded.graph):
        rows, columns = decoded.graph.edges()
        ends = np.stack([rows, columns + (graph.space.rows if graph.columns else 0)], axis=1)
        links = Links(labels, ends, decoded.probabilities)
        views.append(Network("Likely graph", links, of="probability"))
    if graph.space.kind == "undirected":
        degrees, error = estimates(release).node_degrees()
        reach = _NORMAL_95 * error
        bars = np.stack([degrees - reach, degrees + reach], axis=1)
        views.append(Bars("Edges of each node", labels, degrees, np.maximum(bars, 0.0), of="edges"))
    return tuple(views)
