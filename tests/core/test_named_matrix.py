"""Taking in matrices, with the names that come with them."""

from __future__ import annotations

from typing import Any

import networkx as nx
import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse

import veil
from veil.core.intake import NamedMatrix, named_matrix
from veil.errors import InvalidData

TABLE = np.array([[0.25, 0.75, 0.0], [0.0, 0.5, 0.5]])


def table_of(taken: NamedMatrix) -> Any:
    entries: Any = taken.entries
    return (entries.toarray() if hasattr(entries, "toarray") else entries).tolist()


@pytest.mark.parametrize(
    "value",
    [TABLE, TABLE.tolist(), tuple(map(tuple, TABLE)), TABLE.astype(np.float32), np.ma.masked_array(TABLE)],
    ids=["array", "lists", "tuples", "float32", "masked without gaps"],
)
def test_plain_tables_have_no_names(value: Any) -> None:
    taken = named_matrix("table", value)
    assert table_of(taken) == TABLE.tolist()
    assert (taken.rows, taken.columns) == (None, None)
    assert isinstance(taken.entries, np.ndarray)
    assert taken.entries.dtype == np.float64


@pytest.mark.parametrize("layout", ["csr", "csc", "coo", "lil", "dok", "dia", "bsr"])
def test_sparse_tables_stay_sparse(layout: str) -> None:
    for kind in ("array", "matrix"):
        taken = named_matrix("table", getattr(sparse, f"{layout}_{kind}")(TABLE))
        assert isinstance(taken.entries, sparse.csr_array)
        assert table_of(taken) == TABLE.tolist()
        assert taken.entries.has_canonical_format
        assert taken.entries.nnz == 4


def test_stacks_are_taken_as_they_are() -> None:
    stack = np.full((2, 3, 4), 0.25)
    assert named_matrix("table", stack).entries.shape == (2, 3, 4)
    assert named_matrix("table", stack.tolist()).entries.shape == (2, 3, 4)


def test_frames() -> None:
    frame = pd.DataFrame(TABLE, index=["s", "t"], columns=["x", "y", "z"])
    taken = named_matrix("table", frame)
    assert table_of(taken) == TABLE.tolist()
    assert (taken.rows, taken.columns) == (("s", "t"), ("x", "y", "z"))
    assert named_matrix("table", frame.reset_index(drop=True)).rows is None
    pairs = pd.MultiIndex.from_product([["s"], [1, 2]])
    assert named_matrix("table", frame.set_index(pairs)).rows == (("s", 1), ("s", 2))
    mixed = pd.DataFrame({"x": [0, 1], "y": [1.0, 0.0]}, index=["s", "t"])
    assert table_of(named_matrix("table", mixed)) == [[0.0, 1.0], [1.0, 0.0]]
    with pytest.raises(InvalidData, match=r"^table: expected an array of numbers"):
        named_matrix("table", pd.DataFrame({"x": ["a", "b"], "y": [0.5, 0.5]}))


def test_graphs() -> None:
    graph = nx.DiGraph([("a", "b", {"weight": 3}), ("b", "a", {"probability": 0.5, "weight": 9})])
    graph.add_node("c")
    taken = named_matrix("graph", graph)
    assert taken.rows == taken.columns == ("a", "b", "c")
    assert table_of(taken) == [[0, 3, 0], [0.5, 0, 0], [0, 0, 0]]
    assert isinstance(taken.entries, sparse.csr_array)
    lonely = nx.DiGraph()
    lonely.add_node("a")
    assert table_of(named_matrix("graph", lonely)) == [[0.0]]


@pytest.mark.parametrize(
    ("graph", "words"),
    [
        (nx.Graph([(0, 1)]), "a directed graph, found an undirected one"),
        (nx.MultiDiGraph([(0, 1), (0, 1)]), "a multigraph"),
        (nx.DiGraph([(0, 1)]), "'probability' or 'weight' on every edge, found an edge without one"),
        (nx.DiGraph([(0, 1, {"weight": "much"})]), "numbers"),
        (nx.DiGraph([(0, 1, {"weight": None})]), "an edge without one"),
        (nx.DiGraph([(0, 1, {"weight": True})]), "numbers"),
    ],
)
def test_graphs_that_are_refused(graph: Any, words: str) -> None:
    with pytest.raises(InvalidData, match=words) as caught:
        named_matrix("graph", graph)
    assert caught.value.field == "graph"


