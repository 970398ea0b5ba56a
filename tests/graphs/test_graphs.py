"""Graphs in one call: the job, facts asked directly, the estimates, plans, and what is refused."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

import networkx as nx
import numpy as np
import pytest
import scipy.sparse as sp

import veil
from veil.errors import InvalidArgument, InvalidData
from veil.graphs.requests import GraphRelease
from veil.graphs.verbs import plan as planned

CLUB = nx.karate_club_graph()
ALL = ["degrees", "edges", "triangles"]


def release(value: Any = CLUB, **options: Any) -> veil.Release[Any]:
    return veil.graphs.release(value, **({"epsilon": 3.0, "rng": 1} | options))


def fact(out: veil.Release[Any], name: str) -> Any:
    return next(found for found in veil.graphs.estimates(out).facts if found.name == name)


def test_whatever_holds_the_graph_a_graph_is_released() -> None:
    pairs = veil.graphs.Graph.from_edges([(0, 1)], 3)
    for graph in (CLUB, nx.to_scipy_sparse_array(CLUB, weight=None), pairs):
        assert isinstance(release(graph).value, veil.graphs.Graph)
    assert set(release().value.to_networkx().nodes) == set(CLUB.nodes)
    assert type(release(nx.DiGraph([(1, 2), (2, 3)])).value.to_networkx()) is nx.DiGraph
    wide = veil.graphs.Graph.of(sp.csr_array(np.eye(3, 5)), bipartite=True)
    assert release(wide).value.matrix().shape == (3, 5)


def test_what_it_costs() -> None:
    out = release()
    assert out.mechanism == veil.graphs.RandomizedResponse(3.0)
    assert out.adjacency == veil.bits.BitFlips(1)
    assert (out.epsilon, out.delta) == (3.0, 0.0)
    assert "the list of nodes is public" in out.assumptions


def test_nothing_of_the_input_is_changed() -> None:
    before = set(CLUB.edges)
    release()
    assert set(CLUB.edges) == before
    named = nx.relabel_nodes(CLUB, {node: f"SECRET{node}" for node in CLUB})
    assert "SECRET" not in repr(GraphRelease(epsilon=1.0).prepare(named))


def test_facts() -> None:
    out = release(statistics=ALL)
    assert set(out.tables) == set(ALL)
    assert out.epsilon == 3.0
    alone = release(statistics="edges", share=1)
    assert alone.value == alone.tables
    assert abs(int(alone.tables["edges"][0]) - 78) < 10
    assert release(share=0.0).mechanism == veil.graphs.RandomizedResponse(3.0)


@pytest.mark.parametrize(
    ("options", "says"),
    [
        ({"epsilon": 0}, "epsilon"),
        ({"epsilon": None}, "epsilon"),
        ({"statistics": ["degree"]}, "statistics: expected some of"),
        ({"statistics": 5}, "statistics: expected a list of facts, found 5"),
        ({"share": 0.5}, "share"),
        ({"statistics": ["edges"], "share": 2}, "share: expected a number between 0 and 1"),
        ({"rng": "x"}, "rng"),
    ],
)
def test_wrong_arguments(options: dict[str, Any], says: str) -> None:
    with pytest.raises(InvalidArgument, match=says):
        release(**options)


def test_facts_that_other_kinds_do_not_have() -> None:
    with pytest.raises(InvalidArgument, match="edges alone for a directed graph"):
        release(nx.DiGraph([(1, 2)]), statistics=["triangles"])


@pytest.mark.parametrize(
    ("value", "says"),
    [
        (None, "graph: expected a NetworkX graph or a SciPy sparse"),
        (5, "graph: expected a NetworkX graph or a SciPy sparse"),
        (np.eye(3), "graph: expected two columns of nodes, found an array of shape"),
    ],
)
def test_what_is_no_graph(value: Any, says: str) -> None:
    with pytest.raises(InvalidData, match=says):
        release(value)


def test_a_path_is_read(tmp_path: Path) -> None:
    (tmp_path / "edges.txt").write_text("ann bob\nbob cid\n")
    for path in (tmp_path / "edges.txt", str(tmp_path / "edges.txt")):
        assert release(path).value.node_labels == ("ann", "bob", "cid")
    with pytest.raises(InvalidData, match=r"edges\.csv: expected a file, found no such file"):
        release("edges.csv")


# Estimates


def test_estimates() -> None:
    reading = veil.graphs.estimates(release(epsilon=5.0))
    names: dict[str, Any] = {found.name: found for found in reading.facts}
    assert {"edges", "density", "average degree", "triangles", "wedges", "clustering"} == set(names)
    assert names["edges"].low <= 78 <= names["edges"].high
    assert names["density"].value == pytest.approx(names["edges"].value / math.comb(34, 2))
    degrees, error = reading.node_degrees()
    assert len(degrees) == 34
    assert error > 0
    assert reading.degree_distribution.sum() == pytest.approx(1.0)
    assert "average out-degree" in {x.name for x in veil.graphs.estimates(release(CLUB.to_directed())).facts}


@pytest.mark.slow
def test_intervals_hold_as_often_as_they_say() -> None:
    """300 releases: 95 % give or take four standard errors; half as wide they would not."""
    inside = narrow = 0
    for seed in range(300):
        found: Any = veil.graphs.estimates(release(epsilon=1.0, rng=seed)).edges
        inside += found.low <= 78 <= found.high
        # Without the clipping that the ends may have seen.
        narrow += abs(found.value - 78) <= 1.96 * 0.5 * planned(nodes=34, epsilon=1.0).edge_error
    assert inside / 300 > 0.90
    assert narrow / 300 < 0.90


def test_facts_alone_have_no_nodes_degrees() -> None:
    reading = veil.graphs.estimates(release(statistics=["edges"], share=1))
    with pytest.raises(InvalidArgument, match="a released graph"):
        reading.node_degrees()
    with pytest.raises(InvalidArgument, match="a released graph"):
        veil.graphs.decode(release(statistics=["edges"], share=1))


def test_estimates_of_what_is_no_graph() -> None:
    with pytest.raises(InvalidArgument, match="release"):
        veil.graphs.estimates(veil.bits.release([[1, 0]], epsilon=1.0, rng=1))
    with pytest.raises(InvalidArgument, match="a graph by randomised response, found 1 row"):
        veil.graphs.decode(veil.bits.release([[1, 0]], epsilon=1.0, rng=1))


@pytest.mark.parametrize("nodes", [2, 3])
@pytest.mark.parametrize("epsilon", [0.1, 20.0])
def test_tiny_graphs_are_released_and_decoded(nodes: int, epsilon: float) -> None:
    out = release(nx.path_graph(nodes), epsilon=epsilon)
    assert out.value.space.nodes == nodes
    assert set(veil.graphs.decode(out).to_networkx().nodes) == set(range(nodes))


def test_one_node_is_refused_and_two_are_read() -> None:
    with pytest.raises(InvalidData, match="at least two nodes"):
        release(nx.empty_graph(1))
    assert fact(release(nx.empty_graph(2), epsilon=200.0), "edges").value == 0


def test_facts_that_were_not_asked() -> None:
    reading = veil.graphs.estimates(release(statistics=["triangles"], share=1))
    with pytest.raises(InvalidArgument, match="edges"):
        _ = reading.edges


def test_facts_alone_of_a_directed_graph() -> None:
    ring = nx.cycle_graph(10, create_using=nx.DiGraph)
    out = release(ring, epsilon=300.0, statistics=["edges"], share=1)
    assert fact(out, "edges").value == 10
    assert fact(out, "density").value == pytest.approx(10 / 90)


def test_the_better_of_two_answers_is_taken() -> None:
    """For 34 nodes a tenth of epsilon = 1 tells less of the edges than the graph does. The user hears that
    what is asked directly is far more exact, and gets an interval twice as wide."""
    asked: Any = veil.graphs.estimates(release(epsilon=1.0, statistics=ALL)).edges
    plain: Any = veil.graphs.estimates(release(epsilon=1.0)).edges
    assert asked.high - asked.low <= 1.2 * (plain.high - plain.low)


def test_noise_is_not_called_true() -> None:
    """At epsilon 0.01 the share of false edges is unknown, and 1 % is the least of all it could be."""
    for seed in range(6):
        reading = veil.graphs.estimates(release(nx.empty_graph(30), epsilon=0.01, rng=seed))
        assert reading.false_share is None or reading.false_share > 0.4


# Plans


def test_plans() -> None:
    plan = planned(nodes=4039, epsilon=1.0, edges=88_234)
    assert plan.space.count == math.comb(4039, 2)
    assert plan.released == pytest.approx(plan.false_edges + (plan.true_edges or 0))
    assert plan.kept is not None
    assert plan.kept < 0.03
    assert plan.even == pytest.approx(math.log((plan.space.count - 88_234) / 88_234))
    assert planned(nodes=(3, 4), epsilon=1.0, kind="bipartite").space.count == 12
    assert planned(nodes=10, epsilon=1.0, kind="directed").space.count == 90
    assert planned(nodes=10, epsilon=1.0, edges=0).kept is None


@pytest.mark.parametrize(
    ("nodes", "options", "says"),
    [
        (CLUB, {}, "nodes"),
        ("3x4", {}, "nodes"),
        (1, {}, "nodes"),
        ((3, 4), {}, "nodes"),
        (5, {"kind": "bipartite"}, "two numbers"),
        (5, {"kind": "tree"}, "kind"),
        (5, {"edges": 11}, "at most the 10 pairs"),
        (5, {"share": 1.0}, "share"),
        (5, {"statistics": "degree"}, "Did you mean 'degrees'"),
    ],
)
def test_plans_refuse(nodes: Any, options: dict[str, Any], says: str) -> None:
    with pytest.raises(InvalidArgument, match=says):
        planned(nodes=nodes, epsilon=1.0, **options)


def test_plans_for_machines() -> None:
    assert planned(nodes=100, epsilon=1.0, edges=300).to_dict()["pairs"] == 4950
