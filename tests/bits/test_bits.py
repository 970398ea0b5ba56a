"""Tables of bits as users hold them: what is taken, and what is refused with which words."""

from __future__ import annotations

from typing import Any

import networkx as nx
import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp

import veil
from veil.bits.domain import Bits
from veil.errors import InvalidArgument, InvalidData, PrivacyWarning

TABLE = np.random.default_rng(1).random((30, 3)) < 0.4
FRAME = pd.DataFrame(TABLE, columns=["a", "b c", "d"])


def holes(kind: str) -> pd.DataFrame:
    frame = FRAME.astype(kind)
    frame.iloc[3, 1] = None
    return frame


# What is taken


@pytest.mark.parametrize("kind", [bool, int, np.int8, float, object, "boolean", "Int64", "category"])
def test_frames(kind: Any) -> None:
    frame = FRAME.astype(int).astype(kind) if kind == "category" else FRAME.astype(kind)
    found = Bits(3).validate(frame)
    assert isinstance(found, np.ndarray)
    assert found.dtype == np.bool_
    assert np.array_equal(found, TABLE)


@pytest.mark.parametrize("make", [np.asarray, lambda t: t.astype(int), lambda t: t.tolist(), list])
def test_arrays_and_lists(make: Any) -> None:
    found = Bits().validate(make(TABLE))
    assert np.array_equal(np.asarray(found), TABLE)


def test_a_copy_is_made() -> None:
    found = Bits().validate(TABLE)
    assert isinstance(found, np.ndarray)
    assert not np.shares_memory(found, TABLE)


def test_columns_of_several_types() -> None:
    mixed = pd.DataFrame({"a": [True, False], "b": [0, 1], "c": [1.0, 0.0]})
    assert np.array_equal(np.asarray(Bits().validate(mixed)), [[1, 0, 1], [0, 1, 0]])


# What is refused

REFUSED: dict[str, tuple[Any, str]] = {
    "text": (pd.DataFrame({"a": ["SECRET", "no", "yes"]}), "two different values, found 3"),
    "a name of a file": ("votes.csv", "votes.csv: expected a file, found no such file"),
    "NaN": (holes("float"), "found gaps"),
    "NA": (holes("boolean"), "found gaps"),
    "None in a list": ([[1, None], [0, 1]], "a value in every row, found gaps"),
    "masked": (np.ma.masked_array(TABLE, mask=TABLE), "masked"),
    "twos": ([[1, 2]], r"the first at position \(0, 1\)"),
    "ragged": ([[1, 0], [1]], "different lengths"),
    "no rows": (np.zeros((0, 3)), r"\(0, 3\)"),
    "no columns": (np.zeros((3, 0)), r"\(3, 0\)"),
    "an empty frame": (pd.DataFrame(), r"\(0, 0\)"),
    "three axes": (np.zeros((3, 2, 2)), r"\(3, 2, 2\)"),
    "one number": (1, r"shape \(\)"),
    "nothing": (None, "True and False, or 0 and 1"),
}


@pytest.mark.parametrize("what", list(REFUSED))
def test_refused(what: str) -> None:
    value, says = REFUSED[what]
    with pytest.raises(InvalidData, match=says) as caught:
        veil.bits.release(value, epsilon=1.0)
    assert "SECRET" not in str(caught.value)


def test_another_number_of_columns() -> None:
    with pytest.raises(InvalidData, match="expected 16 columns, found 3"):
        veil.release(veil.bits.StaircaseXor(16, 1.0), TABLE)


@pytest.mark.parametrize(
    ("make", "says"),
    [
        (lambda: Bits(0), "columns"),
        (lambda: Bits(2, rows=-1), "rows"),
        (lambda: veil.bits.StaircaseXor(4, 1.0, flips=5), "at most the 4 bits"),
        (lambda: veil.bits.RandomizedResponse(0), "epsilon"),
    ],
)
def test_wrong_arguments(make: Any, says: str) -> None:
    with pytest.raises(InvalidArgument, match=says):
        make()


def test_an_adjacency_matrix_is_warned_of() -> None:
    """Each edge is two of its bits: it is hidden half as well."""
    matrix = nx.to_numpy_array(nx.path_graph(4)).astype(bool)
    with pytest.warns(PrivacyWarning, match="adjacency matrix"):
        veil.release(veil.bits.RandomizedResponse(1.0), matrix, rng=1)


def test_an_adjacency_matrix_as_a_table_is_warned_of() -> None:
    matrix = nx.to_numpy_array(nx.path_graph(4)).astype(bool)
    with pytest.warns(PrivacyWarning, match="adjacency matrix"):
        veil.bits.release(matrix, epsilon=1.0, rng=1)


@pytest.mark.parametrize(
    "graph", [nx.path_graph(2), sp.csr_array(np.eye(2)), veil.graphs.Graph.from_edges([], 2)]
)
def test_a_graph_is_sent_to_graphs(graph: Any) -> None:
    with pytest.raises(InvalidData, match=r"veil\.graphs\.release takes graphs"):
        veil.bits.release(graph, epsilon=1.0)


def test_the_nodes_of_a_graph_are_no_bits() -> None:
    """A graph of NetworkX is a sequence of its nodes: here 0 and 1."""
    with pytest.raises(InvalidData, match="graph"):
        veil.release(veil.bits.StaircaseXor(2, 1.0), nx.DiGraph([(0, 1)]), rng=1)


@pytest.mark.parametrize("value", [holes("boolean"), [[1, None], [0, 1]], holes("object")])
def test_gaps_are_called_gaps(value: Any) -> None:
    with pytest.raises(InvalidData, match=r"gap|missing"):
        veil.bits.release(value, epsilon=1.0)


def test_one_column_of_a_frame_is_a_column() -> None:
    """df["smoker"] is 30 people with a bit each. As one record of 30 bits it would be all noise."""
    out = veil.bits.release(FRAME["a"], epsilon=1.0, rng=1)
    assert np.shape(out.value) == (30, 1)
