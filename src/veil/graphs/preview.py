"""What a released graph might look like, from a made-up one with as many edges."""

from __future__ import annotations

from typing import Any

import numpy as np

from veil.core.job import Job
from veil.core.preview import Preview
from veil.graphs.accuracy import made_up_edges
from veil.graphs.graph import Graph
from veil.graphs.intake import distinct_codes
from veil.graphs.planning import FactPlan, GraphPlan, supposed_edges
from veil.report.views import Network
from veil.report.views.links import Links

_SEED = 22
# Larger ones are not drawn.
_MOST_NODES = 2_000


def preview_graph(plan: FactPlan, typical: Graph | None = None) -> Preview | None:
    """The mechanism of a plan on a graph in which few nodes have most of the edges, or on a public one."""
    space = plan.space
    if not isinstance(plan, GraphPlan) or space.nodes > _MOST_NODES:
        return None
    if typical is None:
        edges = supposed_edges(space) if plan.edges is None else plan.edges
        if space.kind == "undirected":
            codes = distinct_codes(space, *made_up_edges(space.rows, edges))
        else:
            rng = np.random.default_rng(_SEED)
            codes = np.sort(rng.choice(space.count, size=min(edges, space.count), replace=False))
        typical = Graph(space, codes)
    job: Job[Any] = Job.prepare(plan.mechanism, typical, epsilon=plan.epsilon)
    rows, columns = typical.edges()
    offset = space.rows if typical.columns else 0
    labels = [str(label) for label in (*typical.node_labels, *(typical.other_labels if offset else ()))]
    links = Links(labels, np.stack([rows, columns + offset], axis=1), np.ones(len(rows)))
    return Preview(job, Network("Likely graph", links, of="edge"))