def test_mappings_that_are_chains() -> None:
    taken = named_matrix("chain", {"b": {"a": 0.5, "b": 0.5}, "a": {"b": 1.0}})
    assert taken.rows == taken.columns == ("b", "a")
    assert table_of(taken) == [[0.5, 0.5], [1.0, 0.0]]
    more = named_matrix("chain", {"a": {"a": 0.5, "end": 0.5}})
    assert (more.rows, more.columns) == (("a",), ("a", "end"))


def test_mappings_that_are_policies() -> None:
    taken = named_matrix("policy", {"s": {"left": 0.25, "right": 0.75}, "t": {"right": 1}})
    assert (taken.rows, taken.columns) == (("s", "t"), ("left", "right"))
    assert table_of(taken) == [[0.25, 0.75], [0.0, 1.0]]


@pytest.mark.parametrize(
    "value",
    [{}, {"a": 1.0}, {"a": {"b": 1.0}, "c": 0.5}, {"a": [0.5, 0.5]}, {"a": {"b": "x"}}, {"a": {"b": None}},
     {"a": {"b": True}}, {"a": {"b": {"c": 1.0}}}],
)  # fmt: skip
def test_mappings_that_are_refused(value: Any) -> None:
    with pytest.raises(InvalidData, match=r"^chain: expected .*, found "):
        named_matrix("chain", value)


@pytest.mark.parametrize(
    "value",
    ["text", b"bytes", None, object(), [["a"]], [[1.0], [1.0, 2.0]], [[None]], [[True, False]], [[True, 0.0]],
     np.array([[1j]]), np.array([["0.5"]]), sparse.csr_array([[True]]),
     np.ma.masked_array(TABLE, mask=TABLE == 0.0)],
    ids=lambda value: str(value)[:12] if isinstance(value, (str, list)) else type(value).__name__,
)  # fmt: skip
def test_what_is_no_table(value: Any) -> None:
    with pytest.raises(InvalidData) as caught:
        named_matrix("table", value)
    assert caught.value.field == "table"


def test_empty_graphs_are_no_table_either() -> None:
    with pytest.raises(InvalidData):
        named_matrix("graph", nx.DiGraph())


@pytest.mark.parametrize("make", [np.array, sparse.csr_array, sparse.csc_array], ids=["array", "csr", "csc"])
def test_what_is_taken_is_a_copy(make: Any) -> None:
    value = make(TABLE)
    taken = named_matrix("table", value)
    (value.data if sparse.issparse(value) else value)[...] = 9.0
    assert table_of(taken) == TABLE.tolist()


def test_chains_are_taken_with_their_states() -> None:
    for matrix in ([[0.5, 0.5], [1.0, 0.0]], sparse.csr_array([[0.5, 0.5], [1.0, 0.0]])):
        chain = veil.Chain(matrix, states=["a", "b"])
        taken = named_matrix("chain", chain)
        assert taken.rows == taken.columns == ("a", "b")
        assert table_of(taken) == [[0.5, 0.5], [1.0, 0.0]]
        entries: Any = taken.entries
        (entries.data if sparse.issparse(entries) else entries)[...] = 0.25
        assert chain.to_numpy().tolist() == [[0.5, 0.5], [1.0, 0.0]]


@pytest.mark.slow
@settings(derandomize=True, max_examples=100, deadline=None)
@given(
    st.integers(1, 5).flatmap(
        lambda width: st.lists(
            st.lists(st.floats(0, 1), min_size=width, max_size=width), min_size=1, max_size=5
        )
    )
)
def test_every_form_is_the_same_table(rows: list[list[float]]) -> None:
    names, ends = [f"r{i}" for i in range(len(rows))], [f"c{j}" for j in range(len(rows[0]))]
    frame = pd.DataFrame(rows, index=names, columns=ends)
    nested = {name: dict(zip(ends, row, strict=True)) for name, row in zip(names, rows, strict=True)}
    for value in (rows, np.array(rows), sparse.csr_array(rows), frame, nested):
        taken = named_matrix("table", value)
        assert table_of(taken) == rows
        if taken.rows is not None:
            assert (taken.rows, taken.columns) == (tuple(names), tuple(ends))
