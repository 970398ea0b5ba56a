"""What is read off a released graph, and off facts that were asked directly."""

from __future__ import annotations

from typing import Any

import networkx
import numpy as np
import pytest

import veil
from veil.errors import InvalidArgument
from veil.graphs.numerics.pairs import PairSpace

GROUPS = networkx.planted_partition_graph(4, 15, 0.6, 0.05, seed=1)
TRIANGLES = sum(networkx.triangles(GROUPS).values()) // 3


def facts(release: veil.Release[Any]) -> dict[str, tuple[float, float | None, float | None]]:
    return {fact.name: (fact.value, fact.low, fact.high) for fact in veil.graphs.estimates(release).facts}


@pytest.mark.slow
def test_intervals_cover_the_true_graph() -> None:
    truth = {
        "edges": GROUPS.number_of_edges(),
        "density": networkx.density(GROUPS),
        "average degree": 2 * GROUPS.number_of_edges() / 60,
        "triangles": TRIANGLES,
        "clustering": networkx.transitivity(GROUPS),
    }
    inside = dict.fromkeys(truth, 0)
    times = 200
    for seed in range(times):
        found = facts(veil.graphs.release(GROUPS, epsilon=2.5, rng=seed))
        for name, value in truth.items():
            _, low, high = found[name]
            assert low is not None
            assert high is not None
            inside[name] += low <= value <= high
    # 95 % intervals; below 89 % of 200 has probability 3e-4.
    assert min(inside.values()) / times > 0.89, inside


@pytest.mark.slow
def test_facts_asked_directly_are_near_and_covered() -> None:
    times, inside = 150, {"edges": 0, "triangles": 0}
    for seed in range(times):
        mechanism = veil.graphs.PrivateGraph(4.0, statistics=["edges", "triangles", "degrees"], share=1.0)
        reading = veil.graphs.estimates(veil.release(mechanism, GROUPS, rng=seed))
        for fact, truth in ((reading.edges, GROUPS.number_of_edges()), (reading.triangles, TRIANGLES)):
            assert fact is not None
            assert fact.direct
            assert fact.low is not None
            assert fact.high is not None
            inside[fact.name] += fact.low <= truth <= fact.high
        assert reading.degree_distribution.sum() == pytest.approx(1.0)
    # Discrete noise: the intervals are at least as sure as stated. Below 91 % has probability 2e-2 / edge.
    assert min(inside.values()) / times > 0.9
    degrees = np.sort([degree for _, degree in GROUPS.degree()])[::-1]
    assert np.abs(reading.falling_degrees - degrees).mean() < 2.0
    assert {fact.name for fact in reading.facts} == {"edges", "density", "average degree", "triangles"}
    with pytest.raises(InvalidArgument, match="facts alone"):
        reading.node_degrees()


def test_direct_facts_take_the_place_of_those_read_off() -> None:
    out = veil.graphs.release(GROUPS, epsilon=3.0, statistics=["edges"], rng=1)
    reading = veil.graphs.estimates(out)
    assert reading.edges.direct
    assert reading.edges.released == len(out.value)
    assert reading.triangles is not None
    assert not reading.triangles.direct
    assert 0.0 < (reading.false_share or 0.0) < 1.0


def test_node_degrees_have_the_stated_error() -> None:
    truth = np.array([degree for _, degree in GROUPS.degree()])
    errors = []
    for seed in range(40):
        values, error = veil.graphs.estimates(
            veil.graphs.release(GROUPS, epsilon=2.0, rng=seed)
        ).node_degrees()
        errors.append(values - truth)
    assert np.std(errors) == pytest.approx(error, rel=0.1)
    assert abs(np.mean(errors)) < 0.3


def test_directed_and_bipartite() -> None:
    directed = networkx.gnp_random_graph(40, 0.2, directed=True, seed=2)
    found = facts(veil.graphs.release(directed, epsilon=4.0, rng=1))
    assert found["edges"][0] == pytest.approx(directed.number_of_edges(), rel=0.1)
    assert found["average out-degree"][0] == pytest.approx(directed.number_of_edges() / 40, rel=0.1)
    assert "triangles" not in found
    space = PairSpace.between(30, 50)
    both = veil.graphs.Graph(space, np.sort(np.random.default_rng(1).choice(1500, 300, replace=False)))
    reading = veil.graphs.estimates(veil.graphs.release(both, epsilon=4.0, rng=1))
    assert reading.edges.value == pytest.approx(300, rel=0.1)
    assert reading.degree_distribution.shape == (51,)
    assert len(reading.node_degrees()[0]) == 30
    with pytest.raises(InvalidArgument, match="undirected"):
        reading.communities()


def test_communities_of_four_groups() -> None:
    reading = veil.graphs.estimates(veil.graphs.release(GROUPS, epsilon=4.0, rng=3))
    labels = reading.communities()
    truth = np.repeat(np.arange(4), 15)
    from veil.graphs.numerics.agreement import adjusted_rand

    assert adjusted_rand(labels, truth) > 0.9
    assert len(set(reading.communities(2).tolist())) == 2


def test_paths_are_those_of_the_released_graph() -> None:
    out = veil.graphs.release(GROUPS, epsilon=3.0, rng=4)
    found = veil.graphs.estimates(out).paths()
    assert found.diameter == networkx.diameter(out.value.to_networkx())
    assert found.mean == pytest.approx(networkx.average_shortest_path_length(out.value.to_networkx()))


def test_what_cannot_be_read() -> None:
    published = veil.graphs.XorGraph(veil.bits.xor_parameters(5.0, 1.0, 6, 6, 2))
    with pytest.raises(InvalidArgument, match="randomised response"):
        veil.graphs.estimates(veil.release(published, networkx.path_graph(6)))
    with pytest.raises(InvalidArgument, match="randomised response"):
        veil.graphs.estimates(veil.release(veil.bits.RandomizedResponse(1.0), [[True, False]]))
