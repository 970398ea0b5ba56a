"""The Facebook network: what a release at each epsilon gives, beside the printed figures of the XOR paper.

Rows of one honest table: the released graph as it is, estimates corrected for the noise, the decoded graph,
and facts asked directly, each with the whole epsilon. Needs the data folder, NetworKit and some minutes.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from veil_papers.xor_mechanism import PLAIN_F1, TABLE_2

from veil.core.job import release
from veil.graphs.estimation import estimates
from veil.graphs.graph import Graph
from veil.graphs.likely_graph import decoding
from veil.graphs.mechanisms.private_graph import PrivateGraph
from veil.graphs.mechanisms.randomized_response import RandomizedResponse
from veil.graphs.numerics.agreement import adjusted_rand, average_f1, communities_of, degree_divergence
from veil.graphs.numerics.degrees import degree_distribution
from veil.graphs.numerics.triangles import count_triangles, neighbours

DATA = Path(__file__).parents[2] / "shared" / "data"
EPSILONS = (1.0, 2.0, 3.0, 4.0, 6.0)
SEEDS = 5
Integers = NDArray[np.int64]


def facebook() -> Graph:
    """Friendships of 4,039 people."""
    pairs = np.loadtxt(DATA / "facebook_combined.txt", dtype=np.int64)
    return Graph.from_edges([(int(a), int(b)) for a, b in pairs], 4_039)


def egos() -> list[list[int]]:
    """The ten circles that the XOR paper takes as true communities; they overlap."""
    table = np.loadtxt(DATA / "facebook_ego_membership.csv", delimiter=",", dtype=np.int64, skiprows=1)
    members = table[:, 1:]
    return [np.flatnonzero(members[:, k]).tolist() for k in range(members.shape[1])]


def communities(graph: Graph, *, by: str) -> Integers:
    """Louvain or Leiden by NetworKit, in one thread from a fixed seed; nodes without edges are alone."""
    import networkit

    networkit.setNumberOfThreads(1)
    networkit.setSeed(1, False)
    held = networkit.Graph(graph.space.rows)
    rows, columns = graph.edges()
    for a, b in zip(rows.tolist(), columns.tolist(), strict=True):
        held.addEdge(a, b)
    finder = (
        networkit.community.ParallelLeiden(held) if by == "leiden" else networkit.community.PLM(held, True)
    )
    finder.run()
    return np.array(finder.getPartition().getVector(), dtype=np.int64)


def degrees_of(graph: Graph) -> NDArray[np.float64]:
    ends = np.bincount(np.concatenate(graph.edges()), minlength=graph.space.rows)
    return degree_distribution(ends, nodes=graph.space.rows)


def triangles_of(graph: Graph) -> int:
    return count_triangles(neighbours(graph.space.rows, *graph.edges()))


@dataclass(frozen=True)
class Truth:
    """The network, and what releases are compared with."""

    graph: Graph
    degrees: NDArray[np.float64]
    leiden: Integers
    egos: list[list[int]]


def truth() -> Truth:
    graph = facebook()
    return Truth(graph, degrees_of(graph), communities(graph, by="leiden"), egos())


def row_of(truth: Truth, name: str, graph: Graph | None, **known: float) -> dict[str, Any]:
    """One line of the table: from a graph, with figures that are known otherwise."""
    row: dict[str, Any] = {"name": name}
    if graph is not None:
        labels = communities(graph, by="louvain")
        kept = len(np.intersect1d(graph.codes, truth.graph.codes, assume_unique=True)) / len(truth.graph)
        row |= {
            "edges": len(graph),
            "density": len(graph) / graph.space.count,
            "triangles": triangles_of(graph),
            "kl": degree_divergence(degrees_of(graph), truth.degrees, absent="smooth", nodes=4_039),
            "kept": kept,
            "rand": adjusted_rand(labels, truth.leiden),
            "f1": average_f1(communities_of(labels), truth.egos),
        }
    return row | known


def rows_at(truth: Truth, epsilon: float, seed: int) -> list[dict[str, Any]]:
    """All rows for one release."""
    out = release(RandomizedResponse(epsilon), truth.graph, rng=seed)
    reading = estimates(out)
    assert reading.triangles is not None
    spectral = reading.communities()
    estimated = {
        "edges": reading.edges.value,
        "density": reading.edges.value / truth.graph.space.count,
        "triangles": reading.triangles.value,
        "kl": degree_divergence(reading.degree_distribution, truth.degrees, absent="smooth", nodes=4_039),
        "rand": adjusted_rand(spectral, truth.leiden),
        "f1": average_f1(communities_of(spectral), truth.egos),
    }
    found = decoding(out)
    facts = {}
    for name in ("edges", "triangles", "degrees"):
        direct = release(PrivateGraph(epsilon, statistics=[name], share=1.0), truth.graph, rng=seed)
        facts[name] = estimates(direct)
    asked = facts["triangles"].triangles
    assert asked is not None
    distribution = facts["degrees"].degree_distribution
    return [
        row_of(truth, "released, as it is", out.value),
        row_of(truth, "corrected", None, **estimated),
        row_of(truth, "decoded", found.graph, told=found.reconstruction),
        row_of(
            truth,
            "asked directly",
            None,
            edges=facts["edges"].edges.value,
            density=facts["edges"].edges.value / truth.graph.space.count,
            triangles=asked.value,
            kl=degree_divergence(distribution, truth.degrees, absent="smooth", nodes=4_039),
        ),
    ]


def table(seeds: int = SEEDS, tell: Callable[[str], None] = print) -> dict[float, list[dict[str, Any]]]:
    """The means over some seeds, for each epsilon; inf is the network itself."""
    known = truth()
    found = {math.inf: [row_of(known, "not private", known.graph)]}
    for epsilon in EPSILONS:
        runs = [rows_at(known, epsilon, seed) for seed in range(seeds)]
        found[epsilon] = []
        for lines in zip(*runs, strict=True):
            keys = [key for key in lines[0] if key != "name"]
            means = {key: float(np.mean([line[key] for line in lines])) for key in keys}
            found[epsilon].append({"name": lines[0]["name"]} | means)
        tell(f"epsilon {epsilon:g} done")
    return found


def run() -> None:
    if not DATA.is_dir():
        print("the data folder is not here")
        return
    columns = ("edges", "density", "triangles", "kl", "kept", "rand", "f1", "told")
    print(f"{'':28}" + "".join(f"{name:>12}" for name in columns))
    for epsilon, rows in table(tell=lambda text: None).items():
        for row in rows:
            cells = "".join(f"{row[key]:>12.4g}" if key in row else f"{'':12}" for key in columns)
            print(f"eps {epsilon:<4g} {row['name']:19}" + cells)
    printed = TABLE_2["Facebook"]["XOR"][1.0]
    print(f"the XOR paper prints at epsilon 1: {printed}; F1 without privacy {PLAIN_F1['Facebook']}")
    print(
        "kl: of degrees, smoothed; kept: share of the true edges; rand: adjusted Rand index against Leiden on"
    )
    print(
        "the network; f1: average F1 against the ten circles; told: the reconstruction rate that is stated."
    )
