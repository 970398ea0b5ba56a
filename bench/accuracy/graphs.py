"""Facts of a network: edges, triangles and degrees, each asked with the whole epsilon."""

from __future__ import annotations

from typing import Any

import numpy as np

import veil
from bench.accuracy.counts import drawn_ratio, total_variation
from bench.measure import Ratio
from bench.work import Work
from veil.graphs.graph import Graph
from veil.graphs.mechanisms.private_graph import PrivateGraph
from veil.samples.friends import friends

GROUP = "Accuracy: facts of a network"
EPSILON = 1.0
# How far one edge moves the numbers: of triangles as many as there are other nodes, of the histogram of
# degrees four, as two nodes change their cell.
_REACH = {"edges": 1, "degrees": 4}


def network() -> tuple[Any, int]:
    """The made-up friendships of 300 people as pairs of numbers."""
    pairs = friends()
    number = {name: i for i, name in enumerate(sorted({name for pair in pairs for name in pair}))}
    return np.array([(number[one], number[other]) for one, other in pairs]), len(number)


def _facts(graph: Graph, repeats: int) -> dict[str, Any]:
    """Private facts by Veil: numbers, and distributions of degrees."""
    found: dict[str, Any] = {"edges": [], "triangles": [], "degrees": []}
    for name in found:
        mechanism = PrivateGraph(EPSILON, statistics=[name], share=1.0)
        # A single number is drawn in a moment, and needs many draws to be told from another.
        for seed in range(20 * repeats if name == "edges" else repeats):
            reading = veil.graphs.estimates(veil.release(mechanism, graph, rng=seed))
            if name == "degrees":
                found[name].append(padded(reading.degree_distribution, graph.space.rows))
            else:
                fact = reading.edges if name == "edges" else reading.triangles
                assert fact is not None
                found[name].append(fact.value)
    return found


def padded(shares: Any, nodes: int) -> Any:
    """A distribution of degrees over all degrees that there can be."""
    shares = np.asarray(shares, dtype=np.float64)[:nodes]
    return np.append(shares, np.zeros(nodes - len(shares)))


def run(work: Work) -> list[Ratio]:
    """Veil's facts against OpenDP's noise for the global sensitivity, on facts that NetworkX computes."""
    edges, nodes = network()
    what = f"{nodes} people, {len(edges):,} friendships"
    truth = work.ask("networkx", "graph", what, {"edges": edges}, nodes=nodes)
    if truth is None:
        return []
    histogram = np.bincount(truth.arrays["degrees"], minlength=nodes)
    counts: dict[str, Any] = {
        "edges": [truth.numbers["edges"]],
        "triangles": [truth.numbers["triangles"]],
        "degrees": histogram,
    }
    repeats = work.either(50, 300)
    ours = _facts(Graph.from_edges([(int(a), int(b)) for a, b in edges], nodes), repeats)
    found = []
    for name, known in counts.items():
        reach = _REACH.get(name, nodes - 2)
        answer = work.ask(
            "opendp",
            "noise",
            f"{what}: {name}",
            {"counts": known},
            kind="laplace",
            distance=reach,
            epsilon=EPSILON,
            repeats=20 * repeats,
        )
        if answer is None:
            continue
        noisy = answer.arrays["noisy"]
        if name == "degrees":
            positive = np.maximum(noisy, 0)
            drawn = positive / np.maximum(positive.sum(axis=1, keepdims=True), 1)
            errors, theirs = (total_variation(some, histogram / nodes) for some in (ours[name], drawn))
            unit = "total variation"
        else:
            # A negative number is made 0, as Veil does.
            drawn = np.maximum(noisy[:, 0], 0)
            errors, theirs = (np.abs(np.asarray(some) - known[0]) for some in (ours[name], drawn))
            unit = f"mean error in {name}"
        setting = f"epsilon {EPSILON:g}, delta 0, one edge added or removed; global sensitivity {reach}"
        peer = "OpenDP discrete Laplace, facts by NetworkX"
        found.append(drawn_ratio(GROUP, f"{what}: {name}", setting, errors, theirs, peer, unit))
    return found
