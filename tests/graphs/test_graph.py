"""Graphs as users hold them: what is taken, what comes back, and what is refused with which words."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import networkx as nx
import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp

import veil
from veil.errors import InvalidArgument, InvalidData, VeilError

CLUB = nx.karate_club_graph()
DENSE = nx.to_numpy_array(CLUB, weight=None)
EDGES = {tuple(sorted(edge)) for edge in CLUB.edges}
FORMATS = ("csr", "csc", "coo", "dok", "lil", "dia")


def ends(graph: veil.graphs.Graph) -> set[Any]:
    return set(graph.labelled_edges())


# What is taken


def test_networkx() -> None:
    graph = veil.graphs.Graph.of(CLUB)
    assert ends(graph) == EDGES
    assert graph.space.count == 34 * 33 // 2
    back = graph.to_networkx()
    assert type(back) is nx.Graph
    assert set(back.nodes) == set(CLUB.nodes)
    # What hangs on the edges is not part of the graph, so it does not come back either.
    assert all(not data for _, _, data in back.edges(data=True))


def test_directed_networkx() -> None:
    graph = veil.graphs.Graph.of(nx.DiGraph([("b", "a"), ("a", "b"), ("c", "a")]))
    assert graph.space.kind == "directed"
    assert ends(graph) == {("b", "a"), ("a", "b"), ("c", "a")}
    assert type(graph.to_networkx()) is nx.DiGraph


def test_bipartite_networkx() -> None:
    club = nx.Graph()
    club.add_nodes_from(["ann", "bob"], bipartite=0)
    club.add_nodes_from(["film", "book", "song"], bipartite=1)
    club.add_edges_from([("ann", "film"), ("song", "bob")])
    graph = veil.graphs.Graph.of(club, bipartite=True)
    assert ends(graph) == {("ann", "film"), ("bob", "song")}
    assert (graph.space.rows, graph.space.columns, graph.space.count) == (2, 3, 6)
    assert set(graph.to_networkx().edges) == {("ann", "film"), ("bob", "song")}


def test_labels_of_all_kinds() -> None:
    graph = veil.graphs.Graph.of(nx.Graph([("a", 1), (2.5, (1, 2)), ("Ann Lee", 1)]))
    assert set(graph.node_labels) == {1, 2.5, "a", "Ann Lee", (1, 2)}
    assert len(graph) == 3


def test_the_order_of_the_nodes_tells_nothing() -> None:
    """Nodes stand in the order in which edges were added: two graphs that differ in one would show it."""
    one = nx.Graph([("c", "a"), ("b", "d")])
    other = nx.Graph([("b", "d"), ("a", "c")])
    assert veil.graphs.Graph.of(one) == veil.graphs.Graph.of(other)
    assert veil.graphs.Graph.of(one).node_labels == ("a", "b", "c", "d")


@pytest.mark.parametrize("name", FORMATS)
@pytest.mark.parametrize("kind", ["array", "matrix"])
def test_sparse_matrices(name: str, kind: str) -> None:
    matrix = getattr(sp, f"{name}_{kind}")(DENSE)
    graph = veil.graphs.Graph.of(matrix)
    assert ends(graph) == EDGES
    back = graph.matrix()
    assert isinstance(back, sp.csr_array)
    assert np.array_equal(back.toarray(), DENSE.astype(bool))


@pytest.mark.parametrize("dtype", [bool, np.int8, np.int64, np.float32, float])
def test_numbers_of_all_kinds(dtype: Any) -> None:
    assert ends(veil.graphs.Graph.of(sp.csr_array(DENSE.astype(dtype)))) == EDGES


def test_zeros_that_are_stored_are_no_edges() -> None:
    matrix = sp.coo_array(([1, 1, 0, 0], ([0, 1, 0, 2], [1, 0, 2, 0])), shape=(3, 3))
    assert ends(veil.graphs.Graph.of(matrix)) == {(0, 1)}


def test_directed_and_bipartite_matrices() -> None:
    half = sp.csr_array(np.triu(DENSE))
    assert len(veil.graphs.Graph.of(half, directed=True)) == len(EDGES)
    wide = veil.graphs.Graph.of(sp.csr_array(DENSE[:5]), bipartite=True)
    assert wide.matrix().shape == (5, 34)


def test_pairs() -> None:
    frame = pd.DataFrame({"a": [0, 1], "b": [1, 2]})
    pairs: Any
    for pairs in ([(0, 1), (1, 2)], zip([0, 1], [1, 2], strict=True), frame.to_numpy(), [[1, 0], (2, 1)]):
        assert ends(veil.graphs.Graph.from_edges(pairs, 4)) == {(0, 1), (1, 2)}
    named = veil.graphs.Graph.from_edges([("b", "a"), ("a", "b")], ["a", "b", "lonely"])
    assert ends(named) == {("a", "b")}
    assert named.space.nodes == 3
    assert len(veil.graphs.Graph.from_edges([("b", "a"), ("a", "b")], ["a", "b"], directed=True)) == 2
    assert len(veil.graphs.Graph.from_edges([], 5)) == 0
    assert len(veil.graphs.Graph.from_edges([(0, 0)], 2, loops=True)) == 1
    assert veil.graphs.Graph.from_edges([(0, 1)], pd.Series([0, 1, 2])).space.nodes == 3


def test_it_does_not_show_its_edges() -> None:
    text = repr(veil.graphs.Graph.from_edges([("SECRET", "b")], ["SECRET", "b"]))
    assert text == "<undirected Graph of 2 nodes>"


# What is refused

ODD: Any = [(0, 1), (0, 1, 5)]
LIST: Any = [([1], 1)]
BIG = sp.csr_array(DENSE * 2)
REFUSED: dict[str, tuple[Callable[[], Any], str]] = {
    "a multigraph": (
        lambda: veil.graphs.Graph.of(nx.MultiGraph([(1, 2), (1, 2)])),
        r"multigraph\. Use nx\.Graph",
    ),
    "a loop": (
        lambda: veil.graphs.Graph.of(nx.Graph([("SECRET", "SECRET")])),
        "no edge from a node to itself",
    ),
    "a diagonal": (
        lambda: veil.graphs.Graph.of(sp.eye_array(3, format="csr")),
        "no edge from a node to itself",
    ),
    "no nodes": (lambda: veil.graphs.Graph.of(nx.Graph()), "between 1 and"),
    "no rows": (lambda: veil.graphs.Graph.of(sp.csr_array((0, 0))), "between 1 and"),
    "weights": (lambda: veil.graphs.Graph.of(BIG), "entries of 0 and 1"),
    "NaN": (lambda: veil.graphs.Graph.of(sp.csr_array([[0, np.nan], [np.nan, 0]])), "entries of 0 and 1"),
    "half a matrix": (lambda: veil.graphs.Graph.of(sp.csr_array(np.triu(DENSE))), "directed=True"),
    "too few rows": (lambda: veil.graphs.Graph.of(sp.csr_array(DENSE[:5])), "bipartite=True"),
    "a NumPy matrix": (lambda: veil.graphs.Graph.of(DENSE), "found ndarray"),
    "a list": (lambda: veil.graphs.Graph.of([(0, 1)]), r"graphs\.read takes pairs of nodes"),
    "a frame": (lambda: veil.graphs.Graph.of(pd.DataFrame({"a": [0], "b": [1]})), "found DataFrame"),
    "sides not told": (lambda: veil.graphs.Graph.of(nx.path_graph(3), bipartite=True), "attribute bipartite"),
    "a name": (lambda: veil.graphs.Graph.from_edges([(0, 1)], "ab"), "nodes: expected how many"),
    "a stranger": (lambda: veil.graphs.Graph.from_edges([("SECRET", 1)], [0, 1]), "at position 0"),
    "three ends": (lambda: veil.graphs.Graph.from_edges(ODD, 2), "at position 1"),
    "an end that is a list": (lambda: veil.graphs.Graph.from_edges(LIST, 2), "at position 0"),
    "no nodes for pairs": (lambda: veil.graphs.Graph.from_edges([], 0), "between 1 and"),
    "a node twice": (lambda: veil.graphs.Graph.from_edges([], [0, 1, 1]), "different labels"),
}


@pytest.mark.parametrize("what", list(REFUSED))
def test_refused(what: str) -> None:
    make, says = REFUSED[what]
    with pytest.raises((InvalidData, InvalidArgument), match=says) as caught:
        make()
    assert "SECRET" not in str(caught.value)


def test_nodes_that_cannot_be_labels() -> None:
    lists: Any = [[0], [1]]
    with pytest.raises(VeilError):
        veil.graphs.Graph.from_edges([], lists)


def test_a_node_twice_is_said_so() -> None:
    with pytest.raises(InvalidArgument, match=r"nodes: .*twice"):
        veil.graphs.Graph.from_edges([], [0, 1, 1])


def test_the_error_for_a_numpy_matrix_says_what_to_do() -> None:
    with pytest.raises(InvalidData, match=r"csr_array"):
        veil.graphs.Graph.of(DENSE)


def test_the_error_for_loops_says_how_to_keep_them() -> None:
    with pytest.raises(InvalidData, match=r"Graph\.of\(graph, loops=True\)"):
        veil.graphs.release(nx.Graph([(1, 1), (1, 2)]), epsilon=1.0)


def test_a_frame_of_pairs() -> None:
    frame = pd.DataFrame({"first": [0, 1], "second": [1, 2]})
    assert ends(veil.graphs.Graph.from_edges(frame, 3)) == {(0, 1), (1, 2)}
