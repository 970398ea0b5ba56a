"""What `graphs.release` takes besides graphs: paths, pairs, arrays and frames of two columns."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import networkx as nx
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from scipy.sparse import csr_array

from veil import graphs
from veil.errors import InvalidData
from veil.graphs.reading import NODES

PAIRS = [(1, 2), (2, 3)]
# Beyond this epsilon hardly a pair in a million is wrong.
EXACT: Any = {"epsilon": 60.0, "rng": 1}


def test_lists_of_edges_are_read_as_on_the_command_line(tmp_path: Path) -> None:
    path = tmp_path / "edges.csv"
    path.write_text("from,to\n1,2\n2,3\n")
    columns = {"x": [1, 2], "y": [2, 3]}
    frames = (pd.DataFrame(columns), pd.DataFrame(PAIRS), pl.DataFrame(columns), pa.table(columns))
    for given in (
        str(path),
        path,
        PAIRS,
        [list(pair) for pair in PAIRS],
        set(PAIRS),
        np.array(PAIRS),
        *frames,
    ):
        out = graphs.release(given, **EXACT)
        assert out.value.labelled_edges() == PAIRS
        assert NODES in out.assumptions
    named = graphs.release(pd.DataFrame({"u": ["ann"], "v": ["bob"]}), **EXACT)
    assert named.value.labels == ("ann", "bob")


def test_how_many_edges_there_are_does_not_decide_how_they_are_read() -> None:
    """A list is one of edges whatever its length: of two pairs, which look like a matrix, and of one."""
    for number in (1, 2, 3):
        pairs = [(i, i + 5) for i in range(number)]
        for given in (pairs, np.array(pairs), pd.DataFrame(pairs)):
            assert sorted(graphs.release(given, **EXACT).value.labelled_edges()) == pairs
    for given in ([], np.zeros((0, 2), dtype=int)):
        with pytest.raises(InvalidData, match="expected edges, two labels each, found none"):
            graphs.release(given, **EXACT)


@pytest.mark.parametrize(
    ("given", "found"),
    [
        ([[0, 1, 0], [1, 0, 1], [0, 1, 0]], "pairs of nodes, found something else at position 0"),
        (["ab", "bc"], "pairs of nodes, found something else"),
        (np.zeros((3, 3)), r"found an array of shape \(3, 3\).*csr_array"),
        (np.zeros((2, 2), dtype=bool), "found an array of bits"),
        (nx.to_pandas_adjacency(nx.path_graph(2)), "as many rows, with the same names.*csr_array"),
        (pd.DataFrame(np.zeros((4, 3))), "two columns of nodes, found 3.*origin"),
        ({"ann": ["bob", "cid"], "bob": ["ann", "dan"]}, "found a mapping.*NetworkX"),
        (5, "found int"),
    ],
    ids=["rows", "texts", "matrix", "bits", "adjacency", "wide", "mapping", "number"],
)
def test_what_may_be_something_else_is_refused(given: Any, found: str) -> None:
    with pytest.raises(InvalidData, match=f"^graph: .*{found}"):
        graphs.release(given, **EXACT)


def test_graphs_are_taken_as_ever() -> None:
    for given in (nx.path_graph(3), csr_array([[0, 1, 0], [1, 0, 1], [0, 1, 0]])):
        out = graphs.release(given, **EXACT)
        assert out.value.labelled_edges() == [(0, 1), (1, 2)]
        assert NODES not in out.assumptions
