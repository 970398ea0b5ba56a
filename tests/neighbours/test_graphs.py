"""Graphs of which an edge differs, or several: small ones, with rational laws."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import numpy as np
import pytest

from tests.neighbours.bit_laws import noise_law
from tests.neighbours.bits import Edges, graphs, rewired
from tests.neighbours.claims import Tally
from tests.neighbours.discrete import divergences, largest_loss
from tests.neighbours.graph_laws import both_halves_law, pairs_law, private_graph_loss
from veil.bits import BitFlips, MatrixBernoulli
from veil.graphs import Graph, PrivateGraph, RandomizedResponse, XorGraph

EPSILONS = (0.0, 0.4)


def graph_of(edges: Edges, nodes: int) -> Graph:
    return Graph.from_edges(sorted(edges), nodes)


@pytest.mark.parametrize("count", [1, 2, 3])
def test_every_pair_flipped_on_its_own(count: int) -> None:
    mechanism, adjacency, nodes = RandomizedResponse(1.0), BitFlips(count), 4
    tally = Tally(f"RandomizedResponse of graphs, {count}", mechanism.profile(adjacency))
    rate = Fraction(mechanism.flip_rate)
    for edges in list(graphs(nodes))[::21]:
        mechanism.validate(graph_of(edges, nodes))
        law = pairs_law(edges, nodes, rate)
        for other in list(rewired(edges, nodes, count))[:: 2 * count - 1]:
            near = pairs_law(other, nodes, rate)
            tally.pairs += 1
            tally.add_loss(largest_loss(law, near), (edges, other))
            tally.add(0.4, divergences(law, near, 0.4)[:1], (edges, other))
    tally.close(least=0.999)


@pytest.mark.parametrize("count", [1, 2])
def test_both_halves_of_the_matrix(count: int) -> None:
    """The released graph hides more than the matrix does, whose loss is claimed: of two bits for an edge."""
    noise, nodes = MatrixBernoulli(0.4 * np.eye(3), 0.05 * np.eye(3), 3), 3
    mechanism, adjacency = XorGraph(noise), BitFlips(count)
    tally = Tally(f"XorGraph, {count}", mechanism.profile(adjacency))
    flips = noise_law(mechanism.table, nodes, nodes)
    laws = {edges: both_halves_law(edges, nodes, flips) for edges in graphs(nodes)}
    for edges, law in laws.items():
        for other in rewired(edges, nodes, count):
            tally.pairs += 1
            tally.add_loss(largest_loss(law, laws[other]), (edges, other))
            for epsilon in EPSILONS:
                tally.add(epsilon, divergences(law, laws[other], epsilon)[:1], (edges, other))
    assert tally.reached[-1.0] > 0.5
    tally.close()


GRAPHS: tuple[tuple[Any, int], ...] = (
    (PrivateGraph(1.0, statistics=("degrees", "edges", "triangles"), share=0.5), 1),
    (PrivateGraph(1.0, statistics=("edges",), share=1.0), 1),
    (PrivateGraph(2.0, statistics=("triangles",), share=1.0), 1),
    (PrivateGraph(2.0, statistics=("degrees", "edges")), 2),
)


@pytest.mark.parametrize(
    ("mechanism", "count"), GRAPHS, ids=lambda case: str(getattr(case, "statistics", case))
)
def test_facts_beside_a_graph(mechanism: PrivateGraph, count: int) -> None:
    """Some of the graphs on five nodes, and half of the neighbours of each or a third."""
    nodes = 5
    tally = Tally(f"PrivateGraph {mechanism.statistics}, {count}", mechanism.profile(BitFlips(count)))
    for edges in list(graphs(nodes))[:: 149 if "triangles" in mechanism.statistics else 23]:
        mechanism.validate(graph_of(edges, nodes))
        for other in list(rewired(edges, nodes, count))[:: 3 if count > 1 else 2]:
            tally.pairs += 1
            tally.add_loss(private_graph_loss(mechanism, edges, other, nodes), (edges, other))
    # Where the sensitivity is the same for all graphs of this size, or nearly so, ladders lose a little.
    tally.close(least=0.8 if "triangles" in mechanism.statistics else 0.999)
