"""Audits of bits and graphs: what is claimed is not beaten, and a planted fault is."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import networkx
import numpy as np
import pytest

import veil
from tests.params import quick_first
from veil.core.privacy.pairs import RandomizedResponses
from veil.errors import InvalidArgument

RNG = np.random.default_rng(5)
CLUB, RING = networkx.karate_club_graph(), networkx.cycle_graph(8)
ROW = np.array([[1, 0, 1, 0, 0, 1]], dtype=bool)
WIDE, HIGH = ROW.reshape(2, 3), ROW.reshape(3, 2)
DIAGONAL = WIDE ^ np.eye(2, 3, dtype=bool)


def noise(rows: int, columns: int) -> veil.bits.MatrixBernoulli:
    theta, coupling = (RNG.normal(size=(columns, columns)) for _ in range(2))
    return veil.bits.MatrixBernoulli(theta + theta.T, coupling + coupling.T, rows)


@pytest.mark.slow
@pytest.mark.parametrize("delta", quick_first([0.0, 0.01]))
@pytest.mark.parametrize(
    ("mechanism", "value", "neighbour"),
    quick_first(
        [
            (veil.bits.RandomizedResponse(0.7), ROW, ROW ^ np.eye(1, 6, 2, dtype=bool)),
            (veil.bits.StaircaseXor(6, 1.3, flips=2), ROW, ROW ^ np.eye(1, 6, 5, dtype=bool)),
            (veil.bits.Xor(noise(2, 3)), WIDE, DIAGONAL),
            (veil.bits.XorBlocks([[veil.bits.Xor(noise(2, 2)), veil.bits.Xor(noise(2, 1))]]), WIDE, ~WIDE),
            (veil.bits.StaircaseXor(6, 1.3), ROW, ~ROW),
            (veil.bits.StaircaseXor(3, 0.9, flips=2, rows=2), WIDE, DIAGONAL),
            (veil.bits.Xor(noise(3, 2), complement=False), HIGH, HIGH ^ [[1, 1], [0, 0], [0, 0]]),
        ],
        quick=4,
    ),
    ids=lambda item: getattr(item, "name", ""),
)
def test_small_tables_are_enumerated(mechanism: Any, value: Any, neighbour: Any, delta: float) -> None:
    # alpha = 1e-9 each: that draws follow the law is tested besides.
    found = veil.audit(mechanism, value, np.array(neighbour, dtype=bool), delta=delta, rng=2, samples=1_000)
    assert found.exact
    assert not found.violated, str(found)
    if delta == 0.0:
        assert found.lower > 0.2


@pytest.mark.slow
def test_the_worst_neighbour_reaches_the_claim() -> None:
    for mechanism in (veil.bits.RandomizedResponse(0.7), veil.bits.StaircaseXor(5, 1.2)):
        value = np.zeros((1, 5), dtype=bool)
        other = value.copy()
        other[0, : mechanism.adjacency.count] = True
        found = veil.audit(mechanism, value, other, samples=1_000, rng=2)
        assert found.lower == pytest.approx(found.claimed, rel=1e-9)
        assert found.lower <= found.claimed
        # The whole curve of the staircase is exact for its worst pair, all bits or some of them.
        assert found.claimed == mechanism.epsilon


def without_an_edge(graph: Any) -> Any:
    fewer = graph.copy()
    fewer.remove_edge(0, 1)
    return fewer


@pytest.mark.slow
@pytest.mark.parametrize("delta", quick_first([1e-3, 0.0]))
@pytest.mark.parametrize("graph", quick_first([RING, CLUB]), ids=["ring", "club"])
@pytest.mark.parametrize(
    "mechanism",
    quick_first(
        [
            veil.graphs.RandomizedResponse(1.0),
            veil.graphs.PrivateGraph(1.0, statistics=["edges", "degrees"], share=0.5),
            veil.graphs.PrivateGraph(1.0, statistics=["edges", "degrees", "triangles"], share=0.5),
        ]
    ),
    ids=["response", "facts", "all facts"],
)
def test_graphs_are_sampled(mechanism: Any, graph: Any, delta: float) -> None:
    # alpha = 1e-9 each, seeds fixed.
    found = veil.audit(mechanism, graph, without_an_edge(graph), samples=1_000, delta=delta, rng=3)
    assert not found.exact
    assert not found.violated, str(found)


@pytest.mark.slow
@pytest.mark.parametrize("delta", quick_first([1e-3, 0.0]))
def test_larger_tables_are_sampled(delta: float) -> None:
    table = np.random.default_rng(1).random((4, 8)) < 0.5
    other = table.copy()
    other[2] = ~other[2]
    found = veil.audit(veil.bits.StaircaseXor(8, 1.0), table, other, samples=1_000, delta=delta, rng=3)
    assert not found.exact
    assert not found.violated, str(found)


class _Timid:
    """Claims less than it does: a planted fault."""

    epsilon: float

    def profile(self, adjacency: Any = None) -> Any:
        return RandomizedResponses(0.5 * self.epsilon)


@dataclass(frozen=True)
class _TimidOnBits(_Timid, veil.bits.RandomizedResponse):
    """The fault for tables."""


@dataclass(frozen=True)
class _TimidOnGraphs(_Timid, veil.graphs.RandomizedResponse):
    """The fault for graphs."""


@pytest.mark.slow
@pytest.mark.parametrize("graph", quick_first([RING, CLUB]), ids=["ring", "club"])
def test_planted_faults_are_found_in_graphs(graph: Any) -> None:
    found = veil.audit(_TimidOnGraphs(3.0), graph, without_an_edge(graph), samples=2_000, rng=4)
    assert found.violated
    assert found.lower > 1.5


@pytest.mark.slow
def test_planted_faults_are_found_in_tables() -> None:
    table = np.zeros((3, 9), dtype=bool)
    other = table.copy()
    other[1, 4] = True
    assert veil.audit(_TimidOnBits(3.0), table, other, samples=2_000, rng=5).violated


@pytest.mark.slow
def test_values_that_are_no_neighbours_are_refused() -> None:
    table = np.zeros((2, 7), dtype=bool)
    other = table.copy()
    other[0, 0] = other[1, 1] = True
    with pytest.raises(InvalidArgument, match="neighbour"):
        veil.audit(veil.bits.StaircaseXor(7, 1.0), table, other)
    with pytest.raises(InvalidArgument, match="neighbour"):
        veil.audit(veil.bits.RandomizedResponse(1.0), table, other)
    found = veil.audit(
        veil.bits.RandomizedResponse(1.0), table, other, adjacency=veil.bits.BitFlips(2), samples=1_000, rng=1
    )
    assert found.claimed == pytest.approx(2.0)
    with pytest.raises(InvalidArgument, match="same nodes"):
        veil.audit(veil.graphs.RandomizedResponse(1.0), networkx.path_graph(4), networkx.path_graph(5))
    assert math.isfinite(found.lower)
