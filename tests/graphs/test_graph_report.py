"""The page of a released graph: from the record and public facts alone, in words for people."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import networkx as nx
import pytest
import scipy.sparse as sp

import veil
from tests.cli.conftest import no_pictures, some_pictures  # noqa: F401
from veil.graphs.report.page import graph_page

pytestmark = pytest.mark.usefixtures("some_pictures")
CLUB = nx.karate_club_graph()
ALL = ["degrees", "edges", "triangles"]


def made(value: Any = CLUB, **options: Any) -> veil.Release[Any]:
    return veil.graphs.release(value, **({"epsilon": 3.0, "rng": 4} | options))


def page(**options: Any) -> str:
    return graph_page(made(**options))


def plain(text: str) -> str:
    """What a reader sees, in one line."""
    text = re.sub(r"<style.*?</style>|<svg.*?</svg>", " ", text, flags=re.DOTALL)
    return re.sub(r"\s+", " ", re.sub(r"<[^>]+>", " ", text)).replace("&nbsp;", " ")


@pytest.mark.slow
def test_what_the_page_says() -> None:
    text = plain(page())
    for part in (
        "Undirected graph, 34 nodes,",
        "released by RandomizedResponse",
        "ε = 3",
        "of the released edges are false",
        "reconstruction rate, estimated",
        "95.3 %",
        "Not private.",
        "The true graph, as far as it can be known",
        "What the released edges are",
        "two graphs on the same nodes that differ in one edge",
        "A whole person is hidden less.",
        "the list of nodes is public",
    ):
        assert part in text
    assert "asked directly" not in text


@pytest.mark.slow
def test_facts_besides() -> None:
    text = plain(page(statistics=ALL, share=0.8))
    assert "released by PrivateGraph" in text
    assert text.count("asked directly") >= 4
    assert "The budget was divided" in text


@pytest.mark.slow
def test_facts_alone() -> None:
    text = plain(page(statistics=ALL, share=1))
    assert "Facts about a graph of 34 nodes" in text
    assert "of the released edges are false" not in text
    assert "as released" not in text


@pytest.mark.slow
@pytest.mark.parametrize(
    ("value", "says"),
    [
        (nx.gnp_random_graph(12, 0.3, seed=1, directed=True), "average out-degree"),
        (
            veil.graphs.Graph.of(sp.random_array((6, 4), density=0.5, rng=1).astype(bool), bipartite=True),
            "first side",
        ),
        (nx.empty_graph(5), "Undirected graph, 5 nodes"),
        (nx.complete_graph(5), "Undirected graph, 5 nodes"),
    ],
)
def test_other_graphs(value: Any, says: str) -> None:
    assert says in plain(page(value=value))


@pytest.mark.slow
def test_the_page_needs_nothing_else() -> None:
    text = page()
    assert not re.findall(r"""(?:src|href)=["']http""", text)
    assert "<script" not in text


@pytest.mark.slow
def test_nobody_is_named() -> None:
    named = nx.relabel_nodes(CLUB, {node: f"NAME{node}" for node in CLUB})
    assert "NAME" not in page(value=named, statistics=ALL)


@pytest.mark.slow
def test_a_record_has_the_same_page(tmp_path: Path) -> None:
    out = made(statistics=ALL)
    out.save(tmp_path / "graph.json")
    again = graph_page(veil.load(tmp_path / "graph.json"))
    assert plain(again) == plain(graph_page(out))


@pytest.mark.slow
def test_two_nodes() -> None:
    assert "2 nodes" in plain(page(value=nx.empty_graph(2)))


@pytest.mark.slow
def test_mostly_noise_is_said() -> None:
    """The page for tables says so; at epsilon 0.01 this one says that all true edges can be named."""
    for seed in range(3):
        assert "Mostly noise." in plain(page(epsilon=0.01, rng=seed))


@pytest.mark.slow
def test_direct_facts_are_not_praised_where_they_are_worse() -> None:
    assert "far more exact" not in plain(page(epsilon=1.0, statistics=ALL))


@pytest.mark.slow
def test_no_edges_are_not_drawn() -> None:
    out = made(nx.empty_graph(5), epsilon=30.0)
    assert len(out.value) == 0
    assert "What the released edges are" not in plain(graph_page(out))
